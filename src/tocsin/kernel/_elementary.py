"""log, log1p, exp, sin, cos and atan2 on IEEE double arithmetic: under 1 ulp, the same bits everywhere.

No libm call and no fused multiply-add: each function is a fixed sequence of correctly rounded
operations, so CPython, native code and wasm agree. No function raises: a value outside the domain
gives nan.

The schemes are those that fdlibm (Ng, Sun Microsystems, 1993) documents for log, log1p, sin, cos
and atan, and Tang's without its table for exp (doi:10.1145/63522.214389); angles are reduced after Cody
and Waite (1980) and, huge ones, after Payne and Hanek (doi:10.1145/1057600.1057602); compensated
sums are from Dekker (doi:10.1007/BF01397083) and Knuth. The polynomials are our own minimax fits
(Remez exchange), each coefficient rounded to double and fixed before the next was fitted; the
relative error of each fit stands beside it.
"""

import math

from tocsin.kernel._bits import float_bits, float_from_bits

_MIN_NORMAL_BITS = 0x0010000000000000  # 2**-1022
_INF_BITS = 0x7FF0000000000000
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_FRACTION_MASK = 0x000FFFFFFFFFFFFF
_IMPLICIT_ONE = 0x0010000000000000

_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding and taking it away rounds to the nearest integer

# ------------------------------------------------------------------------------------------
# log
# ------------------------------------------------------------------------------------------

# ln 2 in two parts; the first has 32 bits, so its product with an exponent (11 bits) is exact.
_LN2_HI32 = 0.6931471803691238
_LN2_LO32 = 1.9082149292705877e-10

# (log((1 + s) / (1 - s)) - 2 s) / s in s**2, without constant, |s| <= 0.1716; error 2**-59.4.
_L1 = 0.6666666666666734
_L2 = 0.39999999999416536
_L3 = 0.2857142874206799
_L4 = 0.22222198599653328
_L5 = 0.1818356318931524
_L6 = 0.15314074912211545
_L7 = 0.14795744208718586


def log(x: float) -> float:
    """Return the natural logarithm of `x`, error under 1 ulp; -inf at 0, nan below.

    Notes
    -----
    x = 2**k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), then a series in f / (2 + f). Cost: one
    division, no table.
    """
    bits = float_bits(x)
    k = 0
    if bits < _MIN_NORMAL_BITS or bits >= _INF_BITS:
        if not 0.0 < x < math.inf:
            return _log_outside(x)
        bits = float_bits(x * 18014398509481984.0)  # subnormal: times 2**54 is exact
        k = -54
    e = (bits - _SQRT_HALF_BITS) >> 52
    return _log_of_scaled(k + e, float_from_bits(bits - (e << 52)) - 1.0, 0.0)


def log1p(x: float) -> float:
    """Return log(1 + x), error under 1 ulp also where 1 + x rounds; -inf at -1, nan below.

    Notes
    -----
    What 1 + x loses by rounding comes back as a first-order correction. Cost: two divisions, one
    for small `x`.
    """
    if -0.29 < x < 0.41:
        return _log_of_scaled(0, x, 0.0) if x != 0.0 else x
    if not -1.0 < x < math.inf:
        return _log_outside(x + 1.0)
    u = 1.0 + x
    lost = 1.0 - (u - x) if x > 1.0 else x - (u - 1.0)
    bits = float_bits(u)
    e = (bits - _SQRT_HALF_BITS) >> 52
    return _log_of_scaled(e, float_from_bits(bits - (e << 52)) - 1.0, lost / u)


def _log_of_scaled(k: int, f: float, c: float) -> float:
    """Return k ln 2 + log(1 + f) + c for 1 + f in [sqrt(1/2), sqrt(2)] and a tiny `c`."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = z * (((_L1 + z * _L2) + w * (_L3 + z * _L4)) + (w * w) * ((_L5 + z * _L6) + w * _L7))
    half = 0.5 * f * f
    return k * _LN2_HI32 - ((half - (s * (half + r) + (k * _LN2_LO32 + c))) - f)


def _log_outside(x: float) -> float:
    """Return the logarithm of an `x` that is not positive and finite."""
    if x == 0.0:
        return -math.inf
    return math.inf if x > 0.0 else math.nan


# ------------------------------------------------------------------------------------------
# exp
# ------------------------------------------------------------------------------------------

_INV_LN2 = 1.4426950408889634

# ln 2 in two parts; the first has 42 bits, so its product with a binary exponent is exact.
_LN2_HI42 = 0.6931471805598903
_LN2_LO42 = 5.497923018708371e-14

# (exp(r) - 1 - r - r**2 / 2) / r**3 for |r| <= ln(2) / 2; error 2**-61.4 of exp(r).
_E3 = 0.1666666666666668
_E4 = 0.041666666666665374
_E5 = 0.008333333333318956
_E6 = 0.0013888888889364971
_E7 = 0.00019841269894114956
_E8 = 2.480158679489688e-05
_E9 = 2.7557235016712276e-06
_E10 = 2.7557417139013524e-07
_E11 = 2.5112574892458363e-08
_E12 = 2.0948390467188234e-09


def exp(x: float) -> float:
    """Return e**x, error under 1 ulp, subnormal results included; inf on overflow, 0 on underflow.

    Notes
    -----
    x = k ln 2 + r with |r| <= ln(2) / 2. doi:10.1145/63522.214389. Cost: no division, no table.
    """
    if not -745.2 < x < 709.8:
        return _exp_outside(x)
    n = (x * _INV_LN2 + _ROUND) - _ROUND
    hi = x - n * _LN2_HI42  # exact
    lo = n * _LN2_LO42
    r = hi - lo
    z = r * r
    q = (_E3 + r * _E4) + z * ((_E5 + r * _E6) + z * ((_E7 + r * _E8) + z * ((_E9 + r * _E10) + z * (_E11 + r * _E12))))
    y = 1.0 + (hi + ((0.5 * z + r * z * q) - lo))
    return _times_power_of_two(y, int(n))


def _times_power_of_two(y: float, k: int) -> float:
    """Return y 2**k rounded once, for `y` in [1/2, 2) and -1075 <= k <= 1024."""
    if -1021 <= k <= 1023:
        return y * float_from_bits((k + 1023) << 52)
    if k > 0:
        return y * 8.98846567431158e307 * 2.0  # 2**1023
    return y * float_from_bits((k + 2023) << 52) * 9.332636185032189e-302  # 2**-1000


def _exp_outside(x: float) -> float:
    """Return e**x where it overflows, underflows or `x` is nan."""
    if x > 0.0:
        return math.inf
    return 0.0 if x < 0.0 else math.nan


# ------------------------------------------------------------------------------------------
# sin and cos
# ------------------------------------------------------------------------------------------

_QUARTER_PI = 0.7853981633974483
_TWO_OVER_PI = 0.6366197723675814

# (sin(y) - y) / y**3 in y**2 for |y| <= pi / 4; error 2**-57.8.
_S1 = -0.1666666666666663
_S2 = 0.00833333333332184
_S3 = -0.00019841269829358528
_S4 = 2.7557313538514323e-06
_S5 = -2.5050734389297082e-08
_S6 = 1.5895433295049693e-10

# (cos(y) - 1 + y**2 / 2) / y**4 in y**2 for |y| <= pi / 4; error 2**-63.9.
_C1 = 0.041666666666666595
_C2 = -0.0013888888888873338
_C3 = 2.4801587288997485e-05
_C4 = -2.755731421530058e-07
_C5 = 2.0875705115181577e-09
_C6 = -1.1358732782070318e-11


def sin(x: float) -> float:
    """Return the sine of `x` radians, error under 1 ulp for every double; nan for infinite `x`.

    Notes
    -----
    Cost: no division; beyond |x| = 1.6e6, where all bits of 2/pi come in, about 6 times slower.
    """
    if -_QUARTER_PI <= x <= _QUARTER_PI:
        return _sin_near(x, 0.0)
    n, y, tail = _reduce(x)
    value = _cos_near(y, tail) if n & 1 else _sin_near(y, tail)
    return -value if n & 2 else value


def cos(x: float) -> float:
    """Return the cosine of `x` radians, error under 1 ulp for every double; nan for infinite `x`.

    Notes
    -----
    Cost: as `sin`.
    """
    if -_QUARTER_PI <= x <= _QUARTER_PI:
        return _cos_near(x, 0.0)
    n, y, tail = _reduce(x)
    value = _sin_near(y, tail) if n & 1 else _cos_near(y, tail)
    return -value if (n + 1) & 2 else value


def _sin_near(y: float, tail: float) -> float:
    """Return sin(y + tail) for |y| <= pi/4 and a `tail` of at most about one ulp of `y`."""
    z = y * y
    v = z * y
    r = _S2 + z * (_S3 + z * _S4) + z * (z * z) * (_S5 + z * _S6)
    return y - ((z * (0.5 * tail - v * r) - tail) - v * _S1)


def _cos_near(y: float, tail: float) -> float:
    """Return cos(y + tail) for |y| <= pi/4 and a `tail` of at most about one ulp of `y`."""
    z = y * y
    w = z * z
    r = z * (_C1 + z * (_C2 + z * _C3)) + w * w * (_C4 + z * (_C5 + z * _C6))
    half = 0.5 * z
    one = 1.0 - half
    return one + (((1.0 - one) - half) + (z * r - y * tail))


# ------------------------------------------------------------------------------------------
# Reduction of an angle to [-pi/4, pi/4]
# ------------------------------------------------------------------------------------------

_MEDIUM = 1.6e6  # below 2**20 pi/2, so that a multiple has at most 20 bits

# pi/2 in parts of 33 bits, whose products with a multiple below 2**20 are exact, and what is left
# after two and after three of them.
_HALF_PI_1 = 1.5707963267341256
_HALF_PI_2 = 6.077100506303966e-11
_HALF_PI_REST_2 = 2.0222662487959506e-21
_HALF_PI_3 = 2.0222662487111665e-21
_HALF_PI_REST_3 = 8.4784276603689e-32

# pi/2 in parts of 26, 27 and 53 bits, for an exact product with a double cut in two.
_HALF_PI = 1.5707963267948966
_HALF_PI_26 = 1.5707963109016418
_HALF_PI_27 = 1.5893254712295857e-08
_HALF_PI_REST = 6.123233995736766e-17

_MASK28 = 0x0FFFFFFF
_CUT_27_BITS = -0x8000000

# 2/pi in words of 28 bits, after two words of zero so that the least angles find digits to drop.
# fmt: off
_TWO_OVER_PI_WORDS = (
    0, 0,
    170891318, 240010261, 44024437, 131200308, 232525238, 43358524, 70845471, 240214955,
    233552982, 28779630, 61088989, 48236105, 49193117, 26352894, 31371723, 19507006, 243802975,
    86948676, 139368903, 2536543, 132387737, 30816643, 87269193, 210001803, 199201411, 186644631,
    268296281, 135261999, 18396576, 174923629, 57142514, 130746807, 83125238, 111042538, 47665787,
    180874213, 253211600, 121239434, 86584998, 201023409, 33084880, 139854640,
)
# fmt: on


def _reduce(x: float) -> tuple[int, float, float]:
    """Return (n, y, tail) with x = n pi/2 + y + tail and |y| <= pi/4; `n` holds modulo 4 only."""
    if -_MEDIUM < x < _MEDIUM:
        return _reduce_medium(x)
    if 0.0 < x < math.inf:
        return _reduce_huge(x)
    if -math.inf < x < 0.0:
        n, y, tail = _reduce_huge(-x)
        return -n, -y, -tail
    return 0, math.nan, 0.0


def _reduce_medium(x: float) -> tuple[int, float, float]:
    """Reduce |x| < 1.6e6 with pi/2 in three parts, or in four where the result nearly cancels."""
    n = (x * _TWO_OVER_PI + _ROUND) - _ROUND
    a, b = _two_sum(x - n * _HALF_PI_1, -(n * _HALF_PI_2))  # both differences exact
    if -1e-6 < a < 1e-6:
        d, e = _two_sum(b, -(n * _HALF_PI_3))
        y, tail = _two_sum(a, d)
        return int(n), y, tail + (e - n * _HALF_PI_REST_3)
    c = b - n * _HALF_PI_REST_2
    y = a + c
    return int(n), y, (a - y) + c


def _reduce_huge(x: float) -> tuple[int, float, float]:
    """Reduce x >= 1.6e6 by the bits of 2/pi that matter (doi:10.1145/1057600.1057602).

    x = m 2**e; words of 2/pi before number i contribute multiples of 4. Eight words leave 139 bits
    of the fraction, and no double lies nearer than 2**-62 to a multiple of pi/2, so y + tail keeps
    over 70 bits.
    """
    bits = float_bits(x)
    e = (bits >> 52) - 1075
    m = (bits & _FRACTION_MASK) | _IMPLICIT_ONE
    i = (e + 54) // 28  # 0 <= i <= 36: i + 7 is inside the table of 44
    d0, d1, d2, d3, d4, d5 = _times_two_over_pi(m >> 28, m & _MASK28, i)
    shift = 28 * i - e  # bits of the fraction in (d0, d1): 27 to 54
    top = (d0 << 28) | d1
    n = (top >> shift) & 3
    fraction = top & ((1 << shift) - 1)
    sign = 1.0
    if fraction >> (shift - 1):  # above one half: go to the next multiple, complement digit by digit
        n += 1
        sign = -1.0
        fraction = (1 << shift) - 1 - fraction
        d2, d3, d4, d5 = _MASK28 - d2, _MASK28 - d3, _MASK28 - d4, _MASK28 - d5
    unit = sign * float_from_bits((1023 - shift) << 52)
    h, t1 = _two_sum(fraction * unit, d2 * (unit * 3.725290298461914e-09))  # 2**-28
    unit *= 1.3877787807814457e-17  # 2**-56
    h, t2 = _two_sum(h, d3 * unit)
    rest = d4 * (unit * 3.725290298461914e-09) + d5 * (unit * 1.3877787807814457e-17)
    y, tail = _times_half_pi(h, t1 + t2 + rest)
    return n, y, tail


def _times_two_over_pi(m1: int, m0: int, i: int) -> tuple[int, int, int, int, int, int]:
    """Return six base 2**28 digits of (m1 2**28 + m0) times 2/pi, from the weight of word `i`."""
    w = _TWO_OVER_PI_WORDS
    p = (m0 * w[i + 6] + m1 * w[i + 7]) >> 28  # each sum stays below 2**58
    p += m0 * w[i + 5] + m1 * w[i + 6]
    d5 = p & _MASK28
    p = (p >> 28) + m0 * w[i + 4] + m1 * w[i + 5]
    d4 = p & _MASK28
    p = (p >> 28) + m0 * w[i + 3] + m1 * w[i + 4]
    d3 = p & _MASK28
    p = (p >> 28) + m0 * w[i + 2] + m1 * w[i + 3]
    d2 = p & _MASK28
    p = (p >> 28) + m0 * w[i + 1] + m1 * w[i + 2]
    d1 = p & _MASK28
    p = (p >> 28) + m0 * w[i] + m1 * w[i + 1]
    return p & _MASK28, d1, d2, d3, d4, d5


def _times_half_pi(h: float, low: float) -> tuple[float, float]:
    """Return (h + low) pi/2 as a double and its tail, to about 2**-79."""
    h26 = float_from_bits(float_bits(h) & _CUT_27_BITS)
    h27 = h - h26
    p = h26 * _HALF_PI_26
    q = (h27 * _HALF_PI_26 + h26 * _HALF_PI_27) + (h27 * _HALF_PI_27 + (h * _HALF_PI_REST + low * _HALF_PI))
    y = p + q
    return y, (p - y) + q


def _two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b rounded, and what the rounding lost (Knuth, TAOCP 2, 4.2.2, theorem B)."""
    s = a + b
    b_part = s - a
    return s, (a - (s - b_part)) + (b - b_part)


# ------------------------------------------------------------------------------------------
# atan2
# ------------------------------------------------------------------------------------------

_PI = 3.141592653589793
_PI_REST = 1.2246467991473532e-16
_ATAN_HALF = 0.4636476090008061
_ATAN_HALF_REST = 2.2698777452961687e-17
_QUARTER_PI_REST = 3.061616997868383e-17

# (atan(u) - u) / u**3 in u**2 for |u| <= 7/16; error 2**-57.7 (Lawson's reweighting, not Remez).
_A1 = -0.3333333333333292
_A2 = 0.19999999999873755
_A3 = -0.14285714272267538
_A4 = 0.11111110395292553
_A5 = -0.09090886880719536
_A6 = 0.07691872313894253
_A7 = -0.06661034798491608
_A8 = 0.0583332803046969
_A9 = -0.04975930155373746
_A10 = 0.03651062566001429
_A11 = -0.016265845949611037


def atan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y), -pi to pi, error under 1 ulp; signs of zeros count, as in C.

    Notes
    -----
    The smaller of |x| and |y| over the larger, what that quotient loses by rounding, and the
    arc tangent of at most 1. Cost: four divisions.
    """
    if not (x == x and y == y):
        return math.nan
    ax, ay = abs(x), abs(y)
    is_left, is_below = float_bits(x) < 0, float_bits(y) < 0
    if ay == 0.0 or (ax == math.inf and ay < math.inf):
        angle = _PI if is_left else 0.0
    elif ax == math.inf:
        angle = 2.356194490192345 if is_left else _QUARTER_PI
    elif ay > ax:
        angle = _below_a_half_pi(ax, ay, 1.0 if is_left else -1.0)
    else:
        angle = _from_an_axis(ay, ax, is_left)
    return -angle if is_below else angle


def _below_a_half_pi(small: float, large: float, sign: float) -> float:
    """Return pi/2 + sign atan(small / large), 0 <= small < large."""
    hi, rest, lo = _atan_of_quotient(small, large)
    top, lost = _two_sum(_HALF_PI, sign * hi)
    return top + (sign * rest + (lost + (_HALF_PI_REST + sign * lo)))


def _from_an_axis(small: float, large: float, is_left: bool) -> float:
    """Return atan(small / large), 0 < small <= large, or pi less that."""
    hi, rest, lo = _atan_of_quotient(small, large)
    if not is_left:
        return hi + (rest + lo)
    top, lost = _two_sum(_PI, -hi)
    return top + ((lost + (_PI_REST - lo)) - rest)


def _atan_of_quotient(small: float, large: float) -> tuple[float, float, float]:
    """Return atan(small / large) in three parts, the last the least, for 0 <= small <= large < inf."""
    t = small / large
    if t < 1e-9:  # its cube is beyond the last bit, and so is what the quotient lost
        return t, 0.0, 0.0
    scale = 1.0
    if large < 1e-200:
        scale = 1.6069380442589903e60  # 2**200
    elif large > 1e200:
        scale = 6.223015277861142e-61  # 2**-200
    lost = _quotient_rest(small * scale, large * scale, t) / (1.0 + t * t)
    if t <= 0.4375:
        return t, _arc(t), lost
    if t <= 0.6875:
        u = (2.0 * t - 1.0) / (2.0 + t)
        return _ATAN_HALF, u + _arc(u), _ATAN_HALF_REST + lost
    u = (t - 1.0) / (t + 1.0)
    return _QUARTER_PI, u + _arc(u), _QUARTER_PI_REST + lost


def _quotient_rest(a: float, b: float, t: float) -> float:
    """Return a / b - t for t = a / b rounded: the product t b is taken exactly (Dekker)."""
    t26 = float_from_bits(float_bits(t) & _CUT_27_BITS)
    b26 = float_from_bits(float_bits(b) & _CUT_27_BITS)
    t27, b27 = t - t26, b - b26
    return ((((a - t26 * b26) - t26 * b27) - t27 * b26) - t27 * b27) / b


def _arc(u: float) -> float:
    """Return atan(u) - u for |u| <= 7/16."""
    z = u * u
    w = z * z
    odd = z * (_A1 + w * (_A3 + w * (_A5 + w * (_A7 + w * (_A9 + w * _A11)))))
    even = w * (_A2 + w * (_A4 + w * (_A6 + w * (_A8 + w * _A10))))
    return u * (odd + even)
