"""CTCF sites from a genome file onto the lattice of an extrusion model.

A plus-strand motif stops extruders that come from its right side, so it captures
leftward legs (`captures_from` = +1, right); a minus-strand motif stops those that come
from its left (-1). A convergent pair (plus, then minus) holds a loop.
Biology and example data: Rossini et al. 2022, doi:10.1186/s13059-022-02815-7.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, read_lines
from tocsin.models.extrusion._layout import want
from tocsin.models.extrusion._rows import Rows, parse_rows
from tocsin.models.extrusion._strength import scale_strength
from tocsin.models.extrusion.loops import check_resolution
from tocsin.models.extrusion.regions import Region, choose_span, parse_region

MAX_SITES = 2**32 - 1
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class SiteReport:
    """What became of the rows: n_rows = outside + unstranded + merged + sites."""

    n_rows: int
    n_outside: int  # another chromosome, or the midpoint is outside the region
    n_unstranded: int  # strand '.', left out on request
    n_merged: int  # lost to a stronger (or earlier) row on the same site
    n_merged_opposite: int  # of these, how many faced the other way
    n_clipped: int  # rows of the region whose strength was cut to 1
    strength_rule: str  # the formula that was applied
    end_rule: str  # where the region's end came from


@dataclass(frozen=True, eq=False)
class CtcfSites:
    """CTCF sites of one region, at most one a lattice site, in order of site.

    Attributes
    ----------
    n_sites : int
        Lattice length: ceil((end - start) / resolution).
    site : int64, shape (n_ctcfs,)
        Lattice sites, 0 <= site < n_sites, strictly rising.
    captures_from : int8, shape (n_ctcfs,)
        The side from which a leg must come to be captured: -1 left (minus strand; it
        captures right-facing legs), +1 right (plus strand; left-facing legs).
    strength : float64, shape (n_ctcfs,)
        Probability of capture a visit, 0..1.
    chrom : str
    start, end : int
        The region, bp, 0-based and half-open.
    resolution : int
        Length of a lattice site, bp.
    report : SiteReport
    """

    n_sites: int
    site: NDArray[np.int64]
    captures_from: NDArray[np.int8]
    strength: NDArray[np.float64]
    chrom: str
    start: int
    end: int
    resolution: int
    report: SiteReport

    @property
    def n_ctcfs(self) -> int:
        """How many lattice sites hold a CTCF."""
        return len(self.site)

    @property
    def region(self) -> str:
        """The region as `read_sites` takes it, such as chr21:0-46709983."""
        return f"{self.chrom}:{self.start}-{self.end}"

    def __repr__(self) -> str:
        return f"CtcfSites({self.n_ctcfs} CTCFs on {self.n_sites} sites of {self.resolution} bp, {self.region})"


def read_sites(
    path: StrPath,
    *,
    region: str,
    resolution: int = 1000,
    strength: str | float = "score",
    score_max: float | None = None,
    format: str | None = None,
    chrom_sizes: StrPath | None = None,
    unstranded: str = "error",
    ignore: Collection[str] = (),
) -> CtcfSites:
    """Read the CTCF sites of one region; one pass, O(rows + sites log sites).

    A row's lattice site is (midpoint - region start) // resolution, with midpoint
    (start + end) // 2. Of several rows on one site the strongest is kept, whichever
    way it faces; of equals, the first in the file. All rows of the file are checked,
    also those outside the region.

    Parameters
    ----------
    path : path
        `.bed`, `.narrowPeak`, `.tsv` or `.csv`, plain or `.gz`, `.bgz`, `.xz`.
    region : str
        A chromosome, or `chr21:14,000,000-20,000,000`: bp, 0-based and half-open as
        in BED. A bare chromosome starts at 0 and ends where `chrom_sizes` says, else
        100 kb past the end of its last row.
    resolution : int
        Length of a lattice site, bp, > 0.
    strength : 'score', 'signal' or float
        'score': the score column. With all scores of the file <= 1 they are taken as
        they are (occupancies); with a largest score above 10, strength is
        min(score / 1000, 1), the BED scale; in between the file is refused as
        ambiguous. A column named `strength` is taken as it is. 'signal': narrowPeak's
        signalValue over the largest one of the file. A number in 0..1: all sites alike,
        and no score is read.
    score_max : float, optional
        Replaces those rules by min(score / score_max, 1).
    format : str, optional
        'bed', 'narrowpeak', 'tsv' or 'csv', where the suffix does not say it.
    chrom_sizes : path, optional
        UCSC's two columns: chromosome, length. The region and its rows must fit.
    unstranded : 'error' or 'skip'
        What to do with strand '.'.
    ignore : collection of str
        Further columns that a tsv or csv header may name.

    Raises
    ------
    InputError
        An argument, the file or a row breaks a rule; rows are named by line.
    """
    where = parse_region(region)
    bp = check_resolution(resolution)
    return read_rows(path, strength, score_max, format, unstranded, ignore).sites_in(where, bp, chrom_sizes)


class ScaledRows(NamedTuple):
    """All rows of a file, checked, with their strengths."""

    rows: Rows
    strength: NDArray[np.float64]  # >= 0; above 1 means: cut to 1
    rule: str

    def sites_in(self, where: Region, resolution: int, chrom_sizes: StrPath | None) -> CtcfSites:
        """Return the sites of one region. Raises InputError as `read_sites`."""
        span, end_rule = choose_span(where, self.rows, resolution, chrom_sizes)
        return _place(self.rows, self.strength, span, resolution, (self.rule, end_rule))


def read_rows(
    path: StrPath,
    strength: str | float,
    score_max: float | None,
    format: str | None,
    unstranded: str,
    ignore: Collection[str],
    *,
    choices: tuple[str, ...] = ("error", "skip"),
) -> ScaledRows:
    """Read a file for any of its regions; arguments and errors as in `read_sites`.

    `choices` are what `unstranded` may be; with 'both', strand '.' gives side 0.
    """
    wanted = want(Path(path), format, strength, unstranded, ignore, choices=choices)
    rows = parse_rows(Path(path).name, read_lines(path), wanted)
    return ScaledRows(rows, *scale_strength(rows, strength, score_max))


def read_example(*, resolution: int = 1000, region: str = "chr21") -> CtcfSites:
    """The shipped map: 427 CTCF barriers of human chromosome 21 (hg38), from MoDLE.

    Raises
    ------
    InputError
        The resolution or region breaks a rule of `read_sites`.
    """
    return read_sites(
        _DATA / "hg38_chr21_barriers.bed",
        region=region,
        resolution=resolution,
        chrom_sizes=_DATA / "hg38_chr21.chrom.sizes",
    )


def _place(
    rows: Rows,
    strength: NDArray[np.float64],
    span: Region,
    resolution: int,
    rules: tuple[str, str],
) -> CtcfSites:
    """Put the rows inside `span` on lattice sites and keep one a site."""
    assert span.end is not None  # choose_span fills it
    n_sites = _n_sites(span.start, span.end, resolution)
    inside = np.flatnonzero(span.holds(rows))
    if not len(inside):
        raise InputError(
            f"{rows.name}: no row of {span.chrom} has its midpoint in {span.start:,}-{span.end:,}; take a wider region"
        )
    middle = (rows.start[inside] + rows.end[inside]) // 2
    site = (middle - span.start) // resolution
    kept, n_opposite = _strongest(site, strength[inside], rows.side[inside])
    row = inside[kept]
    report = SiteReport(
        n_rows=len(rows.chrom) + rows.n_unstranded,
        n_outside=len(rows.chrom) - len(inside),
        n_unstranded=rows.n_unstranded,
        n_merged=len(inside) - len(kept),
        n_merged_opposite=n_opposite,
        n_clipped=int((strength[inside] > 1.0).sum()),
        strength_rule=rules[0],
        end_rule=rules[1],
    )
    return CtcfSites(
        n_sites=n_sites,
        site=site[kept],
        captures_from=rows.side[row],
        strength=np.minimum(strength[row], 1.0),
        chrom=span.chrom,
        start=span.start,
        end=span.end,
        resolution=resolution,
        report=report,
    )


def _strongest(
    site: NDArray[np.int64], strength: NDArray[np.float64], side: NDArray[np.int8]
) -> tuple[NDArray[np.int64], int]:
    """Rows to keep, in order of site, and how many lost to one of the other side."""
    capped = np.minimum(strength, 1.0)  # two that are cut to 1 are equals
    order = np.lexsort((np.arange(len(site)), -capped, site))
    is_first = np.diff(site[order], prepend=-1) != 0
    winner = order[is_first][np.cumsum(is_first) - 1]
    n_opposite = int((side[order] != side[winner]).sum())
    return order[is_first].astype(np.int64), n_opposite


def _n_sites(start: int, end: int, resolution: int) -> int:
    n_sites = -(-(end - start) // resolution)
    if n_sites > MAX_SITES:
        raise InputError(
            f"a lattice has at most {MAX_SITES:,} sites, and {end - start:,} bp at "
            f"{resolution} bp a site make {n_sites:,}; raise the resolution's bp"
        )
    return n_sites
