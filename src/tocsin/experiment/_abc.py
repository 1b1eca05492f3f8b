"""ABC-SMC: samples of a posterior from simulations alone, by tolerances that shrink from one generation to the next.

Toni and others 2009, doi:10.1098/rsif.2008.0172; the tolerance is a quantile of the last distances and the kernel a
normal one with twice their covariance (Beaumont and others 2009, doi:10.1093/biomet/asp052); summaries are scaled by
their spread under the prior (Prangle 2017, doi:10.1214/16-BA1002). The prior is uniform on the unit cube.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

Simulate = Callable[["NDArray[Any]"], "NDArray[Any]"]
"""Takes points (n, axes) of the unit cube, returns summaries (n, m), NaN where a run failed."""


class Generation(NamedTuple):
    """How one generation came about."""

    tolerance: float
    """Largest distance that was accepted; inf for the first."""
    n_proposed: int
    """Points that were simulated."""
    effective: float
    """Effective sample size: 1 / sum of squared weights."""


@dataclass(frozen=True, eq=False)
class Population:
    """Weighted points, the particles."""

    shares: NDArray[Any]
    """(n, axes) float64, in the unit cube."""
    summaries: NDArray[Any]
    """(n, m) float64."""
    weights: NDArray[Any]
    """(n,) float64, sum 1."""
    numbers: NDArray[Any]
    """(n,) int64: which proposal each was, counted over all generations."""

    @property
    def effective(self) -> float:
        """Effective sample size."""
        return float(1.0 / (self.weights**2).sum())


class Smc:
    """One calibration.

    Parameters
    ----------
    simulate : gives the summaries of points; it is called with `batch` of them
    observed : (m,) float64, the summaries of the data; NaN for what was not observed
    n_axes : dimension of the cube
    n : particles
    batch : points that are simulated at a time
    most : points that are simulated in all, at most
    quantile : of the last distances, the next tolerance
    seed : of everything that is drawn here
    """

    def __init__(
        self, simulate: Simulate, observed: NDArray[Any], n_axes: int, *, n: int, batch: int, most: int,
        quantile: float = 0.5, seed: int = 0,
    ) -> None:  # fmt: skip
        import numpy as np

        self._simulate, self._observed, self._d = simulate, observed, n_axes
        self._n, self._batch, self._most, self._quantile = n, batch, most, quantile
        self._rng = np.random.default_rng(seed)
        self._scale = np.ones(len(observed))
        self.n_proposed = 0
        self.history: list[Generation] = []

    def run(self, generations: int, tolerance: float = 0.0) -> Population | None:
        """Return the last whole generation; None if not even the first became whole.

        It ends after so many generations, at the tolerance, or with the budget of points.
        """
        import numpy as np

        found = self._generation(None, np.inf)
        if found is None:
            return None
        self._set_scale(found.summaries)
        while len(self.history) < generations and self.history[-1].tolerance > tolerance:
            distances = self.distances(found.summaries)
            limit = max(tolerance, float(np.quantile(distances, self._quantile)))
            if limit >= self.history[-1].tolerance:
                limit = max(tolerance, float(max((d for d in distances if d < limit), default=limit)))
            following = self._generation(found, limit)
            if following is None:
                break
            found = following
        return found

    def distances(self, summaries: NDArray[Any]) -> NDArray[Any]:
        """Return the root mean square of the scaled differences from the data; inf where a run failed."""
        import numpy as np

        is_seen = ~np.isnan(self._observed)
        apart = ((summaries - self._observed) / self._scale)[:, is_seen]
        found: NDArray[Any] = np.sqrt((apart**2).mean(axis=1))
        return np.where(np.isnan(found), np.inf, found)

    def _set_scale(self, summaries: NDArray[Any]) -> None:
        """Take the median absolute deviation of each summary, or its deviation, or 1 if it never varies."""
        import numpy as np

        spread = np.median(np.abs(summaries - np.median(summaries, axis=0)), axis=0)
        spread = np.where(spread > 0.0, spread, summaries.std(axis=0))
        self._scale = np.where(spread > 0.0, spread, 1.0)

    def _generation(self, last: Population | None, limit: float) -> Population | None:
        import numpy as np

        begun = self.n_proposed
        kept: list[tuple[Any, Any, int]] = []
        root = _root(last) if last is not None else np.eye(self._d)
        while len(kept) < self._n:
            size = min(self._batch, self._most - self.n_proposed)
            if size <= 0:
                return None
            shares = self._rng.random((size, self._d)) if last is None else self._proposed(last, root, size)
            summaries = self._simulate(shares)
            for k, distance in enumerate(self.distances(summaries)):
                if distance <= limit and np.isfinite(distance) and len(kept) < self._n:
                    kept.append((shares[k], summaries[k], self.n_proposed + k))
            self.n_proposed += size
        points, seen, numbers = (np.array(column) for column in zip(*kept, strict=True))
        weights = np.full(self._n, 1.0 / self._n) if last is None else _weights(points, last, root)
        found = Population(points, seen, weights, numbers)
        self.history.append(Generation(limit, self.n_proposed - begun, found.effective))
        return found

    def _proposed(self, last: Population, root: NDArray[Any], size: int) -> NDArray[Any]:
        """Return particles of the last generation, moved, inside the cube."""
        import numpy as np

        found = np.empty((0, self._d))
        while len(found) < size:
            chosen = last.shares[self._rng.choice(len(last.weights), size, p=last.weights)]
            moved = chosen + self._rng.standard_normal((size, self._d)) @ root.T
            found = np.concatenate([found, moved[((moved >= 0.0) & (moved < 1.0)).all(axis=1)]])
        return found[:size]


def _root(last: Population) -> NDArray[Any]:
    """Return the Cholesky root of twice the weighted covariance of the particles."""
    import numpy as np

    centred = last.shares - last.weights @ last.shares
    spread = 2.0 * (centred * last.weights[:, None]).T @ centred
    spread += np.eye(len(spread)) * max(1e-12, 1e-6 * float(np.trace(spread)) / len(spread))
    found: NDArray[Any] = np.linalg.cholesky(spread)
    return found


def _weights(points: NDArray[Any], last: Population, root: NDArray[Any]) -> NDArray[Any]:
    """Return prior / sum of w K: the prior is flat, and the kernel's constant cancels."""
    import numpy as np

    apart = points[:, None, :] - last.shares[None, :, :]
    z = np.linalg.solve(root, apart.reshape(-1, points.shape[1]).T)
    kernel = np.exp(-0.5 * (z**2).sum(axis=0)).reshape(len(points), -1)
    found = 1.0 / (kernel @ last.weights)
    return np.asarray(found / found.sum())
