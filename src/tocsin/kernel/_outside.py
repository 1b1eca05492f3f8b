"""A function from outside the model: what a user wrote with NumPy, called through its address."""

from __future__ import annotations

from typing import Any


def outside(points: Any, slopes: Any, row: int) -> float:
    """Call the world's outside function on row `row` of two arrays of two dimensions; return what it returns.

    The function reads points[row] and writes slopes[row]. Compiled, its address is in the world's header
    (`World.attach`), never in a save; NaN if there is none.
    """
    function = points._world._outside
    return float("nan") if function is None else float(function(points.values[row], slopes.values[row]))
