"""Mean and variance of values that come one at a time or in parts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Welford:
    """Count, mean and sum of squared deviations (Welford 1962, doi:10.1080/00401706.1962.10490022)."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """Take one value."""
        self.n += 1
        before = value - self.mean
        self.mean += before / self.n
        self.squares += before * (value - self.mean)

    def merged(self, other: Welford) -> Welford:
        """Return the moments of both (Chan, Golub and LeVeque 1983); merge in a fixed order for the same bits."""
        n = self.n + other.n
        if not n:
            return Welford()
        apart = other.mean - self.mean
        mean = self.mean + apart * other.n / n
        return Welford(n, mean, self.squares + other.squares + apart * apart * self.n * other.n / n)

    @property
    def variance(self) -> float:
        """Return the variance of the population that the values are drawn from; NaN below two values."""
        return self.squares / (self.n - 1) if self.n > 1 else math.nan
