"""Go to the centre of gravity of all robots in sight.

Cohen and Peleg 2005, doi:10.1137/S0097539704446475: converges asynchronously; in the fully synchronous model with
rigid moves and unlimited visibility it gathers in one round.
"""

from __future__ import annotations

from tocsin.models.swarm.view import View


def gathering(view: View) -> tuple[float, float]:
    """Return the centre of gravity."""
    return view.centroid()
