"""Form a pattern: here a five-pointed star around the centre of gravity.

After Suzuki and Yamashita 1999, doi:10.1137/S009753979628292X. With shared axes; robots and points of the
pattern are matched in order of angle, turned by as many places as fits best. Cost O(n squared) a look.
"""

from __future__ import annotations

import math

from tocsin.kernel._elementary import cos, sin
from tocsin.models.swarm.algorithms.angles import PI, angle_of
from tocsin.models.swarm.view import View

N_CORNERS = 10
INNER = 0.382
"""Radius of the inner corners, the outer ones at 1."""

CLOSE = 0.03
"""Robots stay when all are this near to their points, as a share of the pattern's size."""


def pattern_formation(view: View) -> tuple[float, float]:
    """Return the robot's own point of the pattern."""
    n, s = view.n, view._world.scratch
    ox, oy = view.centroid()
    size = root_mean_square(view, ox, oy)
    if n == 1 or size < view.tolerance:
        return view.stay()
    place_points(view, ox, oy, size)
    sort_all(view, ox, oy)
    shift = best_shift(view)
    x, y, worst, stack = 0.0, 0.0, 0.0, view._world.stack
    for i in range(n):
        k, p = stack[i, 0], stack[(i + shift) % n, 1]
        worst = max(worst, mismatch(view, i, shift))
        if k == view.me:
            x, y = s[2 * n + p], s[3 * n + p]
    return view.stay() if worst < CLOSE * CLOSE * size * size else (x, y)


def root_mean_square(view: View, ox: float, oy: float) -> float:
    """Return the root mean square of the distances from a point."""
    total = 0.0
    for k in range(view.n):
        x, y = view.point(k)
        total += (x - ox) * (x - ox) + (y - oy) * (y - oy)
    return math.sqrt(total / view.n)


def outline(share: float) -> tuple[float, float]:
    """Return a point of the star's outline; `share` of its sides, all equally long, come before it."""
    i = min(int(share * N_CORNERS), N_CORNERS - 1)
    t = share * N_CORNERS - i
    ax, ay = corner(i)
    bx, by = corner((i + 1) % N_CORNERS)
    return ax + t * (bx - ax), ay + t * (by - ay)


def corner(i: int) -> tuple[float, float]:
    """Return corner i."""
    angle, radius = 0.5 * PI + i * (2.0 * PI / N_CORNERS), 1.0 if i % 2 == 0 else INNER
    return radius * cos(angle), radius * sin(angle)


def place_points(view: View, ox: float, oy: float, size: float) -> None:
    """Put the pattern, of the swarm's size and around its centre, into scratch[2 n] and scratch[3 n] on."""
    n, s = view.n, view._world.scratch
    mx, my, square = 0.0, 0.0, 0.0
    for k in range(n):
        x, y = outline(k / n)
        s[2 * n + k] = x
        s[3 * n + k] = y
        mx, my, square = mx + x / n, my + y / n, square + (x * x + y * y) / n
    grow = size / math.sqrt(max(square - mx * mx - my * my, 1e-300))
    for k in range(n):
        s[2 * n + k] = ox + grow * (s[2 * n + k] - mx)
        s[3 * n + k] = oy + grow * (s[3 * n + k] - my)


def sort_all(view: View, ox: float, oy: float) -> None:
    """Sort robots into column 0 of `stack` and points into column 1, by angle, then by distance."""
    n, s = view.n, view._world.scratch
    for k in range(n):
        x, y = view.point(k)
        s[k] = angle_of(x - ox, y - oy)
        s[n + k] = (x - ox) * (x - ox) + (y - oy) * (y - oy)
    sort_around(view, 0)
    for k in range(n):
        x, y = s[2 * n + k] - ox, s[3 * n + k] - oy
        s[k] = angle_of(x, y)
        s[n + k] = x * x + y * y
    sort_around(view, 1)


def sort_around(view: View, column: int) -> None:
    """Sort numbers 0 .. n - 1 by scratch[k], then scratch[n + k], by insertion."""
    n, s, stack = view.n, view._world.scratch, view._world.stack
    for k in range(n):
        i = k
        while i > 0:
            before = stack[i - 1, column]
            if s[before] < s[k] or (s[before] == s[k] and s[n + before] <= s[n + k]):
                break
            stack[i, column] = before
            i -= 1
        stack[i, column] = k


def mismatch(view: View, i: int, shift: int) -> float:
    """Return the squared distance of the i-th robot around from the point `shift` places on."""
    n, s, stack = view.n, view._world.scratch, view._world.stack
    x, y = view.point(stack[i, 0])
    p = stack[(i + shift) % n, 1]
    dx, dy = x - s[2 * n + p], y - s[3 * n + p]
    return float(dx * dx + dy * dy)


def best_shift(view: View) -> int:
    """Return by how many places to turn the points so that the squared distances are least."""
    best, least = 0, math.inf
    for shift in range(view.n):
        cost = 0.0
        for i in range(view.n):
            cost += mismatch(view, i, shift)
        if cost < least * (1.0 - 1e-12):
            best, least = shift, cost
    return best
