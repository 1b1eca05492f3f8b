"""Random streams: one for every clock and every time it draws, from a counter.

Philox4x32-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405). The key is the run's 64-bit
seed. The 128-bit counter, from its lowest word: block (32 bits), row number (32 bits), epoch
(48 bits, how often this clock has drawn), purpose (16 bits: 2a for `schedule` of action a,
2a + 1 for its `fire`). So no draw of one clock depends on what another did.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel import _samplers as samplers
from tocsin.kernel._philox import philox4x32, signed64
from tocsin.schema import Entity, int32, int64

MASK32 = 0xFFFFFFFF
ROUNDING = 1e-9


class Rng(Entity):
    """A random stream. Every draw is a fixed algorithm: the same bits on every platform."""

    DRAWS_AHEAD = True
    """Whether blocks may be drawn ahead, many at once."""

    key_low: int64
    key_high: int64
    row: int64
    epoch: int64
    purpose: int64
    block: int64
    low: int64  # the numbers of a block that are left, the last one in `high`
    high: int64
    n_left: int32

    def open(self, purpose: int, row: int, epoch: int) -> None:
        """Start the stream of one clock at one epoch."""
        self.purpose = purpose
        self.row = row
        self.epoch = epoch
        self.block = 0
        self.n_left = 0

    def _take(self, first: int, second: int) -> None:
        """Have block 0 ready, whose two numbers somebody else has drawn ahead."""
        self.block = 1
        self.low = first
        self.high = second
        self.n_left = 2

    def bits64(self) -> int:
        """Return 64 random bits as a signed number."""
        if self.n_left > 0:
            self.n_left = self.n_left - 1
            return self.low if self.n_left > 0 else self.high
        words = philox4x32(
            self.block,
            self.row & MASK32,
            self.epoch & MASK32,
            self._upper_word(),
            self.key_low,
            self.key_high,
        )
        self.block = self.block + 1
        self.high = signed64(words[2], words[3])
        self.n_left = 1
        return signed64(words[0], words[1])

    def _upper_word(self) -> int:
        """Return the highest word of the counter."""
        return ((self.epoch >> 32) & 0xFFFF) | (self.purpose << 16)

    def random(self) -> float:
        """Uniform in [0, 1), 53 bits."""
        return samplers.random(self)

    def uniform(self, low: float, high: float) -> float:
        """Uniform in [low, high)."""
        return samplers.uniform(self, low, high)

    def exponential(self, rate: float) -> float:
        """Exponential wait with `rate` events per unit time; inf, never, at rate 0. Raises ValueError below 0."""
        if not rate >= 0.0:
            raise ValueError("rng.exponential(rate): rate must be >= 0")
        return samplers.exponential(self, rate)

    def normal(self, mean: float = 0.0, sd: float = 1.0) -> float:
        """Normal with `mean` and standard deviation `sd`. Raises ValueError unless sd >= 0."""
        if not sd >= 0.0:
            raise ValueError("rng.normal(mean, sd): sd must be >= 0")
        return samplers.normal(self, mean, sd)

    def integers(self, low: int, high: int) -> int:
        """Uniform whole number in low..high-1, without bias. Raises ValueError unless low < high."""
        if low >= high:
            raise ValueError("rng.integers(low, high): high must be > low; it is not among them")
        return samplers.integers(self, low, high)

    def bernoulli(self, p: float) -> bool:
        """True with probability p. Raises ValueError unless p is in 0..1, but for rounding."""
        if not (p >= -ROUNDING and p <= 1.0 + ROUNDING):
            raise ValueError("rng.bernoulli(p): p must be in 0..1")
        return samplers.bernoulli(self, p)

    def choice(self, weights: Any, n: int) -> int:
        """Return an index 0..n-1 with probability proportional to weights[index]."""
        return samplers.choice_weighted(self, weights, n)

    def shuffle(self, values: Any, n: int) -> None:
        """Permute values[0..n-1] in place, all orders equally likely."""
        samplers.shuffle(self, values, n)

    def poisson(self, mean: float) -> int:
        """Poisson count with `mean`. Raises ValueError unless mean >= 0."""
        if not mean >= 0.0:
            raise ValueError("rng.poisson(mean): mean must be >= 0")
        return samplers.poisson(self, mean)

    def binomial(self, n: int, p: float) -> int:
        """Successes in n trials of probability p. Raises ValueError unless n >= 0."""
        if n < 0:
            raise ValueError("rng.binomial(n, p): n must be >= 0")
        return samplers.binomial(self, n, p)

    def gamma(self, shape: float, scale: float = 1.0) -> float:
        """Gamma with `shape` and `scale`. Raises ValueError unless shape > 0 and scale >= 0."""
        if not (shape > 0.0 and scale >= 0.0):
            raise ValueError("rng.gamma(shape, scale): shape must be > 0, and scale >= 0")
        return samplers.gamma(self, shape, scale)
