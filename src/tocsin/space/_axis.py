"""One axis of a continuous space: folding, cells, distances. Plain functions of numbers.

A bounded axis is the closed interval [0, L], a torus the half-open [0, L). An axis is cut into n cells
of equal length L / n; the last takes x = L.
"""

from __future__ import annotations

import math

SLACK = 1e-13
"""Share of (L + r) by which a radius is widened when cells are chosen: more than rounding can be."""
FARTHEST = 4503599627370496.0
"""Lengths beyond which a coordinate of a torus is refused: whole numbers are no longer exact, 2**52."""


def fold(x: float, length: float) -> float:
    """Return x modulo L, in [0, L); a tiny negative x, which would round to L, becomes 0.

    Raises ValueError for NaN, and for what is farther than 2**52 lengths away.
    """
    if 0.0 <= x < length:
        return x
    turns = x / length
    if not -FARTHEST < turns < FARTHEST:
        raise ValueError("a coordinate must be a finite number")
    y = x - length * math.floor(turns)
    if y < 0.0:
        y += length
    return y if y < length else 0.0


def inside(x: float, length: float) -> float:
    """Return x, which must be in [0, L]. Raises ValueError, also for NaN."""
    if not 0.0 <= x <= length:
        raise ValueError("a coordinate must be in 0 .. the size of the space, and is outside or NaN")
    return x


def apart(d: float, turn: float) -> float:
    """Return the distance of two coordinates that differ by d, the short way around; `turn` is L on a torus, else inf."""
    straight = abs(d)
    other = turn - straight
    return other if other < straight else straight


def difference(d: float, turn: float) -> float:
    """Return a difference d of coordinates the short way around, with its sign; exactly half way it stays as it is."""
    half = 0.5 * turn
    if d > half:
        return d - turn
    return d + turn if d < -half else d


def cell_at(x: float, length: float, n: int) -> int:
    """Return the cell of a coordinate in [0, L]."""
    cell = int(x * (n / length))
    return cell if cell < n else n - 1


def cells_within(x: float, r: float, length: float, n: int, is_torus: bool) -> tuple[int, int]:
    """Return the first and the last of the cells that [x - r, x + r] may reach.

    Each cell once: on a torus the first may be below 0, or the last n or more, but never are both;
    all n cells are 0 .. n - 1.
    """
    if not r < length:
        return 0, n - 1
    wide = r + SLACK * (length + r)
    low = math.floor((x - wide) * (n / length))
    high = math.floor((x + wide) * (n / length))
    if not is_torus:
        return max(low, 0), min(high, n - 1)
    if high - low >= n - 1:
        return 0, n - 1
    return low, high


def around(cell: int, n: int) -> int:
    """Return a cell number that is off by at most n as one of 0 .. n - 1."""
    if cell < 0:
        return cell + n
    return cell if cell < n else cell - n


def stretches(low: int, high: int, n: int) -> tuple[int, int, int]:
    """Return cells low .. high of a line as two stretches: start .. stop - 1, then 0 .. rest - 1."""
    if low < 0:
        return low + n, n, high + 1
    if high >= n:
        return low, n, high - n + 1
    return low, high + 1, 0


def is_on(x: float, length: float, is_torus: bool) -> bool:
    """Say whether a coordinate can be that of a row: in [0, L], or on a torus any that can be folded."""
    if is_torus:
        return -FARTHEST * length < x < FARTHEST * length
    return 0.0 <= x <= length
