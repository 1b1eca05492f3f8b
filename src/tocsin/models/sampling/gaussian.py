"""Gaussian targets, dense or sparse, with spikes at zero and walls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.sampling import _field, _flight, _input
from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._factors import FactorChain, factors, factors_of
from tocsin.models.sampling._flight import FlightChain
from tocsin.models.sampling.particle import AFFINE, CONSTANT
from tocsin.models.sampling.zigzag import MODEL
from tocsin.run import Simulation

Vector = NDArray[np.float64]
FIELD_KINDS = ("flips", "reflections", "halts", "thaws")


def thaw_constant(inclusion: ArrayLike | None, slab_sd: ArrayLike | None, d: int) -> Vector:
    """Return kappa (d,): a halt at zero ends at rate kappa |v|; inf where there is no spike.

    kappa = w / (1 - w) * density of the slab at zero, w the prior probability of inclusion, which gives the
    prior w slab + (1 - w) point mass at zero. Raises InputError: w outside (0, 1), no slab_sd, slab_sd <= 0.
    """
    if inclusion is None:
        if slab_sd is not None:
            raise InputError("slab_sd belongs to a spike and slab prior: give inclusion, its prior probability, too")
        return np.full(d, np.inf)
    given = np.broadcast_to(np.asarray(inclusion, dtype=np.float64), (d,)) if np.ndim(inclusion) <= 1 else inclusion
    has = ~np.isnan(given)  # NaN marks coordinates without a spike
    w = np.full(d, 0.5)
    w[has] = _input.probability("inclusion", np.asarray(given)[has], int(has.sum()))
    sd = _input.vector("slab_sd", slab_sd, d)
    if (sd <= 0.0).any() or not np.isfinite(sd).all():
        raise InputError(f"slab_sd must be > 0 and finite, got {sd.min():g}")
    return np.where(has, w / (1.0 - w) / (sd * math.sqrt(2.0 * math.pi)), np.inf)


class Gaussian:
    """A normal distribution with a given precision matrix.

    Parameters
    ----------
    precision : (d, d) array or scipy sparse matrix, symmetric positive definite: the inverse of the covariance
    mean : (d,) or one number, 0 by default
    inclusion : prior probabilities that a coordinate is not zero, (d,) or one; each coordinate then has an atom at zero
        beside this density (its slab included): spike and slab. None: no spikes; NaN entries: none there
    slab_sd : standard deviation of the slab that this density contains, (d,) or one; needed with `inclusion`
    lower, upper : walls, (d,) or one number each: the distribution is cut off there
    names : d names

    Raises InputError for a matrix that is not square, finite, symmetric and positive definite, and for
    probabilities, walls or lengths that do not fit.
    """

    name = "gaussian"

    def __init__(
        self,
        precision: Any,
        mean: ArrayLike | None = None,
        *,
        inclusion: ArrayLike | None = None,
        slab_sd: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.precision = _input.precision_matrix(precision)
        self.d = d = int(self.precision.shape[0])
        self.mean = _input.vector("mean", mean, d, 0.0)
        if not np.isfinite(self.mean).all():
            raise InputError("mean must be finite")
        self.kappa = thaw_constant(inclusion, slab_sd, d)
        self.low, self.high = _input.walls(lower, upper, d)
        self.names = _input.names_of(precision, d, names)

    @property
    def has_spikes(self) -> bool:
        """Whether some coordinate has an atom at zero."""
        return bool(np.isfinite(self.kappa).any())

    @property
    def has_walls(self) -> bool:
        """Whether there is a wall."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def typical_sd(self) -> Vector:
        """Return the conditional standard deviations, (d,): the lengths of a step."""
        found: Vector = 1.0 / np.sqrt(self.precision.diagonal())
        return found

    def first_position(self, rng: np.random.Generator) -> Vector:
        """Return a point to start from: the mean, blurred, within the walls."""
        x = self.mean + self.typical_sd() * rng.normal(size=self.d)
        width = self.high - self.low
        inset = 0.01 * np.where(np.isfinite(width), width, 0.0)
        return np.clip(x, self.low + inset, self.high - inset)

    def zigzag(self, x: Vector, seed: int, *, speeds: Vector | None = None, knots: int = 0) -> Chain:
        """Return a Zig-Zag that starts at `x`, each coordinate with its own speed and clock.

        Its events are exact: affine rates, inverted. Raises InputError for a start outside the walls.
        """
        _input.inside(x, self.low, self.high)
        rng = np.random.default_rng([seed, 1])
        speeds = self.typical_sd() if speeds is None else speeds
        v = np.where(rng.random(self.d) < 0.5, speeds, -speeds)
        thaw = self.kappa * speeds
        world = _field.field(self.precision, self.mean, x, v, thaw, self.low, self.high, knots=knots)
        _field.look_ahead(world, rng.exponential(size=self.d) / thaw)
        return Chain(Simulation(MODEL, world, seed=seed), None, None, FIELD_KINDS)

    def flight(self, sampler: str, x: Vector, seed: int, *, knots: int = 0) -> FlightChain:
        """Return a Bouncy Particle or (Factorised) Boomerang chain that starts at x. Cost: O(d^2) an event.

        The Bouncy Particle moves in units of the standard deviations, with exact events; the others' reference is the
        Gaussian itself, so that only refreshments and walls turn them. Raises InputError for spikes.
        """
        if self.has_spikes:
            raise InputError(f"spikes at zero need the zigzag sampler, got {sampler!r}")
        _input.inside(x, self.low, self.high)
        dense = self.precision.toarray()
        covariance = np.linalg.inv(dense)
        is_circle, is_flip = _flight.SAMPLERS[sampler]
        scale = np.linalg.cholesky(covariance) if is_circle else np.diag(np.sqrt(np.diag(covariance)))
        rng = np.random.default_rng([seed, 1])
        normals, offsets = _flight.box(self.low, self.high, self.mean, scale)
        world = _flight.flight(
            np.linalg.solve(scale, x - self.mean)[None],
            _flight.first_velocity(sampler, (1, self.d), rng),
            np.zeros((self.d, self.d)) if is_circle else scale.T @ dense @ scale,
            normals=normals, offsets=offsets, knots=knots, centre=self.mean, scale=scale, is_circle=is_circle,
            is_flip=is_flip, is_mixed=is_circle, is_quadratic=1, bound=CONSTANT if is_circle else AFFINE,
            refresh=_flight.refreshments(sampler, self.d),
        )  # fmt: skip
        return FlightChain(world, seed, sampler, None, 0, None)

    def local_bouncy(self, x: Vector, seed: int, *, knots: int = 0) -> FactorChain:
        """Return a local Bouncy Particle chain: a clock for each pair of neighbours. Raises InputError for spikes, walls."""
        if self.has_spikes or self.has_walls:
            raise InputError("spikes and walls need another sampler than local-bouncy, such as zigzag")
        matrix = factors_of(self.precision)
        v = np.random.default_rng([seed, 1]).normal(size=self.d)
        return FactorChain(factors(matrix, matrix @ self.mean, x, v, 0.1, knots), seed)

    @property
    def samplers(self) -> dict[str, Any]:
        """The samplers that apply, by name."""
        local = {"zigzag": Gaussian.zigzag, "local-bouncy": Gaussian.local_bouncy}
        return {**local, **{name: _starter(name) for name in list(_flight.SAMPLERS)[1:]}}

    @property
    def bounds(self) -> dict[str, str]:
        """The class of the bounds of each sampler."""
        return dict.fromkeys((*_flight.SAMPLERS, "local-bouncy"), "exact")


def _starter(name: str) -> Any:
    return lambda target, x, seed, *, knots=0: target.flight(name, x, seed, knots=knots)
