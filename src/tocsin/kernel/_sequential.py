"""Random sources that walk along: single streams, drawn from in the order of rescheduling.

They exist so that a world can repeat another program's run bit for bit; nothing else should use
them. What one clock draws depends on all that was drawn before, so an observer that draws, a
reordered action or a finer touch moves the whole run, and no pending time can be computed again.

* `NumpyPcg64`: PCG XSL-RR 128/64 (O'Neill 2014, HMC-CS-2014-0905) as NumPy samples from it.
* `RandPcg64`: the same generator as the lefsim engine samples from it, with Rust's rand 0.8.
* `SplitMix64`: Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195.

128 and 64 bit numbers are kept in words of 32 bits, each product is masked after its shift, and
so compiled and interpreted code give the same bits (see `_philox.py`).
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel import _samplers as samplers
from tocsin.kernel._bits import MASK53, TWO_TO_MINUS_53, float_bits, float_from_bits
from tocsin.kernel._elementary import log1p
from tocsin.kernel._numpy_exponential import numpy_exponential
from tocsin.kernel._philox import signed64
from tocsin.kernel._rng import Rng
from tocsin.schema import int64

MASK32 = 0xFFFFFFFF
_TWO_TO_32 = 4294967296.0


class Sequential(Rng):
    """A stream that walks along, whoever asks: it takes no notice of purpose, row and epoch."""

    DRAWS_AHEAD = False
    KEYED = False
    """Whether the draws of one clock can be drawn again; the audit asks."""

    word0: int64  # the state, its lowest 32 bits first
    word1: int64

    def open(self, purpose: int, row: int, epoch: int) -> None:
        """Go on where the stream stands; `block` counts the draws from here."""
        self.block = 0

    def bits32(self) -> int:
        """Return the lower 32 of 64 fresh bits."""
        return self.bits64() & MASK32

    def exponential(self, rate: float) -> float:
        """Exponential wait with `rate` events per unit time (> 0): -log1p(-u) / rate, u in [0, 1)."""
        return (0.0 - log1p(0.0 - self.random())) / rate

    def shuffle(self, values: Any, n: int) -> None:
        """Permute values[0..n-1] in place, all orders equally likely (Fisher and Yates)."""
        for i in range(n - 1, 0, -1):
            j = self.integers(0, i + 1)
            held = values[i]
            values[i] = values[j]
            values[j] = held


class Pcg64(Sequential):
    """PCG XSL-RR 128/64: a linear congruential generator on 128 bits, folded to 64."""

    word2: int64
    word3: int64
    step0: int64  # the odd increment
    step1: int64
    step2: int64
    step3: int64

    def bits64(self) -> int:
        """Return 64 random bits as a signed number."""
        words = pcg64_step(
            self.word0, self.word1, self.word2, self.word3,
            self.step0, self.step1, self.step2, self.step3,
        )  # fmt: skip
        self.word0 = words[0]
        self.word1 = words[1]
        self.word2 = words[2]
        self.word3 = words[3]
        self.block = self.block + 1
        return xsl_rr(words[0], words[1], words[2], words[3])


class NumpyPcg64(Pcg64):
    """The generator of `numpy.random.default_rng` with five of its samplers.

    They are `random`, `uniform`, `exponential`, `integers` and `shuffle`; the others are ours.
    """

    half: int64  # the upper half of a draw of which the lower one was used
    n_halves: int64

    def bits32(self) -> int:
        """Return 32 random bits: the lower half of a draw, and next time its upper half."""
        if self.n_halves > 0:
            self.n_halves = 0
            return self.half
        bits = self.bits64()
        self.half = (bits >> 32) & MASK32
        self.n_halves = 1
        return bits & MASK32

    def exponential(self, rate: float) -> float:
        """Exponential wait with `rate` events per unit time (> 0), from its mean 1 / rate."""
        return (1.0 / rate) * numpy_exponential(self)

    def integers(self, low: int, high: int) -> int:
        """Uniform whole number in low..high-1; draws nothing if there is only one.

        Lemire 2019, doi:10.1145/3230636, on 32 bits; on 64 if high - low passes 2**32.
        """
        span = high - low
        if span <= 1:
            return low
        if span > MASK32 + 1:
            return samplers.integers(self, low, high)
        if span == MASK32 + 1:
            return low + self.bits32()
        product = self.bits32() * span
        if product & MASK32 < span:
            threshold = (MASK32 + 1 - span) % span
            while product & MASK32 < threshold:
                product = self.bits32() * span
        return low + ((product >> 32) & MASK32)

    def shuffle(self, values: Any, n: int) -> None:
        """Permute values[0..n-1] in place; a place is drawn by masking bits and rejecting."""
        mask = 1
        while mask < n - 1:
            mask = 2 * mask + 1
        for i in range(n - 1, 0, -1):
            if i <= mask >> 1:
                mask = mask >> 1
            j = self.bits32() & mask
            while j > i:
                j = self.bits32() & mask
            held = values[i]
            values[i] = values[j]
            values[j] = held


class RandPcg64(Pcg64):
    """The generator of the lefsim engine, with its waits, whole numbers and coins (rand 0.8)."""

    def exponential(self, rate: float) -> float:
        """Exponential wait with `rate` events per unit time (> 0): -ln(u) / rate, u in (0, 1]."""
        u = (((self.bits64() >> 11) & MASK53) + 1) * TWO_TO_MINUS_53
        return (0.0 - fdlibm_log(u)) / rate

    def integers(self, low: int, high: int) -> int:
        """Uniform whole number in low..high-1, for a span below 2**32; it draws even for one number.

        A draw times the span; its lower half is accepted below the span moved up to 32 bits.
        """
        span = high - low
        if span < 1 or span > MASK32:
            return samplers.integers(self, low, high)  # rand draws 64 bits there, otherwise
        zone = (span << (1054 - (float_bits(1.0 * span) >> 52))) - 1
        product = self.bits32() * span
        while product & MASK32 > zone:
            product = self.bits32() * span
        return low + ((product >> 32) & MASK32)

    def bernoulli(self, p: float) -> bool:
        """True with probability p: 64 bits below floor(p 2**64); p >= 1 draws nothing."""
        if p >= 1.0:
            return True
        bits = self.bits64()
        high = int(p * _TWO_TO_32)
        low = int((p * _TWO_TO_32 - high) * _TWO_TO_32)
        top = (bits >> 32) & MASK32
        return top < high or (top == high and bits & MASK32 < low)


class SplitMix64(Sequential):
    """SplitMix64: a counter by the golden ratio and a mixer."""

    def bits64(self) -> int:
        """Return 64 random bits as a signed number."""
        low = self.word0 + 0x7F4A7C15
        high = (self.word1 + 0x9E3779B9 + (low >> 32)) & MASK32
        low = low & MASK32
        self.word0 = low
        self.word1 = high
        self.block = self.block + 1
        words = splitmix64(low, high)
        return signed64(words[0], words[1])

    def exponential(self, rate: float) -> float:
        """Exponential wait with `rate` events per unit time (> 0), from its mean 1 / rate."""
        return (1.0 / rate) * (0.0 - log1p(0.0 - self.random()))

    def integers(self, low: int, high: int) -> int:
        """Uniform whole number in low..high-1, for a span up to 2**31; it draws even for one number.

        Rejects draws below 2**64 mod span, and takes the rest of the division by the span.
        """
        span = high - low
        if span < 1 or span > 0x80000000:
            return samplers.integers(self, low, high)
        threshold = remainder64(0, MASK32 + 1, span)
        while True:
            bits = self.bits64()
            upper, lower = (bits >> 32) & MASK32, bits & MASK32
            if upper > 0 or lower >= threshold:
                return low + remainder64(lower, upper, span)

    def choose(self, values: Any, n: int, k: int) -> None:
        """Put k of values[0..n-1], drawn without repetition, into the first k places."""
        for i in range(k):
            j = i + self.integers(0, n - i)
            held = values[i]
            values[i] = values[j]
            values[j] = held


def pcg64_step(a0: int, a1: int, a2: int, a3: int, c0: int, c1: int, c2: int, c3: int) -> tuple[int, int, int, int]:
    """Return a * m + c modulo 2**128 in words of 32 bits, m the generator's multiplier.

    Cost: 10 multiplications 32 x 32 -> 64.
    """
    m0, m1, m2, m3 = 0x9FCCF645, 0x4385DF64, 0x1FC65DA4, 0x2360ED05
    p = a0 * m0
    column = (p & MASK32) + c0
    r0 = column & MASK32
    carry = (column >> 32) + ((p >> 32) & MASK32)
    p, q = a0 * m1, a1 * m0
    column = carry + (p & MASK32) + (q & MASK32) + c1
    r1 = column & MASK32
    carry = (column >> 32) + ((p >> 32) & MASK32) + ((q >> 32) & MASK32)
    p, q, r = a0 * m2, a1 * m1, a2 * m0
    column = carry + (p & MASK32) + (q & MASK32) + (r & MASK32) + c2
    r2 = column & MASK32
    carry = (column >> 32) + ((p >> 32) & MASK32) + ((q >> 32) & MASK32) + ((r >> 32) & MASK32)
    top = (a0 * m3 & MASK32) + (a1 * m2 & MASK32) + (a2 * m1 & MASK32) + (a3 * m0 & MASK32)
    return r0, r1, r2, (carry + top + c3) & MASK32


def xsl_rr(a0: int, a1: int, a2: int, a3: int) -> int:
    """Return the two halves of a 128-bit state, xored and turned right by its top 6 bits."""
    low, high = a0 ^ a2, a1 ^ a3
    turn = a3 >> 26
    if turn & 32:
        low, high = high, low
    turn = turn & 31
    turned_low = (low >> turn) | ((high << (32 - turn)) & MASK32)
    turned_high = (high >> turn) | ((low << (32 - turn)) & MASK32)
    return signed64(turned_low, turned_high)


def splitmix64(low: int, high: int) -> tuple[int, int]:
    """Return the mixed words (low, high) of a counter: xor-shifts by 30, 27, 31 and two products."""
    low, high = low ^ ((low >> 30) | ((high << 2) & MASK32)), high ^ (high >> 30)
    low, high = times64(low, high, 0x1CE4E5B9, 0xBF58476D)
    low, high = low ^ ((low >> 27) | ((high << 5) & MASK32)), high ^ (high >> 27)
    low, high = times64(low, high, 0x133111EB, 0x94D049BB)
    return low ^ ((low >> 31) | ((high << 1) & MASK32)), high ^ (high >> 31)


def times64(a0: int, a1: int, b0: int, b1: int) -> tuple[int, int]:
    """Return the low 64 bits of a product in two words of 32 bits, the lower first."""
    p = a0 * b0
    high = ((p >> 32) & MASK32) + (a0 * b1 & MASK32) + (a1 * b0 & MASK32)
    return p & MASK32, high & MASK32


def remainder64(low: int, high: int, span: int) -> int:
    """Return (high 2**32 + low) modulo a span of 1..2**31; high <= 2**32."""
    return (((high % span) << 32) | low) % span


_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LG1 = 6.666666666666735130e-01
_LG2 = 3.999999999940941908e-01
_LG3 = 2.857142874366239149e-01
_LG4 = 2.222219843214978396e-01
_LG5 = 1.818357216161805012e-01
_LG6 = 1.531383769920937332e-01
_LG7 = 1.479819860511658591e-01


def fdlibm_log(x: float) -> float:
    """Return the natural logarithm of a normal x > 0 with the very bits of fdlibm (Sun, 1993).

    Same scheme as our own `log`, whose polynomial is fitted better; only parity needs this one.
    Coefficients and order of operations: e_log.c as simplified in FreeBSD's and musl's libraries.
    """
    bits = float_bits(x)
    k = (bits - 0x3FE6A09E00000000) >> 52
    f = float_from_bits(bits - (k << 52)) - 1.0
    half_square = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (_LG2 + w * (_LG4 + w * _LG6))
    odd = z * (_LG1 + w * (_LG3 + w * (_LG5 + w * _LG7)))
    return s * (half_square + (odd + even)) + k * _LN2_LOW - half_square + f + k * _LN2_HIGH
