"""Random variates: plain functions of a source of bits, the same interpreted, native and in wasm.

Doubles come from the top 53 bits of a draw. Nothing is kept between calls, and no function raises:
parameters are checked at the door, and one out of range gives the value that the docstring names.
"""

import math
from typing import Any, Protocol

from tocsin.kernel._bits import MASK53, TWO_TO_MINUS_53, unit53
from tocsin.kernel._elementary import cos, exp, log, log1p
from tocsin.kernel._ziggurat import standard_exponential


class BitSource(Protocol):
    """A source of random bits."""

    def bits64(self) -> int:
        """Return 64 uniform bits as a signed integer."""


_MASK32 = 0xFFFFFFFF
_SIGN32 = 0x80000000
_SIGN64 = -0x8000000000000000
_TWO_TO_62 = 0x4000000000000000
_TWO_TO_53 = 9007199254740992.0
_TWO_PI = 6.283185307179586

_INVERSION_MEAN = 10.0  # below this mean, counts are drawn by inversion
_INVERSION_BOUND = 110  # a count with a mean below 10 passes this with probability under 1e-70

# ------------------------------------------------------------------------------------------
# Continuous
# ------------------------------------------------------------------------------------------


def random(rng: BitSource) -> float:
    """Return a uniform double in [0, 1), a multiple of 2**-53. Cost: one draw."""
    return unit53(rng.bits64())


def random_open(rng: BitSource) -> float:
    """Return a uniform double in (0, 1], a multiple of 2**-53, safe under log. Cost: one draw."""
    return (((rng.bits64() >> 11) & MASK53) + 1) * TWO_TO_MINUS_53


def uniform(rng: BitSource, low: float, high: float) -> float:
    """Return a uniform double from `low` to `high`, in their unit. Cost: one draw.

    `high` itself comes out only where rounding takes it there.
    """
    return low + (high - low) * random(rng)


def exponential(rng: BitSource, rate: float) -> float:
    """Return an exponential waiting time of mean 1 / rate; inf (never) unless rate > 0.

    Parameters
    ----------
    rate
        Events per unit time, > 0.

    Notes
    -----
    Ziggurat (`_ziggurat.py`). Cost: one draw (rarely more), one division.
    """
    if not rate > 0.0:
        return math.inf
    return standard_exponential(rng) / rate


def normal(rng: BitSource, mean: float, sd: float) -> float:
    """Return a normal variate of the given mean and standard deviation (same unit), within 8.6 sd.

    Notes
    -----
    Box and Muller (1958), doi:10.1214/aoms/1177706645, the cosine alone. Cost: always two draws.
    """
    radius = math.sqrt(0.0 - 2.0 * log(random_open(rng)))
    return mean + sd * (radius * cos(_TWO_PI * random(rng)))


def gamma(rng: BitSource, shape: float, scale: float) -> float:
    """Return a gamma variate of mean shape * scale; 0 unless shape > 0.

    Notes
    -----
    Marsaglia and Tsang (2000), doi:10.1145/358407.358414; a shape below 1 is raised by 1 and
    brought back by a power of a uniform (section 6). Cost: about 3.1 draws, one more below 1.
    """
    if not shape > 0.0:
        return 0.0
    if shape >= 1.0:
        return scale * _standard_gamma(rng, shape)
    power = exp(log(random_open(rng)) / shape)
    return scale * (power * _standard_gamma(rng, shape + 1.0))


def _standard_gamma(rng: BitSource, shape: float) -> float:
    """Return a gamma variate of scale 1 for shape >= 1, by rejection from a cubed normal."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng, 0.0, 1.0)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = random_open(rng)
            if u < 1.0 - 0.0331 * (x * x) * (x * x) or log(u) < 0.5 * x * x + d * (1.0 - v + log(v)):
                return d * v


# ------------------------------------------------------------------------------------------
# Choices
# ------------------------------------------------------------------------------------------


def bernoulli(rng: BitSource, p: float) -> bool:
    """Return True with probability `p`: never for p <= 0, always for p >= 1. Cost: one draw."""
    return random(rng) < p


def integers(rng: BitSource, low: int, high: int) -> int:
    """Return a uniform integer in [low, high), without bias; `low` if there is at most one.

    Parameters
    ----------
    low, high
        Bounds with high - low < 2**63.

    Notes
    -----
    Lemire (2019), doi:10.1145/3230636, on 64 bits. Cost: one draw; a second with probability under
    (high - low) / 2**64. No draw where the answer is `low` alone.
    """
    span = high - low
    if span <= 1:
        return low
    product, rest = product_128(rng.bits64(), span)
    if is_less(rest, span):
        threshold = least_unbiased(span)
        while is_less(rest, threshold):
            product, rest = product_128(rng.bits64(), span)
    return low + product


def is_less(bits: int, bound: int) -> bool:
    """Say whether unsigned `bits` < bound, in one comparison: asking for the sign first is a branch that no CPU foresees."""
    return (bits ^ _SIGN64) < (bound ^ _SIGN64)


def least_unbiased(span: int) -> int:
    """Return 2**64 mod span: a product whose low 64 bits are less belongs to a number that came up too often."""
    return _double_modulo(_double_modulo(_TWO_TO_62 % span, span), span)


def product_128(bits: int, span: int) -> tuple[int, int]:
    """Return the high and the low (signed) 64 bits of unsigned `bits` times span < 2**63."""
    x1 = (bits >> 32) & _MASK32
    x0 = bits & _MASK32
    s1 = span >> 32
    s0 = span & _MASK32
    p00 = x0 * s0
    p01 = x0 * s1
    p10 = x1 * s0
    middle = ((p00 >> 32) & _MASK32) + (p01 & _MASK32) + (p10 & _MASK32)
    high = x1 * s1 + (p01 >> 32) + ((p10 >> 32) & _MASK32) + (middle >> 32)
    low_half = ((middle & _MASK32) ^ _SIGN32) - _SIGN32
    return high, (low_half << 32) | (p00 & _MASK32)


def _double_modulo(r: int, span: int) -> int:
    """Return 2 r mod span for 0 <= r < span, with no value above span."""
    return r - (span - r) if r >= span - r else r + r


def choice_weighted(rng: BitSource, weights: Any, n: int) -> int:
    """Return an index in [0, n) in proportion to its weight; -1 unless some weight is positive.

    Parameters
    ----------
    weights
        Anything indexable with `n` finite floats >= 0, in any unit.

    Notes
    -----
    Inversion, monotone in the draw. Cost: one draw, two passes over the weights.
    """
    total = 0.0
    for i in range(n):
        total += weights[i]
    target = random(rng) * total
    chosen = -1
    cumulative = 0.0
    for i in range(n):
        if weights[i] > 0.0:
            chosen = i  # the last positive one stays chosen should rounding put the target on the total
            cumulative += weights[i]
            if target < cumulative:
                return chosen
    return chosen


def shuffle(rng: BitSource, values: Any, n: int) -> None:
    """Permute the first `n` items of `values` in place, each order equally likely.

    Notes
    -----
    Fisher and Yates; Durstenfeld (1964), doi:10.1145/364520.364540. Cost: n - 1 draws.
    """
    for i in range(n - 1, 0, -1):
        j = integers(rng, 0, i + 1)
        held = values[i]
        values[i] = values[j]
        values[j] = held


# ------------------------------------------------------------------------------------------
# Counts
# ------------------------------------------------------------------------------------------


def poisson(rng: BitSource, mean: float) -> int:
    """Return a Poisson count; 0 unless mean > 0, -1 for a mean above 2**53.

    Notes
    -----
    Inversion below mean 10 (one draw), from there on rejection PTRS, Hörmann (1993),
    doi:10.1016/0167-6687(93)90997-4 (about 2.5 draws).
    """
    if not mean > 0.0:
        return 0
    if mean > _TWO_TO_53:
        return -1
    if mean < _INVERSION_MEAN:
        return _poisson_by_inversion(rng, mean)
    return _poisson_by_rejection(rng, mean)


def binomial(rng: BitSource, n: int, p: float) -> int:
    """Return the successes in n <= 2**53 trials of probability `p`; 0 unless n > 0 and p > 0.

    Notes
    -----
    Inversion where n min(p, 1 - p) < 10 (one draw), elsewhere rejection BTRS, Hörmann (1993),
    doi:10.1080/00949659308811496 (about 2.5 draws).
    """
    if n <= 0 or not p > 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - _binomial_of_half(rng, n, 1.0 - p)
    return _binomial_of_half(rng, n, p)


def _poisson_by_inversion(rng: BitSource, mean: float) -> int:
    """Return a Poisson count for a mean below 10, by a walk up its distribution."""
    first = exp(-mean)
    while True:
        u = random(rng)
        k = 0
        mass = first
        while u >= mass and k < _INVERSION_BOUND:
            u -= mass
            k += 1
            mass *= mean / k
        if k < _INVERSION_BOUND:
            return k


def _poisson_by_rejection(rng: BitSource, mean: float) -> int:
    """Return a Poisson count for a mean from 10 to 2**53 (PTRS; names as in the paper)."""
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = random(rng) - 0.5
        v = random_open(rng)
        us = 0.5 - abs(u)
        if us < 0.013 and v > us:  # also keeps us > 0, since v > 0
            continue
        x = (2.0 * a / us + b) * u + mean + 0.43
        if not 0.0 <= x < 2.0 * _TWO_TO_53:
            continue
        k = int(x)
        if us >= 0.07 and v <= v_r:
            return k
        if log(v * inverse_alpha / (a / (us * us) + b)) <= _log_poisson(k, mean):
            return k


def _binomial_of_half(rng: BitSource, n: int, p: float) -> int:
    """Return a binomial count for 0 < p <= 1/2."""
    if n * p < _INVERSION_MEAN:
        return _binomial_by_inversion(rng, n, p)
    return _binomial_by_rejection(rng, n, p)


def _binomial_by_inversion(rng: BitSource, n: int, p: float) -> int:
    """Return a binomial count for n p < 10, by a walk up its distribution."""
    first = exp(n * log1p(-p))
    odds = p / (1.0 - p)
    while True:
        u = random(rng)
        k = 0
        mass = first
        while u >= mass and k < _INVERSION_BOUND:
            u -= mass
            k += 1
            mass *= odds * (n - k + 1) / k  # 0 from k = n + 1 on
        if k <= n and k < _INVERSION_BOUND:
            return k


def _binomial_by_rejection(rng: BitSource, n: int, p: float) -> int:
    """Return a binomial count for n p >= 10 and p <= 1/2 (BTRS; names as in the paper)."""
    q = 1.0 - p
    spread = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    v_r = 0.92 - 4.2 / b
    mode = int((n + 1) * p)
    log_f_mode = _log_poisson(mode, n * p) + _log_poisson(n - mode, n * q)
    while True:
        u = random(rng) - 0.5
        v = random_open(rng)
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        x = (2.0 * a / us + b) * u + n * p + 0.5
        if not 0.0 <= x < n + 1.0:
            continue
        k = int(x)
        if us >= 0.07 and v <= v_r:
            return k
        # A binomial mass is a product of two Poisson masses but for a factor without k.
        log_f = _log_poisson(k, n * p) + _log_poisson(n - k, n * q)
        if log(v * alpha / (a / (us * us) + b)) <= log_f - log_f_mode:
            return k


def _log_poisson(k: int, mean: float) -> float:
    """Return the logarithm of the Poisson mass at `k`, by the saddle point for k >= 16.

    Loader (2000), "Fast and accurate computation of binomial probabilities": log k! by Stirling,
    the rest as a deviance that does not cancel near the mean. Absolute error under 1e-12.
    """
    if k < 16:
        factorial = 1.0
        for i in range(2, k + 1):
            factorial *= i
        return k * log(mean) - mean - log(factorial)
    t = 1.0 / (1.0 * k * k)
    stirling = 1.0 / 12.0 - t * (1.0 / 360.0 - t * (1.0 / 1260.0 - t * (1.0 / 1680.0 - t / 1188.0)))
    return -_deviance(1.0 * k, mean) - stirling / k - 0.5 * log(_TWO_PI * k)


def _deviance(k: float, mean: float) -> float:
    """Return k log(k / mean) + mean - k, by a series where k is near the mean."""
    d = k - mean
    v = d / (k + mean)
    if not -0.1 < v < 0.1:
        return k * log(k / mean) - d
    w = v * v
    s = 1.0 / 9.0 + w * (1.0 / 11.0 + w * (1.0 / 13.0 + w * (1.0 / 15.0 + w / 17.0)))
    s = 1.0 / 3.0 + w * (1.0 / 5.0 + w * (1.0 / 7.0 + w * s))
    return v * (d + 2.0 * k * w * s)
