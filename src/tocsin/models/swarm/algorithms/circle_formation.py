"""Spread evenly on a circle.

After Defago and Konagaya 2002, doi:10.1145/584490.584509: first onto the circle, here that of mean radius around the
centre of gravity, then half way between the two neighbours on it.
"""

from __future__ import annotations

import math

from tocsin.kernel._elementary import cos, sin
from tocsin.models.swarm.algorithms.angles import TWO_PI, angle_of, turn
from tocsin.models.swarm.view import View

ON_CIRCLE = 0.01
"""A robot this near to the circle, as a share of its radius, slides along it."""


def circle_formation(view: View) -> tuple[float, float]:
    """Return the nearest point of the circle, or the one half way between the neighbours."""
    ox, oy = view.centroid()
    radius = mean_distance(view, ox, oy)
    d = math.sqrt(ox * ox + oy * oy)
    if radius <= view.tolerance:
        return view.stay()
    wx, wy = view.plane(ox, oy)
    view.keep_circle(wx, wy, radius / view.scale)
    if abs(d - radius) > ON_CIRCLE * radius:
        share = 1.0 - radius / d if d > 0.0 else 0.0
        return (ox * share, oy * share) if d > 0.0 else (radius, 0.0)
    mine = angle_of(-ox, -oy)
    least, most = TWO_PI, 0.0
    for k in range(view.n):
        x, y = view.point(k)
        if x * x + y * y > view.tolerance * view.tolerance:
            gap = turn(angle_of(x - ox, y - oy) - mine)
            least, most = min(least, gap), max(most, gap)
    angle = mine + 0.5 * (least - (TWO_PI - most))
    return ox + radius * cos(angle), oy + radius * sin(angle)


def mean_distance(view: View, ox: float, oy: float) -> float:
    """Return the mean distance of those in sight from a point."""
    total = 0.0
    for k in range(view.n):
        x, y = view.point(k)
        total += math.sqrt((x - ox) * (x - ox) + (y - oy) * (y - oy))
    return total / view.n
