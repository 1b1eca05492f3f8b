"""Local elasticities by common random numbers: by how many per cent a mean changes if a parameter does by one.

Two points a parameter, a step below and a step above, run with the same seeds; the difference of such pairs has
little noise (Glasserman and Yao 1992, doi:10.1287/mnsc.38.6.884). It needs no likelihood and no derivative.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.experiment._axes import Axis
from tocsin.experiment._intervals import Interval, mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


def middle(axis: Axis, where: str) -> float:
    """Return the value that elasticities are taken at: the middle of a range, or the one of a list.

    Raises InputError if it is not a number > 0, as no percentage of it is a change.
    """
    value = axis.at(0.5) if axis.is_range else axis.values[0] if len(axis.values) == 1 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise InputError(f"{where}, {axis.path}: an elasticity is taken at one number > 0, as in [0.5], got {value!r}")
    return value


def around(axis: Axis, value: float, step: float) -> tuple[float, float]:
    """Return the values below and above: value / (1 + step) and value * (1 + step), whole numbers apart by 2 or more."""
    low, high = value / (1.0 + step), value * (1.0 + step)
    if not axis.is_whole and not isinstance(value, int):
        return low, high
    return min(math.floor(low), int(value) - 1), max(math.ceil(high), int(value) + 1)


def elasticity(below: NDArray[Any], above: NDArray[Any], low: float, high: float, confidence: float = 0.95) -> Interval:
    """Return d log E[y] / d log x and its interval, by the jackknife (Miller 1974, doi:10.1093/biomet/61.1.1).

    Parameters
    ----------
    below, above : float64, y at x = low and x = high, entry r of both from one seed; what is NaN in one is left out
    """
    import numpy as np

    is_known = ~(np.isnan(below) | np.isnan(above))
    below, above, n = below[is_known], above[is_known], int(is_known.sum())
    sums = np.array([below.sum(), above.sum()])
    if n == 0 or high <= low or low <= 0.0 or sums.sum() == 0.0:
        return Interval(math.nan, math.nan, math.nan, n)
    scale = math.log(high / low)
    whole = float(_slope(*sums) / scale)
    if n < 2:
        return Interval(whole, math.nan, math.nan, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = _slope(sums[0] - below, sums[1] - above) / scale
    return mean_interval(n * whole - (n - 1) * without, confidence)


def _slope(below: Any, above: Any) -> Any:
    return 2.0 * (above - below) / (above + below)
