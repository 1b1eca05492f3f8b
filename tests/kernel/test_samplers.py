"""Laws of the samplers: moments and fits, exact edges, the same bits compiled."""

import math
from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from tocsin.kernel import _samplers as s
from tocsin.kernel._edges import EDGES
from tocsin.kernel._ziggurat import TAIL

from ._compiled import CompiledStream, Stream, compiled, draws_filler

N_DRAWS = 200_000
N_ERRORS = 4.5  # standard errors allowed
SEED = 20260801


class Given:
    """A source that hands out the given bits, then zeros."""

    def __init__(self, *bits):
        self.bits = list(bits)

    def bits64(self):
        """Return the next 64 bits."""
        return self.bits.pop(0) if self.bits else 0


def draws(sampler, *parameters, n=N_DRAWS, seed=SEED):
    """Return `n` compiled draws as doubles."""
    out = np.empty(n)
    draws_filler(sampler)(CompiledStream(seed), out, parameters)
    return out


def assert_moments(x, mean, variance, fourth):
    """Check mean and variance of `x`, given the exact mean, variance and fourth central moment."""
    assert abs(np.mean(x - mean)) < N_ERRORS * math.sqrt(variance / x.size)
    assert abs(np.mean((x - mean) ** 2) - variance) < N_ERRORS * math.sqrt((fourth - variance**2) / x.size)


def assert_fit(observed, probabilities):
    """Check counts: the chi-square of k cells has mean k - 1 and variance about 2 (k - 1)."""
    n = observed.sum()
    expected = np.asarray(probabilities) * n
    assert expected.min() > 20.0
    chi_square = np.sum((observed - expected) ** 2 / expected)
    freedom = expected.size - 1
    assert chi_square < freedom + N_ERRORS * math.sqrt(2.0 * freedom)


def assert_continuous_fit(x, cdf, edges):
    """Check `x` against a distribution function over the cells between `edges`."""
    levels = np.array([0.0, *[float(cdf(e)) for e in edges], 1.0])
    observed = np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1)
    assert_fit(observed, np.diff(levels))


def assert_count_fit(x, log_mass, support):
    """Check counts `x` against a mass function, rare cells pooled into the two tails."""
    p = np.array([math.exp(log_mass(k)) for k in support])
    inside = np.nonzero(p * x.size > 25.0)[0]
    first, last = support[inside[0]], support[inside[-1]]
    kept = p[inside[0] : inside[-1] + 1].copy()
    kept[0] += p[: inside[0]].sum()
    kept[-1] += 1.0 - p[: inside[-1] + 1].sum()
    clipped = np.clip(x, first, last).astype(np.int64) - first
    assert_fit(np.bincount(clipped, minlength=kept.size), kept)


def log_poisson(mean):
    """Return the log mass function of a Poisson count."""
    return lambda k: k * math.log(mean) - mean - math.lgamma(k + 1)


def log_binomial(n, p):
    """Return the log mass function of a binomial count."""

    def log_mass(k):
        choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return choose + k * math.log(p) + (n - k) * math.log1p(-p)

    return log_mass


# ------------------------------------------------------------------------------------------
# Continuous
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", [s.random, s.random_open])
def test_random_is_uniform(sampler):
    """Random doubles are uniform on the unit interval."""
    x = draws(sampler)
    assert_moments(x, 1 / 2, 1 / 12, 1 / 80)
    assert_continuous_fit(x, lambda e: e, np.arange(1, 200) / 200)


def test_random_takes_the_top_bits():
    """The extreme bits give 0 and 1 - 2**-53, and 2**-53 and 1 for the open kind."""
    assert [s.random(Given(b)) for b in (0, 2047, -1)] == [0.0, 0.0, 1.0 - 2.0**-53]
    assert [s.random_open(Given(b)) for b in (0, 2047, -1)] == [2.0**-53, 2.0**-53, 1.0]


def test_uniform_moments():
    """Uniform doubles have the mean and variance of their interval, and stay inside."""
    x = draws(s.uniform, -3.0, 5.0)
    assert_moments(x, 1.0, 64 / 12, 8.0**4 / 80)
    assert x.min() >= -3.0
    assert x.max() <= 5.0


@pytest.mark.parametrize("rate", [1e-300, 0.25, 3.0, 1e300])
def test_exponential_distribution(rate):
    """Waiting times times their rate are exponential of mean 1."""
    x = draws(s.exponential, rate) * rate
    assert_moments(x, 1.0, 1.0, 9.0)
    assert_continuous_fit(x, lambda e: -math.expm1(-e), -np.log1p(-np.arange(1, 100) / 100))


def test_exponential_edges():
    """The wait is 0 at the least place of a strip, inf without a rate."""
    assert s.exponential(Given(0), 2.0) == 0.0
    assert s.exponential(Given(-1), math.inf) == 0.0
    assert s.exponential(Given(1 << 62), 5e-324) == math.inf
    assert [s.exponential(Given(0), rate) for rate in (0.0, -1.0, math.nan)] == [math.inf] * 3


def test_strips_have_equal_areas():
    """Each strip of the ziggurat, and the lowest with the tail, has the area of the others."""
    with mp.workdps(40):
        area = (mp.mpf(TAIL) + 1) * mp.exp(-mp.mpf(TAIL))
        for right, below in pairwise(EDGES[1:]):
            strip = mp.mpf(right) * (mp.exp(-mp.mpf(below)) - mp.exp(-mp.mpf(right)))
            assert abs(strip / area - 1) < 1e-12
        assert abs(EDGES[0] * mp.exp(-mp.mpf(TAIL)) / area - 1) < 1e-15


def test_tail_begins_anew():
    """A place beyond the lowest strip adds its width to a fresh draw."""
    in_tail, then = (0x1FFFFFFFFFFFFF << 11), 7 + (1 << 60)
    assert s.exponential(Given(in_tail, then), 1.0) == TAIL + s.exponential(Given(then), 1.0)


@pytest.mark.parametrize("strip", [1, 100, 255])
def test_places_over_the_curve_are_drawn_anew(strip):
    """A place between curve and strip is kept with the share of its height that is under the curve."""
    place = strip + (0x1FFFFFFFFFFFF0 << 11)  # at the right end, where the curve is at the strip's foot
    x = 0x1FFFFFFFFFFFF0 * 2.0**-53 * EDGES[strip]
    assert s.exponential(Given(place, 0), 1.0) == x
    again = 7 + (1 << 60)
    assert s.exponential(Given(place, -1, again), 1.0) == s.exponential(Given(again), 1.0)


def test_normal_distribution():
    """Normal variates, freed of mean and deviation, follow the error function."""
    x = (draws(s.normal, 3.0, 0.5) - 3.0) / 0.5
    assert_moments(x, 0.0, 1.0, 3.0)
    assert_continuous_fit(x, lambda e: 0.5 * math.erfc(-e / math.sqrt(2.0)), np.linspace(-3.0, 3.0, 61))


def test_normal_keeps_nothing():
    """A normal variate takes two draws, always, and none is kept for the next."""
    rng = Stream(SEED)
    for i in range(1, 50):
        s.normal(rng, 0.0, 1.0)
        assert rng.count == 2 * i


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 2.5, 300.0])
def test_gamma_distribution(shape):
    """Gamma variates have the regularised incomplete gamma function as distribution."""
    scale = 2.0
    x = draws(s.gamma, shape, scale)
    assert_moments(x, shape * scale, shape * scale**2, 3.0 * shape * (shape + 2.0) * scale**4)
    edges = np.quantile(draws(s.gamma, shape, scale, n=10_000, seed=7), np.arange(1, 40) / 40)
    assert_continuous_fit(x, lambda e: mp.gammainc(shape, 0, e / scale, regularized=True), edges)


# ------------------------------------------------------------------------------------------
# Choices
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 4), (10, 1010)])
def test_integers_are_uniform(low, high):
    """Integers fill their range evenly, both ends as its law says."""
    x = draws(s.integers, low, high).astype(np.int64)
    assert_fit(np.bincount(x - low, minlength=high - low), np.full(high - low, 1.0 / (high - low)))


def test_integers_of_a_wide_range():
    """Integers are uniform over a range of 3 * 2**61, where a quarter of the draws is refused."""
    x = draws(s.integers, 0, 3 * 2**61)
    assert_fit(np.bincount((x / 2.0**61 * 20.0).astype(np.int64), minlength=60), np.full(60, 1 / 60))


@settings(max_examples=300, deadline=None)
@given(bits=st.integers(-(2**63), 2**63 - 1), span=st.integers(2, 2**63 - 1))
def test_integers_follow_lemire(bits, span):
    """One draw gives the high half of the product, unless the low half is under 2**64 mod span."""
    high, rest = divmod(bits % 2**64 * span, 2**64)
    assert s.product_128(bits, span) == (high, rest - 2**64 * (rest >= 2**63))
    assert compiled(s.product_128)(bits, span) == s.product_128(bits, span)
    assert s.is_less(rest - 2**64 * (rest >= 2**63), span) == (rest < span)
    source = Given(bits, 2**62 + 1)
    value = s.integers(source, 0, span)
    if rest >= 2**64 % span:
        assert value == high
        assert len(source.bits) == 1
    else:
        assert len(source.bits) == 0


def test_integers_edges():
    """A range of one or none gives its low end without a draw; extreme bits give both ends."""
    assert [s.integers(Given(), 5, high) for high in (6, 5, 4)] == [5, 5, 5]
    assert [s.integers(Given(b), -4, 4) for b in (0, -1)] == [-4, 3]


def test_bernoulli_frequency():
    """A success has its probability."""
    p = 0.3
    x = draws(s.bernoulli, p)
    assert abs(x.mean() - p) < N_ERRORS * math.sqrt(p * (1.0 - p) / x.size)


def test_bernoulli_edges():
    """Probability 0 never succeeds and probability 1 always, at the extreme draws too."""
    assert not any(s.bernoulli(Given(b), 0.0) for b in (0, -1))
    assert all(s.bernoulli(Given(b), 1.0) for b in (0, -1))
    assert not s.bernoulli(Given(0), math.nan)


def test_choice_follows_the_weights():
    """An index is chosen in proportion to its weight, never one of weight zero."""
    weights = np.array([0.0, 1.0, 2.5, 0.0, 6.0, 0.5, 0.0])
    x = draws(s.choice_weighted, weights, 7).astype(np.int64)
    observed = np.bincount(x, minlength=7)
    assert not observed[weights == 0.0].any()
    assert_fit(observed[weights > 0.0], weights[weights > 0.0] / weights.sum())


def test_choice_edges():
    """Extreme draws choose the first and the last positive weight; without one the answer is -1."""
    assert [s.choice_weighted(Given(b), [0.0, 3.0, 1.0, 0.0], 4) for b in (0, -1)] == [1, 2]
    assert s.choice_weighted(Given(-1), [0.0, 5e-324, 5e-324, 0.0], 4) == 2
    assert s.choice_weighted(Given(0), [2.0], 1) == 0
    assert [s.choice_weighted(Given(0), [0.0, 0.0], n) for n in (0, 2)] == [-1, -1]


def test_shuffle_gives_each_order_alike():
    """Each of the 24 orders of four items is equally likely."""
    twin = compiled(s.shuffle)

    @numba.njit
    def orders(rng, out):
        for i in range(out.size):
            values = np.arange(4)
            twin(rng, values, 4)
            out[i] = values[0] * 64 + values[1] * 16 + values[2] * 4 + values[3]

    out = np.empty(N_DRAWS, np.int64)
    orders(CompiledStream(SEED), out)
    observed = np.unique(out, return_counts=True)[1]
    assert_fit(observed, np.full(24, 1 / 24))


def test_shuffle_edges():
    """Only the first n items move, and one item or none takes no draw."""
    values = list(range(10))
    rng = Stream(SEED)
    s.shuffle(rng, values, 1)
    s.shuffle(rng, values, 0)
    assert rng.count == 0
    assert values == list(range(10))
    s.shuffle(rng, values, 6)
    assert sorted(values[:6]) == list(range(6))
    assert values[6:] == [6, 7, 8, 9]


# ------------------------------------------------------------------------------------------
# Counts
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0.01, 1.0, 9.99, 10.0, 35.0, 1000.0, 1e6, 1e15])
def test_poisson_distribution(mean):
    """Poisson counts have the Poisson moments, and its masses where these can be listed."""
    x = draws(s.poisson, mean)
    assert_moments(x, mean, mean, mean * (1.0 + 3.0 * mean))
    if mean <= 1000.0:
        assert_count_fit(x, log_poisson(mean), range(int(mean + 10.0 * math.sqrt(mean) + 20.0)))


BINOMIAL = [
    (1, 0.3),
    (10, 0.5),
    (30, 0.05),
    (20, 0.5),
    (40, 0.4),
    (50, 0.93),
    (1000, 0.1),
    (10**6, 0.5),
    (10**15, 3e-15),
]


@pytest.mark.parametrize(("n", "p"), [*BINOMIAL, (10**15, 0.25)])
def test_binomial_distribution(n, p):
    """Binomial counts have the binomial moments, and its masses where these can be listed."""
    x = draws(s.binomial, n, p)
    variance = n * p * (1.0 - p)
    assert_moments(x, n * p, variance, variance * (1.0 + 3.0 * (n - 2) * p * (1.0 - p)))
    if n <= 1000:
        assert_count_fit(x, log_binomial(n, p), range(n + 1))


def test_count_edges():
    """Counts at the ends of their parameters are exact and draw nothing."""
    assert [s.poisson(Given(), mean) for mean in (0.0, -1.0, math.nan, 1e16, math.inf)] == [
        0,
        0,
        0,
        -1,
        -1,
    ]
    assert [s.binomial(Given(), 7, p) for p in (0.0, -0.5, math.nan, 1.0, 1.5)] == [0, 0, 0, 7, 7]
    assert [s.binomial(Given(), n, 0.5) for n in (0, -3)] == [0, 0]
    assert [s.binomial(Given(b), 1, 0.25) for b in (0, -1)] == [0, 1]


@pytest.mark.parametrize("bits", [0, -1])
def test_rejection_survives_extreme_draws(bits):
    """The rejection methods refuse a proposal of zero width instead of dividing by it."""
    assert s.poisson(Given(bits, bits, 2**62), 50.0) >= 0
    assert 0 <= s.binomial(Given(bits, bits, 2**62), 100, 0.5) <= 100


@pytest.mark.parametrize("mean", [10.0, 16.0, 300.0, 1e6, 1e15])
def test_log_poisson_is_accurate(mean):
    """The logarithm of the Poisson mass is within 1e-12 of mpmath over ten standard deviations."""
    with mp.workprec(200):
        for i in range(-100, 101):
            k = max(0, int(mean + 0.1 * i * math.sqrt(mean)))
            reference = k * mp.log(mean) - mp.mpf(mean) - mp.loggamma(k + 1)
            assert abs(s._log_poisson(k, mean) - reference) < 1e-12


CALLS = [
    (s.random, ()),
    (s.random_open, ()),
    (s.uniform, (-1.0, 2.0)),
    (s.exponential, (0.7,)),
    (s.normal, (1.0, 2.0)),
    (s.gamma, (0.3, 1.5)),
    (s.gamma, (7.0, 1.5)),
    (s.bernoulli, (0.4,)),
    (s.integers, (-5, 2**62 + 2**61)),
    (s.choice_weighted, ((0.5, 0.0, 2.0), 3)),
    (s.poisson, (3.0,)),
    (s.poisson, (12.0,)),
    (s.poisson, (1e9,)),
    (s.binomial, (12, 0.3)),
    (s.binomial, (90, 0.7)),
    (s.binomial, (10**9, 0.2)),
]


@pytest.mark.parametrize(("sampler", "parameters"), CALLS)
def test_compiled_equals_interpreted(sampler, parameters):
    """Compiled and interpreted draws have the same bits and take as many of the source."""
    rng = Stream(SEED)
    interpreted = np.array([float(sampler(rng, *parameters)) for _ in range(500)])
    assert np.array_equal(interpreted.view(np.int64), draws(sampler, *parameters, n=500).view(np.int64))


def test_compiled_shuffle_equals_interpreted():
    """A compiled shuffle gives the interpreted order."""
    values, array = list(range(100)), np.arange(100)
    s.shuffle(Stream(SEED), values, 100)
    compiled(s.shuffle)(CompiledStream(SEED), array, 100)
    assert array.tolist() == values
