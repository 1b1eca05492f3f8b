"""A run's end as genome files of several chromosomes, and a picture of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.models.chromatin.world import BOTH, CAPTURED, Chromatin
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.models.extrusion.model import LEFT, RIGHT
from tocsin.models.extrusion.regions import Region
from tocsin.models.extrusion.report import (
    BED_HEADER,
    BEDPE_HEADER,
    Intervals,
    bed_lines,
    bedgraph_lines,
    bedpe_lines,
)  # fmt: skip
from tocsin.models.extrusion.sites import CtcfSites


class Loops(NamedTuple):
    """Lattice sites of both legs of every LEF, -1 if unbound; how many are held; (n_lefs,)."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    held: NDArray[np.int64]


def legs_of(world: Chromatin) -> Loops:
    """Return where the legs stand now."""
    site = world.legs["site"].reshape(-1, 2).astype(np.int64)
    held = (world.legs["state"].reshape(-1, 2) == CAPTURED).sum(axis=1)
    return Loops(site[:, 0], site[:, 1], held)


def write_loops(path: StrPath, loops: Loops, chromosomes: Sequence[CtcfSites]) -> Path:
    """Write the loops of bound LEFs as BEDPE, chromosome by chromosome; the score is how many legs are held.

    A loop that spans the first site of a ring has its anchors in order of position, and
    `_over_origin` after its name. Raises OutputError.
    """
    text = BEDPE_HEADER
    for first, part in _placed(chromosomes):
        which, left, right = _here(loops, first, part)
        names = [f"lef{k}" + "_over_origin" * bool(a > b) for k, a, b in zip(which, left, right, strict=True)]
        low, high = np.minimum(left, right), np.maximum(left, right)
        text += bedpe_lines(_intervals(part), low, high, names, loops.held[which])
    return write_text(path, text)


def write_occupancy(path: StrPath, values: NDArray[np.float64], chromosomes: Sequence[CtcfSites]) -> Path:
    """Write one value a lattice site as bedGraph. Raises OutputError."""
    parts = (bedgraph_lines(_intervals(p), values[first : first + p.n_sites]) for first, p in _placed(chromosomes))
    return write_text(path, "".join(parts))


def write_ctcfs(path: StrPath, chromosomes: Sequence[CtcfSites]) -> Path:
    """Write the CTCF sites as BED6; strand '.' for those that capture from both sides. Raises OutputError."""
    return write_text(path, BED_HEADER + "".join(map(bed_lines, chromosomes)))


def draw(
    path: Path, loops: Loops, chromosomes: Sequence[CtcfSites], *, occupancy: NDArray[np.float64], view: Region
) -> None:
    """Draw one chromosome or a part of it; loops over the first site of a ring are left out.

    Raises InputError without Matplotlib, OutputError.
    """
    from tocsin.models.extrusion.figure import draw_arcs

    first, part = next(one for one in _placed(chromosomes) if one[1].chrom == view.chrom)
    which, left, right = _here(loops, first, part)
    plain = left <= right
    part = _two_sided(part)
    region = None if view.end is None else f"{view.chrom}:{view.start}-{view.end}"
    draw_arcs(
        path, left[plain], right[plain], part, occupancy=occupancy[first : first + part.n_sites],
        n_held=loops.held[which][plain], region=region,
    )  # fmt: skip


def _two_sided(part: CtcfSites) -> CtcfSites:
    """Return the sites with two entries, one a side, for each that captures from both."""
    times = np.where(part.captures_from == BOTH, 2, 1)
    side = np.repeat(part.captures_from, times)
    both = np.flatnonzero(side == BOTH)
    side[both] = np.tile([LEFT, RIGHT], len(both) // 2)
    return replace(part, site=np.repeat(part.site, times), captures_from=side, strength=np.repeat(part.strength, times))


def _placed(chromosomes: Sequence[CtcfSites]) -> list[tuple[int, CtcfSites]]:
    """Return each chromosome with its first lattice site."""
    ends = np.cumsum([part.n_sites for part in chromosomes])
    return [(int(end) - part.n_sites, part) for end, part in zip(ends, chromosomes, strict=True)]


def _here(loops: Loops, first: int, part: CtcfSites) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the LEFs of a chromosome, and the sites of their legs counted from its start."""
    which = np.flatnonzero((loops.left >= first) & (loops.left < first + part.n_sites))
    return which, loops.left[which] - first, loops.right[which] - first


def _intervals(part: CtcfSites) -> Intervals:
    return Intervals(part.chrom, part.start, part.resolution, part.end)
