"""Tracks and loops averaged over states: bigWig, and BEDPE with the frequency of each loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.models.extrusion.analysis.bins import Bins
from tocsin.models.extrusion.analysis.contacts import legs_of
from tocsin.models.extrusion.analysis.files import replaced, require
from tocsin.models.extrusion.loops import check_loops, check_resolution
from tocsin.models.extrusion.report import BEDPE_HEADER, Intervals, bedpe_lines
from tocsin.models.extrusion.sites import CtcfSites


@dataclass(eq=False)
class LoopTally:
    """How often each pair of sites was held together, over many states.

    Memory is an entry a distinct pair: few for loops with both legs captured, which stand on CTCF
    sites; many for all loops of a long run.
    """

    n_states: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._seen: Counter[tuple[int, int]] = Counter()

    def add(self, left_sites: ArrayLike, right_sites: ArrayLike) -> None:
        """Add the loops of one state. Raises InputError as `check_loops`."""
        left, right = check_loops(left_sites, right_sites)
        self._seen.update(set(zip(left.tolist(), right.tolist(), strict=True)))
        self.n_states += 1

    def add_world(self, world: Any, *, is_captured: bool = True) -> None:
        """Add the loops of an extrusion world: those with both legs captured, or all."""
        left, right = legs_of(world, is_captured=is_captured)
        self.add(left, right)

    def frequencies(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Left site, right site and share of the states of each pair, in order of site."""
        pairs = np.array(sorted(self._seen), np.int64).reshape(-1, 2)
        count = np.array([self._seen[a, b] for a, b in pairs.tolist()], np.float64)
        return pairs[:, 0], pairs[:, 1], count / max(1, self.n_states)

    def write(self, path: StrPath, sites: CtcfSites, *, min_frequency: float = 0.0) -> Path:
        """Write the loops as BEDPE, as `write_frequencies` of one chromosome."""
        return write_frequencies(path, [(self, sites)], min_frequency=min_frequency)


def write_frequencies(
    path: StrPath, tallies: Sequence[tuple[LoopTally, CtcfSites]], *, min_frequency: float = 0.0
) -> Path:
    """Write the loops of chromosomes as BEDPE, the score their frequency, 0..1; rarer ones are left out.

    Raises InputError for sites off a lattice, OutputError.
    """
    text = BEDPE_HEADER
    for tally, sites in tallies:
        left, right, frequency = tally.frequencies()
        kept = frequency >= min_frequency
        where = Intervals(sites.chrom, sites.start, sites.resolution, sites.end)
        names = [f"loop{i}" for i in range(int(kept.sum()))]
        text += bedpe_lines(where, left[kept], right[kept], names, frequency[kept])
    return write_text(path, text)


def write_bin_track(path: StrPath, *tracks: tuple[ArrayLike, Bins]) -> Path:
    """Write one value a bin as bedGraph, for the bins of one chromosome or more; NaN is left out.

    Raises InputError for values of another number, OutputError.
    """
    lines = []
    for values, bins in tracks:
        value, edge = np.asarray(values, np.float64), bins.edges.tolist()
        if value.shape != (bins.n_bins,):
            raise InputError(f"values must be one a bin, {bins.n_bins}, got shape {value.shape}")
        seen = np.flatnonzero(np.isfinite(value)).tolist()
        lines += [f"{bins.chrom}\t{edge[i]}\t{edge[i + 1]}\t{float(value[i])!r}\n" for i in seen]
    return write_text(path, "".join(lines))


class Track(NamedTuple):
    """Values along a chromosome, one a lattice site."""

    values: NDArray[np.float64]
    chrom: str
    start: int
    resolution: int
    end: int
    chrom_bp: int


def write_bigwig(
    path: StrPath, values: ArrayLike, *, chrom: str, start: int = 0, resolution: int = 1000,
    end: int | None = None, chrom_bp: int | None = None,
) -> Path:  # fmt: skip
    """Write one value a lattice site, or a bin, as bigWig; equal neighbours share an entry.

    Parameters
    ----------
    values : float, shape (n,); NaN where there is none. The format keeps 32 bits of each.
    chrom, start, resolution, end : as in `write_bedgraph`
    chrom_bp : length of the chromosome, bp; where the values end by default

    Raises
    ------
    InputError
        The library pyBigWig is missing, or a number is out of its range.
    OutputError
        The file cannot be written.
    """
    return write_bigwigs(path, [make_track(values, chrom, start, resolution, end, chrom_bp)])


def make_track(
    values: ArrayLike, chrom: str, start: int, resolution: int, end: int | None, chrom_bp: int | None
) -> Track:
    """Checked arguments of `write_bigwig`; raises InputError as it does."""
    value = np.asarray(values, np.float64)
    if value.ndim != 1 or not np.isfinite(value).any() or np.isinf(value).any():
        raise InputError("values must be one-dimensional numbers, not infinite, and not all NaN")
    wide, last = check_resolution(resolution), start + len(value) * check_resolution(resolution)
    last = last if end is None else min(last, end)
    length = last if chrom_bp is None else chrom_bp
    if length < last or start < 0 or start + (len(value) - 1) * wide >= last:
        raise InputError(
            f"values reach from {start} to {last} bp, and the chromosome has {length}; check start and end"
        )
    return Track(value, chrom, start, wide, last, length)


def write_bigwigs(path: StrPath, tracks: Sequence[Track]) -> Path:
    """Write tracks of several chromosomes into one bigWig. Raises as `write_bigwig`."""
    pybigwig = require("pyBigWig")
    with replaced(path) as temporary:
        file = pybigwig.open(str(temporary), "w")
        file.addHeader([(track.chrom, int(track.chrom_bp)) for track in tracks])
        for track in tracks:
            starts, ends, values = _entries(track)
            file.addEntries([track.chrom] * len(starts), starts, ends=ends, values=values)
        file.close()
    return Path(path)


def _entries(track: Track) -> tuple[list[int], list[int], list[float]]:
    """Runs of equal values: start, end, value; those of NaN are left out."""
    value = track.values
    is_same = (value[1:] == value[:-1]) | (np.isnan(value[1:]) & np.isnan(value[:-1]))
    first = np.flatnonzero(np.append(True, ~is_same))
    starts = track.start + first * track.resolution
    ends = np.minimum(track.start + np.append(first[1:], len(value)) * track.resolution, track.end)
    is_there = np.isfinite(value[first])
    return starts[is_there].tolist(), ends[is_there].tolist(), value[first][is_there].tolist()
