"""Which points of a stretch are near enough, as the bits of one number.

All are looked at before the first is handed on: no branch here that a processor has to guess, and
compiled (`compile/_vectors.py`) four points at a time. That halves the time of a query.
"""

from __future__ import annotations

from typing import Any

from tocsin.space._axis import apart

MOST_POINTS = 62
"""Points in one call: bits of a number that stays above 0."""


def near_flat(
    xs: Any, ys: Any, start: int, n: int, x: float, y: float, turn_x: float, turn_y: float, square: float
) -> int:
    """Return a bit for each of n points from `start` on: whether it is near enough, in two dimensions."""
    hits = 0
    for k in range(n):
        dx, dy = apart(xs[start + k] - x, turn_x), apart(ys[start + k] - y, turn_y)
        if dx * dx + dy * dy <= square:
            hits |= 1 << k
    return hits


def near_solid(
    xs: Any, ys: Any, zs: Any, start: int, n: int,
    x: float, y: float, z: float, turn_x: float, turn_y: float, turn_z: float, square: float,
) -> int:  # fmt: skip
    """Return a bit for each of n points from `start` on: whether it is near enough, in three dimensions."""
    hits = 0
    for k in range(n):
        dx, dy = apart(xs[start + k] - x, turn_x), apart(ys[start + k] - y, turn_y)
        dz = apart(zs[start + k] - z, turn_z)
        if dx * dx + dy * dy + dz * dz <= square:
            hits |= 1 << k
    return hits
