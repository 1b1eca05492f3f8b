"""Go onto the smallest circle that encloses all robots in sight: the first step to many patterns.

Smallest circles as a common frame: Suzuki and Yamashita 1999, doi:10.1137/S009753979628292X.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.view import View


def sec(view: View) -> tuple[float, float]:
    """Return the nearest point of the circle; from its centre, the one in direction (1, 0)."""
    x, y, radius = view.circle()
    d = math.sqrt(x * x + y * y)
    if d <= 1e-9 * radius:
        return x + radius, y
    share = 1.0 - radius / d
    return x * share, y * share
