"""Go towards the centre of the smallest circle, as far as nobody in sight can be lost.

Ando, Oasa, Suzuki and Yamashita 1999, doi:10.1109/70.795787, without their bound on the length of a step. Both
ends of a link stay in the disc of radius V / 2 around its middle, so semi-synchronous moves keep it.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.view import View


def go_to_center(view: View) -> tuple[float, float]:
    """Return a point on the way to the centre of the circle around all in sight."""
    x, y, _radius = view.circle()
    return limited(view, x, y)


def limited(view: View, x: float, y: float) -> tuple[float, float]:
    """Return the last point on the way to (x, y) at which every link to a robot in sight is safe.

    Cost: O(robots in sight).
    """
    goal = math.sqrt(x * x + y * y)
    if goal < view.tolerance or view.visibility == math.inf:
        return x, y
    ux, uy, step = x / goal, y / goal, goal
    for k in range(view.n):
        kx, ky = view.point(k)
        step = min(step, reach(ux, uy, kx, ky, 0.5 * view.visibility))
    step = max(0.0, step)
    return ux * step, uy * step


def reach(ux: float, uy: float, x: float, y: float, radius: float) -> float:
    """Return how far the ray (ux, uy) from the origin stays in the disc around the middle of (x, y)."""
    along, across = 0.5 * (ux * x + uy * y), 0.5 * (ux * y - uy * x)
    return along + math.sqrt(max(0.0, radius * radius - across * across))
