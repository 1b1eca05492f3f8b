"""Make the world of a local Bouncy Particle Sampler, and run one as a chain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.models.sampling import _input
from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._field import begin_draws
from tocsin.models.sampling._steady import cholesky
from tocsin.models.sampling.bouncy import MODEL, Factors
from tocsin.run import Simulation

Vector = NDArray[np.float64]
KINDS = ("bounces", "refreshments")


def factors_of(precision: Any) -> Any:
    """Return a CSR matrix A with A' A = precision, few entries a row.

    A diagonally dominant matrix gives one row for each pair of neighbours and one for each rest of the
    diagonal; another its Cholesky factor, which is dense.
    """
    sparse = _input.scipy("sparse")
    upper = sparse.triu(precision, 1).tocoo()
    rest = 2.0 * precision.diagonal() - np.asarray(abs(precision).sum(axis=1)).ravel()
    if (rest < 0.0).any():
        return sparse.csr_array(cholesky(precision.toarray()).T)
    size, sign = np.sqrt(np.abs(upper.data)), np.sign(upper.data)
    m = len(upper.data)
    rows, kept = np.arange(m), np.flatnonzero(rest > 0.0)
    pairs = sparse.coo_array(
        (np.r_[size, size * sign, np.sqrt(rest[kept])],
         (np.r_[rows, rows, m + np.arange(len(kept))], np.r_[upper.row, upper.col, kept])),
        shape=(m + len(kept), precision.shape[0]),
    )  # fmt: skip
    return pairs.tocsr()


def factors(matrix: Any, offsets: Vector, x: Vector, v: Vector, refresh: float, knots: int = 0) -> Factors:
    """Return a world with potential |matrix @ x - offsets|^2 / 2; matrix (m, d) CSR, offsets (m,), x and v (d,)."""
    rows, columns = matrix.tocsr(), matrix.tocsc()
    world = Factors(
        sites={"x": x, "v": v, "first": columns.indptr[:-1], "n_shares": np.diff(columns.indptr)},
        factors={
            "u": rows @ x - offsets, "w": rows @ v, "size": np.asarray(rows.power(2).sum(axis=1)).ravel(),
            "first": rows.indptr[:-1], "n_terms": np.diff(rows.indptr),
        },
        terms={"value": rows.data, "site": rows.indices},
        shares={"value": columns.data, "factor": columns.indices},
        knot_times=np.zeros(knots), knot_sites=np.zeros(knots, np.int64), knot_x=np.zeros(knots),
        knot_v=np.zeros(knots), refresh=refresh,
    )  # fmt: skip
    begin_draws(world, 0.0, 0, 0.0, 0, len(KINDS))
    return world


class FactorChain(Chain):
    """A chain of the local Bouncy Particle Sampler."""

    def __init__(self, world: Factors, seed: int) -> None:
        super().__init__(Simulation(MODEL, world, seed=seed), None, None, KINDS)

    def settle(self, now: float) -> None:
        """Bring all coordinates to `now` and start their integrals anew."""
        sites = self.world.sites
        sites["x"][:] += sites["v"] * (now - sites["since"])
        sites["since"][:] = now
        sites["area"][:] = sites["area_squared"][:] = 0.0

    def first_knots(self, now: float) -> NDArray[Any]:
        """Return a knot for each coordinate as it is now."""
        sites = self.world.sites
        return _knots(np.full(len(sites), now), sites["x"], sites["v"], np.arange(len(sites)))

    def n_room(self) -> int:
        """Return how many turns can still be written down: one bounce may be several; 0 if none are kept."""
        world = self.world
        if not len(world.knot_times):
            return 0
        widest = int(world.factors["n_terms"].max())
        return max((len(world.knot_times) - int(world.n_knots)) // widest, 1)

    def take_knots(self) -> None:
        """Take the turns written down out of the simulation."""
        world, n = self.world, self.world.n_knots
        if n:
            columns = (world.knot_times, world.knot_x, world.knot_v, world.knot_sites)
            self.knots.append(_knots(*(c.values[:n] for c in columns)))
            world.n_knots = 0


def _knots(time: Any, x: Any, v: Any, site: Any) -> NDArray[Any]:
    found = np.zeros(len(time), [("time", "f8"), ("x", "f8"), ("v", "f8"), ("coordinate", "i8")])
    found["time"], found["x"], found["v"], found["coordinate"] = time, x, v, site
    return found
