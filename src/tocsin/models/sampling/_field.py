"""Make the world of a local Zig-Zag from arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.models.sampling._recorded import Recorded
from tocsin.models.sampling.zigzag import Field

Vector = NDArray[np.float64]


def field(
    precision: Any, centre: Vector, x: Vector, v: Vector, thaw: Vector, low: Vector, high: Vector,
    cls: type[Field] = Field, knots: int = 0, **more: Any,
) -> Field:  # fmt: skip
    """Return a world whose quadratic potential is (x - centre)' precision (x - centre) / 2.

    Parameters
    ----------
    precision : (d, d) scipy CSR with sorted indices
    centre, x, v : (d,), the potential's centre, start and velocities
    thaw : (d,), rate at which a halt at zero ends, inf for coordinates without a spike
    low, high : (d,), walls
    cls, more : a subclass of Field and what else it holds
    knots : turns that can be written down

    A coordinate that starts at zero and has a spike starts halted.
    """
    speed, v = v, np.where((x == 0.0) & np.isfinite(thaw), 0.0, v)
    rows = {
        "x": x, "v": v, "g": precision @ (x - centre), "h": precision @ v,
        "meets": np.full(len(x), np.inf), "first": precision.indptr[:-1], "n_links": np.diff(precision.indptr),
    }  # fmt: skip
    world = cls(
        coordinates=rows, trails={"speed": speed, "thaw": thaw, "low": low, "high": high},
        links={"value": precision.data, "to": precision.indices}, knots=knots, **more,
    )  # fmt: skip
    begin_draws(world, 0.0, 0, 0.0, 0, 6)
    return world


def look_ahead(world: Field, ends: Vector) -> None:
    """Set when each coordinate meets its wall or zero; when the halts end (`ends`, absolute times)."""
    c, t = world.coordinates, world.trails
    x, v = c["x"], c["v"]
    spike = np.isfinite(t["thaw"])
    goal = np.where(v > 0.0, np.where((x < 0.0) & spike, 0.0, t["high"]), np.where((x > 0.0) & spike, 0.0, t["low"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        c["meets"][:] = np.where(v == 0.0, ends, c["since"] + (goal - x) / v)


def settle(world: Field, now: float) -> None:
    """Bring all coordinates to `now` and start their integrals anew. The path is the same."""
    c, t = world.coordinates, world.trails
    c["x"][:] += c["v"] * (now - c["since"])
    c["since"][:] = now
    for name in ("area", "area_squared", "moving"):
        t[name][:] = 0.0
    t["n_turns"][:] = 0


def positions(world: Field, now: float) -> Vector:
    """Return where all coordinates are, shape (d,)."""
    c = world.coordinates
    found: Vector = c["x"] + c["v"] * (now - c["since"])
    return found


def integrals(world: Field, now: float) -> tuple[Vector, Vector, Vector]:
    """Return the integrals of x, of its square, and of not being halted at zero, since `settle`; (d,) each."""
    c, t = world.coordinates, world.trails
    dt = now - c["since"]
    step = c["v"] * dt
    area = t["area"] + dt * (c["x"] + 0.5 * step)
    squared = t["area_squared"] + dt * (c["x"] * (c["x"] + step) + step * step / 3.0)
    return area, squared, t["moving"] + np.where(c["v"] != 0.0, dt, 0.0)


def first_knots(world: Field, now: float) -> NDArray[Any]:
    """Return a knot for each coordinate as it is now, from which the path can be followed."""
    c = world.coordinates
    found = np.zeros(len(c), world.knots.rows.dtype)
    found["time"], found["x"], found["v"], found["coordinate"] = now, positions(world, now), c["v"], range(len(c))
    return found


def begin_draws(world: Recorded, now: float, draws: int, every: float, n_kept: int, n_kinds: int) -> None:
    """Make room for draws at now + every, now + 2 every, ... in a world."""
    arrays = world.schema().arrays
    for name, width in (("draws", n_kept), ("areas", n_kept), ("squares", n_kept)):
        world._set_array(arrays[name], np.zeros((draws, width)))
    world._set_array(arrays["counts"], np.zeros((draws, n_kinds), np.int64))
    world.n_draws, world.draws_from, world.draw_every = 0, now, every
