"""Loading weights from a bedGraph track, such as the density of a loader along the genome."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tocsin.models.extrusion._files import StrPath, read_lines
from tocsin.models.extrusion._layout import fail
from tocsin.models.extrusion.sites import CtcfSites

Row = tuple[int, int, float, int]
"""Start, end (bp), value, and the line of the file."""
_MAX_DIGITS = 15


def read_loading(path: StrPath, chromosomes: Sequence[CtcfSites]) -> NDArray[np.float64]:
    """Return the weight of each lattice site: the track's mean over it, 0 where the track has no row.

    Rows of other chromosomes are checked and left out. Cost O(rows log rows + sites).

    Parameters
    ----------
    path : bedGraph: chromosome, start, end (bp, 0-based, half-open), value >= 0; plain, `.gz` or `.xz`
    chromosomes : what is simulated, in order

    Raises
    ------
    InputError
        The file cannot be read, a row is not four such columns, or two rows overlap.
    """
    name, lines = Path(path).name, read_lines(path)
    rows: dict[str, list[Row]] = {}
    for number, text in enumerate(lines, 1):
        fields = text.split()
        if fields and fields[0][0] != "#" and fields[0] not in ("track", "browser"):
            rows.setdefault(fields[0], []).append(_row(name, number, text, fields))
    for some in rows.values():
        some.sort()
        _check_apart(name, some, lines)
    return np.concatenate([_means(rows.get(part.chrom, []), part) for part in chromosomes])


def _row(name: str, number: int, text: str, fields: list[str]) -> Row:
    if len(fields) != 4 or not all(f.isdecimal() and f.isascii() and len(f) <= _MAX_DIGITS for f in fields[1:3]):
        fail(name, number, text, "bedGraph has four columns: chromosome, start, end (whole bp), value")
    start, end, value = int(fields[1]), int(fields[2]), _number(fields[3])
    if start >= end:
        fail(name, number, text, f"start must be < end, got {start} and {end}")
    if not (math.isfinite(value) and value >= 0.0):
        fail(name, number, text, f"a loading weight must be a finite number >= 0, got {fields[3][:40]}")
    return start, end, value, number


def _number(text: str) -> float:
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def _check_apart(name: str, rows: list[Row], lines: list[str]) -> None:
    for before, row in pairwise(rows):
        if row[0] < before[1]:
            fail(name, row[3], lines[row[3] - 1], f"it overlaps line {before[3]}; a track has one value a place")


def _means(rows: list[Row], part: CtcfSites) -> NDArray[np.float64]:
    """Return the mean of the track over each site: differences of its integral at the sites' bounds."""
    if not rows:
        return np.zeros(part.n_sites)
    start, end, value, _ = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    area = np.cumsum(value * (end - start))
    bounds = np.column_stack([start, end]).ravel()
    integral = np.column_stack([area - value * (end - start), area]).ravel()
    edges = np.minimum(part.start + np.arange(part.n_sites + 1) * part.resolution, part.end)
    return np.maximum(np.diff(np.interp(edges, bounds, integral)) / np.diff(edges), 0.0)
