"""Accumulators and intervals, against SciPy, NumPy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as reference

from tocsin.errors import InputError
from tocsin.models.economy.rules import bucket
from tocsin.stats import Interval, Sketch, Welford, holm, interval, paired, t_quantile, verdict

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("freedom", [1, 2, 5, 30, 31, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_students_t(freedom: int, confidence: float) -> None:
    """Quantiles agree with SciPy's, beyond 30 degrees of freedom too (defect: 1.96 there)."""
    assert t_quantile(freedom, confidence) == pytest.approx(reference.t.ppf(0.5 + confidence / 2, freedom), rel=1e-9)


def test_paired_is_scipys() -> None:
    """Difference, interval and probability are those of the paired t test."""
    a, b = RNG.normal(5, 1, 12), RNG.normal(5.5, 1, 12)
    found, wanted = paired(list(a), list(b)), reference.ttest_rel(b, a)
    assert found.probability == pytest.approx(wanted.pvalue)
    limits = wanted.confidence_interval()
    assert (found.difference.low, found.difference.high) == pytest.approx((limits.low, limits.high))


def test_no_effect_is_said() -> None:
    """Two arms that never differ are no close call."""
    assert paired([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).saying == "no effect at all"
    assert paired([1.0, 2.0, 3.0], [2.0, 3.1, 4.0]).saying == "B higher"
    assert paired([1.0, 2.0, 3.0], [0.0, 0.9, 2.0]).saying == "A higher"
    assert paired([1.0, 2.0, 3.0], [2.0, 1.0, 3.0]).saying == "no difference seen"


def test_one_replicate_passes_nothing() -> None:
    """A single run has no interval, so no target is met by it (defect: width 0, PASS)."""
    one = interval([0.5])
    assert (one.low, one.high) == (-math.inf, math.inf)
    assert verdict(one, 0.4, 0.6) == "BORDERLINE"


def test_verdicts() -> None:
    """Inside, outside, across."""
    assert verdict(Interval(0.5, 0.45, 0.55, 9), 0.4, 0.6) == "PASS"
    assert verdict(Interval(0.7, 0.65, 0.75, 9), 0.4, 0.6) == "FAIL"
    assert verdict(Interval(0.6, 0.55, 0.65, 9), 0.4, 0.6) == "BORDERLINE"


def test_holm() -> None:
    """Adjusted probabilities by hand."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_welford_merges() -> None:
    """Two parts make the whole."""
    x = RNG.normal(3, 2, 100)
    parts = [Welford(), Welford()]
    for k, value in enumerate(x):
        parts[k > 30].add(value)
    both = parts[0].merged(parts[1])
    assert (both.n, both.mean, both.variance) == pytest.approx((100, x.mean(), x.var(ddof=1)))


def test_sketch_is_within_its_accuracy() -> None:
    """Every quantile lies within 2 %, and parts add up to the whole."""
    x = np.floor(RNG.lognormal(8, 2, 5000))
    whole, parts = Sketch(), [Sketch(), Sketch()]
    whole.add(x)
    parts[0].add(x[:100])
    parts[1].add(x[100:])
    assert np.array_equal(parts[1].merged(parts[0]).counts, whole.counts)
    for q in (0.0, 0.01, 0.5, 0.9, 0.99, 1.0):
        exact = np.quantile(x, q, method="lower")
        assert abs(whole.quantile(q) - exact) <= 0.0201 * exact
    assert whole.mean() == pytest.approx(x.mean(), rel=0.02)


def test_gini() -> None:
    """0 if all are equal, (n - 1) / n if one has all, and NumPy's on a sample."""
    equal, one, many = Sketch(), Sketch(), Sketch()
    equal.add([50.0] * 20)
    one.add([0.0] * 19 + [1000.0])
    assert equal.gini() == pytest.approx(0.0)
    assert one.gini() == pytest.approx(0.95)
    x = np.floor(RNG.lognormal(6, 1, 2000))
    many.add(x)
    exact = np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())
    assert many.gini() == pytest.approx(exact, abs=0.01)
    assert Sketch().gini() == 0.0


def test_compiled_bucket_is_the_sketchs() -> None:
    """The bucket that the model counts in is the one that the sketch reads."""
    for amount in (0.0, 1.0, 2.0, 7.0, 1000.0, 123456789.0, 2.0**53):
        one = Sketch(np.bincount([bucket(amount)]))
        assert abs(one.quantile(0.5) - amount) <= 0.0201 * amount


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: Sketch(accuracy=0.0), "accuracy"), (lambda: Sketch().add([-1.0]), ">= 0"), (lambda: Sketch([-1]), ">= 0"),
        (lambda: paired([1.0], [1.0]), ">= 2"), (lambda: interval([]), "at least one"), (lambda: t_quantile(0), "freedom"),
        (lambda: verdict(interval([1.0]), 2.0, 1.0), "least"), (lambda: Sketch().quantile(2.0), "q must"),
        (lambda: Sketch().merged(Sketch(accuracy=0.1)), "one accuracy"),
    ],
)  # fmt: skip
def test_what_is_refused(call: object, rule: str) -> None:
    """Bad input is said to be so."""
    with pytest.raises(InputError, match=rule):
        call()  # type: ignore[operator]
