"""Ensembles: every run has the bits of a Simulation with its seed, whatever its model does with its memory."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import (
    NEVER,
    Action,
    Arena,
    Entity,
    InputError,
    Model,
    Observable,
    Pool,
    ScheduleError,
    Simulation,
    Stop,
    System,
    World,
    float64,
    int64,
)
from tocsin.experiment import ensemble
from tocsin.experiment._seeds import seed_of
from tocsin.models.classic.mm1 import MODEL, Rates, make_world

TIMES = [5.0, 5.0, 40.0]
QUEUE = make_world(rates=Rates(arrival=0.7))


def check(found, model, world, tables=(), **options):
    """Compare some runs with simulations of their own, stop by stop."""
    for k in (0, 1, len(found) - 1):
        simulation = Simulation(model, world, seed=found.seeds[k], **options)
        for t, until in enumerate(found.times):
            report = simulation.run(until=until)
            assert found.stops[k, t] == report.stopped
            assert (found.n_events[k, t], found.now[k, t]) == (simulation.n_events, simulation.now)
            for name, seen in simulation.observe().items():
                for part, value in seen._asdict().items():
                    np.testing.assert_array_equal(found.observable(name, part)[k, t], value)
            for action, n in simulation.counts.items():
                assert found.count(action)[k, t] == n
            for name in model.schema.scalars:
                assert found.scalar(name)[k, t] == getattr(simulation.world, name)
            for table in tables:
                assert found.array(table)[k, t].tobytes() == simulation.world.__dict__[table].rows.tobytes()


@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
def test_runs_are_those_of_simulations(method):
    """At every time, by both methods; the seeds are those of a sweep's replicates."""
    found = ensemble(MODEL, QUEUE, 300, TIMES, seed=3, threads=1, method=method)
    assert found.seeds[:2] == (seed_of(3, None, 0), seed_of(3, None, 1))
    check(found, MODEL, QUEUE, method=method)


def test_threads_change_nothing():
    """Three threads, one, or the seeds given one by one: the same table."""
    one = ensemble(MODEL, QUEUE, 500, TIMES, threads=1)
    assert ensemble(MODEL, QUEUE, 500, TIMES, threads=3).to_arrow().equals(one.to_arrow())
    assert (
        ensemble(MODEL, QUEUE, one.seeds[100:103], TIMES, threads=2).n_events.tolist() == one.n_events[100:103].tolist()
    )


def test_a_limit_of_events_ends_a_run():
    """As `Simulation.run(events=...)`: the clock stays at the last event."""
    found = ensemble(MODEL, QUEUE, 50, 1000.0, events=7, threads=1)
    assert set(found.n_events.ravel()) == {7}
    assert set(found.stops.ravel()) == {Stop.REACHED_EVENTS}
    simulation = Simulation(MODEL, QUEUE, seed=found.seeds[9])
    simulation.run(until=1000.0, events=7)
    assert found.now[9, 0] == simulation.now


def test_means_of_an_ensemble_follow_the_law():
    """An M/M/1 queue that starts empty: the mean number of arrivals until 40 is 0.7 * 40, its variance too."""
    n = 20_000
    arrivals = ensemble(MODEL, QUEUE, n, 40.0, seed=1).count("Arrive")[:, 0]
    assert abs(arrivals.mean() - 28.0) < 4.5 * np.sqrt(28.0 / n)
    assert abs(arrivals.var() / 28.0 - 1.0) < 4.5 * np.sqrt((2.0 + 1.0 / 28.0) / n)


def test_95_per_cent_intervals_of_simulated_runs_cover_in_94_to_96_per_cent():
    """20,000 experiments of 12 runs: the mean number of arrivals is known."""
    from tocsin.experiment import mean_interval

    arrivals = ensemble(MODEL, QUEUE, 240_000, 12.0, seed=5).count("Arrive").reshape(20_000, 12)
    hits = np.mean([i.low <= 8.4 <= i.high for i in map(mean_interval, arrivals)])
    assert 0.94 <= hits <= 0.96


@pytest.mark.parametrize(
    ("runs", "until", "options", "text"),
    [
        (0, 1.0, {}, r"runs must be >= 1, got 0"),
        ([], 1.0, {}, r"there are no seeds"),
        ([-1], 1.0, {}, r"seed must be in 0..2\*\*64-1, got -1"),
        ("many", 1.0, {}, r"runs must be how many, or their seeds, got 'many'"),
        (2, [2.0, 1.0], {}, r"finite times in ascending order"),
        (2, float("inf"), {}, r"finite times in ascending order"),
        (2, "soon", {}, r"until must be a time or several, got 'soon'"),
        (2, 1.0, {"events": -1}, r"events must be a whole number >= 0"),
        (2, 1.0, {"threads": 0}, r"threads must be a whole number >= 1"),
        (2, 1.0, {"keep": ["robots"]}, r"there is no table or array 'robots'"),
        (2, 1.0, {"audit": True}, r"takes of Simulation's arguments method, source and start, got audit"),
        (100_000_000, 1.0, {}, r"runs must be <= 10,000,000, got 100,000,000"),
        (600_000, [1.0] * 20, {}, r"what is kept would take .* GiB"),
    ],
)
def test_what_is_wrong_with_an_ensemble_is_said(runs, until, options, text):
    """Before anything runs."""
    if runs == 600_000:
        runs = [7] * runs  # seeds need not differ
    with pytest.raises(InputError, match=text):
        ensemble(MODEL, QUEUE, runs, until, **options)


def test_names_that_are_not_there_are_refused():
    """With what there is."""
    found = ensemble(MODEL, QUEUE, 2, 1.0, threads=1)
    with pytest.raises(InputError, match=r"no observable 'Presnt'. Did you mean 'Present'\?"):
        found.observable("Presnt")
    with pytest.raises(InputError, match=r"no action 'Leave'"):
        found.count("Leave")
    with pytest.raises(InputError, match=r"was not kept; ask for it with keep=\['legs'\]"):
        found.array("legs")


class Cell(Entity):
    """A cell, which divides."""

    age: float64


class Mark(Entity):
    """When every third cell was born."""

    age: float64


class Culture(World):
    """Cells in a pool, counters in an arena."""

    cells: Pool[Cell]
    marks: Arena[Mark]
    n_born: int64 = 0
    is_late: int64 = 0


class Divide(Action):
    cell: Cell

    def schedule(self, world, now, rng):
        if world.n_born >= 60:
            return NEVER
        return now + rng.exponential(1.0)

    def fire(self, world, now, rng, touched):
        world.n_born += 1
        world.marks[world.n_born % 3].age = now
        cell = world.cells.spawn()
        cell.age = now
        touched.add(cell)


class Fail(Action):
    def schedule(self, world, now, rng):
        return now - 1.0 if world.is_late == 2 else now + rng.exponential(3.0) if world.is_late == 1 else NEVER

    def fire(self, world, now, rng, touched):
        world.is_late = 2


class Living(Observable):
    cell: Cell

    def value(self, world):
        return 1.0


CULTURE = Model(Culture, [Divide, Fail], observables=[Living])


@pytest.mark.slow
def test_pools_that_grow_run_by_themselves():
    """60 births from one cell: the tables are replaced in most runs, and not in others."""
    world = Culture(cells={"age": [0.0]}, marks=3)
    found = ensemble(CULTURE, world, 60, [1.0, 3.0, 9.0], threads=2, keep=["marks"])
    check(found, CULTURE, world, ["marks"])
    assert found.column("marks", "age").shape == (60, 3, 3)
    born = found.scalar("n_born")[:, -1]
    assert born.max() > 16, "some grew"
    with pytest.raises(InputError, match="cells is a pool, whose rows come and go, and cannot be kept"):
        ensemble(CULTURE, world, 2, 1.0, keep=["cells"])


@pytest.mark.slow
def test_a_run_that_fails_says_so():
    """With the clock and the time, as a Simulation does."""
    with pytest.raises(ScheduleError, match=r"Fail\(\).schedule returned .* which is before now"):
        ensemble(CULTURE, Culture(cells={"age": [0.0]}, marks=3, is_late=1), 30, 20.0, threads=2)


class Ageing(System):
    """All marks grow older at once."""

    mark: Mark
    every = 1.0
    mode = "synchronous"

    def update(self, world, now, rng):
        self.mark.age += rng.uniform(0.0, 1.0)


@pytest.mark.slow
def test_synchronous_systems_run_by_themselves():
    """They have a part in Python: each run is a Simulation's."""
    model = Model(Culture, [], systems=[Ageing])
    world = Culture(marks=5)
    found = ensemble(model, world, 4, 10.0, threads=2, keep=["marks"])
    check(found, model, world, ["marks"])


@pytest.mark.slow
def test_a_hundred_thousand_runs_of_five_reactions():
    """A gene: messengers are made, decay and are translated; their number is a Poisson's at every time."""
    from tocsin.models.reactions import MODEL as REACTOR
    from tocsin.models.reactions import Network, Reaction

    network = Network(
        ["M", "P", "B"],
        [
            Reaction("0 -> M", 2.0), Reaction("M -> 0", 1.0), Reaction("M -> M + P", 1.0), Reaction("P -> B", 0.5),
            Reaction("B -> P", 1.0),
        ],
    )  # fmt: skip
    world, n = network.world(), 100_000
    found = ensemble(REACTOR, world, n, 3.0, keep=["values"], method="next-reaction")
    check(found, REACTOR, world, method="next-reaction")
    mean = 2.0 * (1.0 - np.exp(-3.0))
    assert abs(found.array("values")[:, 0, 0].mean() - mean) < 4.5 * np.sqrt(mean / n)
