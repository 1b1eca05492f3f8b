"""Laws of log, log1p, exp, sin and cos: under 1 ulp of mpmath, the same bits compiled."""

import functools
import math
import types

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from tocsin.kernel import _elementary, _philox, _samplers
from tocsin.kernel._bits import float_bits, float_from_bits
from tocsin.kernel._elementary import cos, exp, log, log1p, sin

from ._compiled import compiled

FUNCTIONS = [log, log1p, exp, sin, cos]
BOUND_ULP = 1.0
SCREEN_ULP = 0.9  # above this, the extended-precision estimate is replaced by mpmath
HAS_EXTENDED = np.finfo(np.longdouble).nmant >= 63


def points(function, n, seed):
    """Return about `n` doubles where `function` is finite, spread over its hard regions."""
    rng = np.random.default_rng(seed)
    m = n // 5
    every = rng.integers(0, 0x7FF0000000000000, m).view(np.float64)  # all exponents alike, subnormals included
    sign = rng.choice([-1.0, 1.0], m)
    tiny = sign * 10.0 ** rng.uniform(-17.0, -0.5, m)
    subnormal = rng.integers(1, 2**52, m).view(np.float64)
    if function is log:
        parts = [every, 1.0 + tiny, rng.uniform(0.5, 2.0, m), subnormal, 1.0 - rng.random(m)]
    elif function is log1p:
        parts = [every, tiny, rng.uniform(-1.0, 1.0, m), 10.0 ** rng.uniform(-1.0, 20.0, m)]
        parts += [-1.0 + np.maximum(np.abs(tiny), 2.0**-53)]
    elif function is exp:
        parts = [
            rng.uniform(-745.2, 709.78, m),
            tiny,
            rng.uniform(-1.0, 1.0, m),
            rng.uniform(-745.2, -708.0, m),
        ]
        parts += [np.round(rng.uniform(-1070.0, 1020.0, m)) * (math.log(2.0) / 2.0)]
    else:
        near = np.round(sign * 2.0 ** rng.uniform(0.0, 30.0, m)) * (math.pi / 2.0)
        parts = [
            every * sign,
            tiny,
            rng.uniform(-10.0, 10.0, m),
            rng.uniform(-1.7e6, 1.7e6, m),
            near,
        ]
    return np.concatenate(parts)


def exact(function, x):
    """Return `function` of the double `x` by mpmath, to 120 bits or more."""
    with mp.workprec(120):
        return getattr(mp, function.__name__)(mp.mpf(x))


def error_ulp(function, x, value):
    """Return the error of `value` in units of the last place of the exact result, by mpmath."""
    reference = exact(function, x)
    with mp.workprec(120):
        return float(abs(mp.mpf(value) - reference) / math.ulp(float(reference)))


def extended_error_ulp(function, x, values):
    """Return the same errors, estimated in 64-bit extended precision."""
    reference = getattr(np, function.__name__)(x.astype(np.longdouble))
    ulp = np.spacing(np.abs(reference.astype(np.float64))).astype(np.longdouble)
    return (np.abs(values.astype(np.longdouble) - reference) / ulp).astype(np.float64)


def compiled_values(function, x):
    """Return the compiled `function` at every point of `x`."""
    out = np.empty_like(x)
    filler(function)(x, out)
    return out


@functools.cache
def filler(function):
    """Return a compiled loop that applies `function` to an array, built once a function."""
    twin = compiled(function)

    @numba.njit
    def fill(x, out):
        for i in range(x.size):
            out[i] = twin(x[i])

    return fill


@functools.cache
def nearest_to_multiples():
    """Return doubles that come nearest to multiples of pi/2, two for every binary exponent."""
    found = []
    with mp.workprec(1300):
        for e in range(-40, 971):
            rest = mp.ldexp(2 / mp.pi, e)
            q_before, q = 0, 1
            denominators = []
            while q < 2**53:
                denominators.append(q)
                rest = 1 / (rest - mp.floor(rest))
                q_before, q = q, int(mp.floor(rest)) * q + q_before
            found += [math.ldexp(q, e) for q in denominators[-2:]]
    return np.array([x for x in found if x > 0.5])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_error_is_under_one_ulp(function):
    """The error is under 1 ulp at all exponents: subnormals, near roots, huge angles."""
    x = points(function, 20_000, seed=1)
    assert np.max([error_ulp(function, a, function(a)) for a in x.tolist()]) < BOUND_ULP


@pytest.mark.parametrize("function", [sin, cos])
def test_error_is_under_one_ulp_nearest_to_multiples_of_half_pi(function):
    """The error is under 1 ulp where reduction cancels most, at every binary exponent."""
    x = nearest_to_multiples()
    assert 6381956970095103 * 2.0**797 in x  # the nearest of all doubles, 2**-61 away (Kahan)
    assert np.max([error_ulp(function, a, function(a)) for a in x.tolist()]) < BOUND_ULP


@pytest.mark.skipif(not HAS_EXTENDED, reason="long double has no more than double precision here")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_extended_precision_screen_is_valid(function):
    """Errors estimated in extended precision are within 0.01 ulp of those by mpmath."""
    x = points(function, 5_000, seed=2)
    values = compiled_values(function, x)
    estimates = extended_error_ulp(function, x, values)
    errors = [error_ulp(function, a, v) for a, v in zip(x.tolist(), values.tolist(), strict=True)]
    assert np.max(np.abs(estimates - errors)) < 0.01


@pytest.mark.slow
@pytest.mark.skipif(not HAS_EXTENDED, reason="long double has no more than double precision here")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_error_is_under_one_ulp_on_two_million_points(function):
    """The error is under 1 ulp on 2 million points, those near the bound judged by mpmath."""
    for seed in range(10, 14):
        x = points(function, 500_000, seed)
        values = compiled_values(function, x)
        worst = np.nonzero(~(extended_error_ulp(function, x, values) < SCREEN_ULP))[0]
        for i in worst.tolist():
            assert error_ulp(function, float(x[i]), float(values[i])) < BOUND_ULP


@pytest.mark.parametrize("function", FUNCTIONS)
def test_compiled_equals_interpreted(function):
    """Compiled values have the bits of the interpreted ones, special values included."""
    edges = [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        -1.0,
        -2.0,
        5e-324,
        1.7e308,
        -1.7e308,
        710.0,
        -746.0,
    ]
    x = np.concatenate([points(function, 20_000, seed=3), edges])
    interpreted = np.array([function(a) for a in x.tolist()])
    assert np.array_equal(compiled_values(function, x).view(np.int64), interpreted.view(np.int64))


SPECIAL_VALUES = [
    (
        log,
        [
            (0.0, -math.inf),
            (-0.0, -math.inf),
            (1.0, 0.0),
            (math.inf, math.inf),
            (-5e-324, math.nan),
        ],
    ),
    (
        log,
        [
            (-1.0, math.nan),
            (-math.inf, math.nan),
            (math.nan, math.nan),
            (5e-324, -744.4400719213812),
        ],
    ),
    (log1p, [(0.0, 0.0), (-0.0, -0.0), (-1.0, -math.inf), (-1.5, math.nan), (math.inf, math.inf)]),
    (log1p, [(math.nan, math.nan), (5e-324, 5e-324), (-5e-324, -5e-324), (-math.inf, math.nan)]),
    (exp, [(0.0, 1.0), (-0.0, 1.0), (math.inf, math.inf), (-math.inf, 0.0), (math.nan, math.nan)]),
    (
        exp,
        [(709.782712893384, 1.7976931348622732e308), (709.7827128933841, math.inf), (5e-324, 1.0)],
    ),
    (
        exp,
        [(-745.1332191019411, 5e-324), (-745.1332191019412, 0.0), (1e308, math.inf), (-1e308, 0.0)],
    ),
    (sin, [(0.0, 0.0), (-0.0, -0.0), (5e-324, 5e-324), (-5e-324, -5e-324), (math.inf, math.nan)]),
    (sin, [(-math.inf, math.nan), (math.nan, math.nan), (2.0**-1022, 2.0**-1022)]),
    (
        cos,
        [
            (0.0, 1.0),
            (-0.0, 1.0),
            (5e-324, 1.0),
            (math.inf, math.nan),
            (-math.inf, math.nan),
            (math.nan, math.nan),
        ],
    ),
]


@pytest.mark.parametrize(("function", "table"), SPECIAL_VALUES)
def test_special_values(function, table):
    """Zeros keep their sign, poles give infinities, values outside the domain give the one nan."""
    for x, value in table:
        assert float_bits(function(x)) == float_bits(value), (x, function(x))


@settings(max_examples=300, deadline=None)
@given(x=st.floats(allow_nan=False, allow_infinity=False))
def test_symmetry(x):
    """The sine is odd and the cosine even, bit for bit."""
    assert float_bits(sin(-x)) == float_bits(-sin(x))
    assert float_bits(cos(-x)) == float_bits(cos(x))


@given(x=st.floats())
def test_bits_round_trip(x):
    """A double survives the casts to its bits and back."""
    assert float_bits(float_from_bits(float_bits(x))) == float_bits(x)


def test_words_are_two_over_pi():
    """The table holds the binary digits of 2/pi after two empty words."""
    words = _elementary._TWO_OVER_PI_WORDS
    with mp.workprec(1400):
        digits = int(mp.floor(mp.ldexp(2 / mp.pi, 28 * (len(words) - 2))))
    assert sum(w << (28 * i) for i, w in enumerate(reversed(words))) == digits


@pytest.mark.parametrize("module", [_elementary, _philox, _samplers])
def test_only_the_square_root_comes_from_outside(module):
    """No function calls anything of `math` but the square root, which IEEE 754 rounds exactly."""
    codes = [f.__code__ for f in vars(module).values() if isinstance(f, types.FunctionType)]
    used = {name for code in codes if "math" in code.co_names for name in code.co_names if hasattr(math, name)}
    ours = {name for name, value in vars(module).items() if isinstance(value, types.FunctionType)}
    assert used - ours <= {"sqrt", "inf", "nan"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_compiled_code_calls_no_mathematics_library(function):
    """The compiled code holds no call to a mathematics library and no fused multiply-add."""
    twin = compiled(function)
    twin(0.5)
    (text,) = twin.inspect_llvm().values()
    called = {line.split("@", 1)[1].split("(")[0] for line in text.splitlines() if line.startswith("declare")}
    assert not called & {
        "log",
        "log1p",
        "exp",
        "sin",
        "cos",
        "floor",
        "rint",
        "ldexp",
        "frexp",
        "fmod",
        "pow",
    }
    assert not [name for name in called if name.startswith(("llvm.fma", "llvm.fmuladd"))]
