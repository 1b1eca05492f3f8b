"""The original's two generators, for what is drawn before the first event."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1


class SplitMixStream:
    """SplitMix64 with the port's samplers (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def _bits(self) -> int:
        self._state = self._state + 0x9E3779B97F4A7C15 & _MASK
        z = self._state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
        return z ^ z >> 31

    def random(self) -> float:
        """Uniform in [0, 1)."""
        return (self._bits() >> 11) / float(1 << 53)

    def uniform(self, low: float, high: float, n: int) -> NDArray[np.float64]:
        """n uniform numbers."""
        return np.array([low + (high - low) * self.random() for _ in range(n)])

    def exponential(self, mean: float, n: int) -> NDArray[np.float64]:
        """n exponential waits."""
        return np.array([-mean * math.log1p(-self.random()) for _ in range(n)])

    def choice(self, n: int, k: int) -> list[int]:
        """k of 0..n-1 without repetition."""
        items = list(range(n))
        for i in range(k):
            j = i + self._index(n - i)
            items[i], items[j] = items[j], items[i]
        return items[:k]

    def _index(self, n: int) -> int:
        while True:
            bits = self._bits()
            if bits >= (1 << 64) % n:
                return bits % n

    def words(self) -> dict[str, int]:
        """State, as the fields of the kernel's random source."""
        return {"word0": self._state & 0xFFFFFFFF, "word1": self._state >> 32}


class NumpyStream:
    """`numpy.random.default_rng(seed)`."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def random(self) -> float:
        """Uniform in [0, 1)."""
        return float(self._rng.random())

    def uniform(self, low: float, high: float, n: int) -> NDArray[np.float64]:
        """n uniform numbers."""
        return self._rng.uniform(low, high, n)

    def exponential(self, mean: float, n: int) -> NDArray[np.float64]:
        """n exponential waits."""
        return self._rng.exponential(mean, n)

    def choice(self, n: int, k: int) -> list[int]:
        """k of 0..n-1 without repetition."""
        return [int(i) for i in self._rng.choice(n, size=k, replace=False)]

    def words(self) -> dict[str, int]:
        """State, as the fields of the kernel's random source."""
        state = self._rng.bit_generator.state
        inner = state["state"]
        words = {f"word{k}": int(inner["state"]) >> 32 * k & 0xFFFFFFFF for k in range(4)}
        words |= {f"step{k}": int(inner["inc"]) >> 32 * k & 0xFFFFFFFF for k in range(4)}
        return words | {"half": int(state["uinteger"]), "n_halves": int(state["has_uint32"])}
