"""Machines that make parts, break down in the middle of one, and wait for a repairman.

The machine repair problem: with exponential times to failure and repair the number of machines that
are down is a birth-death chain. Palm 1947; Cox and Miller 1965. A part that was interrupted goes on
where it was, so a machine makes parts at a constant rate while it runs.
"""

from __future__ import annotations

import numpy as np

from tocsin import (
    NEVER,
    Action,
    Arena,
    Entity,
    InputError,
    Model,
    Observable,
    Params,
    Rng,
    Touched,
    World,
    boolean,
    float64,
    int64,
    param,
)
from tocsin.export.marks import Bars, Cells, View


class Times(Params):
    """Mean times; the unit is yours."""

    part: float64 = param(10.0, unit="time", gt=0, doc="mean time to make a part")
    part_shape: float64 = param(25.0, ge=0, doc="of its Gamma law; 1: exponential, 0: always the mean")
    failure: float64 = param(300.0, unit="time", gt=0, doc="mean running time to a failure")
    repair: float64 = param(30.0, unit="time", gt=0, doc="mean time of a repair")


class Machine(Entity):
    """One machine, and the part in it."""

    is_down: boolean
    done_at: float64  # while it runs: when the part is done
    work: float64  # while it is down: work left on the part
    n_parts: int64


class Shop(World):
    """Machines, and a few repairmen who repair one machine each at a time."""

    machines: Arena[Machine]
    n_repairmen: int64
    n_down: int64 = 0
    times: Times

    def part_time(self, rng: Rng) -> float:
        """Draw how long the next part takes."""
        shape, mean = self.times.part_shape, self.times.part
        return mean if shape == 0.0 else rng.gamma(shape, mean / shape)


class Make(Action):
    """A part is done, and the next one is begun."""

    machine: Machine

    def schedule(self, world: Shop, now: float, rng: Rng) -> float:
        return NEVER if self.machine.is_down else self.machine.done_at

    def fire(self, world: Shop, now: float, rng: Rng, touched: Touched) -> None:
        self.machine.n_parts += 1
        self.machine.done_at = now + world.part_time(rng)


class Fail(Action):
    """A machine breaks down; what it was doing is interrupted, not lost."""

    machine: Machine

    def rate(self, world: Shop) -> float:
        return 0.0 if self.machine.is_down else 1.0 / world.times.failure

    def fire(self, world: Shop, now: float, rng: Rng, touched: Touched) -> None:
        self.machine.is_down = True
        self.machine.work = self.machine.done_at - now
        world.n_down += 1
        touched.add(self.machine)
        touched.add(world)


class Repair(Action):
    """A repairman is done with one of the machines that are down."""

    def rate(self, world: Shop) -> float:
        return min(world.n_down, world.n_repairmen) / world.times.repair

    def fire(self, world: Shop, now: float, rng: Rng, touched: Touched) -> None:
        which = rng.integers(0, world.n_down)
        for machine in world.machines:
            if machine.is_down:
                if which == 0:
                    machine.is_down = False
                    machine.done_at = now + machine.work
                    touched.add(machine)
                which -= 1
        world.n_down -= 1


class Down(Observable):
    """Number of machines that are down."""

    def value(self, world: Shop) -> float:
        return world.n_down


def make_world(n_machines: int = 10, n_repairmen: int = 1, times: Times | None = None) -> Shop:
    """Return `n_machines` that run, each done with a part at time 0, and `n_repairmen` >= 0. Raises InputError for fewer."""
    if not isinstance(n_repairmen, int | np.integer) or isinstance(n_repairmen, bool) or n_repairmen < 0:
        raise InputError(f"n_repairmen must be a whole number >= 0, got {n_repairmen!r}")
    return Shop(machines=n_machines, n_repairmen=n_repairmen, times=times or Times())


MODEL = Model(Shop, [Make, Fail, Repair], observables=[Down], name="machine_shop")

VIEW = View(
    (Cells(table="machines", value="is_down"), Bars(("n_down", "n_repairmen"), ("down", "repairmen"))), labels=("down",), blank="works", colours=("#c23b3b",), speed=50.0,
)  # fmt: skip
