"""Make the world of samplers whose coordinates move together, and run one as a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import FireError
from tocsin.kernel._elementary import cos, sin
from tocsin.models.sampling._barriers import NOTHING
from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._field import begin_draws
from tocsin.models.sampling._steady import product, solve_lower
from tocsin.models.sampling.particle import GRID, MODEL, N_GRID, Flight
from tocsin.run import Simulation

Vector = NDArray[np.float64]
Matrix = NDArray[Any]
KINDS = ("bounces", "reflections", "refreshments", "proposals", "gradients", "violations", "halts", "thaws")
SAMPLERS = {"zigzag": (0, 1), "bouncy": (0, 0), "boomerang": (1, 0), "factorised-boomerang": (1, 1)}
"""Whether it moves on a circle, and whether an event reverses one coordinate."""


def flight(
    z: Matrix, v: Matrix, curvature: Matrix, *, normals: Matrix | None = None, offsets: Vector | None = None,
    knots: int = 0, **options: Any,
) -> Flight:  # fmt: skip
    """Return a world of particles (n, d) at z with velocities v; on a circle, `curvature` is less the identity.

    With `thaw` and `zeros`, coordinates at their zero that have a spike start halted.
    """
    n, d = z.shape
    walls = np.zeros((0, d)) if normals is None else normals
    rows = {"until": np.zeros(n), "rings": np.full(n, np.inf), "meets": np.full(n, NOTHING)}
    plain = {
        name: np.zeros((n, d)) for name in ("g", "a", "b", "area", "area_squared", "probes", "probe_g", "x", "x_slope")
    }
    options.setdefault("centre", np.zeros(d))
    options.setdefault("scale", np.eye(d))
    options.setdefault("tilt", np.zeros(d))
    options.setdefault("thaw", np.full(d, np.inf))
    options.setdefault("zeros", np.zeros(d))
    spikes = np.isfinite(options["thaw"])
    options["has_spikes"] = int(spikes.any())
    speeds, v = v, np.where(spikes & (z == options["zeros"]), 0.0, v)
    world = Flight(
        particles=rows, z=z, v=v, speeds=speeds, grid=np.zeros((n * (N_GRID + 1), d)), ceilings=np.zeros((n, N_GRID)),
        curvature=curvature, normals=walls, offsets=np.zeros(0) if offsets is None else offsets,
        knot_times=np.zeros(knots), knot_z=np.zeros((knots, d)), knot_v=np.zeros((knots, d)), **plain, **options,
    )  # fmt: skip
    begin_draws(world, 0.0, 0, 0.0, 0, len(KINDS))
    return world


def first_velocity(sampler: str, shape: tuple[int, ...], rng: np.random.Generator) -> Matrix:
    """Return velocities from their law: signs for the Zig-Zag, else standard normal."""
    return rng.choice([-1.0, 1.0], shape) if sampler == "zigzag" else rng.normal(size=shape)


def set_spikes(world: Flight, kappa: Vector) -> None:
    """Tell a world where its coordinates halt, in its present scale: kappa (d,) is inf where they do not."""
    scale = world.scale.values.diagonal()
    world.has_spikes = int(np.isfinite(kappa).any())
    world.zeros.values[:] = -world.centre.values / scale
    world.thaw.values[:] = kappa * scale


def put(world: Flight, x: Vector, v: Vector, is_halted: Any) -> None:
    """Put the first particle at x with velocity v in the scale of z; `is_halted` coordinates halt at zero."""
    z = solve_lower(world.scale.values, x - world.centre.values)
    world.z.values[0] = np.where(is_halted, world.zeros.values, z)
    world.speeds.values[0] = v
    world.v.values[0] = np.where(is_halted, 0.0, v)


def moments(x: Vector, centre: Vector, scale: Matrix, has_spikes: bool) -> tuple[Vector, Matrix]:
    """Return mean and covariance of draws (n, d), blended with those known so far; of spikes those of the slab."""
    n, d = x.shape
    guess = product(scale, scale.T)
    if not has_spikes:
        weight = n / (n + 10.0 + d)
        mean = x.mean(axis=0)
        spread = product((x - mean).T, x - mean) / max(n - 1, 1)
        return mean, weight * spread + (1.0 - weight) * guess
    is_in = x != 0.0
    n_in = is_in.sum(axis=0)
    mean = np.where(n_in >= 20, x.sum(axis=0) / np.maximum(n_in, 1), centre)
    squares = (np.where(is_in, x - mean, 0.0) ** 2).sum(axis=0)
    return mean, np.diag((squares + 10.0 * guess.diagonal()) / (n_in + 10.0))


class FlightChain(Chain):
    """A chain of one particle.

    Parameters
    ----------
    world, seed : what it starts from
    function, address : the target's function, and its address; None and 0 for a quadratic potential
    rescale : called with the covariance estimated in warm-up; sets scale, curvature and walls of a world
    """

    def __init__(
        self, world: Flight, seed: int, sampler: str, function: Any, address: int,
        rescale: Callable[[Flight, Vector, Matrix], None] | None,
    ) -> None:  # fmt: skip
        simulation = Simulation(MODEL, world, seed=seed)
        simulation.world.attach(function, address)
        super().__init__(simulation, None, None, KINDS)
        self.sampler, self.rescale, self.seed = sampler, rescale, seed

    def take_scale(self) -> None:
        """Take the scale in which the world moves now."""
        world = self.world
        self.centre = world.centre.values.copy()
        self.scale = world.scale.values.copy() if world.is_mixed else world.scale.values.diagonal().copy()

    def warm_up(self, time: float) -> None:
        """Run in four parts of growing length, fitting scale and horizon in between; then neither changes."""
        for share in (0.1, 0.15, 0.25, 0.5):
            if self.rescale is None or share == 0.5 or time == 0.0:
                self._advance(share * time)
            else:
                self._fit_scale(share * time)
            self._fit_horizon()

    def _advance(self, time: float) -> None:
        with self._explained():
            self.simulation.run(until=self.simulation.now + time)

    def _fit_scale(self, time: float) -> None:
        d = len(self.world.tilt)
        n = 200
        self.record(n, time / n, range(d))
        self.run()
        world = self.world
        middle, covariance = moments(self.draws(), world.centre.values, world.scale.values, bool(world.has_spikes))
        assert self.rescale is not None
        here = self._here()
        self.rescale(self.world, middle, covariance)
        self._place(here)

    def _here(self) -> Vector:
        world = self.world
        p, now = world.particles[0], self.simulation.now
        z, v = world.z.values[0], world.v.values[0]
        t = now - p.at
        z = np.where(v == 0.0, z, z * cos(t) + v * sin(t)) if world.is_circle else z + v * t
        found: Vector = world.centre.values + product(world.scale.values, z)
        return found

    def _place(self, x: Vector) -> None:
        """Put the particle at x with a new velocity, in the present scale; what is halted stays so."""
        world, now = self.world, self.simulation.now
        rng = np.random.default_rng([self.seed, 2, self.simulation.n_events])
        put(world, x, first_velocity(self.sampler, (len(x),), rng), world.v.values[0] == 0.0)
        p = world.particles[0]
        p.at, p.rings, p.until, p.meets = now, np.inf, now, NOTHING
        self.simulation.touch(p)

    def _fit_horizon(self) -> None:
        """Let the horizon fit the events: one or two in each."""
        world = self.world
        if world.bound == GRID and world.n_renewals + world.n_proposals > 10:
            ratio = world.n_renewals / max(world.n_proposals, 1)
            world.horizon *= 2.0 if ratio > 1.5 else 0.5 if ratio < 0.2 else 1.0
            world.n_renewals = world.n_proposals = 0

    def record(self, draws: int, every: float, kept: Sequence[int]) -> None:
        """Start to draw; the scale no longer changes."""
        world, now = self.world, self.simulation.now
        self.take_scale()
        self.kept = list(kept)
        rows = range(len(world.tilt)) if world.is_mixed else self.kept
        world._set_array(world.schema().arrays["kept"], np.array(rows, np.int32))
        self._settle(now)
        begin_draws(world, now, draws, every, len(rows), len(KINDS))
        self.offset = self._counted()
        world.n_knots, self.knots = 0, []
        self.simulation.touch(world)

    def _settle(self, now: float) -> None:
        """Start the integrals anew: less what passed from the last event to now."""
        world = self.world
        p = world.particles[0]
        t, z, v = now - p.at, world.z.values, world.v.values
        s, c = sin(t), cos(t)
        area, squared = t * (z + 0.5 * v * t), t * (z * (z + v * t) + (v * t) ** 2 / 3.0)
        if world.is_circle:
            turns = 0.5 * (z * z + v * v) * t + 0.5 * (z * z - v * v) * s * c + z * v * s * s
            area = np.where(v == 0.0, area, z * s + v * (1.0 - c))
            squared = np.where(v == 0.0, squared, turns)
        world.area.values[:], world.area_squared.values[:] = -area, -squared

    def run(self, after_slice: Callable[[], None] | None = None) -> None:
        """Run until all draws are made. Raises FireError naming the point of a gradient that is not finite."""
        with self._explained():
            super().run(after_slice)

    def draws(self) -> Vector:
        """Return the positions drawn so far; halted coordinates are at zero exactly."""
        x = super().draws()
        world = self.world
        if world.has_spikes:
            is_halted = world.draws.values[: self.n_drawn] == world.zeros.values[self.kept]
            x[is_halted & np.isfinite(world.thaw.values[self.kept])] = 0.0
        return x

    def squares(self) -> Any:
        """Return the integrals of the squared position, or None where the scale mixes coordinates."""
        world = self.world
        if world.is_mixed or self.scale is None or self.centre is None:
            return None
        n = self.n_drawn
        times = (1.0 + np.arange(n))[:, None] * world.draw_every
        scale, centre = self.scale[self.kept], self.centre[self.kept]
        return scale**2 * world.squares.values[:n] + 2.0 * centre * scale * world.areas.values[:n] + centre**2 * times

    def take_knots(self) -> None:
        """Take the turns written down out of the simulation, in the target's own positions."""
        world, n = self.world, self.world.n_knots
        if n:
            found = np.zeros(n, [("time", "f8"), ("x", "f8", len(world.tilt)), ("v", "f8", len(world.tilt))])
            found["time"] = world.knot_times.values[:n]
            scale = world.scale.values
            found["x"] = world.centre.values + product(world.knot_z.values[:n], scale.T)
            found["v"] = product(world.knot_v.values[:n], scale.T)
            self.knots.append(found)
            world.n_knots = 0

    def n_room(self) -> int:
        """Return how many turns can still be written down; 0 if none are."""
        return len(self.world.knot_times) - int(self.world.n_knots)

    def _explained(self) -> Any:
        return _Explained(self)


class _Explained:
    """Turns an error of the compiled loop into one that names the point."""

    def __init__(self, chain: FlightChain) -> None:
        self.chain = chain

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, FireError):
            return
        world = self.chain.world
        x = np.array2string(world.x.values[0], precision=6, threshold=10)
        if "not finite" in str(error):
            slope = np.array2string(world.x_slope.values[0], precision=6, threshold=10)
            raise FireError(
                f"the gradient is not finite at x = {x}: it is {slope}. Keep the path where the density is positive "
                f"(lower=, upper=), or mend the gradient there"
            ) from None
        if "certified bound" in str(error):
            raise FireError(
                f"the rate at x = {x} exceeds its bound, which was declared as certified: `curvature` is no bound on "
                f"the second derivatives there. Correct it, or leave it out for approximate bounds"
            ) from None


def refreshments(sampler: str, d: int) -> float:
    """Return refreshments a unit of time: none for the Zig-Zag, which does without; else what mixes well.

    For the Bouncy Particle about 0.78 of all events should be refreshments (Bierkens, Kamatani and Roberts 2022,
    doi:10.1214/21-AAP1727), and a standard normal target has 0.4 sqrt(d) bounces a unit of time.
    """
    return {"zigzag": 0.0, "bouncy": 1.4 * float(np.sqrt(d))}.get(sampler, 1.0)
