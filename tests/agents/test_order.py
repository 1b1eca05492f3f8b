"""Laws of the order of systems within a tick: as listed, by type, and shuffled anew at each tick."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

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
    Pool,
    Shuffled,
    Simulation,
    System,
    World,
    by_type,
    float64,
    int64,
)
from tocsin.check import graph_of
from tocsin.export._host import WasmHost


class Sheep(Entity):
    """Visited by two systems."""

    energy: float64


class Wolf(Entity):
    """Visited by one."""

    energy: float64


class Meadow(World):
    """Who acted, in order: 0 walk, 1 graze, 2 hunt, 3 age, 4 grow, 5 the bell."""

    sheep: Pool[Sheep]
    wolves: Arena[Wolf]
    log: Array[int64]
    n_log: int64
    rings_at: float64

    def note(self, number: int) -> None:
        """Write down who acted."""
        self.log[self.n_log] = number
        self.n_log += 1


class Walk(System):
    sheep: Sheep

    def update(self, world, now, rng):
        self.sheep.energy -= rng.random()
        world.note(0)


class Graze(System):
    sheep: Sheep

    def update(self, world, now, rng):
        self.sheep.energy += 0.5
        world.note(1)


class Hunt(System):
    wolf: Wolf

    def update(self, world, now, rng, touched):
        world.note(2)
        world.rings_at = now
        touched.add(world)


class Age(System):
    def update(self, world, now, rng):
        world.note(3)


class Grow(System):
    def update(self, world, now, rng):
        world.note(4)


class Bell(Action):
    """Rings at the time of a tick, in between its systems."""

    def schedule(self, world, now, rng):
        return world.rings_at if world.rings_at >= now else NEVER

    def fire(self, world, now, rng, touched):
        world.note(5)
        world.rings_at = -1.0


MODEL = Model(Meadow, [Bell], systems=[Shuffled(*by_type(Walk, Hunt, Graze, types=("Wolf", "Sheep")), Age), Grow])
STAGES = ((2, 5), (0, 1), (3,))
"""What each stage of the model writes down, if there is one sheep and one wolf."""


def meadow(n_ticks: int) -> Meadow:
    """Return one sheep and one wolf."""
    return Meadow(sheep=1, wolves=1, log=np.full(6 * n_ticks, -1), rings_at=-1.0)


def ticks(simulation: Simulation) -> list[tuple[int, ...]]:
    """Return who acted, tick by tick."""
    return [tuple(row) for row in simulation.world.log.values.reshape(-1, 6).tolist()]


@pytest.fixture(scope="module")
def ran() -> Simulation:
    """Return the model after 1,200 ticks."""
    simulation = Simulation(MODEL, meadow(1200), seed=4)
    simulation.run(until=1200.0)
    return simulation


def test_every_order_of_the_stages_is_equally_likely(ran):
    """Each stage is together, its systems in their order, and all orders are equally frequent (5 degrees of freedom)."""
    orders = Counter(ticks(ran))
    expected = {(*sum(order, ()), 4) for order in permutations(STAGES)}
    assert set(orders) == expected
    chi = sum((n - 200) ** 2 / 200 for n in orders.values())
    assert chi < 5 + 4.5 * np.sqrt(10)


def test_orders_of_neighbouring_ticks_are_independent(ran):
    """All 36 pairs of orders of two ticks that follow one another are equally frequent (35 degrees of freedom)."""
    seen = ticks(ran)
    pairs = Counter(zip(seen[::2], seen[1::2], strict=True))
    chi = sum((pairs[a, b] - 600 / 36) ** 2 / (600 / 36) for a in set(seen) for b in set(seen))
    assert chi < 35 + 4.5 * np.sqrt(70)


def test_every_system_ticks_once(ran):
    """Ticks are counted by system, and the next is one pace later for all."""
    assert ran.counts == dict.fromkeys(("Bell", "Walk", "Graze", "Hunt", "Age", "Grow"), 1200)
    assert ran.now == 1200.0


def test_compiled_interpreted_saved_and_as_a_module_agree(tmp_path):
    """The same bits, also with the audit, and if a run is cut between two systems of one tick."""
    whole = Simulation(MODEL, meadow(20), seed=9)
    whole.run(until=20.0)
    plain = Simulation(MODEL, meadow(20), seed=9, jit=False, audit=True)
    plain.run(until=20.0)
    cut = Simulation(MODEL, meadow(20), seed=9)
    for n in range(1, 9):
        cut.run(events=n)
        cut.save(tmp_path / f"cut{n}")
        cut = Simulation.load(tmp_path / f"cut{n}", MODEL)
    cut.run(until=20.0)
    host = WasmHost(Simulation(MODEL, meadow(20), seed=9))
    host.run(until=20.0)
    assert len({s.state_hash() for s in (whole, plain, cut, host.state())}) == 1


def test_the_order_is_drawn_with_a_key_of_its_own():
    """The walks of the sheep are the same if the systems are not shuffled."""
    shuffled = Simulation(MODEL, meadow(5), seed=2)
    listed = Simulation(Model(Meadow, [Bell], systems=[Hunt, Walk, Graze, Age, Grow]), meadow(5), seed=2, jit=False)
    for simulation in (shuffled, listed):
        simulation.run(until=5.0)
    assert set(ticks(listed)) == {(2, 5, 0, 1, 3, 4)}
    assert shuffled.world.sheep["energy"][0] == listed.world.sheep["energy"][0]


def test_one_stream_for_all_shuffles_too():
    """With a sequential source, stages stay together as well, and all orders come up."""
    simulation = Simulation(MODEL, meadow(100), seed=1, source="pcg64", jit=False)
    simulation.run(until=100.0)
    assert set(ticks(simulation)) == {(*sum(order, ()), 4) for order in permutations(STAGES)}


def test_the_graph_says_which_are_shuffled():
    """Walk and Graze wait for one another in their order; nobody else meets over a field that matters."""
    waits = {(w.first, w.second): w for w in graph_of(MODEL).waits}
    assert not waits["Walk", "Graze"].is_shuffled
    assert waits["Hunt", "Age"].causes.startswith("shuffled, ")
    assert not waits["Age", "Grow"].is_shuffled


def test_by_type_puts_types_together():
    """By the order in which systems mention types, or as named; systems of the world have the type World."""
    assert by_type(Walk, Hunt, Age, Graze) == [[Walk, Graze], [Hunt], [Age]]
    assert by_type(Walk, Hunt, Age, Graze, types=("World", "Wolf", "Sheep")) == [[Age], [Hunt], [Walk, Graze]]
    assert by_type(Hunt, odd("Stroll", Walk), Graze)[1][1:] == [Graze]
    model = Model(Meadow, systems=by_type(Walk, Hunt, Graze))
    assert [m.name for m in model.systems] == ["Walk", "Graze", "Hunt"]


def test_a_shuffle_keeps_its_place():
    """`before` and `after` move a shuffle as a whole."""

    class First(Grow):
        before = ("Hunt",)

    model = Model(Meadow, systems=[Shuffled(Walk, Hunt), Age, First])
    assert [m.name for m in model.systems] == ["Age", "First", "Walk", "Hunt"]
    assert [(t.first, t.size, t.stage) for t in model.turns] == [(0, 0, 0), (0, 0, 0), (2, 2, 0), (2, 2, 1)]


def odd(name: str, base: type[System], **body: object) -> type[System]:
    """Return a system that differs from another in one thing."""
    return type(name, (base,), body)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shuffled(Walk), r"two or more stages, none of them empty, got Shuffled\(Walk\)"),
        (lambda: Shuffled(Walk, []), r"none of them empty, got Shuffled\(Walk, nothing\)"),
        (lambda: [Shuffled(Walk, odd("Slow", Age, every=2.0))], r"Walk.every is 1.0 and Slow.every is 2.0. Give them one"),
        (lambda: [Shuffled(Walk, odd("All", Age, mode="synchronous"))], r"All: a synchronous system is not shuffled"),
        (lambda: [Shuffled(Walk, odd("Late", Age, after=("Walk",)))], r"Walk must precede Late, but Shuffled\(Walk, Late\)"),
        (lambda: [Shuffled([odd("Late", Age, after=("Walk",)), Walk], Hunt)], r"Walk must precede Late, but Shuffled\(Late then"),
        (lambda: [Shuffled(Walk, Age), Age], r"has two Systems called Age"),
        (lambda: [Shuffled(Walk, Sheep)], r"is no subclass of System"),
        (lambda: by_type(Walk, Sheep), r"by_type: .*Sheep.* is not a System class"),
        (lambda: by_type(Walk, Hunt, types=("Wolf", "Sheap")), r"no system of 'Sheap'. Did you mean 'Sheep'\?"),
        (lambda: by_type(Walk, Hunt, types=("Wolf",)), r"types must name each type once, got Wolf for Sheep, Wolf"),
    ],
)  # fmt: skip
def test_refused_orders(make, message):
    """What cannot be shuffled or put in order is refused when the model is made."""
    with pytest.raises(ModelError, match=message):
        Model(Meadow, systems=make())
