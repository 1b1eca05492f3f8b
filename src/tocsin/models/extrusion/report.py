"""A run's end as genome files: loops as BEDPE, tracks as bedGraph, CTCF sites as BED.

Lattice site i is the interval [start + i resolution, start + (i + 1) resolution) of the
chromosome, bp, 0-based and half-open, cut at `end` where one is given. All files are
written whole or not at all, and compressed if their name ends in `.gz` or `.xz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.models.extrusion.loops import check_loops, check_resolution
from tocsin.models.extrusion.sites import CtcfSites

BED_HEADER = "#chrom\tstart\tend\tname\tscore\tstrand\n"
BEDPE_HEADER = "#chrom1\tstart1\tend1\tchrom2\tstart2\tend2\tname\tscore\tstrand1\tstrand2\n"


def write_bedpe(
    path: StrPath,
    left_sites: ArrayLike,
    right_sites: ArrayLike,
    *,
    chrom: str,
    start: int = 0,
    resolution: int = 1000,
    end: int | None = None,
    names: Sequence[str] | None = None,
    scores: ArrayLike | None = None,
) -> Path:
    """Write loops as ten-column BEDPE: the anchor sites of each, in the order given.

    Parameters
    ----------
    left_sites, right_sites : int, shape (n_loops,)
        Lattice sites, left <= right.
    chrom : str
    start : int
        Position of lattice site 0, bp.
    resolution : int
        Length of a lattice site, bp.
    end : int, optional
        End of the region, bp: the last site is cut there.
    names : sequence of str, optional
        `lef0`, `lef1`, ... otherwise.
    scores : number, shape (n_loops,), optional
        1 otherwise.

    Raises
    ------
    InputError
        Lengths differ, legs cross, or a number is out of its range.
    OutputError
        The file cannot be written.
    """
    where = Intervals(chrom, start, resolution, end)
    return write_text(path, BEDPE_HEADER + bedpe_lines(where, left_sites, right_sites, names, scores))


def bedpe_lines(
    where: Intervals,
    left_sites: ArrayLike,
    right_sites: ArrayLike,
    names: Sequence[str] | None = None,
    scores: ArrayLike | None = None,
) -> str:
    """Loops of one chromosome as lines of BEDPE; arguments and errors as in `write_bedpe`."""
    left, right = check_loops(left_sites, right_sites)
    n_loops = len(left)
    labels = [f"lef{i}" for i in range(n_loops)] if names is None else list(names)
    score = np.ones(n_loops) if scores is None else _numbers("scores", scores)
    if len(labels) != n_loops or len(score) != n_loops:
        raise InputError(f"names and scores must have one entry a loop, {n_loops}, got {len(labels)} and {len(score)}")
    lines = [
        f"{a}\t{b}\t{_word('name', label)}\t{_number(value)}\t.\t.\n"
        for a, b, label, value in zip(where.texts(left), where.texts(right), labels, score, strict=True)
    ]
    return "".join(lines)


def write_bedgraph(
    path: StrPath,
    values: ArrayLike,
    *,
    chrom: str,
    start: int = 0,
    resolution: int = 1000,
    end: int | None = None,
    track: str | None = None,
) -> Path:
    """Write one value a lattice site as bedGraph; equal neighbours share a row.

    Numbers are written so that reading them gives the same float64.

    Parameters
    ----------
    values : float, shape (n_sites,)
        Such as occupancy, the fraction of time that a leg stood there; finite.
    chrom, start, resolution, end
        As in `write_bedpe`.
    track : str, optional
        A name: writes UCSC's `track type=bedGraph name="..."` line first.

    Raises
    ------
    InputError
        A value is not finite, there is none, or a number is out of its range.
    OutputError
        The file cannot be written.
    """
    where = Intervals(chrom, start, resolution, end)
    return write_text(path, _track_line(track) + bedgraph_lines(where, values))


def bedgraph_lines(where: Intervals, values: ArrayLike) -> str:
    """One chromosome's values as lines of bedGraph; arguments and errors as in `write_bedgraph`."""
    value = _numbers("values", values)
    if not len(value):
        raise InputError("no value to write: expected one a lattice site")
    first = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    low, high = where.bounds(first, np.append(first[1:], len(value)) - 1)
    lines = [
        f"{where.chrom}\t{a}\t{b}\t{_number(v)}\n"
        for a, b, v in zip(low.tolist(), high.tolist(), value[first], strict=True)
    ]
    return "".join(lines)


def write_sites(path: StrPath, sites: CtcfSites) -> Path:
    """Write CTCF sites as BED6 that `read_sites` turns into the same sites.

    Each row is one lattice site; its score is the strength, 0..1.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    return write_text(path, BED_HEADER + bed_lines(sites))


def bed_lines(sites: CtcfSites) -> str:
    """CTCF sites of one chromosome as lines of BED6; strand '.' for those that capture from both sides."""
    where = Intervals(sites.chrom, sites.start, sites.resolution, sites.end)
    strand = np.array([".", "+", "-"])[sites.captures_from]
    lines = [
        f"{interval}\t.\t{_number(strength)}\t{sign}\n"
        for interval, strength, sign in zip(where.texts(sites.site), sites.strength, strand, strict=True)
    ]
    return "".join(lines)


class Intervals:
    """Lattice sites as intervals of a chromosome."""

    def __init__(self, chrom: str, start: int, resolution: int, end: int | None) -> None:
        self.chrom = _word("chrom", chrom)
        if not (isinstance(start, int | np.integer) and start >= 0):
            raise InputError(f"start must be a whole number of bp >= 0, got {start!r}")
        self.start, self.resolution, self.end = (
            int(start),
            check_resolution(resolution),
            end,
        )

    def bounds(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Start and end, bp, of the runs of sites first..last."""
        low = self.start + first * self.resolution
        high = self.start + (last + 1) * self.resolution
        if self.end is None:
            return low, high
        if len(low) and low.max() >= self.end:
            site = int(first[low.argmax()])
            raise InputError(
                f"site {site} starts at {low.max():,} bp, and the region ends at "
                f"{self.end:,}; check start, resolution and end"
            )
        return low, np.minimum(high, self.end)

    def texts(self, site: NDArray[np.int64]) -> list[str]:
        """`chrom`, start and end of each site, tabs between."""
        low, high = self.bounds(site, site)
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return [f"{self.chrom}\t{a}\t{b}" for a, b in pairs]


def _track_line(track: str | None) -> str:
    if track is None:
        return ""
    if '"' in track or not track.isprintable():
        raise InputError(f"track must be one line without quotes, got {track!r}")
    return f'track type=bedGraph name="{track}"\n'


def _word(name: str, text: str) -> str:
    if not text or any(map(str.isspace, text)):
        raise InputError(f"{name} must be one word without blanks, got {text!r}")
    return text


def _number(value: float) -> str:
    """The shortest text that reads back as the same float64; 1.0 is `1`."""
    return repr(float(value)).removesuffix(".0")


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as err:
        raise InputError(f"{name} must be numbers: {err}") from err
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(f"{name} must be finite, got {array[bad[0]]} at {bad[0]}")
    return array + 0.0  # -0.0 becomes 0.0
