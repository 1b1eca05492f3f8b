"""A Gibbs sampler for a Gaussian with spikes at zero: the peer of the sticky Zig-Zag, at equal CPU time.

Coordinate by coordinate: given the others, x_i is zero with probability 1 / (1 + r), else normal with mean m and
variance 1 / P_ii, r = sqrt(2 pi / P_ii) / ratio * exp(P_ii m^2 / 2) and ratio the weight of the atom
(George and McCulloch 1993, doi:10.1080/01621459.1993.10476353; Geweke 1996 for the point mass). Compiled with Numba.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np


def design(d: int, n: int) -> tuple[Any, Any]:
    """Return correlated predictors (n, d) and observations: a tenth of the coefficients are not zero."""
    rng = np.random.default_rng(5)
    common = rng.normal(size=(n, d))
    X = np.empty((n, d))
    X[:, 0] = common[:, 0]
    for k in range(1, d):
        X[:, k] = 0.7 * X[:, k - 1] + math.sqrt(1.0 - 0.49) * common[:, k]
    beta = np.where(np.arange(d) % 10 == 0, 0.5, 0.0)
    return X, X @ beta + rng.normal(size=n)


def sweep(precision: Any, linear: Any, atom: float, x: Any, residual: Any, sums: Any, n_sweeps: int) -> None:
    """Update all coordinates `n_sweeps` times; add inclusion probabilities given the rest (Rao-Blackwell) to `sums`."""
    d = len(x)
    for _ in range(n_sweeps):
        for i in range(d):
            own = precision[i, i]
            m = (linear[i] - residual[i] + own * x[i]) / own
            odds = math.sqrt(2.0 * math.pi / own) / atom * math.exp(min(0.5 * own * m * m, 600.0))
            inclusion = odds / (1.0 + odds)
            sums[i] += inclusion
            new = m + np.random.normal() / math.sqrt(own) if np.random.random() < inclusion else 0.0  # noqa: NPY002
            change = new - x[i]
            if change != 0.0:
                x[i] = new
                for k in range(d):
                    residual[k] += precision[k, i] * change


def gibbs(target: Any, seconds: float, seed: int) -> Any:
    """Run for some CPU seconds, a tenth of it as warm-up; return the inclusion probabilities, (d,)."""
    import numba

    compiled = numba.njit(sweep)
    start = numba.njit(lambda seed: np.random.seed(seed))  # noqa: NPY002
    precision = target.precision.toarray()
    linear = precision @ target.mean
    x, residual, sums = (np.zeros(target.d) for _ in range(3))
    atom = 1.0 / float(target.kappa[0])
    compiled(precision, linear, atom, x, residual, sums, 1)
    start(seed)
    for share in (0.1, 0.9):
        sums[:] = 0.0
        n, begun = 0, time.process_time()
        while time.process_time() - begun < share * seconds:
            compiled(precision, linear, atom, x, residual, sums, 10)
            n += 10
    return sums / n


def zigzag(target: Any, seconds: float, seed: int) -> Any:
    """Run for some CPU seconds, a tenth of it as warm-up; return the inclusion probabilities, (d,)."""
    from tocsin.models.sampling import _field

    chain = target.zigzag(np.zeros(target.d), seed)
    chain.warm_up(1.0)
    for share in (0.1, 0.9):
        _field.settle(chain.world, chain.simulation.now)
        first, begun = chain.simulation.now, time.process_time()
        while time.process_time() - begun < share * seconds:
            chain.warm_up(20.0)
    now = chain.simulation.now
    return _field.integrals(chain.world, now)[2] / (now - first)
