"""Gaussian targets, dense or sparse, with spikes at zero and walls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.sampling import _field, _flight, _input
from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._factors import FactorChain, factors, factors_of
from tocsin.models.sampling._flight import FlightChain
from tocsin.models.sampling._room import Room
from tocsin.models.sampling._spikes import thaw_constant
from tocsin.models.sampling._steady import cholesky, inverse, product
from tocsin.models.sampling.particle import AFFINE, CONSTANT
from tocsin.models.sampling.zigzag import MODEL
from tocsin.run import Simulation

Vector = NDArray[np.float64]
FIELD_KINDS = ("flips", "reflections", "halts", "thaws")


class Gaussian:
    """A normal distribution with a given precision matrix.

    Parameters
    ----------
    precision : (d, d) array or scipy sparse matrix, symmetric positive definite: the inverse of the covariance
    mean : (d,) or one number, 0 by default
    inclusion : prior probabilities that a coordinate is not zero, (d,) or one; each coordinate then has an atom at zero
        beside this density (its slab included): spike and slab. None: no spikes; NaN entries: none there
    slab_sd : standard deviation of the slab that this density contains, (d,) or one; needed with `inclusion`
    lower, upper : walls, (d,) or one number each: the distribution is cut off there, slabs included
    half_spaces : a pair (A, b), (m, d) and (m,): the distribution is cut off to the points with A x <= b
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
        half_spaces: tuple[ArrayLike, ArrayLike] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.precision = _input.precision_matrix(precision)
        self.d = d = int(self.precision.shape[0])
        self.mean = _input.vector("mean", mean, d, 0.0)
        if not np.isfinite(self.mean).all():
            raise InputError("mean must be finite")
        self.room = Room(d, lower, upper, half_spaces)
        self.low, self.high = self.room.low, self.room.high
        self.kappa = thaw_constant(inclusion, slab_sd, self.low, self.high)
        self.names = _input.names_of(precision, d, names)

    @property
    def has_spikes(self) -> bool:
        """Whether some coordinate has an atom at zero."""
        return bool(np.isfinite(self.kappa).any())

    @property
    def has_walls(self) -> bool:
        """Whether there is a wall."""
        return self.room.has_walls

    def typical_sd(self) -> Vector:
        """Return the conditional standard deviations, (d,): the lengths of a step."""
        found: Vector = 1.0 / np.sqrt(self.precision.diagonal())
        return found

    def first_position(self, rng: np.random.Generator) -> Vector:
        """Return a point to start from: the mean, blurred, within the walls."""
        x = self.mean + self.typical_sd() * rng.normal(size=self.d)
        width = self.high - self.low
        inset = 0.01 * np.where(np.isfinite(width), width, 0.0)
        return self.room.within(np.clip(x, self.low + inset, self.high - inset))

    def zigzag(self, x: Vector, seed: int, *, speeds: Vector | None = None, knots: int = 0) -> Chain:
        """Return a Zig-Zag that starts at `x`, each coordinate with its own speed and clock.

        Its events are exact: affine rates, inverted. With half-spaces all coordinates move together (`flight`), at speeds
        that are its own. Raises InputError for a start outside the walls.
        """
        if self.room.has_half_spaces:
            return self.flight("zigzag", x, seed, knots=knots)
        self.room.check(x)
        rng = np.random.default_rng([seed, 1])
        speeds = self.typical_sd() if speeds is None else speeds
        v = np.where(rng.random(self.d) < 0.5, speeds, -speeds)
        thaw = self.kappa * speeds
        world = _field.field(self.precision, self.mean, x, v, thaw, self.low, self.high, knots=knots)
        _field.look_ahead(world, rng.exponential(size=self.d) / thaw)
        return Chain(Simulation(MODEL, world, seed=seed), None, None, FIELD_KINDS)

    def flight(self, sampler: str, x: Vector, seed: int, *, knots: int = 0) -> FlightChain:
        """Return a chain of a sampler in which all coordinates move together, from x. Cost: O(d^2) an event.

        On lines the events are exact. On circles the reference is the Gaussian itself, so that only refreshments and walls turn
        them; with spikes it is that of independent coordinates, and the bounds are certified.
        Raises InputError for a start outside the walls.
        """
        self.room.check(x)
        is_circle, is_flip = _flight.SAMPLERS[sampler]
        scale = self._scale(sampler)
        normals, offsets = self.room.walls(self.mean, scale)
        curvature = product(scale.T, self.precision @ scale) - is_circle * np.eye(self.d)
        v = _flight.first_velocity(sampler, (1, self.d), np.random.default_rng([seed, 1]))
        world = _flight.flight(
            np.zeros((1, self.d)), v, np.zeros_like(curvature) if is_circle and not self.has_spikes else curvature,
            normals=normals, offsets=offsets, knots=knots, centre=self.mean, scale=scale, is_circle=is_circle,
            is_flip=is_flip, is_mixed=int(not np.array_equal(scale, np.diag(scale.diagonal()))), is_quadratic=1,
            bound=CONSTANT if is_circle else AFFINE, refresh=_flight.refreshments(sampler, self.d),
        )  # fmt: skip
        _flight.set_spikes(world, self.kappa)
        _flight.put(world, x, v[0], np.isfinite(self.kappa) & (x == 0.0))
        return FlightChain(world, seed, sampler, None, 0, None)

    def _scale(self, sampler: str) -> Any:
        if self.has_spikes:
            return np.diag(self.typical_sd())
        covariance = inverse(self.precision.toarray())
        return np.diag(np.sqrt(np.diag(covariance))) if sampler == "bouncy" else cholesky(covariance)

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
        found = dict.fromkeys((*_flight.SAMPLERS, "local-bouncy"), "exact")
        return {k: "certified" if self.has_spikes and k.endswith("boomerang") else v for k, v in found.items()}


def _starter(name: str) -> Any:
    return lambda target, x, seed, *, knots=0: target.flight(name, x, seed, knots=knots)
