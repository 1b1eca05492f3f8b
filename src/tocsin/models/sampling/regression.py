"""Regressions from arrays or data frames: logistic, Poisson and linear, with normal priors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.sampling import _field, _input
from tocsin.models.sampling._alias import alias_table
from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._spikes import thaw_constant
from tocsin.models.sampling._steady import cholesky, inverse, product, rounded, solve, solve_lower
from tocsin.models.sampling.gaussian import FIELD_KINDS, Gaussian
from tocsin.models.sampling.tall import LOGISTIC, MODEL, POISSON, TallField
from tocsin.run import Simulation

Vector = NDArray[np.float64]
TALL_KINDS = (*FIELD_KINDS, "proposals", "data_points")
MOST_CURVED = 1.0 / (6.0 * math.sqrt(3.0))
"""Largest second derivative of 1 / (1 + exp(-eta)), at eta = log(2 + sqrt(3))."""

MOST_PROPOSALS = 1e6
"""Proposals a unit of time at a far point of the posterior above which it is refused."""

MOST_GROWTH = 12.0
"""Exponent of the bound on the remainder of a Poisson regression, at a far point, above which it is refused."""


class _Regression:
    """Observations y with means that depend on X beta, and a normal prior on beta.

    Parameters
    ----------
    X : (n, d) array or data frame; its columns are the coefficients' names. Add a column of ones for an intercept
    y : (n,) observations
    prior_sd, prior_mean : of the independent normal priors, (d,) or one number each
    inclusion : prior probability that a coefficient is not zero: spike and slab, the slab being the normal prior
    lower, upper : walls for the coefficients, (d,) or one number each
    names : d names, in place of the columns' own

    Raises InputError for what does not fit or is not finite.
    """

    name = ""
    family = LOGISTIC

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        prior_sd: ArrayLike = 10.0,
        prior_mean: ArrayLike = 0.0,
        inclusion: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.X = _input.matrix("X", X)
        self.n, self.d = n, d = self.X.shape
        self.y = _input.observations(y, n)
        self.check_observations()
        self.prior_mean = _input.vector("prior_mean", prior_mean, d)
        self.prior_sd = _input.vector("prior_sd", prior_sd, d)
        if not ((self.prior_sd > 0.0) & np.isfinite(self.prior_sd) & np.isfinite(self.prior_mean)).all():
            raise InputError(f"prior_sd must be > 0 and finite, got {self.prior_sd.min():g}")
        if inclusion is not None and (self.prior_mean != 0.0).any():
            raise InputError("a spike and slab prior has its slab around zero: leave prior_mean at 0")
        self.low, self.high = _input.walls(lower, upper, d)
        self.kappa = thaw_constant(inclusion, None if inclusion is None else self.prior_sd, self.low, self.high)
        self.names = _input.names_of(X, d, names)
        self._mode: tuple[Vector, Vector] | None = None
        self._tables: dict[str, Any] = {}

    def check_observations(self) -> None:
        """Raise InputError for observations that this family cannot have."""

    def means(self, eta: Vector) -> tuple[Vector, Vector]:
        """Return mean and variance of observations with linear predictors `eta`."""
        raise NotImplementedError

    def potential(self, beta: Vector) -> float:
        """Return minus the log posterior density, up to a constant."""
        raise NotImplementedError

    @property
    def has_spikes(self) -> bool:
        """Whether some coefficient has an atom at zero."""
        return bool(np.isfinite(self.kappa).any())

    @property
    def has_walls(self) -> bool:
        """Whether there is a wall."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def gradient(self, beta: Vector) -> Vector:
        """Return the gradient of the potential, (d,). Cost: one pass over the data."""
        mean, _ = self.means(self.X @ beta)
        found: Vector = self.X.T @ (mean - self.y) + (beta - self.prior_mean) / self.prior_sd**2
        return found

    def hessian(self, beta: Vector) -> NDArray[np.float64]:
        """Return the matrix of second derivatives of the potential, (d, d)."""
        _, variance = self.means(self.X @ beta)
        found: NDArray[np.float64] = (self.X * variance[:, None]).T @ self.X + np.diag(1.0 / self.prior_sd**2)
        return found

    def mode(self) -> tuple[Vector, NDArray[np.float64]]:
        """Return the mode (spikes and walls apart) and the Hessian there, by Newton steps with halving."""
        if self._mode is None:
            beta = np.zeros(self.d)
            value = self.potential(beta)
            for _ in range(100):
                step = np.linalg.solve(self.hessian(beta), self.gradient(beta))
                share = 1.0
                while self.potential(beta - share * step) > value + 1e-12 * abs(value) and share > 1e-10:
                    share *= 0.5
                beta = beta - share * step
                value = self.potential(beta)
                if np.abs(step).max() < 1e-10 * (1.0 + np.abs(beta).max()):
                    break
            hessian = self.hessian(beta)
            heights = np.sqrt(hessian.diagonal())
            self._mode = rounded(beta, 1.0 / heights), rounded(hessian, np.outer(heights, heights))
        return self._mode

    def typical_sd(self) -> Vector:
        """Return the standard deviations of the normal approximation at the mode, (d,)."""
        found: Vector = np.sqrt(inverse(self.mode()[1]).diagonal())
        return found

    def first_position(self, rng: np.random.Generator) -> Vector:
        """Return a point to start from: a draw of the normal approximation at the mode, within the walls."""
        mode, hessian = self.mode()
        x = mode + product(_root(hessian).T, np.asarray(rng.normal(size=self.d)))
        return np.clip(x, self.low, self.high)

    def zigzag(self, x: Vector, seed: int, *, speeds: Vector | None = None, knots: int = 0) -> Chain:
        """Return a Zig-Zag that starts at `x` and reads single data points; its bounds are certified.

        Without spikes and walls it moves in the scale of the normal approximation; else along the coefficients.
        """
        _input.inside(x, self.low, self.high)
        is_whitened = not (self.has_spikes or self.has_walls) and speeds is None
        mode, hessian = self.mode()
        rng = np.random.default_rng([seed, 1])
        signs = np.where(rng.random(self.d) < 0.5, 1.0, -1.0)
        if is_whitened:
            scale = _root(hessian).T
            parts = self._parts("whitened", scale)
            z = product(cholesky(hessian).T, x - mode)
            world = self._field(np.eye(self.d), np.zeros(self.d), z, signs, parts, np.ones(self.d), knots)
            centre: Vector | None = mode
        else:
            lengths: Vector = self.typical_sd() if speeds is None else speeds
            parts = self._parts("as given", np.eye(self.d))
            world = self._field(hessian, mode, x, signs * lengths, parts, self.typical_sd(), knots)
            scale, centre = None, None
        _field.look_ahead(world, rng.exponential(size=self.d) / world.trails["thaw"])
        for c in world.coordinates:
            world.renew(c, 0.0)
        return Chain(Simulation(MODEL, world, seed=seed), centre, scale, TALL_KINDS)

    def _field(
        self, hessian: NDArray[Any], mode: Vector, z: Vector, v: Vector, parts: dict[str, Any],
        scales: Vector, knots: int,
    ) -> TallField:  # fmt: skip
        sparse = _input.scipy("sparse")
        norms = ((parts["rows"] * scales) ** 2).sum(axis=1)
        weights = norms * self.curvature_weights(parts["etas"])
        shares, totals = self._shares(parts, weights)
        factor = 0.5 * self.most_curved() * totals
        most = float(factor.max()) * (math.sqrt(self.d) + 3.0) ** 2 * float(np.max(np.abs(v), initial=0.0))
        if most > MOST_PROPOSALS:
            raise InputError(
                f"this posterior is too far from normal for certified bounds to be of use ({most:.1g} proposals a unit of time): "
                "give a tighter prior_sd (is y separated by a column of X?), add observations, or use LogDensity"
            )
        speed = float(np.sqrt(((v / scales) ** 2).sum()))
        growth = math.sqrt(norms.max()) if self.family == POISSON else 0.0
        if growth * (math.sqrt(self.d) + 3.0) > MOST_GROWTH:
            raise InputError(
                "a single observation moves this Poisson posterior too far from normal for certified bounds to be of use: "
                "scale the columns of X, add observations, or give the gradient to LogDensity"
            )
        world = _field.field(
            sparse.csr_array(hessian), mode, z, v, self.kappa * np.abs(v), self.low, self.high, TallField, knots,
            bounds={"factor": factor, "until": np.full(self.d, np.inf)}, shares=shares, rows=parts["rows"],
            etas=parts["etas"], weights=weights, totals=totals, modes=mode, scales=scales,
            family=self.family, growth=growth, speed=speed, horizon=min(0.5, 1.0 / max(growth * speed, 1e-9)),
        )  # fmt: skip
        return world  # type: ignore[return-value]

    def most_curved(self) -> float:
        """Return the bound on the second derivative of a mean, in units of `curvature_weights`."""
        return MOST_CURVED

    def curvature_weights(self, etas: Vector) -> Vector:
        """Return what the second derivative of each mean is bounded by, near the mode, (n,)."""
        return np.ones(len(etas))

    def _parts(self, key: str, scale: NDArray[np.float64]) -> dict[str, Any]:
        if key not in self._tables:
            self._tables[key] = {"rows": product(self.X, scale), "etas": product(self.X, self.mode()[0])}
        found: dict[str, Any] = self._tables[key]
        return found

    def _shares(self, parts: dict[str, Any], weights: Vector) -> tuple[dict[str, Any], Vector]:
        if "shares" not in parts:
            sizes = np.abs(parts["rows"]) * weights[:, None]
            tables = [alias_table(sizes[:, i]) if sizes[:, i].any() else _no_choice(self.n) for i in range(self.d)]
            keeps, alias = (np.concatenate(column) for column in zip(*tables, strict=True))
            parts["shares"] = {"keeps": keeps, "alias": alias}, sizes.sum(axis=0)
        found: tuple[dict[str, Any], Vector] = parts["shares"]
        return found

    samplers: ClassVar[dict[str, Any]] = {"zigzag": zigzag}
    bounds: ClassVar[dict[str, str]] = {"zigzag": "certified"}


def _root(hessian: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the M with M' M = the inverse of a positive definite matrix."""
    return solve_lower(cholesky(hessian), np.eye(len(hessian)))


def _no_choice(n: int) -> tuple[Vector, NDArray[np.int32]]:
    return np.ones(n), np.arange(n, dtype=np.int32)


class LogisticRegression(_Regression):
    """Binary observations: P(y = 1) = 1 / (1 + exp(-X beta)), with a normal prior on beta."""

    __doc__ += "\n".join((_Regression.__doc__ or "").split("\n")[1:])
    name, family = "logistic regression", LOGISTIC

    def check_observations(self) -> None:
        if not np.isin(self.y, (0.0, 1.0)).all():
            bad = self.y[~np.isin(self.y, (0.0, 1.0))][0]
            raise InputError(f"y must hold 0 and 1 for a logistic regression, got {bad:g}")

    def means(self, eta: Vector) -> tuple[Vector, Vector]:
        mean = 0.5 * (1.0 + np.tanh(0.5 * eta))
        return mean, mean * (1.0 - mean)

    def potential(self, beta: Vector) -> float:
        eta = self.X @ beta
        return float(
            np.logaddexp(0.0, eta).sum() - self.y @ eta + 0.5 * (((beta - self.prior_mean) / self.prior_sd) ** 2).sum()
        )


class PoissonRegression(_Regression):
    """Counts y with mean exp(X beta), and a normal prior on beta."""

    __doc__ += "\n".join((_Regression.__doc__ or "").split("\n")[1:])
    name, family = "Poisson regression", POISSON

    def check_observations(self) -> None:
        if (self.y < 0.0).any() or (self.y != np.floor(self.y)).any():
            raise InputError("y must hold whole numbers >= 0 for a Poisson regression")

    def means(self, eta: Vector) -> tuple[Vector, Vector]:
        mean = np.exp(eta)
        return mean, mean

    def potential(self, beta: Vector) -> float:
        eta = self.X @ beta
        with np.errstate(over="ignore"):
            total = np.exp(eta).sum()
        return float(total - self.y @ eta + 0.5 * (((beta - self.prior_mean) / self.prior_sd) ** 2).sum())

    def most_curved(self) -> float:
        return 1.0

    def curvature_weights(self, etas: Vector) -> Vector:
        return np.asarray(rounded(np.exp(etas) * (1.0 + 1e-6), np.exp(etas), 24))


def LinearRegression(
    X: Any,
    y: Any,
    *,
    noise_sd: float,
    prior_sd: ArrayLike = 10.0,
    prior_mean: ArrayLike = 0.0,
    inclusion: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    half_spaces: tuple[ArrayLike, ArrayLike] | None = None,
    names: Sequence[str] | None = None,
) -> Gaussian:
    """Return the posterior of a linear regression with known noise: a Gaussian, with spikes if asked.

    Parameters as of LogisticRegression; `noise_sd` > 0 is the standard deviation of y around X beta.
    Raises InputError for what does not fit.
    """
    design = _input.matrix("X", X)
    n, d = design.shape
    observed, sd = _input.observations(y, n), _input.vector("prior_sd", prior_sd, d)
    if not isinstance(noise_sd, Real) or not 1e-150 < noise_sd < math.inf:
        raise InputError(f"noise_sd must be > 0 and finite, one number, got {noise_sd!r}")
    if not ((sd > 0.0) & np.isfinite(sd)).all():
        raise InputError(f"prior_sd must be > 0 and finite, got {sd.min():g}")
    mean = _input.vector("prior_mean", prior_mean, d)
    if not np.isfinite(mean).all():
        raise InputError("prior_mean must be finite")
    if inclusion is not None and (mean != 0.0).any():
        raise InputError("a spike and slab prior has its slab around zero: leave prior_mean at 0")
    precision = product(design.T, design) / noise_sd**2 + np.diag(1.0 / sd**2)
    try:
        centre = solve(precision, product(design.T, observed) / noise_sd**2 + mean / sd**2)
    except np.linalg.LinAlgError:
        raise InputError(
            "the posterior's precision is singular to rounding: columns of X are nearly linear combinations of others "
            "and prior_sd is wide, or noise_sd is tiny. Leave columns out, scale them, or give a tighter prior_sd"
        ) from None
    return Gaussian(
        precision, centre, inclusion=inclusion, slab_sd=None if inclusion is None else sd, lower=lower, upper=upper,
        half_spaces=half_spaces, names=_input.names_of(X, d, names),
    )  # fmt: skip
