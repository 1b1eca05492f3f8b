"""Two robots meet, with a light of two colours each.

Viglietta 2013, doi:10.1007/978-3-642-45346-5_21: without lights two robots cannot meet in the semi-synchronous
model (Suzuki and Yamashita 1999); with two colours they do, also if moves are cut short.
"""

from __future__ import annotations

from tocsin.models.swarm.view import View

A, B = 0, 1


def two_lights(view: View) -> tuple[float, float]:
    """Both A: take B and go half way. A and B: the one with A goes to the other. Both B: take A."""
    if view.n != 2:
        return view.stay()
    other = 1 - view.me
    if view.distance(other) < view.tolerance:
        return view.stay()
    if view.my_light == A:
        if view.light(other) == B:
            return view.to(other)
        view.set_light(B)
        return 0.5 * view.x(other), 0.5 * view.y(other)
    if view.light(other) == B:
        view.set_light(A)
    return view.stay()
