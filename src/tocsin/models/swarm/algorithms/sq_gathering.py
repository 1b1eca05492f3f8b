"""Gather on one point, one robot at a time, with weak multiplicity detection.

Algorithm 8 of Feletti, Flocchini and Santoro, arXiv:2412.10733. It needs a sequential scheduler, unlimited
visibility and no faults; moves may be cut short, frames may be private.
"""

from __future__ import annotations

from tocsin.models.swarm.view import View

TIE = 1e-12
"""Distances that differ by less than this share are equal; the lower (x, y) in the own frame is closer."""


def sq_gathering(view: View) -> tuple[float, float]:
    """With one point of several robots: all go there. With more: they part. With none: two meet."""
    n_many, there = 0, -1
    for k in range(view.n):
        if view.is_many(k):
            n_many += 1
            there = k
    if n_many == 1:
        return view.to(there)
    is_one = view.is_many(view.me)
    if view.n == 1 or (n_many > 1 and not is_one):
        return view.stay()
    near = closest(view)
    if n_many == 0:
        return view.to(near)
    return 0.5 * view.x(near), 0.5 * view.y(near)


def closest(view: View) -> int:
    """Return the nearest other point."""
    found = -1
    for k in range(view.n):
        if k != view.me and (found < 0 or is_closer(view, k, found)):
            found = k
    return found


def is_closer(view: View, k: int, other: int) -> bool:
    """Say whether point k is nearer than another, or as near and lower in (x, y)."""
    d, e = view.distance(k), view.distance(other)
    if abs(d - e) > TIE * e:
        return d < e
    return view.x(k) < view.x(other) or (view.x(k) == view.x(other) and view.y(k) < view.y(other))
