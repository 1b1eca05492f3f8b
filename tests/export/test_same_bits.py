"""A WebAssembly module computes what this machine computes, bit for bit."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tocsin import Action, Entity, Model, Pool, Simulation, World
from tocsin.cli._subject import find_subject
from tocsin.errors import CompileError, Stop
from tocsin.export import export_module
from tocsin.export._host import WasmHost
from tocsin.export._module import with_room
from tocsin.models._preset import Preset
from tocsin.scenario._registry import shipped
from tocsin.schema import NEVER

QUICK = ("extrusion", "phold")


def both(simulation: Simulation, events: int, n_slices: int = 1) -> tuple[str, str]:
    host = WasmHost(simulation)
    for _ in range(n_slices):
        stop = host.run(events=events // n_slices)
    report = simulation.run(events=events)
    assert report.stopped == stop
    return simulation.state_hash(), host.state().state_hash()


@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
@pytest.mark.parametrize("name", QUICK)
def test_same_state_after_twenty_thousand_events(name: str, method: str) -> None:
    subject = find_subject(name)
    native, wasm = both(Simulation(subject.model, subject.world, seed=7, method=method), 20_000, n_slices=4)
    assert native == wasm


@pytest.mark.slow
@pytest.mark.parametrize("preset", list(shipped()), ids=lambda p: p.name)
def test_every_shipped_model_after_a_hundred_thousand_events(preset: Preset) -> None:
    subject = find_subject(preset.name)
    simulation = Simulation(subject.model, subject.world, seed=11)
    simulation = with_room(simulation, 20_000)
    native, wasm = both(simulation, 100_000)
    assert native == wasm


class Cell(Entity):
    """A cell."""


class Dish(World):
    """Cells that divide and die."""

    cells: Pool[Cell]


class Divide(Action):
    """One makes two."""

    cell: Cell

    def schedule(self, world: Dish, now: float, rng) -> float:
        return now + rng.exponential(1.0)

    def fire(self, world: Dish, now: float, rng, touched) -> None:
        world.cells.spawn()


class Die(Action):
    """One is gone."""

    cell: Cell

    def schedule(self, world: Dish, now: float, rng) -> float:
        return now + rng.exponential(1.0)

    def fire(self, world: Dish, now: float, rng, touched) -> None:
        world.cells.remove(self.cell)


DISH = Model(Dish, actions=[Divide, Die])


def test_pools_spawn_remove_and_report_that_the_room_is_used_up() -> None:
    simulation = Simulation(DISH, Dish(cells=40), seed=2)
    roomy = export_module(simulation, room=300)
    host = WasmHost(simulation, room=300)
    assert len(roomy.image.data) > len(export_module(simulation).image.data)
    host.run(events=2_000)
    simulation.run(events=2_000)
    found = host.state()
    assert found.now == simulation.now
    assert found.world.cells.n_live == simulation.world.cells.n_live
    assert [c.index for c in found.world.cells] == [c.index for c in simulation.world.cells]


def test_a_state_taken_from_the_module_goes_on_natively() -> None:
    subject = find_subject("extrusion")
    simulation = Simulation(subject.model, subject.world, seed=5)
    host = WasmHost(simulation)
    assert host.run(events=3_000) is Stop.REACHED_EVENTS
    taken = host.state()
    taken.run(until=taken.now + 10.0)
    simulation.run(events=3_000)
    simulation.run(until=simulation.now + 10.0)
    assert taken.state_hash() == simulation.state_hash()


class Tick(Action):
    """Calls what no module holds."""

    cell: Cell

    def schedule(self, world: Dish, now: float, rng) -> float:
        return NEVER if now > 5 else now + math.atan2(2.5, now)

    def fire(self, world: Dish, now: float, rng, touched) -> None:
        touched.add(self.cell)


def test_a_function_attached_from_outside_is_refused() -> None:
    """What was compiled for this machine alone cannot go along; the copy that is exported would lack it."""
    simulation = Simulation(DISH, Dish(cells=2))
    simulation.world.attach(print, 4096)
    with pytest.raises(CompileError, match="calls a function of yours"):
        export_module(simulation)


def _late(now: float) -> float:
    return 1.0 + now**0.3


class Power(Action):
    """Calls what calls it; the operator has a name in the C library."""

    cell: Cell

    def schedule(self, world: Dish, now: float, rng) -> float:
        return now + _late(now)

    def fire(self, world: Dish, now: float, rng, touched) -> None:
        touched.add(self.cell)


def test_an_operator_in_a_helper_is_refused_by_its_line() -> None:
    with pytest.raises(CompileError, match=r"test_same_bits\.py:\d+: pow") as caught:
        export_module(Simulation(Model(Dish, actions=[Power]), Dish(cells=2), jit=False))
    line = int(re.search(r"\.py:(\d+):", str(caught.value))[1])  # type: ignore[index]
    assert "now**0.3" in Path(__file__).read_text().splitlines()[line - 1]


def test_what_a_module_cannot_hold_is_refused_by_name() -> None:
    with pytest.raises(CompileError, match=r"test_same_bits\.py:\d+: atan2"):
        export_module(Simulation(Model(Dish, actions=[Tick]), Dish(cells=2)))


@pytest.mark.slow
def test_particles_on_circles_among_walls() -> None:
    """A Boomerang that halts at zero and meets walls needs angles: they are those of the kernel."""
    import numpy as np

    from tocsin.models.sampling import Gaussian

    target = Gaussian([[1.0, -0.4], [-0.4, 1.0]], inclusion=0.5, slab_sd=1.0, lower=[-0.5, -np.inf], upper=1.5)
    chain = target.flight("boomerang", np.array([0.3, -0.2]), 5)
    native, wasm = both(chain.simulation, 20_000)
    assert native == wasm
    world = chain.simulation.world
    assert min(world.n_reflections, world.n_halts, world.n_thaws, world.n_bounces) > 100
