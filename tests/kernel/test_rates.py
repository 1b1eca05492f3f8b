"""Composition-rejection: the lists are right, the law is exact, and it lives beside clocks with times."""

import math

import numpy as np
import pytest
from scipy import stats

from tocsin import (
    NEVER,
    Action,
    Arena,
    InputError,
    Model,
    ModelError,
    Observable,
    Pool,
    Rng,
    ScheduleError,
    Simulation,
    Stop,
    World,
    boolean,
    float64,
    int64,
)
from tocsin.kernel._paging import listed
from tocsin.kernel._rates import LEAST_RATE, MOST_RATE, NO_LEVEL, level_of
from tocsin.kernel._state import IN_PAGE
from tocsin.schema import Entity

LIMIT = 4.5
METHOD = "composition-rejection"


class Atom(Entity):
    """Something that decays, again and again."""

    rate: float64
    n: int64


class Heap(World):
    """Atoms, and a clock that is not memoryless."""

    atoms: Arena[Atom]
    n_ticks: int64
    every: float64 = 1.0
    hazard: float64
    last: float64
    share: float64


class Decay(Action):
    """An atom decays at its rate."""

    atom: Atom

    def rate(self, world: Heap) -> float:
        return self.atom.rate

    def fire(self, world: Heap, now: float, rng: Rng, touched) -> None:
        self.atom.n += 1


class Shake(Action):
    """An atom decays and draws a new rate, of any order of magnitude, or none."""

    atom: Atom

    def rate(self, world: Heap) -> float:
        return self.atom.rate

    def fire(self, world: Heap, now: float, rng: Rng, touched) -> None:
        self.atom.n += 1
        other = world.atoms[rng.integers(0, len(world.atoms))]
        if rng.bernoulli(0.2):
            other.rate = 0.0
        elif rng.bernoulli(0.5):
            other.rate = 2.0 ** rng.uniform(-127.0, 126.0)
        else:
            other.rate = rng.uniform(0.5, 4.0)
        touched.add(other)


class Tick(Action):
    """A clock with a fixed period."""

    def schedule(self, world: Heap, now: float, rng: Rng) -> float:
        return world.every * (world.n_ticks + 1)

    def fire(self, world: Heap, now: float, rng: Rng, touched) -> None:
        world.n_ticks += 1


class Decays(Observable):
    """How many decays there were."""

    atom: Atom

    def value(self, world: Heap) -> float:
        return self.atom.n


DECAY = Model(Heap, [Decay], method=METHOD, observables=[Decays])
SHAKE = Model(Heap, [Shake], method=METHOD)
MIXED = Model(Heap, [Tick, Decay], method=METHOD)


def heap(rates, **kw):
    """Return atoms with these rates."""
    rates = np.asarray(rates, float)
    return Heap(atoms={"rate": rates, "n": np.zeros(len(rates), int)}, **kw)


def check_lists(simulation):
    """Assert that levels, pages and places tell of every clock with a rate exactly once."""
    kernel = simulation._kernel
    rates, level, place = (kernel.rated[column] for column in ("rate", "level", "place"))
    assert np.array_equal(level == NO_LEVEL, rates == 0.0)
    slots = kernel.members.values[listed(kernel)]
    assert sorted(slots.tolist()) == np.flatnonzero(rates > 0.0).tolist()
    start = 0
    for number, n in enumerate(kernel.levels["n"]):
        here = slots[start : start + n]
        start += n
        assert (level[here] == number).all()
        assert place[here].tolist() == list(range(n))
        if n:
            assert rates[here].max() <= kernel.levels["bound"][number]
            assert all(level_of(float(rate)) == number for rate in rates[here])
            assert kernel.levels["weight"][number] == n * kernel.levels["bound"][number]
    used = kernel.used.values[: kernel.n_used]
    assert sorted(used.tolist()) == np.flatnonzero(kernel.levels["n"]).tolist()
    assert kernel.levels["rank"][used].tolist() == list(range(len(used)))
    n_pages = sum(-(-n // (IN_PAGE + 1)) for n in kernel.levels["n"].tolist())
    assert kernel.n_free_pages == len(kernel.free_pages.values) - n_pages
    taken = [
        kernel.pages.values[number, k]
        for number, n in enumerate(kernel.levels["n"].tolist())
        for k in range(-(-n // (IN_PAGE + 1)))
    ]
    assert sorted([*taken, *kernel.free_pages.values[: kernel.n_free_pages]]) == list(
        range(len(kernel.free_pages.values))
    )


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 1000])
def test_lists_stay_right(n):
    """Clocks that change level all the time, over more than the levels there are, are each listed once."""
    simulation = Simulation(SHAKE, heap(np.exp2(np.linspace(-127, 126, n))), seed=n)
    for _ in range(40):
        check_lists(simulation)
        if simulation.run(events=50).stopped is Stop.EXHAUSTED:
            break
    check_lists(simulation)


@pytest.mark.parametrize("jit", [True, False])
def test_every_clock_rings_at_its_rate(jit):
    """Counts are Poisson with mean rate * time: equal, mixed and wide rates, and those that are zero."""
    rates = np.concatenate([[0.0, 0.0], np.full(40, 1.0), np.linspace(0.5, 1.0, 31), np.exp2(np.arange(-12.0, 3.0))])
    until = 4_000.0 if jit else 30.0
    simulation = Simulation(DECAY, heap(rates), seed=5, jit=jit)
    simulation.run(until=until)
    counts, expected = simulation.world.atoms["n"], rates * until
    assert (counts[:2] == 0).all()
    z = (counts - expected)[2:] / np.sqrt(expected[2:])
    enough = expected[2:] > 20.0
    assert abs(z[enough]).max() < LIMIT
    chi_square = float((z[enough] ** 2).sum())
    assert abs(chi_square - enough.sum()) < LIMIT * math.sqrt(2.0 * enough.sum())


@pytest.mark.parametrize("rates", [[1.0], [0.3, 0.3, 0.3], [0.51, 0.99], [1e-3, 1.0, 900.0], [2.0**-100, 2.0**-101]])
def test_waits_are_exponential(rates):
    """The time between events is exponential with the sum of the rates, however many candidates were none."""
    times = Simulation(DECAY, heap(rates), seed=3).record_events(events=20_000).to_arrow()["time"].to_numpy()
    waits = np.diff(times, prepend=0.0) * sum(rates)
    assert stats.kstest(waits, "expon").pvalue > 1e-5
    assert abs(waits.mean() - 1.0) < LIMIT / math.sqrt(len(waits))
    assert abs(np.corrcoef(waits[1:], waits[:-1])[0, 1]) < LIMIT / math.sqrt(len(waits))


def test_beside_clocks_with_times():
    """Between two ticks of a clock with a period, the decays are Poisson; ticks come when they should."""
    simulation = Simulation(MIXED, heap(np.linspace(0.1, 3.0, 20)), seed=9)
    table = simulation.record_events(until=3_000.0).to_arrow().to_pandas()
    ticks = table.time[table.action == "Tick"].to_numpy()
    assert ticks.tolist() == [float(k) for k in range(1, 3001)]
    decays = table.time[table.action == "Decay"].to_numpy()
    counts, mean = np.bincount(decays.astype(int), minlength=3_000), np.linspace(0.1, 3.0, 20).sum()
    assert abs(counts.mean() - mean) < LIMIT * math.sqrt(mean / 3_000)
    assert abs(counts.var() / mean - 1.0) < LIMIT * math.sqrt(2.0 / 3_000 + 1.0 / (mean * 3_000))


@pytest.mark.parametrize("model", [SHAKE, MIXED, DECAY])
def test_the_same_bits(model):
    """Compiled and interpreted, in one go and in slices, audited or recorded: the same state."""
    world = heap(np.exp2(np.linspace(-3, 3, 50)))
    whole = Simulation(model, world, seed=1)
    whole.run(events=1_500)
    hashes = {whole.state_hash()}
    for options in ({"jit": False}, {"audit": True}):
        other = Simulation(model, world, seed=1, **options)
        other.run(events=1_500)
        hashes.add(other.state_hash())
    sliced = Simulation(model, world, seed=1)
    for _ in range(300):
        sliced.run(events=4)
        sliced.next_event()
        sliced.step()
    hashes.add(sliced.state_hash())
    recorded = Simulation(model, world, seed=1)
    assert recorded.record_events(events=1_500).to_arrow().num_rows == 1_500
    hashes.add(recorded.state_hash())
    assert len(hashes) == 1


def test_next_event_is_what_comes():
    """`next_event` names the event that `step` then fires."""
    simulation = Simulation(MIXED, heap([0.7, 1.3, 2.9]), seed=4)
    seen = [(simulation.next_event(), simulation.step()) for _ in range(200)]
    assert all(coming == came for coming, came in seen)
    assert {came.action for _, came in seen} == {"Tick", "Decay"}


def test_touched_by_hand():
    """A rate changed by hand counts once its row is touched; with all rates zero nothing happens any more."""
    simulation = Simulation(DECAY, heap([1.0, 1.0]), seed=4)
    simulation.run(until=10.0)
    before = simulation.world.atoms["n"].copy()
    for atom in simulation.world.atoms:
        atom.rate = 0.0
        simulation.touch(atom)
    assert simulation.next_event() is None
    assert simulation.run(until=99.0).stopped is Stop.EXHAUSTED
    assert simulation.world.atoms["n"].tolist() == before.tolist()


class Cell(Entity):
    """A cell that divides or dies."""

    is_old: boolean


class Culture(World):
    """Cells."""

    cells: Pool[Cell]


class Divide(Action):
    """A cell becomes two."""

    cell: Cell

    def rate(self, world: Culture) -> float:
        return 1.0

    def fire(self, world: Culture, now: float, rng: Rng, touched) -> None:
        world.cells.spawn()


class Die(Action):
    """A cell dies."""

    cell: Cell

    def rate(self, world: Culture) -> float:
        return 0.25

    def fire(self, world: Culture, now: float, rng: Rng, touched) -> None:
        world.cells.remove(self.cell)


CULTURE = Model(Culture, [Divide, Die], method=METHOD)


def test_pools_grow():
    """Birth and death: the mean number of cells at time t is n exp(0.75 t); the lists follow as rows come and go."""
    start, t, runs = 20, 3.0, 60
    sizes = []
    for seed in range(runs):
        simulation = Simulation(CULTURE, Culture(cells=start), seed=seed)
        simulation.run(until=t)
        sizes.append(simulation.world.cells.n_live)
        if seed < 5:
            check_lists(simulation)
    growth = math.exp(0.75 * t)
    variance = start * (1.25 / 0.75) * growth * (growth - 1.0)
    assert abs(np.mean(sizes) - start * growth) < LIMIT * math.sqrt(variance / runs)


def test_growing_in_slices_is_growing_at_once():
    """A pool that grows in the middle of a run leaves the same bits, compiled, interpreted and audited."""
    runs = [Simulation(CULTURE, Culture(cells=3), seed=8, **kw) for kw in ({}, {"jit": False}, {"audit": True})]
    sliced = Simulation(CULTURE, Culture(cells=3), seed=8)
    for simulation in runs:
        simulation.run(events=700)
    for _ in range(100):
        sliced.run(events=7)
    assert len({simulation.state_hash() for simulation in (*runs, sliced)}) == 1


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        (math.nan, "NaN or a negative or infinite rate"),
        (-1.0, r"returned -1\.0"),
        (math.inf, "returned inf"),
        (MOST_RATE * 2.0, "must be 0 or within"),
        (LEAST_RATE / 2.0, "must be 0 or within"),
    ],
)
def test_rates_that_cannot_be(rate, says):
    """A rate that is no rate, or beyond what can be summed, stops the run by name."""
    simulation = Simulation(DECAY, heap([1.0, rate]), seed=1)
    with pytest.raises(ScheduleError, match=rf"Decay\(atom 1\)\.rate .*{says}"):
        simulation.run(events=1)


def test_extreme_rates_run():
    """The largest and the least rates there may be go together."""
    simulation = Simulation(DECAY, heap([MOST_RATE, MOST_RATE, LEAST_RATE]), seed=1)
    assert simulation.run(events=1_000).n_events == 1_000
    assert simulation.world.atoms["n"].tolist()[2] == 0


def test_methods_by_name():
    """The model's method is the default; an unknown one is refused where it is given."""
    world = heap([1.0])
    assert Simulation(DECAY, world).method == METHOD
    assert Simulation(DECAY, world, method="next-reaction").method == "next-reaction"
    for make in (lambda: Simulation(DECAY, world, method="direct"), lambda: Model(Heap, [Decay], method="fast")):
        with pytest.raises((InputError, ModelError), match='"next-reaction" or "composition-rejection"'):
            make()
    with pytest.raises(InputError, match="composition-rejection draws from keyed streams"):
        Simulation(DECAY, world, source="pcg64")


def test_only_clocks_with_a_rate():
    """Clocks with a schedule keep their times under either method."""
    simulation = Simulation(MIXED, heap([1.0]), seed=2)
    simulation.run(events=0)
    times = simulation._kernel.clocks["time"]
    assert times[0] == 1.0
    assert times[1] == NEVER


class Fickle(Action):
    """An atom decays and changes its own rate, within one power of two; the hazard passed is summed."""

    atom: Atom

    def rate(self, world: Heap) -> float:
        return self.atom.rate

    def fire(self, world: Heap, now: float, rng: Rng, touched) -> None:
        total = 0.0
        for atom in world.atoms:
            total += atom.rate
        world.hazard += total * (now - world.last)
        world.last = now
        self.atom.rate = 1.9999 if self.atom.rate < 1.5 else 1.0


FICKLE = Model(Heap, [Fickle], method=METHOD)


def test_unequal_rates_that_change_all_the_time():
    """The hazard passed between events is exponential of mean 1, however the candidates that were none lie."""
    n = 3_000_000
    simulation = Simulation(FICKLE, heap([1.0, 1.9999, 1.0, 1.0, 1.0, 1.9999, 1.0]), seed=5)
    simulation.run(events=n)
    assert abs(simulation.world.hazard / n - 1.0) < LIMIT / math.sqrt(n)


class Swap(Action):
    """Half of the atoms are fast and half slow, and change places at each event."""

    atom: Atom

    def rate(self, world: Heap) -> float:
        return 1.9999 if (self.atom.index + world.n_ticks) % 2 == 0 else 1.0

    def fire(self, world: Heap, now: float, rng: Rng, touched) -> None:
        if (self.atom.index + world.n_ticks) % 2 == 0:
            world.share += 1.0
        world.n_ticks += 1
        touched.all(world.atoms)


def test_the_fast_ring_as_often_as_they_should():
    """Of rates that change at each event, each clock rings with its share of the sum."""
    n = 3_000_000
    simulation = Simulation(Model(Heap, [Swap], method=METHOD), heap([1.0] * 4), seed=6)
    simulation.run(events=n)
    p = 1.9999 / 2.9999
    assert abs(simulation.world.share / n - p) < LIMIT * math.sqrt(p * (1.0 - p) / n)


def test_rates_that_fall_by_decades_do_not_hang():
    """A level's bound is of its own power of two, so candidates are taken soon however far rates fall."""
    simulation = Simulation(FICKLE, heap([1e-20] * 3), seed=5)
    assert simulation.run(events=10).n_events == 10
    with pytest.raises(ScheduleError, match="must be 0 or within"):
        Simulation(DECAY, heap([1e-60]), seed=1).run(events=1)
