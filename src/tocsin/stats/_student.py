"""Student's t and what is said with it: intervals of means, of paired differences, and verdicts on targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.errors import InputError


def t_probability(t: float, freedom: float) -> float:
    """Return P(|T| <= t) for Student's t with `freedom` degrees of freedom, to 1e-12."""
    return 1.0 - t_tail(t, freedom)


def t_tail(t: float, freedom: float) -> float:
    """Return P(|T| > t) for Student's t with `freedom` degrees of freedom, to a relative 1e-10.

    The regularised incomplete beta function by its continued fraction (Lentz; DLMF 8.17.22).
    """
    if t <= 0.0:
        return 1.0
    return _beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5)


def _beta(x: float, a: float, b: float) -> float:
    if x <= 0.0 or x >= 1.0:
        return min(1.0, max(0.0, x))
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - front * _fraction(1.0 - x, b, a) / b
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    h = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 / _away(1.0 + term * d)
            c = _away(1.0 + term / c)
            h *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return h


def _away(x: float) -> float:
    return x if abs(x) > 1e-300 else 1e-300


def t_quantile(freedom: float, confidence: float = 0.95) -> float:
    """Return t with P(|T| <= t) = confidence. Raises InputError unless freedom >= 1 and 0 < confidence < 1."""
    if not freedom >= 1.0 or not 0.0 < confidence < 1.0:
        raise InputError(f"freedom must be >= 1 and confidence in (0, 1), got {freedom!r} and {confidence!r}")
    low, high = 0.0, 1.0
    while t_probability(high, freedom) < confidence:
        low, high = high, 2.0 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if t_probability(middle, freedom) < confidence else (low, middle)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class Interval:
    """A mean of replicates with its confidence interval: all numbers for one replicate, which says nothing of noise."""

    mean: float
    low: float
    high: float
    n: int


def interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return mean and interval. Raises InputError for no values."""
    n = len(values)
    if not n:
        raise InputError("an interval needs at least one value")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = t_quantile(n - 1, confidence) * sd / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def verdict(found: Interval, least: float = -math.inf, most: float = math.inf) -> str:
    """Return PASS if the interval lies within least..most, FAIL if outside, else BORDERLINE.

    One replicate is BORDERLINE: nothing is known of its noise. Raises InputError unless least <= most.
    """
    if not least <= most:
        raise InputError(f"least must be <= most, got {least!r} > {most!r}")
    if found.low >= least and found.high <= most:
        return "PASS" if found.n > 1 else "BORDERLINE"
    return "FAIL" if found.high < least or found.low > most else "BORDERLINE"


@dataclass(frozen=True)
class Difference:
    """B minus A over pairs of replicates with the same draws.

    Attributes
    ----------
    a, b, difference : means with intervals
    probability : of a difference this large if there is none (two-sided paired t test); 1 without spread and difference
    n_tied : pairs without any difference
    """

    a: Interval
    b: Interval
    difference: Interval
    probability: float
    n_tied: int

    @property
    def saying(self) -> str:
        """'B higher', 'A higher', 'no difference seen', or 'no effect at all' if every pair is tied."""
        if self.n_tied == self.difference.n:
            return "no effect at all"
        if self.difference.n < 2 or self.difference.low <= 0.0 <= self.difference.high:
            return "no difference seen"
        return "B higher" if self.difference.mean > 0.0 else "A higher"


def paired(a: Sequence[float], b: Sequence[float], confidence: float = 0.95) -> Difference:
    """Compare two lists of replicates, pair by pair. Raises InputError unless they are as long, with 2 or more."""
    if len(a) != len(b) or len(a) < 2:
        raise InputError(f"pairs need two lists of one length >= 2, got {len(a)} and {len(b)}")
    apart = [y - x for x, y in zip(a, b, strict=True)]
    found = interval(apart, confidence)
    n_tied = sum(1 for d in apart if d == 0.0)
    sd = math.sqrt(math.fsum((d - found.mean) ** 2 for d in apart) / (len(apart) - 1))
    t = abs(found.mean) * math.sqrt(len(apart)) / sd if sd > 0.0 else (math.inf if found.mean else 0.0)
    p = t_tail(t, len(apart) - 1)
    return Difference(interval(a, confidence), interval(b, confidence), found, p, n_tied)


def holm(probabilities: Sequence[float]) -> list[float]:
    """Return probabilities adjusted for testing many at once (Holm 1979, jstor.org/stable/4615733)."""
    order = sorted(range(len(probabilities)), key=lambda k: probabilities[k])
    found, worst = [0.0] * len(order), 0.0
    for rank, k in enumerate(order):
        worst = max(worst, min(1.0, probabilities[k] * (len(order) - rank)))
        found[k] = worst
    return found
