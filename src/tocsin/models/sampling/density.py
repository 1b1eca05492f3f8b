"""Any target whose log density has a gradient: written in plain Python, compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.sampling import _flight, _input
from tocsin.models.sampling._flight import FlightChain, first_velocity, flight
from tocsin.models.sampling._room import Room
from tocsin.models.sampling._spikes import thaw_constant
from tocsin.models.sampling._steady import cholesky, product, rounded
from tocsin.models.sampling.particle import AFFINE, CONSTANT, GRID, ROOT, Flight

Vector = NDArray[np.float64]
Matrix = NDArray[Any]


class LogDensity:
    """A target given by the gradient of its log density.

    Parameters
    ----------
    gradient : f(x) -> (d,) array, the gradient of the log density; plain Python with NumPy, which is compiled
    d : number of coordinates
    logp : f(x) -> number, the log density up to a constant; needed for `is_log_concave`
    is_log_concave : the log density is concave: then the Bouncy Particle Sampler is exact without any bound
    curvature : (d, d) array, curvature[i, j] >= |second derivative of the log density by i and j| everywhere: then
        events of all samplers are certified. A rate above such a bound stops the run
    start : (d,), where the search for the mode starts; 0 by default
    scale : (d,) standard deviations or (d, d) covariance to begin with; by default from the curvature at the
        mode. Warm-up fits it to the draws
    inclusion : prior probabilities that a coordinate is not zero, (d,) or one; each then has an atom at zero beside this
        density (its slab included): spike and slab. None: no spikes; NaN entries: none there
    slab_sd : standard deviation of the normal slab that this density contains, (d,) or one; needed with `inclusion`
    lower, upper : walls, (d,) or one number each; the path is reflected there
    half_spaces : a pair (A, b), (m, d) and (m,): walls A x <= b
    names : d names

    Without `curvature` or `is_log_concave` the bounds come from gradients ahead of the path, on a grid: the result
    says "approximate" and counts the violations it saw.

    Raises InputError for what does not fit, such as a gradient that is not that of `logp`; CompileError for a gradient that Numba does not compile.
    """

    name = "log density"
    variable = "x"

    def __init__(
        self,
        gradient: Callable[[Vector], Vector],
        d: int,
        *,
        logp: Any = None,
        is_log_concave: bool = False,
        curvature: ArrayLike | None = None,
        start: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        inclusion: ArrayLike | None = None,
        slab_sd: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        half_spaces: tuple[ArrayLike, ArrayLike] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if not callable(gradient):
            raise InputError(f"gradient must be a function of x, got {type(gradient).__name__}")
        if isinstance(d, bool) or not hasattr(d, "__index__") or d < 1:
            raise InputError(f"d must be a whole number >= 1, got {d!r}")
        self.d = d = int(d)
        if is_log_concave and logp is None:
            raise InputError("is_log_concave needs logp: the event is where the density has fallen far enough")
        self.is_log_concave = is_log_concave
        self.curvature = None if curvature is None else _curvature(curvature, d)
        self.room = Room(d, lower, upper, half_spaces)
        self.kappa = thaw_constant(inclusion, slab_sd, self.room.low, self.room.high)
        self.names = _input.names_of(None, d, names)
        self.start = self.room.within(np.zeros(d)) if start is None else _input.vector("start", start, d)
        if not np.isfinite(self.start).all():
            raise InputError("start must be finite")
        self.room.check(self.start)
        self._given_scale = None if scale is None else _scale(scale, d)
        self._function, self._address, self._keep = self._compiled(gradient, logp)
        self._laplace: tuple[Vector, Matrix] | None = None
        _check_length(gradient, self.start)
        if callable(logp):
            self._check_slope()

    def _compiled(self, gradient: Any, logp: Any) -> tuple[Any, int, Any]:
        from tocsin.compile._outside import native, negative

        function = negative(gradient, logp)
        keep, address = native(function, self.d)
        return function, address, keep

    def potential(self, x: Vector) -> tuple[float, Vector]:
        """Return minus the log density (0 without `logp`) and its gradient, by the compiled function."""
        import ctypes

        call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(self._address)
        x = np.ascontiguousarray(x, np.float64)
        out = np.zeros(self.d)
        return float(call(x.ctypes.data, out.ctypes.data)), out

    def _check_slope(self) -> None:
        """Raise InputError if `gradient` is not that of `logp`, by a difference beside the start, where kinks are rare."""
        waves = np.cos(1.0 + np.arange(self.d))
        size = 1.0 + np.abs(self.start)
        x = self.room.within(self.start + 0.1 * size * np.sin(2.0 + 3.0 * np.arange(self.d)))
        step = 1e-5 * size * waves
        (ahead, _), (back, _), (here, slope) = (self.potential(p) for p in (x + step, x - step, x))
        seen, said = (back - ahead) / 2e-5, -float(slope @ step) / 1e-5
        slack = 0.01 * (abs(seen) + abs(said)) + 1e-3 * (1.0 + 1e-6 * abs(here))
        if np.isfinite(seen + said) and abs(seen - said) > slack:
            raise InputError(
                f"gradient is not that of logp: at x = {x}, along {step / 1e-5}, logp changes by {seen:g} and gradient says {said:g}"
            )

    @property
    def has_walls(self) -> bool:
        """Whether there is a wall."""
        return self.room.has_walls

    @property
    def has_spikes(self) -> bool:
        """Whether some coordinate has an atom at zero."""
        return bool(np.isfinite(self.kappa).any())

    def laplace(self) -> tuple[Vector, Matrix]:
        """Return a point near the mode and a covariance to begin with, (d,) and (d, d)."""
        if self._laplace is None:
            self._laplace = self._find_laplace()
        return self._laplace

    def _find_laplace(self) -> tuple[Vector, Matrix]:
        x = self._climb()
        if self._given_scale is not None:
            return x, self._given_scale
        step = 1e-4 * (1.0 + np.abs(x))
        if self.d > 500:
            return x, np.eye(self.d)
        hessian = np.stack(
            [(self.potential(x + h)[1] - self.potential(x - h)[1]) / (2.0 * h.max()) for h in np.diag(step)]
        )
        values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
        if not np.isfinite(values).all():
            return x, np.eye(self.d)
        values = np.clip(values, 1e-4 * max(values.max(), 1e-8), None)
        values = values * np.array(
            [self._steeper(x, u, 1.0 / np.sqrt(k)) for u, k in zip(vectors.T, values, strict=True)]
        )
        covariance = (vectors / values) @ vectors.T
        lengths = np.sqrt(covariance.diagonal())
        return x, rounded(covariance, np.outer(lengths, lengths))

    def _steeper(self, x: Vector, u: Vector, length: float) -> float:
        """Return by what power of 4 a density is more curved along u, over a typical length, than at its mode.

        At the mode alone exp(-x^4) looks flat and exp(-|x|) sharp. 1 where the curvature at the mode is that of the length.
        """
        halvings, rise = 0, self._rise(x, length * u)
        while rise < 0.25 and halvings > -40:
            halvings -= 1
            rise = self._rise(x, 0.5**halvings * length * u)
        while not rise <= 2.0 and halvings < 40:
            halvings += 1
            rise = self._rise(x, 0.5**halvings * length * u)
        return float(4.0**halvings)

    def _rise(self, x: Vector, step: Vector) -> float:
        """Return how much the potential changes its slope along a step: 1 for the standard deviation of a normal density."""
        ahead, back = self.room.within(x + step), self.room.within(x - step)
        rise = 0.5 * abs(float(step @ (self.potential(ahead)[1] - self.potential(back)[1])))
        return max(rise, abs(float(step @ self.potential(x)[1]))) if self.has_walls else rise

    def _climb(self) -> Vector:
        """Go uphill: by steps along the gradient that shrink when it turns (Rprop), so that no value is needed."""
        x, step = self.start.copy(), np.full(self.d, 0.1)
        before = np.zeros(self.d)
        first = np.abs(self.potential(x)[1])
        for _ in range(300):
            slope = self.potential(x)[1]
            if not np.isfinite(slope).all():
                raise InputError(f"the gradient is not finite at x = {x}: it is {slope}. Give another start")
            turned = slope * before
            step = np.clip(step * np.where(turned < 0.0, 0.5, np.where(turned > 0.0, 1.2, 1.0)), 1e-8, 1.0)
            before = np.where(turned < 0.0, 0.0, slope)
            x = self.room.within(x - step * np.sign(before))
            if step.max() < 1e-6:
                break
        else:
            runs_off = (step == 1.0) & (np.abs(slope) > first) & (slope * (self.start - x) > 0.0)
            if runs_off.any() and not self.has_walls:
                raise InputError(
                    f"the log density rises ever more steeply from start to x = {x}: its gradient there is {-slope}. "
                    "Is its sign right? It must be that of the log density, not of minus the log density"
                )
        return x

    def first_position(self, rng: np.random.Generator) -> Vector:
        """Return a point to start from: near the mode, within the walls."""
        x, covariance = self.laplace()
        x = x + product(cholesky(covariance), rng.normal(size=self.d))
        return self.room.within(x)

    def bound_for(self, sampler: str) -> tuple[int, str]:
        """Return which bound a sampler goes by, and its class: exact, certified or approximate."""
        if sampler == "bouncy" and self.is_log_concave:
            return ROOT, "exact"
        if self.curvature is not None:
            return (CONSTANT if sampler.endswith("boomerang") else AFFINE), "certified"
        return GRID, "approximate"

    def chain(self, sampler: str, x: Vector, seed: int, *, knots: int = 0, adapt: bool = True) -> FlightChain:
        """Return a chain that starts at x."""
        self.room.check(x)
        middle, covariance = self.laplace()
        is_circle, is_flip = _flight.SAMPLERS[sampler]
        v = first_velocity(sampler, (1, self.d), np.random.default_rng([seed, 1]))
        bound, _ = self.bound_for(sampler)
        rate = 0.4 * (self.d if is_flip else np.sqrt(self.d))
        normals, offsets = self.room.walls(middle, np.eye(self.d))
        world = flight(
            np.zeros((1, self.d)), v, np.zeros((self.d, self.d)), knots=knots, is_circle=is_circle,
            is_flip=is_flip, is_mixed=int(self.d > 1 and not self.has_spikes), bound=bound, horizon=min(1.0, 2.0 / rate),
            refresh=_flight.refreshments(sampler, self.d), normals=normals, offsets=offsets,
        )  # fmt: skip
        self.rescale(world, middle, covariance)
        _flight.put(world, x, v[0], np.isfinite(self.kappa) & (x == 0.0))
        return FlightChain(world, seed, sampler, self._function, self._address, self.rescale if adapt else None)

    def rescale(self, world: Flight, middle: Vector, covariance: Matrix) -> None:
        """Set the scale of a world: x = middle + scale z, with scale scale' = covariance (or its diagonal)."""
        scale = cholesky(covariance) if world.is_mixed else np.diag(np.sqrt(np.diag(covariance)))
        world.centre.values[:], world.scale.values[:] = middle, scale
        world.normals.values[:], world.offsets.values[:] = self.room.walls(middle, scale)
        _flight.set_spikes(world, self.kappa)
        if self.curvature is not None:
            size = np.abs(scale)
            world.curvature.values[:] = product(product(size.T, self.curvature), size) + world.is_circle * np.eye(
                self.d
            )
            world.tilt.values[:] = product(scale.T, self.potential(middle)[1])

    @property
    def samplers(self) -> dict[str, Any]:
        """The samplers that apply, by name."""
        return {name: _starter(name) for name in _flight.SAMPLERS}

    @property
    def bounds(self) -> dict[str, str]:
        """The class of the bounds of each sampler."""
        return {name: self.bound_for(name)[1] for name in _flight.SAMPLERS}


def _starter(name: str) -> Any:
    return lambda target, x, seed, *, knots=0: target.chain(name, x, seed, knots=knots)


def _check_length(gradient: Any, x: Vector) -> None:
    """Raise InputError if a gradient has another shape than its point; what fails in plain Python is left to the compiler."""
    try:
        shape = np.shape(gradient(x.copy()))
    except Exception:  # the function was compiled; whatever it does beside that is its own
        return
    if shape != x.shape:
        raise InputError(f"the gradient must return an array of shape {x.shape}, got shape {shape}")


def _scale(given: ArrayLike, d: int) -> Matrix:
    """Return a covariance (d, d) from one or from standard deviations. Raises InputError for what is none."""
    if np.ndim(given) < 2:
        sd = _input.vector("scale", given, d)
        if not ((sd > 0.0) & np.isfinite(sd)).all():
            raise InputError(f"scale must be > 0 and finite, got {sd.min():g}")
        return np.diag(sd**2)
    found = _input.matrix("scale", given)
    if found.shape != (d, d) or not np.allclose(found, found.T, rtol=1e-10, atol=0.0):
        raise InputError(f"scale must be {d} standard deviations or a symmetric covariance of shape ({d}, {d})")
    if np.linalg.eigvalsh(found).min() <= 0.0:
        raise InputError("scale must be a positive definite covariance: it has an eigenvalue <= 0")
    return found


def _curvature(given: ArrayLike, d: int) -> Matrix:
    found = _input.matrix("curvature", np.atleast_2d(np.asarray(given)))
    if found.shape != (d, d):
        raise InputError(f"curvature must have shape ({d}, {d}), got {found.shape}")
    if (found < 0.0).any() or not np.array_equal(found, found.T):
        raise InputError("curvature holds bounds on sizes: it must be symmetric, with entries >= 0")
    return found
