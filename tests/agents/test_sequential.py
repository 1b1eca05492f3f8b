"""Laws of sequential systems: order, removal, newborns, ticks at several paces, with events in between."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import (
    NEVER,
    Action,
    Arena,
    Array,
    Entity,
    Model,
    ModelError,
    OptionalRef,
    Pool,
    Simulation,
    System,
    World,
    boolean,
    float64,
    int64,
)  # fmt: skip
from tocsin.errors import FireError


class Animal(Entity):
    """Something that is born, acts and dies."""

    n_acts: int64
    born_at: float64
    prey: OptionalRef[Animal]


class Plot(Entity):
    """Something that is never removed."""

    n_acts: int64


class Field(World):
    """Animals, plots, and the order in which they acted."""

    animals: Pool[Animal]
    plots: Arena[Plot]
    log: Array[int64]
    n_log: int64
    wake_at: float64
    n_woken: int64
    births: boolean

    def note(self, number: int) -> None:
        """Write down who acted."""
        self.log[self.n_log] = number
        self.n_log += 1


class Act(System):
    """Every animal notes itself, removes its prey, and may bear a child."""

    animal: Animal

    def update(self, world, now, rng):
        world.note(self.animal.index)
        self.animal.n_acts += 1
        if self.animal.prey is not None:
            world.animals.remove(self.animal.prey)
        if world.births and rng.random() < 0.5:
            child = world.animals.spawn()
            child.born_at = now


class Sow(System):
    """Plots act by number, four times as often, before the animals."""

    plot: Plot
    order = "key"
    every = 0.25
    before = ("Act",)

    def update(self, world, now, rng, touched):
        world.note(1000 + self.plot.index)
        self.plot.n_acts += 1
        if self.plot.index == 1:
            world.wake_at = now
            touched.add(world)


class Wake(Action):
    """An event that a tick brings about: it happens at the same time, after that tick's system."""

    def schedule(self, world, now, rng):
        return world.wake_at if world.wake_at >= now else NEVER

    def fire(self, world, now, rng, touched):
        world.note(2000)
        world.n_woken += 1
        world.wake_at = -1.0


MODEL = Model(Field, [Wake], systems=[Act, Sow])


def field(n=40, births=False, prey=None, plots=0):
    """Return a field with room in its log."""
    animals = {"n_acts": np.zeros(n, int), "prey": [-1] * n if prey is None else prey}
    return Field(animals=animals, plots=plots, log=np.full(20_000, -1), wake_at=-1.0, births=births)


def orders(simulation, n):
    """Return who acted in each tick of n."""
    log = simulation.world.log.values[: simulation.world.n_log]
    return log[log < 1000].reshape(-1, n)


def test_each_tick_visits_all_in_a_fresh_order():
    """Every row once a tick; orders differ from tick to tick, and from seed to seed."""
    simulation = Simulation(MODEL, field(), seed=1)
    simulation.run(until=3.0)
    first, second, third = orders(simulation, 40)
    assert all(sorted(order) == list(range(40)) for order in (first, second, third))
    assert len({tuple(order) for order in (first, second, third)}) == 3
    other = Simulation(MODEL, field(), seed=2)
    other.run(until=1.0)
    assert tuple(orders(other, 40)[0]) != tuple(first)


def test_places_in_the_order_are_fair():
    """Over 500 ticks, each of 8 animals goes first equally often (chi squared, 7 degrees, 4.5 standard errors)."""
    simulation = Simulation(MODEL, field(8), seed=5)
    simulation.run(until=500.0)
    firsts = np.bincount(orders(simulation, 8)[:, 0], minlength=8)
    chi = ((firsts - 62.5) ** 2 / 62.5).sum()
    assert chi < 7 + 4.5 * np.sqrt(14)


def test_removed_rows_are_skipped_and_newborns_wait():
    """Of a hunter and its prey: if the hunter comes first the prey does not act. Children act from the next tick."""
    hunted = Simulation(MODEL, field(30, prey=[*range(15, 30), *[-1] * 15]), seed=3)
    hunted.run(until=1.0)
    order = hunted.world.log.values[: hunted.world.n_log].tolist()
    for hunter in range(15):
        assert (hunter + 15 in order) == (hunter + 15 in order[: order.index(hunter)])
    bearing = Simulation(MODEL, field(births=True), seed=3)
    bearing.run(until=1.0)
    assert bearing.world.n_log == 40 < bearing.world.animals.n_live
    n = bearing.world.animals.n_live
    bearing.run(until=2.0)
    assert bearing.world.n_log == 40 + n


def test_a_row_used_again_within_a_tick_waits():
    """A child in the place of an animal that was removed in this tick does not act in it."""
    simulation = Simulation(MODEL, field(30, births=True, prey=[*range(15, 30), *[-1] * 15]), seed=3)
    simulation.run(until=1.0)
    born = simulation.world.animals["born_at"][:30] == 1.0
    assert born.any()
    assert (simulation.world.animals["n_acts"][:30][born] == 0).all()


def test_paces_before_and_events_between():
    """Four ticks of Sow for one of Act, which it precedes; what it wakes rings at once, before the animals."""
    simulation = Simulation(MODEL, field(1, plots=2), seed=0)
    simulation.run(until=1.0)
    log = simulation.world.log.values[: simulation.world.n_log].tolist()
    assert log == [1000, 1001, 2000] * 4 + [0]
    assert simulation.counts == {"Wake": 4, "Sow": 4, "Act": 1}
    assert [m.name for m in MODEL.systems] == ["Sow", "Act"]


def test_ticks_do_not_drift():
    """The tick number 300 of 0.1 is at 300 * 0.1 exactly, from any start."""

    class Note(System):
        every = 0.1

        def update(self, world, now, rng):
            world.wake_at = now

    simulation = Simulation(Model(Field, systems=[Note]), field(1), start=2.0, jit=False)
    simulation.run(events=300)
    assert simulation.world.wake_at == 2.0 + 300 * 0.1


@pytest.mark.parametrize("births", [False, True])
def test_compiled_interpreted_saved_and_audited_agree(births, tmp_path):
    """The same bits compiled and interpreted, in one go and through a save, with the audit on."""
    runs = []
    for options in ({}, {"jit": False}, {"audit": True}):
        simulation = Simulation(MODEL, field(births=births, plots=3), seed=9, **options)
        simulation.run(until=4.0)
        runs.append(simulation.state_hash())
    half = Simulation(MODEL, field(births=births, plots=3), seed=9)
    half.run(until=2.0)
    half.save(tmp_path / "half")
    for rest in (Simulation.load(tmp_path / "half", MODEL), half.copy()):
        rest.run(until=4.0)
        runs.append(rest.state_hash())
    assert len(set(runs)) == 1


def test_an_error_names_the_row():
    """An exception in `update` says which row, which tick and what."""
    world = field(5)
    world.n_log = 20_000
    with pytest.raises(FireError, match=r"Act\(animal \d\).update at t=1.0 .* raised IndexError: log"):
        Simulation(MODEL, world).run(until=1.0)


def declared(**body):
    """Return a system with this body."""
    plain = {"__annotations__": {"animal": Animal}, "update": Act.update}
    return type("Odd", (System,), {**plain, **body})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"mode": "parallel"}, r"Odd.mode must be one of 'sequential', 'synchronous', got 'parallel'"),
        ({"order": "random"}, r"Odd.order must be one of 'shuffled', 'key'"),
        ({"every": 0.0}, r"Odd.every must be a time > 0, got 0.0"),
        ({"after": ("Atc",)}, r"Odd.after: there is no system 'Atc'. Did you mean 'Act'\?"),
        ({"after": "Act"}, r"Odd.after must be a tuple of names"),
        ({"before": ("Act",), "after": ("Act",)}, r"before and after go in a circle among the systems Act, Odd"),
        ({"update": lambda self, world: None}, r"Odd.update must take"),
    ],
)
def test_refused_declarations(body, message):
    """What a system says wrongly is refused when the model is made."""
    with pytest.raises(ModelError, match=message):
        Model(Field, systems=[Act, declared(**body)])
