"""Compare two candidates: differences of paired runs, with intervals that know how many comparisons there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import InputError
from tocsin.experiment._intervals import Interval, checked_level, holm, mean_interval, t_quantile
from tocsin.experiment._results import Results
from tocsin.stats._student import t_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Comparison(NamedTuple):
    """One metric of two candidates: b - a."""

    metric: str
    paired: Interval
    """From the differences of runs with the same seed; NaN bounds for fewer than two."""
    unpaired: Interval
    """Welch's interval, as if the runs had nothing to do with each other (doi:10.1093/biomet/34.1-2.28)."""
    p_value: float
    """Of no difference, paired t test, by Holm's method adjusted for all metrics that are compared."""
    share: float
    """Runs that a paired comparison needs for the same precision, as a part of an unpaired one's."""


def compare(
    results: Results, metrics: str | Sequence[str], a: int = 0, b: int = 1, confidence: float | None = None
) -> list[Comparison]:
    """Compare candidate `b` with candidate `a` of an experiment whose candidates are paired.

    With k metrics each interval has the confidence 1 - (1 - confidence) / k (Bonferroni), so that all
    of them hold together with the confidence asked for. Raises InputError for an unknown metric,
    a candidate without runs, or a confidence out of (0, 1).
    """
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    if not metrics:
        raise InputError("say which metrics to compare: at least one")
    asked = checked_level(results.confidence if confidence is None else confidence)
    level = 1.0 - (1.0 - asked) / len(metrics)
    found = [_one(metric, *_pairs(results, metric, a, b), level) for metric in metrics]
    adjusted = holm([one.p_value for one in found])
    return [one._replace(p_value=p) for one, p in zip(found, adjusted, strict=True)]


def _pairs(results: Results, metric: str, a: int, b: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the metric of both candidates at the replicates that both have."""
    import numpy as np

    values = results.column(metric)
    candidates, replicates, seeds = (np.asarray(results.table.column(n)) for n in ("candidate", "replicate", "seed"))
    own = []
    for candidate in (a, b):
        mine = (candidates == candidate) & ~np.isnan(values)
        if not mine.any():
            n = int((candidates == candidate).sum())
            raise InputError(
                f"candidate {candidate} has no run with {metric}: "
                + (f"all {n} of its runs lack it" if n else f"there are candidates 0 to {candidates.max(initial=0)}")
            )
        keys = zip(replicates[mine].tolist(), seeds[mine].tolist(), strict=True)
        own.append(dict(zip(keys, values[mine].tolist(), strict=True)))
    both = sorted(own[0].keys() & own[1].keys())
    if not both:
        raise InputError("these candidates share no seed; compare needs an experiment with paired = true")
    return np.array([own[0][k] for k in both]), np.array([own[1][k] for k in both])


def _one(metric: str, x: NDArray[Any], y: NDArray[Any], level: float) -> Comparison:
    paired, n = mean_interval(y - x, level), len(x)
    if n < 2:
        return Comparison(metric, paired, paired, math.nan, math.nan)
    apart = float(x.var(ddof=1) + y.var(ddof=1))
    together = float((y - x).var(ddof=1))
    half = t_quantile(_welch(x, y), level) * math.sqrt(apart / n) if apart > 0.0 else 0.0
    unpaired = Interval(paired.estimate, paired.estimate - half, paired.estimate + half, n)
    return Comparison(metric, paired, unpaired, _p_value(y - x), together / apart if apart > 0.0 else math.nan)


def _welch(x: NDArray[Any], y: NDArray[Any]) -> int:
    """Return the degrees of freedom of Welch and Satterthwaite, rounded down."""
    n, u, v = len(x), float(x.var(ddof=1)), float(y.var(ddof=1))
    return max(1, int((n - 1) * (u + v) ** 2 / (u * u + v * v)))


def _p_value(difference: NDArray[Any]) -> float:
    n, deviation = len(difference), float(difference.std(ddof=1))
    if deviation == 0.0:
        return 1.0 if float(difference.mean()) == 0.0 else 0.0
    t = abs(float(difference.mean())) / (deviation / math.sqrt(n))
    return t_tail(t, n - 1)
