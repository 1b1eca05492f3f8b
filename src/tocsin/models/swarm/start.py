"""Where robots stand at the start: shapes, filled or not, even or at random; or a file."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tocsin.errors import InputError
from tocsin.kernel import each, uniforms
from tocsin.kernel._elementary import cos, log, sin
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHAPES = ("cloud", "square", "circle", "polygon", "line", "clusters", "web")
FILLS = ("filled", "edge", "ring")
SPACINGS = ("uniform", "even", "jittered", "gaussian")
GOLDEN = 0.6180339887498949
STREAM = 3 << 16
RING = 0.7
"""Inner radius of a ring, as a share of the outer."""


def start_positions(
    n: int,
    shape: str = "cloud",
    *,
    fill: str = "filled",
    spacing: str = "uniform",
    width: float = 600.0,
    height: float = 600.0,
    sides: int = 6,
    n_clusters: int = 3,
    n_shared: int = 0,
    reach: float = 100.0,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return n positions around (0, 0), n x 2.

    Parameters
    ----------
    n : number of robots, > 0
    shape : "cloud" (anywhere in the box), "square", "circle", "polygon", "line", "clusters" (discs), or
        "web": each robot within reach of one before it, so that all are linked
    fill : "filled", "edge", or "ring" (the outer 30 %)
    spacing : "uniform" (at random), "even", "jittered" (even, each moved by up to half a place), "gaussian"
    width, height : of the box that the shape fills, length
    sides : of the polygon
    n_clusters : number of discs
    n_shared : robots that are put on another's point
    reach : length of the longest link of a web
    seed : of the draws

    Raises InputError for an unknown word or a number out of range.
    """
    words: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("shape", shape, SHAPES), ("fill", fill, FILLS), ("spacing", spacing, SPACINGS),
    )  # fmt: skip
    for name, word, known in words:
        if word not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}, got {word!r}.{nearest(word, known)}")
    for name, number, least in (
        ("n", n, 1),
        ("sides", sides, 3),
        ("n_clusters", n_clusters, 1),
        ("n_shared", n_shared, 0),
    ):
        if number < least:
            raise InputError(f"{name} must be >= {least}, got {number}")
    if n_shared >= n:
        raise InputError(f"n_shared must be < {n}, the number of robots, got {n_shared}")
    u = uniforms(seed, 4 * n, STREAM).reshape(4, n)
    if shape == "web":
        points = _web(u, reach)
    else:
        points = _unit(u, shape, fill, spacing, sides, n_clusters) * (0.5 * width, 0.5 * height)
    return _shared(points, n_shared, seed)


def _unit(
    u: NDArray[np.float64], shape: str, fill: str, spacing: str, sides: int, n_clusters: int
) -> NDArray[np.float64]:
    """Return points in the square from -1 to 1."""
    n = u.shape[1]
    if shape == "cloud" and (fill, spacing) == ("filled", "uniform"):
        return np.stack([2.0 * u[0] - 1.0, 2.0 * u[1] - 1.0], axis=1)
    around, out = _places(u, spacing, fill == "filled" and shape != "line")
    if shape == "line":
        return np.stack([2.0 * around - 1.0, np.zeros(n)], axis=1)
    radius = {"filled": np.sqrt(out), "edge": np.ones(n), "ring": np.sqrt(RING**2 + (1.0 - RING**2) * out)}[fill]
    if spacing == "gaussian" and fill == "edge":
        radius = 1.0 + 0.05 * _normal(u)
    if shape == "clusters":
        which = np.arange(n) % n_clusters
        turn = 2.0 * np.pi * which / n_clusters
        centres = 0.7 * np.stack([each(cos, turn), each(sin, turn)], axis=1)
        return centres + 0.25 * radius[:, None] * _outline(around, 0)
    found: NDArray[np.float64] = radius[:, None] * _outline(around, {"circle": 0, "polygon": sides}.get(shape, 4))
    return found


def _places(u: NDArray[np.float64], spacing: str, is_filled: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each robot how far around it is, and how much of the area is inside it; both in 0..1."""
    n = u.shape[1]
    k = np.arange(n)
    if spacing == "uniform":
        return u[0], u[1]
    if spacing == "gaussian":
        return u[0], np.minimum(abs(_normal(u)) / 3.0, 1.0) ** 2
    move = 0.0 if spacing == "even" else u[0] - 0.5
    around = (k * GOLDEN) % 1.0 if is_filled else (k + 0.5) / n
    return (around + move / n) % 1.0, np.clip((k + 0.5 + move) / n, 0.0, 1.0)


def _normal(u: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.sqrt(-2.0 * each(log, 1.0 - u[2])) * each(cos, 2.0 * np.pi * u[3])
    return found


def _outline(around: NDArray[np.float64], sides: int) -> NDArray[np.float64]:
    """Return points of the outline of the unit circle (0 sides) or of a polygon; of 4 sides, a square."""
    if sides == 0:
        angle = 2.0 * np.pi * around
        return np.stack([each(cos, angle), each(sin, angle)], axis=1)
    side = np.minimum((around * sides).astype(int), sides - 1)
    share = around * sides - side
    start = math.pi / 4 if sides == 4 else math.pi / 2
    corners = np.stack([each(f, start + 2.0 * np.pi * np.arange(sides + 1) / sides) for f in (cos, sin)], axis=1)
    size = math.sqrt(2.0) if sides == 4 else 1.0
    found: NDArray[np.float64] = size * (corners[side] + share[:, None] * (corners[side + 1] - corners[side]))
    return found


def _web(u: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Return points each of which is within reach of one before it."""
    n = u.shape[1]
    points = np.zeros((n, 2))
    for k in range(1, n):
        angle, long = 2.0 * np.pi * u[1, k], reach * (0.3 + 0.7 * u[2, k])
        points[k] = points[int(u[0, k] * k)] + long * np.array([cos(angle), sin(angle)])
    middle: NDArray[np.float64] = points.mean(axis=0)
    return points - middle


def _shared(points: NDArray[np.float64], n_shared: int, seed: int) -> NDArray[np.float64]:
    """Put the last robots on points of the others."""
    n = len(points)
    u = uniforms(seed, n_shared, STREAM + 1)
    for k in range(n_shared):
        points[n - 1 - k] = points[int(u[k] * (n - n_shared))]
    return points


def read_positions_file(path: Path) -> list[list[float]]:
    """Return positions from a CSV file (x, y a row, a header or not) or a JSON one (a list of pairs).

    Raises InputError for a file that cannot be read or holds something else, naming the line.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
    if path.suffix == ".json":
        try:
            return [[float(x), float(y)] for x, y in json.loads(text)]
        except (TypeError, ValueError) as error:
            raise InputError(f"{str(path)!r} must be a list of pairs [x, y]: {error}") from None
    rows = [(number, row) for number, row in enumerate(csv.reader(text.splitlines()), 1) if row]
    found = []
    for number, row in rows:
        try:
            x, y = map(float, row)
        except ValueError:
            if number == rows[0][0]:
                continue  # a header
            raise InputError(f"{str(path)!r}, line {number}: expected x, y, got {','.join(row)[:60]!r}") from None
        found.append([x, y])
    return found
