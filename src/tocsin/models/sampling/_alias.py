"""Alias tables: draw one of n with given weights in constant time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return (keeps, alias) of n places, so that place k is drawn with probability weights[k] / sum.

    Draw a place uniformly; it stands with probability keeps[k], else it gives alias[k] (Walker 1977,
    doi:10.1145/355744.355749). Light places, in order, take what they lack from the heavy ones, in order; a heavy
    one that has given more than it had takes that from the next. Both orders are cumulative sums, so the
    cost is O(n) in vector operations.
    """
    share = weights * (len(weights) / weights.sum())
    keeps, alias = np.minimum(share, 1.0), np.arange(len(weights), dtype=np.int32)
    light, heavy = np.flatnonzero(share < 1.0), np.flatnonzero(share >= 1.0)
    if not len(light) or not len(heavy):
        return np.ones(len(weights)), alias
    lacks, has = np.cumsum(1.0 - share[light]), np.cumsum(share[heavy] - 1.0)
    giver = np.searchsorted(has, lacks - (1.0 - share[light]), side="right")
    alias[light] = heavy[np.minimum(giver, len(heavy) - 1)]
    last = np.minimum(np.searchsorted(lacks, has), len(light) - 1)
    keeps[heavy] = 1.0 - np.clip(lacks[last] - has, 0.0, 1.0)
    keeps[heavy[-1]] = 1.0
    alias[heavy[:-1]] = heavy[1:]
    return keeps, alias
