"""Laws of rows that are spawned and removed while the simulation runs."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import Action, Entity, FireError, Model, Observable, Pool, Rng, Simulation, Touched, World, int32, int64

from ._cells import culture


class Ledger:
    """What happens to the rows of a pool, told again by hand: the oracle of these tests."""

    def __init__(self, n_rows):
        self.generations, self.free = [1] * n_rows, []
        self.mothers = {}

    def divide(self, index):
        """The mother is live; the daughter takes the row freed last, or a new one."""
        assert self.generations[index] % 2 == 1
        if self.free:
            daughter = self.free.pop()
            self.generations[daughter] += 1
        else:
            daughter = len(self.generations)
            self.generations.append(1)
        self.mothers[daughter] = self.generations[index] << 32 | index

    def die(self, index):
        """The row is live, and then free."""
        assert self.generations[index] % 2 == 1
        self.generations[index] += 1
        self.free.append(index)


@pytest.mark.parametrize(("jit", "n_events"), [(True, 20_000), (False, 1500)])
def test_rows_and_keys_follow_the_ledger(jit, n_events):
    """Rows are reused last freed first, each use with a new generation, which references keep."""
    simulation, ledger = culture(20, jit=jit), Ledger(20)
    for event in simulation.record_events(events=n_events).to_arrow().to_pylist():
        (ledger.divide if event["action"] == "Divide" else ledger.die)(event["index"])
    cells = simulation.world.cells
    assert len(cells) == len(ledger.generations)
    assert cells.n_live == sum(g % 2 for g in ledger.generations)
    for index, generation in enumerate(ledger.generations):
        assert cells.is_live(index) == (generation % 2 == 1)
        assert cells.key_of(index) == generation << 32 | index
        if cells.is_live(index):
            assert cells["mother"][index] == ledger.mothers.get(index, -1)
    assert [cell.index for cell in cells] == [i for i, g in enumerate(ledger.generations) if g % 2]


@pytest.mark.parametrize("seed", range(3))
def test_compiled_is_interpreted(seed):
    """Growth during `fire`, reuse and removal leave the same bits compiled and interpreted."""
    runs = [culture(1, seed, jit, death=0.3) for jit in (True, False)]
    for simulation in runs:
        simulation.run(events=1200)
    assert runs[0].state_hash() == runs[1].state_hash()
    assert runs[0].observe() == runs[1].observe()


def test_conservation():
    """Cells and mass are conserved: births - deaths, and live + dead mass, at every time."""
    simulation = culture(16, seed=5)
    for _ in range(40):
        simulation.run(events=101)
        dish = simulation.world
        is_live = np.array([dish.cells.is_live(i) for i in range(len(dish.cells))])
        assert dish.cells.n_live == is_live.sum() == 16 + dish.n_births - dish.n_deaths
        assert dish.cells["mass"][is_live].sum() + dish.dead_mass == 16.0
        assert (simulation.counts["Divide"], simulation.counts["Die"]) == (dish.n_births, dish.n_deaths)
        seen = simulation.observe()
        assert seen["Population"].value == dish.cells.n_live
        assert seen["Mass"].value == pytest.approx(16.0 - dish.dead_mass, rel=1e-14)


def test_growth_is_exponential():
    """The mean number of cells grows as exp((division - death) t); its variance is known (Kendall 1948)."""
    n, time, division, death = 300, 1.5, 1.0, 0.6
    growth = np.exp((division - death) * time)
    simulation = culture(n, seed=6, division=division, death=death)
    simulation.run(until=time)
    variance = n * (division + death) / (division - death) * growth * (growth - 1)
    assert abs(simulation.world.cells.n_live - n * growth) <= 4.5 * np.sqrt(variance)


def test_extinction():
    """Where all rows have been removed no clock rings, and rows can be spawned again by hand."""
    simulation = culture(30, seed=7, division=0.0)
    simulation.run(until=1e6)
    assert (simulation.world.cells.n_live, simulation.next_event()) == (0, None)
    assert simulation.world.dead_mass == 30.0
    cell = simulation.world.cells.spawn()
    assert cell.index == simulation_last_freed(simulation)
    simulation.touch(cell)
    assert simulation.step().action == "Die"
    assert simulation.step() is None


def simulation_last_freed(simulation):
    """Return the row that died last: the one that is live now."""
    return next(iter(simulation.world.cells)).index


@pytest.mark.parametrize("jit", [True, False])
def test_growth_by_hand(jit):
    """Rows spawned by hand between two runs, past the capacity, ring like all others."""
    simulation = culture(16, seed=8, jit=jit, division=0.0)
    simulation.run(events=3)
    rows = [simulation.world.cells.spawn() for _ in range(100)]
    simulation.touch(*rows)
    assert simulation.world.cells.n_live == 113
    simulation.run(until=1e6)
    assert simulation.counts["Die"] == 116
    assert simulation.world.cells.n_live == 0


def test_fresh_rows_are_blank():
    """A row that is used again starts as zeros, and its references as none."""
    simulation = culture(5, seed=9)
    cells = simulation.world.cells
    first = cells[0]
    first.mother, first.generation = cells[1], 7
    key = first.key
    cells.remove(first)
    again = cells.spawn()
    assert (again.index, again.key) == (0, key + (2 << 32))
    assert (again.mother, again.mass, again.generation, again.n_daughters) == (None, 0.0, 0, 0)


def test_a_row_is_removed_once():
    """Removing a row that is not live is refused."""
    simulation = culture(5)
    cell = simulation.world.cells[2]
    simulation.world.cells.remove(cell)
    with pytest.raises(ValueError, match="this row was removed before"):
        simulation.world.cells.remove(cell)


# --- many rows in one event, of an entity that has no clocks -----------------------------------


class Drop(Entity):
    """A drop of rain."""

    size: int32


class Sky(World):
    """Where it rains."""

    drops: Pool[Drop]
    n_fallen: int64 = 0
    n_removed_twice: int64 = 0


class Rain(Action):
    """Many drops fall at once, and each is disturbed again and again."""

    def schedule(self, world: Sky, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Sky, now: float, rng: Rng, touched: Touched) -> None:
        for _ in range(3):
            for _ in range(20 + world.n_fallen):
                drop = world.drops.spawn()
                drop.size = 1 + world.n_fallen % 3
                world.n_fallen += 1
            touched.all(world.drops)
            for index in range(0, len(world.drops), 5):
                if world.drops.is_live(index):
                    world.drops.remove(world.drops[index])
        if world.n_removed_twice > 0:
            world.drops.remove(world.drops[0])


class Water(Observable):
    """Sum of sizes."""

    drop: Drop

    def value(self, world: Sky) -> float:
        return self.drop.size


RAIN = Model(Sky, [Rain], observables=[Water])


@pytest.mark.parametrize("jit", [True, False])
def test_many_rows_in_one_event(jit):
    """A pool grows several times within one `fire`, and observables follow every row."""
    simulation = Simulation(RAIN, Sky(), seed=1, jit=jit)
    simulation.run(until=3.0 if jit else 2.0)
    drops = simulation.world.drops
    live = [drops.is_live(i) for i in range(len(drops))]
    assert drops.n_live == sum(live) > 100
    assert simulation.observe()["Water"].value == drops["size"][live].sum()


def test_many_rows_compiled_is_interpreted():
    """Bursts of growth leave the same bits compiled and interpreted."""
    runs = [Simulation(RAIN, Sky(), seed=1, jit=jit) for jit in (True, False)]
    for simulation in runs:
        simulation.run(until=2.0)
    assert runs[0].state_hash() == runs[1].state_hash()
    assert runs[0].observe() == runs[1].observe()


@pytest.mark.parametrize("jit", [True, False])
def test_a_row_removed_twice_stops_the_run(jit):
    """Removing a row that is free, inside `fire`, is an error with clock and time."""
    simulation = Simulation(RAIN, Sky(n_removed_twice=1), seed=1, jit=jit)
    with pytest.raises(
        FireError, match=r"Rain\(\)\.fire at t=1\.0 \(event 1\) raised ValueError: this row was removed"
    ):
        simulation.run(until=2.0)
    assert simulation.world.n_fallen > 0


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_growth_that_fails_stops_the_run(jit):
    """Where a pool cannot grow, the run stops with MemoryError; no row is used that is not there."""
    simulation = culture(16, jit=jit, death=0.0)

    def no_memory():
        raise MemoryError("there is no room for another row")

    simulation.world._on_grow = no_memory
    with pytest.raises(FireError, match=r"Divide\(cell \d+\)\.fire .* raised MemoryError: there is no room"):
        simulation.run(events=1000)
    assert len(simulation.world.cells) == simulation.world.cells.n_live == 16


class Bead(Entity):
    """Nothing but a row."""


class Jar(World):
    """Beads, and how many there were before and after each change of their number."""

    beads: Pool[Bead]
    before: int64
    after: int64
    removed: int64


class Count(Action):
    """Count, add, count again, remove, and count once more."""

    def rate(self, world: Jar) -> float:
        return 1.0

    def fire(self, world: Jar, now: float, rng: Rng, touched: Touched) -> None:
        world.before = world.beads.n_live
        bead = world.beads.spawn()
        world.beads.spawn()
        world.after = world.beads.n_live
        world.beads.remove(bead)
        world.removed = world.beads.n_live


@pytest.mark.parametrize("jit", [True, False])
def test_the_number_of_rows_is_read_anew_within_an_event(jit):
    """A count that was read before a row came or went is not kept for the next reading."""
    simulation = Simulation(Model(Jar, [Count]), Jar(beads=5), seed=1, jit=jit)
    simulation.run(events=3)
    world = simulation.world
    assert (world.before, world.after, world.removed) == (7, 9, 8)
