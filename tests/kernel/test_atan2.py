"""Laws of atan2: under 1 ulp of mpmath, the signs of C, the same bits compiled."""

import itertools
import math

import numba
import numpy as np
import pytest
from mpmath import mp

from tocsin.kernel import _elementary
from tocsin.kernel._bits import float_bits
from tocsin.kernel._elementary import atan2

from ._compiled import compiled

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7e308, -1.7e308, 2.0**-1022]


def points(n, seed):
    """Return 6 n points (y, x): all exponents, all directions, quotients far from 1 and near the seams of the reduction."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (6 * n, 2))
    every = rng.integers(0, 0x7FF0000000000000, (n, 2)).view(np.float64)
    subnormal = rng.integers(1, 2**53, (n, 2)).view(np.float64)
    turn, far = rng.uniform(0.0, 2.0 * math.pi, n), 10.0 ** rng.uniform(-300.0, 300.0, n)
    circle = np.stack([far * np.sin(turn), far * np.cos(turn)], axis=1)
    share = 10.0 ** rng.uniform(-9.0, 9.0, n)
    steep = np.stack([share, 1.0 / share], axis=1)
    seams = np.stack(
        [rng.choice([0.4375, 0.6875, 1.0, 1e-9], n) * (1.0 + rng.integers(-9, 9, n) * 2.0**-52), np.ones(n)], 1
    )
    return signs * np.concatenate([rng.normal(size=(n, 2)), every, subnormal, circle, steep, seams])


def error_ulp(y, x):
    """Return the error of atan2 in units of the last place, by mpmath."""
    with mp.workprec(160):
        reference = mp.atan2(mp.mpf(y), mp.mpf(x))
        return float(abs(mp.mpf(atan2(y, x)) - reference) / math.ulp(float(reference)))


def test_error_is_under_one_ulp():
    """The error is under 1 ulp in all quadrants, at all exponents."""
    assert max(error_ulp(y, x) for y, x in points(2_000, 1).tolist()) < 1.0


@pytest.mark.slow
def test_error_is_under_one_ulp_on_many_points():
    """The same on many more points."""
    assert max(error_ulp(y, x) for y, x in points(30_000, 2).tolist()) < 1.0


def test_special_values_are_those_of_c():
    """Zeros and infinities give the multiples of pi / 4 with the signs of C; nan gives nan."""
    for y, x in itertools.product(SPECIAL, SPECIAL):
        found, expected = atan2(y, x), math.atan2(y, x)
        if math.isnan(expected):
            assert math.isnan(found)
        else:
            assert abs(found - expected) <= math.ulp(expected), (y, x)
            assert math.copysign(1.0, found) == math.copysign(1.0, expected), (y, x)


def test_symmetry():
    """Below the axis the angle is the negative of that above, bit for bit."""
    for y, x in points(200, 3).tolist():
        assert float_bits(atan2(-y, x)) == float_bits(-atan2(y, x))


def test_compiled_equals_interpreted_and_calls_no_library():
    """Compiled values have the bits of the interpreted ones; no call to a library, no fused multiply-add."""
    twin = compiled(atan2)
    at = np.concatenate([points(3_000, 4), np.array(list(itertools.product(SPECIAL, SPECIAL)))])

    @numba.njit
    def fill(at, out):
        for i in range(len(at)):
            out[i] = twin(at[i, 0], at[i, 1])

    out = np.empty(len(at))
    fill(at, out)
    interpreted = np.array([atan2(y, x) for y, x in at.tolist()])
    assert np.array_equal(out.view(np.int64), interpreted.view(np.int64))
    twin(0.5, 0.5)
    for text in twin.inspect_llvm().values():
        called = {line.split("@", 1)[1].split("(")[0] for line in text.splitlines() if line.startswith("declare")}
        assert not called & {"atan", "atan2"}
        assert not [name for name in called if name.startswith(("llvm.fma", "llvm.fmuladd"))]


def test_coefficients():
    """The polynomial is atan(u) - u within 2**-57 of atan(u) on |u| <= 7/16."""
    names = [f"_A{k}" for k in range(1, 12)]
    with mp.workprec(160):
        coefficients = [mp.mpf(getattr(_elementary, name)) for name in names]
        for u in (mp.mpf(k) / 1000 for k in range(1, 438)):
            series = u + u**3 * sum(c * u ** (2 * k) for k, c in enumerate(coefficients))
            assert abs(series / mp.atan(u) - 1) < mp.mpf(2) ** -57
