"""The smallest circle that encloses points of the plane, exact but for rounding.

An LP-type algorithm with the pivot rule of Gartner 1999, doi:10.1007/3-540-48481-7_29: of the points
outside the circle take the farthest, and find the circle of it and of those that carry the old one. The
radius grows at every step, so it ends; no recursion, no order of the points, no draws. All is done relative to one
of the points, so a small swarm far from (0, 0) loses nothing.
"""

from __future__ import annotations

import math
from typing import Any

SLACK = 1e-12
"""A point counts as inside up to this share of the radius, which rounding may take."""

COARSE = 1e-8
"""The same for points nearly on a line, where nothing finer holds."""


Carried = tuple[float, float, float, int, int, int]


def smallest_circle(xs: Any, ys: Any, n: int) -> tuple[float, float, float]:
    """Return (x, y, radius) of the smallest circle around points 0 .. n - 1; radius -1 for none."""
    x, y, radius, _, _, _ = enclosing_circle(xs, ys, n, 0, -1, -1)
    return x, y, radius


def enclosing_circle(xs: Any, ys: Any, n: int, first: int, second: int, third: int) -> Carried:
    """Return the smallest circle and the points that carry it: (x, y, radius, a, b, c), -1 for no point.

    Parameters
    ----------
    xs, ys : coordinates of points 0 .. n - 1
    first, second, third : where to start: points that carried it before, -1 for none

    Cost: one pass over the points a step; some ten steps, two from a good start. The radius is -1 for no points.
    """
    if n == 0:
        return 0.0, 0.0, -1.0, -1, -1, -1
    a, b, c = (first if 0 <= first < n else 0), -1, -1
    x, y, square, most = xs[a] - xs[0], ys[a] - ys[0], 0.0, 0.0
    for step in range(n + 100):
        far, most = (second, math.inf) if step == 0 else ((third, math.inf) if step == 1 else farthest(xs, ys, n, x, y))
        if step > 1 and (most <= square * (1.0 + 2.0 * SLACK) or far in (a, b, c)):
            break
        if not 0 <= far < n or is_near(xs, ys, x, y, square, far):
            continue
        new_x, new_y, new_square, a1, b1, c1 = with_point(xs, ys, a, b, c, far, 2.0 * SLACK)
        if not new_square > square:
            new_x, new_y, new_square, a1, b1, c1 = with_point(xs, ys, a, b, c, far, COARSE)
        if new_square > square:
            x, y, square, a, b, c = new_x, new_y, new_square, a1, b1, c1
        elif step > 1:
            break
    return xs[0] + x, ys[0] + y, math.sqrt(max(square, most)), a, b, c


def farthest(xs: Any, ys: Any, n: int, x: float, y: float) -> tuple[int, float]:
    """Return the point that is farthest from (x, y), relative to point 0, and the square of its distance."""
    far, most = 0, -1.0
    x0, y0 = xs[0], ys[0]
    for k in range(n):
        dx, dy = (xs[k] - x0) - x, (ys[k] - y0) - y
        square = dx * dx + dy * dy
        if square > most:
            far, most = k, square
    return far, most


def with_point(xs: Any, ys: Any, a: int, b: int, c: int, p: int, slack: float) -> Carried:
    """Return the smallest circle of the carriers and a point outside: (x, y, radius squared, carriers).

    The new point is on it. So it is the best of the circles over p and one, or p and two carriers. The
    square is -1 if none holds all, up to the slack.
    """
    best_x, best_y, best, first, second = 0.0, 0.0, math.inf, -1, -1
    for i in range(6):
        one, two = pair(a, b, c, i)
        if one >= 0 and (i < 3 or two >= 0):
            x, y, square = over_two(xs, ys, p, one) if i < 3 else over_three(xs, ys, p, one, two)
            if square < best and holds(xs, ys, x, y, square * (1.0 + 2.0 * slack), a, b, c):
                best_x, best_y, best, first, second = x, y, square, one, two
    return best_x, best_y, best if best < math.inf else -1.0, p, first, second


def pair(a: int, b: int, c: int, i: int) -> tuple[int, int]:
    """Return choice i of one (0 to 2) or two (3 to 5) of the carriers; -1 for none."""
    if i == 0:
        return a, -1
    if i == 1:
        return b, -1
    if i == 2:
        return c, -1
    if i == 3:
        return a, b
    return (a, c) if i == 4 else (b, c)


def over_two(xs: Any, ys: Any, a: int, b: int) -> tuple[float, float, float]:
    """Return the circle over the diameter from a to b: (x, y, radius squared)."""
    hx, hy = 0.5 * (xs[b] - xs[a]), 0.5 * (ys[b] - ys[a])
    return (xs[a] - xs[0]) + hx, (ys[a] - ys[0]) + hy, hx * hx + hy * hy


def over_three(xs: Any, ys: Any, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the circle through three points: (x, y, radius squared), inf if they are on a line."""
    bx, by, cx, cy = xs[b] - xs[a], ys[b] - ys[a], xs[c] - xs[a], ys[c] - ys[a]
    cross = 2.0 * (bx * cy - by * cx)
    if cross == 0.0:
        return 0.0, 0.0, math.inf
    bb, cc = bx * bx + by * by, cx * cx + cy * cy
    x, y = (cy * bb - by * cc) / cross, (bx * cc - cx * bb) / cross
    return (xs[a] - xs[0]) + x, (ys[a] - ys[0]) + y, x * x + y * y


def holds(xs: Any, ys: Any, x: float, y: float, limit: float, a: int, b: int, c: int) -> bool:
    """Say whether the carriers are within the square root of `limit` of (x, y)."""
    return is_near(xs, ys, x, y, limit, a) and is_near(xs, ys, x, y, limit, b) and is_near(xs, ys, x, y, limit, c)


def is_near(xs: Any, ys: Any, x: float, y: float, limit: float, k: int) -> bool:
    """Say whether point k, if it is one, is within the square root of `limit` of (x, y)."""
    if k < 0:
        return True
    dx, dy = (xs[k] - xs[0]) - x, (ys[k] - ys[0]) - y
    return bool(dx * dx + dy * dy <= limit)
