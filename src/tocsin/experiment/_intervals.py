"""Confidence intervals: t for means, the bootstrap for everything else."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import InputError
from tocsin.stats import t_quantile as student_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Interval(NamedTuple):
    """An estimate and its confidence interval; NaN bounds if there are too few values for one."""

    estimate: float
    low: float
    high: float
    n: int
    """Values that it is made of."""

    @property
    def half_width(self) -> float:
        """Half of its length."""
        return (self.high - self.low) / 2.0


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the mean of independent values and its t interval.

    The interval of one value, or of none, is unknown (NaN): never of zero width. Raises InputError
    for a confidence out of (0, 1).
    """
    import numpy as np

    x = np.asarray(values, np.float64)
    n = len(x)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = float(x.mean())
    if n == 1:
        return Interval(mean, math.nan, math.nan, 1)
    half = t_quantile(n - 1, checked_level(confidence)) * float(x.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def two_stage_interval(values: ArrayLike, n_first: int, confidence: float = 0.95) -> Interval:
    """Return the mean and its interval where the first `n_first` values decided how many there are.

    Stein 1945, doi:10.1214/aoms/1177731088: the deviation is that of the first stage alone, with its
    degrees of freedom, so that the interval keeps its confidence although its length was chosen.
    """
    import numpy as np

    x = np.asarray(values, np.float64)
    if len(x) <= n_first:
        return mean_interval(x, confidence)
    half = t_quantile(n_first - 1, checked_level(confidence)) * float(x[:n_first].std(ddof=1)) / math.sqrt(len(x))
    mean = float(x.mean())
    return Interval(mean, mean - half, mean + half, len(x))


def replicates_needed(values: ArrayLike, n_first: int, allowed: float, confidence: float = 0.95) -> int:
    """Return how many values in all give `two_stage_interval` a half-width of `allowed` at most."""
    import numpy as np

    first = np.asarray(values, np.float64)[:n_first]
    if not allowed > 0.0:
        return n_first if first.std() == 0.0 else 1 << 62
    ratio = t_quantile(len(first) - 1, confidence) * float(first.std(ddof=1)) / allowed
    return max(n_first, math.ceil(min(ratio * ratio, 1e18)))


def bootstrap_interval(
    values: ArrayLike, statistic: Callable[..., Any], confidence: float = 0.95, n: int = 2000, seed: int = 0
) -> Interval:
    """Return a statistic of independent values and its percentile bootstrap interval.

    Efron 1979, doi:10.1214/aos/1176344552. `statistic(array, axis=...)` works along an axis, as
    np.median does. Fewer than two values give no interval.
    """
    import numpy as np

    x = np.asarray(values, np.float64)
    if len(x) == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    estimate = float(statistic(x, axis=0))
    if len(x) < 2:
        return Interval(estimate, math.nan, math.nan, 1)
    tail = (1.0 - checked_level(confidence)) / 2.0
    drawn = np.random.default_rng(seed).integers(0, len(x), (n, len(x)))
    low, high = np.quantile(statistic(x[drawn], axis=1), [tail, 1.0 - tail])
    return Interval(estimate, float(low), float(high), len(x))


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95, seed: int = 0) -> Interval:
    """Return a quantile, 0 < q < 1, and its bootstrap interval. Raises InputError for another q."""
    import numpy as np

    if not 0.0 < q < 1.0:
        raise InputError(f"q must be in (0, 1), got {q!r}")

    def statistic(x: NDArray[Any], axis: int) -> Any:
        return np.quantile(x, q, axis=axis)

    return bootstrap_interval(values, statistic, confidence, seed=seed)


t_quantile = lru_cache(maxsize=4096)(student_quantile)
"""The two-sided quantile of Student's t, (freedom, confidence): 2.26 for 9 degrees of freedom and 0.95."""


def checked_level(confidence: float) -> float:
    """Return a confidence. Raises InputError if it is not in (0, 1)."""
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must be in (0, 1), got {confidence!r}")
    return confidence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for how many there are: Holm 1979, Scand. J. Statist. 6:65-70.

    The chance that any true null hypothesis has an adjusted value below 0.05 is at most 0.05. What is
    unknown (NaN) stays so, and does not count.
    """
    order = sorted((k for k, p in enumerate(p_values) if not math.isnan(p)), key=lambda k: p_values[k])
    adjusted, most = [math.nan] * len(p_values), 0.0
    for rank, k in enumerate(order):
        most = max(most, min(1.0, (len(order) - rank) * p_values[k]))
        adjusted[k] = most
    return adjusted
