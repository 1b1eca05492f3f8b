"""Effective sample sizes from the continuous path, by batch means whose length is checked.

The path of a sampler is known between draws, so its mean over a stretch of time is exact. With batches
much longer than the correlation time, T Var(x) / (length * Var(batch mean)) is the number of independent draws that
would know the mean as well. Batches that are too short overstate it many times, so they
are doubled until neighbours are no longer correlated. Flegal and Jones 2010, doi:10.1214/09-AOS735.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
MOST_CORRELATED = 0.1
"""Correlation of neighbouring batches, over all chains, up to which batches count as long enough."""
FEWEST = 16
"""Batches, of all chains together, below which no effective sample size is stated."""


def batch_ess(areas: Vector, variance: Vector) -> tuple[Vector, NDArray[np.int64]]:
    """Return the effective sample size of each coordinate's path mean, and the batch lengths.

    Parameters
    ----------
    areas : (chains, draws, d), integral of the path up to each draw, in units of the spacing of draws
    variance : (d,), variance of the target

    Returns (d,) numbers, NaN where even the longest batches are correlated, and (d,) lengths in draws
    (0 for NaN). The unit is draws: n draws that were independent would give n.
    """
    chains, draws, d = areas.shape
    steps = np.diff(areas, axis=1, prepend=0.0)
    ess, lengths = np.full(d, np.nan), np.zeros(d, np.int64)
    open_ = variance > 0.0
    length = 1
    while open_.any() and chains * (draws // length) >= FEWEST and draws // length >= 2:
        n = draws // length
        means = steps[:, : n * length, open_].reshape(chains, n, length, -1).mean(axis=2)
        gaps = means - means.mean(axis=(0, 1))
        spread = (gaps**2).sum(axis=(0, 1)) / (chains * n - 1)
        near = (gaps[:, 1:] * gaps[:, :-1]).sum(axis=(0, 1)) / (chains * (n - 1))
        limit = max(MOST_CORRELATED, 2.0 / np.sqrt(chains * (n - 1)))
        fits = np.abs(near) <= limit * np.maximum(spread, 1e-300)
        which = np.flatnonzero(open_)[fits]
        with np.errstate(divide="ignore"):
            ess[which] = chains * draws * variance[which] / (length * spread[fits])
        lengths[which] = length
        open_[which] = False
        length *= 2
    return ess, lengths


def split_rhat(draws: Vector) -> Vector:
    """Return split R-hat of each coordinate from draws (chains, n, d). Gelman et al. 2013, section 11.4."""
    n = draws.shape[1] // 2
    if n < 2:
        return np.full(draws.shape[2], np.nan)
    halves = np.concatenate([draws[:, :n], draws[:, n : 2 * n]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Vector = np.sqrt((n - 1) / n + between / within)
    return found
