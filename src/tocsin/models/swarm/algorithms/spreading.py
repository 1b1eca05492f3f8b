"""Cover a region evenly: go to the centroid of one's own Voronoi cell.

Cortes, Martinez, Karatas and Bullo 2004, doi:10.1109/TRA.2004.824698 (Lloyd's method). Cells are taken on a grid
of points over the world's box, or the swarm's. Needs shared axes.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.view import View

GRID = 32
"""Points of the grid along each side."""

NEAR = 0.004
"""A robot this near to its centroid, as a share of the region's diagonal, stays."""


def spreading(view: View) -> tuple[float, float]:
    """Return the centroid of the grid points that are nearer to the robot than to any other."""
    x0, x1, y0, y1 = view.box()
    sx, sy = (x1 - x0) / GRID, (y1 - y0) / GRID
    x, y, count = 0.0, 0.0, 0
    for i in range(GRID):
        for j in range(GRID):
            px, py = x0 + (i + 0.5) * sx, y0 + (j + 0.5) * sy
            if is_mine(view, px, py):
                x, y, count = x + px, y + py, count + 1
    if count == 0:
        return away(view, max(sx, sy))
    x, y = x / count, y / count
    wide, high = x1 - x0, y1 - y0
    return view.stay() if x * x + y * y < NEAR * NEAR * (wide * wide + high * high) else (x, y)


def is_mine(view: View, px: float, py: float) -> bool:
    """Say whether a point is nearer to the robot than to all others; of equals the first entry has it."""
    own = px * px + py * py
    for k in range(view.n):
        x, y = view.point(k)
        d = (px - x) * (px - x) + (py - y) * (py - y)
        if k != view.me and (d < own or (d == own and k < view.me)):
            return False
    return True


def away(view: View, step: float) -> tuple[float, float]:
    """Return a point away from the nearest other robot; from one on the same point, by its entry."""
    near, least = -1, math.inf
    for k in range(view.n):
        if k != view.me and view.distance(k) < least:
            near, least = k, view.distance(k)
    if near < 0:
        return view.stay()
    if least < view.tolerance:
        return step * (1.0 if near > view.me else -1.0), 0.3 * step
    return -view.x(near) / least * step, -view.y(near) / least * step
