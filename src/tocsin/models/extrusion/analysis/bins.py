"""Genomic bins of a contact map, and which lattice sites lie in which.

Bins lie on the genome's own grid, bin b at [b bin_bp, (b + 1) bin_bp), as in Hi-C files, so maps
of overlapping regions share their bins; the first and the last bin may hold fewer sites.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion.analysis.distances import check_count
from tocsin.models.extrusion.loops import check_resolution
from tocsin.models.extrusion.regions import parse_region
from tocsin.models.extrusion.sites import CtcfSites

MOST_SITES = 2**28


@dataclass(frozen=True)
class Bins:
    """Consecutive bins of one chromosome, over all or part of a lattice.

    Attributes
    ----------
    chrom : str
    start, end : int
        The lattice, bp, 0-based and half-open.
    resolution : int
        Length of a lattice site, bp.
    bin_bp : int
        Length of a bin, bp, >= resolution.
    first : int
        Number of the first bin on the genome's grid; it starts at first * bin_bp.
    n_bins : int
    """

    chrom: str
    start: int
    end: int
    resolution: int
    bin_bp: int
    first: int
    n_bins: int

    @property
    def n_sites(self) -> int:
        """Length of the lattice."""
        return -(-(self.end - self.start) // self.resolution)

    @property
    def edges(self) -> NDArray[np.int64]:
        """Bounds of the bins, bp; int64, shape (n_bins + 1,); the ends are cut at the lattice's."""
        edge = (self.first + np.arange(self.n_bins + 1)) * self.bin_bp
        return np.clip(edge, self.start, self.end)

    @property
    def middles(self) -> NDArray[np.float64]:
        """Middles of the bins, bp; float64, shape (n_bins,)."""
        return (self.edges[1:] + self.edges[:-1]) / 2.0

    def of_sites(self) -> NDArray[np.int64]:
        """The bin in which each site's middle lies, int64, shape (n_sites,); -1 for none."""
        middle = self.start + np.arange(self.n_sites) * self.resolution + self.resolution // 2
        found = middle // self.bin_bp - self.first
        return np.where((found >= 0) & (found < self.n_bins), found, -1)

    def of_positions(self, low: int, high: int) -> slice:
        """The bins that lie in [low, high), bp, at least by half."""
        inside = np.flatnonzero((self.middles >= low) & (self.middles < high))
        return slice(int(inside[0]), int(inside[-1]) + 1) if len(inside) else slice(0, 0)


def make_bins(
    chrom: str, start: int, end: int, *, resolution: int = 1000, bin_bp: int = 10_000, region: str | None = None
) -> Bins:
    """Bins over a lattice that covers [start, end) of a chromosome, or over a region of it.

    Parameters
    ----------
    chrom, start, end : the lattice, bp, 0-based and half-open
    resolution : length of a lattice site, bp
    bin_bp : length of a bin, bp, at least one site
    region : part of it, such as chr21:30,000,000-35,000,000; all of it by default

    Raises
    ------
    InputError
        The region lies outside the lattice, or a number breaks a rule.
    """
    site_bp, wide = check_resolution(resolution), check_count("bin_bp", bin_bp, 1)
    if wide < site_bp:
        raise InputError(f"bin_bp must be at least one lattice site, {site_bp} bp, got {wide}")
    low, high = check_count("start", start, 0), check_count("end", end, 1)
    if not low < high or (high - low) // site_bp > MOST_SITES:
        raise InputError(f"the lattice must have start < end and at most {MOST_SITES} sites, got {start} and {end}")
    if region is not None:
        low, high = _part(region, chrom, start, end)
    half, n_sites = site_bp // 2, -(-(end - start) // site_bp)
    inside = start + np.arange(n_sites) * site_bp + half
    inside = inside[(inside >= low) & (inside < high)]
    if not len(inside):
        raise InputError(f"region {region!r} holds no lattice site; take a wider one")
    first, last = int(inside[0]) // wide, int(inside[-1]) // wide
    return Bins(chrom, int(start), int(end), site_bp, wide, first, last - first + 1)


def bins_of(sites: CtcfSites, *, bin_bp: int = 10_000, region: str | None = None) -> Bins:
    """Bins over the lattice of CTCF sites, or a region of it. Raises InputError as `make_bins`."""
    return make_bins(
        sites.chrom, sites.start, sites.end, resolution=sites.resolution, bin_bp=bin_bp, region=region
    )  # fmt: skip


def _part(region: str, chrom: str, start: int, end: int) -> tuple[int, int]:
    wanted = parse_region(region)
    low, high = max(start, wanted.start), end if wanted.end is None else min(end, wanted.end)
    if wanted.chrom != chrom or low >= high:
        raise InputError(f"region must lie in {chrom}:{start}-{end}, got {region!r}")
    return low, high
