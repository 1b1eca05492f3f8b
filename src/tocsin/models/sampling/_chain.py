"""One chain: a simulation of a sampler, and how its rows become positions of the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.models.sampling._field import begin_draws, first_knots, settle
from tocsin.models.sampling._steady import product
from tocsin.run import Simulation
from tocsin.schema._layout import OUTSIDE

Array = NDArray[np.float64]
KNOTS = 1 << 16
"""Turns that are written down before they are taken out of the simulation."""


class Chain:
    """A sampler that runs, whatever its kind.

    Parameters
    ----------
    simulation : of a world with `draws` and `areas` (rows of positions, and of integrals, in the sampler's scale),
        `squares`, `counts`, `knots`
    centre, scale : positions of the target are centre + scale @ z (a matrix), centre + scale * z (a
        vector), or z itself (None)
    kinds : names of the columns of `counts`
    """

    def __init__(
        self, simulation: Simulation[Any], centre: Array | None, scale: Array | None, kinds: tuple[str, ...]
    ) -> None:
        self.simulation, self.centre, self.scale, self.kinds = simulation, centre, scale, kinds
        self.knots: list[NDArray[Any]] = []
        self.kept: list[int] = []
        self.offset = np.zeros(len(kinds), np.int64)

    @property
    def world(self) -> Any:
        """The simulation's world."""
        return self.simulation.world

    @property
    def n_drawn(self) -> int:
        """Draws so far."""
        return int(self.world.n_draws)

    def warm_up(self, time: float) -> None:
        """Run for a time that is not kept."""
        self.simulation.run(until=self.simulation.now + time)

    def record(self, draws: int, every: float, kept: Sequence[int]) -> None:
        """Start to draw, `every` apart; `kept` are the coordinates that are kept."""
        world, now = self.world, self.simulation.now
        self.kept = list(kept)
        is_mixed = self.scale is not None and self.scale.ndim == 2
        rows = list(range(len(self.centre))) if is_mixed and self.centre is not None else self.kept
        world._set_array(world.schema().arrays["kept"], np.array(rows, np.int32))
        self.settle(now)
        begin_draws(world, now, draws, every, len(rows), len(self.kinds))
        self.offset = self._counted()
        world.n_knots = 0
        self.knots = [self.first_knots(now)] if self.n_room() else []
        self.simulation.touch(world)

    def resume(self, simulation: Simulation[Any]) -> None:
        """Go on with a simulation that was saved; a function from outside is attached again."""
        old = self.world
        self.simulation = simulation
        simulation.world.attach(old._outside, int(old._header[OUTSIDE]))

    def extend(self, draws: int) -> None:
        """Make room for more draws, if there is too little."""
        world = self.world
        if draws <= len(world.draws):
            return
        for name in ("draws", "areas", "squares", "counts"):
            old = getattr(world, name).values
            new = np.zeros((draws, old.shape[1]), old.dtype)
            new[: len(old)] = old
            world._set_array(world.schema().arrays[name], new)
        self.simulation.touch(world)

    def settle(self, now: float) -> None:
        """Start the integrals anew from `now`."""
        settle(self.world, now)

    def first_knots(self, now: float) -> NDArray[Any]:
        """Return where the path begins that the turns continue."""
        return first_knots(self.world, now)

    def _counted(self) -> NDArray[np.int64]:
        names = {"data_points": "n_data"}
        return np.array([getattr(self.world, names.get(kind, f"n_{kind}")) for kind in self.kinds])

    def positions(self, z: Array, times: Array | None = None) -> Array:
        """Return positions of the target (n, kept) from rows of `draws` or, with `times`, of `areas`."""
        if self.scale is None or self.centre is None:
            return z
        share = np.ones(len(z)) if times is None else times
        moved = product(z, self.scale[self.kept].T) if self.scale.ndim == 2 else z * self.scale[self.kept]
        found: Array = moved + np.outer(share, self.centre[self.kept])
        return found

    def draws(self) -> Array:
        """Return the positions drawn so far, shape (n, kept)."""
        return self.positions(np.array(self.world.draws.values[: self.n_drawn]))

    def areas(self) -> Array:
        """Return the integral of the position from the start of the draws to each draw, shape (n, kept)."""
        n = self.n_drawn
        return self.positions(np.array(self.world.areas.values[:n]), (1.0 + np.arange(n)) * self.world.draw_every)

    def squares(self) -> Array | None:
        """Return the integrals of the squared position, shape (n, kept); None where the sampler's scale mixes them."""
        if self.scale is not None:
            return None
        return np.array(self.world.squares.values[: self.n_drawn])

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """Return how many events of each kind there were up to each draw."""
        values = self.world.counts.values[: self.n_drawn] - self.offset
        return {kind: values[:, k] for k, kind in enumerate(self.kinds)}

    def run(self, after_slice: Callable[[], None] | None = None) -> None:
        """Run until all draws are made. `after_slice` is called now and then, and may raise to stop."""
        world = self.world
        report = None if after_slice is None else (lambda _: after_slice())
        while world.n_draws < len(world.draws):
            room = self.n_room()
            events = room if room else 1 << 40
            self.simulation.run(until=self._end(), events=events, progress=report)
            self.take_knots()

    def n_room(self) -> int:
        """Return how many turns can still be written down; 0 if none are."""
        return len(self.world.knots) - int(self.world.n_knots)

    def _end(self) -> float:
        world = self.world
        return float(world.draws_from + len(world.draws) * world.draw_every)

    def take_knots(self) -> None:
        """Take the turns written down out of the simulation."""
        n = self.world.n_knots
        if n:
            self.knots.append(self.world.knots.rows[:n].copy())
            self.world.n_knots = 0
