"""Quantiles of amounts from counts in buckets of constant relative width.

DDSketch (Masson, Rim and Lee 2019, doi:10.14778/3352063.3352135): bucket k + 1 counts amounts in
(g**(k - 1), g**k] with g = (1 + a) / (1 - a), bucket 0 those below 1, as 0. Counts are whole numbers, so
sketches of parts of a population add up to the sketch of the whole, in any order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray


class Sketch:
    """Counts of amounts >= 0 by bucket; quantiles within a relative error `accuracy`.

    Parameters
    ----------
    counts : whole numbers by bucket; none by default
    accuracy : relative, 0 < accuracy < 1

    Raises InputError.
    """

    def __init__(self, counts: ArrayLike | None = None, accuracy: float = 0.02) -> None:
        if not 0.0 < accuracy < 1.0:
            raise InputError(f"accuracy must be > 0 and < 1, got {accuracy!r}")
        self.accuracy = accuracy
        self._width = math.log((1.0 + accuracy) / (1.0 - accuracy))
        self.counts: NDArray[Any] = np.zeros(1, np.int64) if counts is None else np.array(counts, np.int64)
        if self.counts.ndim != 1 or not len(self.counts) or (self.counts < 0).any():
            raise InputError("counts must be whole numbers >= 0, one for each bucket")

    def add(self, values: ArrayLike) -> None:
        """Count values >= 0. Raises InputError for others."""
        x = np.atleast_1d(np.array(values, np.float64))
        if not np.isfinite(x).all() or (x < 0.0).any():
            raise InputError("a sketch holds finite amounts >= 0")
        big = x >= 1.0
        bucket = np.zeros(len(x), np.int64)
        bucket[big] = 1 + np.ceil(np.log(x[big]) / self._width - 1e-12).astype(np.int64)
        counted = np.bincount(bucket, minlength=len(self.counts))
        counted[: len(self.counts)] += self.counts
        self.counts = counted

    def merged(self, other: Sketch) -> Self:
        """Return the sketch of both. Raises InputError if their accuracies differ."""
        if self.accuracy != other.accuracy:
            raise InputError(f"sketches must have one accuracy, got {self.accuracy} and {other.accuracy}")
        n = max(len(self.counts), len(other.counts))
        total = np.zeros(n, np.int64)
        total[: len(self.counts)] += self.counts
        total[: len(other.counts)] += other.counts
        return type(self)(total, self.accuracy)

    @property
    def n(self) -> int:
        """How many values it has counted."""
        return int(self.counts.sum())

    def values(self) -> NDArray[Any]:
        """Return the amount that stands for each bucket."""
        k = np.arange(len(self.counts), dtype=np.float64)
        middle = np.exp((k - 1.0) * self._width) * 2.0 / (1.0 + math.exp(self._width))
        return np.where(k == 0, 0.0, np.where(k == 1, 1.0, middle))

    def quantile(self, q: float) -> float:
        """Return the value below which a share q of the amounts lies; NaN without any."""
        if not 0.0 <= q <= 1.0:
            raise InputError(f"q must be in 0..1, got {q!r}")
        if not self.n:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self.counts), q * (self.n - 1), side="right"))
        return float(self.values()[min(place, len(self.counts) - 1)])

    def mean(self) -> float:
        """Return the mean, within the relative accuracy; NaN without any."""
        return float((self.counts * self.values()).sum() / self.n) if self.n else math.nan

    def gini(self) -> float:
        """Return the Gini coefficient: 0 if all hold the same, near 1 if one holds all; 0 without any.

        Half the mean absolute difference of two holders over the mean (Gini 1912), with holders of one
        bucket taken as equal.
        """
        total = float((self.counts * self.values()).sum())
        if not total > 0.0:
            return 0.0
        below = np.cumsum(self.counts) - 0.5 * self.counts
        rank_sum = float((self.counts * self.values() * below).sum())
        return 2.0 * rank_sum / (self.n * total) - 1.0
