"""Laws of `Simulation`: what runs, where it stops, what can be asked."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from tocsin import Event, InputError, RunReport, Simulation, Stop
from tocsin.models.classic import mm1, switch

from ._cells import culture


def queue(seed=1, **kw):
    """Return a simulation of an M/M/1 queue."""
    return Simulation(mm1.MODEL, mm1.make_world(), seed=seed, **kw)


@pytest.mark.parametrize("jit", [True, False])
def test_until(jit):
    """Events with time <= until fire, now becomes until, and an until in the past does nothing."""
    simulation = queue(jit=jit)
    first = simulation.next_event()
    assert simulation.run(until=first.time / 2) == RunReport(0, first.time / 2, Stop.REACHED_TIME)
    assert simulation.run(until=first.time) == RunReport(1, first.time, Stop.REACHED_TIME)
    simulation.run(until=50.0)
    assert simulation.now == 50.0 < simulation.next_event().time
    before = simulation.state_hash()
    for past in (50.0, 49.0, 0.0, -3.0, -math.inf):
        assert simulation.run(until=past) == RunReport(0, 50.0, Stop.REACHED_TIME)
    assert simulation.state_hash() == before


def test_whichever_limit_comes_first():
    """With both limits, the first that is met stops the run; now moves to until only by time."""
    simulation = queue()
    report = simulation.run(until=1e9, events=100)
    assert (report.n_events, report.stopped, report.time) == (100, Stop.REACHED_EVENTS, simulation.now)
    assert simulation.now < 1e9
    soon = simulation.next_event().time - 1e-9
    assert simulation.run(until=soon, events=100) == RunReport(0, soon, Stop.REACHED_TIME)
    assert simulation.run(until=math.inf, events=7).n_events == 7


@pytest.mark.parametrize("jit", [True, False])
def test_step_fires_the_next_event(jit):
    """`next_event` tells what `step` will fire, and changes nothing."""
    simulation, twin = queue(jit=jit), queue(jit=jit)
    stream = twin.record_events(events=200).to_arrow().to_pylist()
    for told in stream:
        coming = simulation.next_event()
        assert coming == simulation.next_event() == Event(told["time"], told["action"], told["index"])
        assert simulation.step() == coming
        assert simulation.now == coming.time
    assert simulation.state_hash() == twin.state_hash()
    assert simulation.counts == twin.counts
    assert sum(simulation.counts.values()) == simulation.n_events == 200


def test_exhausted():
    """Where no clock will ever ring, a run ends at until, and there is no next event."""
    simulation = culture(5, division=0.0)
    assert simulation.run(events=100) == RunReport(5, simulation.now, Stop.EXHAUSTED)
    assert simulation.run(until=1e6) == RunReport(0, 1e6, Stop.EXHAUSTED)
    assert simulation.next_event() is simulation.step() is None


def test_start():
    """A run that starts at another time is the same run, moved; a negative start is as good."""
    at_zero, later = queue(), queue(start=-1024.0)
    assert later.now == -1024.0
    for _ in range(100):
        assert later.step().time + 1024.0 == pytest.approx(at_zero.step().time, abs=1e-9)
    assert later.observe()["Present"].mean == pytest.approx(at_zero.observe()["Present"].mean, rel=1e-9)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({}, r"say when to stop: until=\.\.\., events=\.\.\., or both"),
        ({"until": math.nan}, "until must be a time, got NaN"),
        ({"until": math.inf}, r"until=inf needs events=\.\.\.: the run might never end"),
        ({"events": -1}, "events must be >= 0, got -1"),
        ({"events": True}, "events must be a whole number, got True"),
    ],
)
def test_bad_limits(limits, text):
    """A run without a limit, and limits that mean nothing, are refused before anything happens."""
    simulation = queue()
    for call in (simulation.run, simulation.record_events):
        with pytest.raises(InputError, match=text):
            call(**limits)
    assert simulation.n_events == 0


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"seed": -1}, r"seed must be in 0\.\.2\*\*64-1, got -1"),
        ({"seed": 1 << 64}, r"seed must be in 0\.\.2\*\*64-1, got 18446744073709551616"),
        ({"seed": 1.5}, "seed must be"),
        ({"start": math.inf}, "start must be finite, got inf"),
        ({"start": math.nan}, "start must be finite, got nan"),
    ],
)
def test_bad_simulations(keywords, text):
    """A seed out of range and a start that is not finite are refused."""
    with pytest.raises(InputError, match=text):
        Simulation(mm1.MODEL, mm1.make_world(), **keywords)


def test_world_of_another_model():
    """A model runs on its own world class."""
    with pytest.raises(InputError, match="model mm1 runs on Queue, got Board"):
        Simulation(mm1.MODEL, switch.make_world(3))


@pytest.mark.parametrize("jit", [True, False])
def test_touch(jit):
    """After a change by hand, touched rows are scheduled again, and observables read again."""
    simulation = queue(jit=jit)
    simulation.run(until=10.0)
    simulation.world.n_present = 0
    simulation.world.rates.arrival = 0.0
    simulation.touch(simulation.world)
    assert simulation.next_event() is None
    assert simulation.observe()["Present"].value == 0.0
    simulation.world.rates.arrival = 3.0
    simulation.touch(simulation.world)
    assert simulation.next_event().time > 10.0


def test_touch_before_the_start_changes_nothing():
    """Touching rows before the first event is no draw: all clocks are scheduled at the start."""
    touched, plain = culture(7), culture(7)
    touched.touch(touched.world.cells[3])
    for simulation in (touched, plain):
        simulation.run(events=50)
    assert touched.state_hash() == plain.state_hash()


def test_touch_needs_rows_of_its_own_world():
    """A row of another world, such as the one that was copied, cannot be touched."""
    dish = culture(7).world
    with pytest.raises(InputError, match="touch rows of this simulation's own world"):
        culture(7).touch(dish.cells[0])


def test_observations_are_exact():
    """Mean and variance over time are the integrals of the recorded path."""
    simulation, twin = queue(seed=4), queue(seed=4)
    events = twin.record_events(until=300.0).to_arrow()
    simulation.run(until=300.0)
    steps = np.where(np.array(events["action"].to_pylist()) == "Arrive", 1, -1)
    path = np.concatenate([[0], np.cumsum(steps)])
    spans = np.diff(np.concatenate([[0.0], events["time"].to_numpy(), [300.0]]))
    seen = simulation.observe()["Present"]
    mean = (path * spans).sum() / 300.0
    assert seen.mean == pytest.approx(mean, rel=1e-12)
    assert seen.variance == pytest.approx((path**2 * spans).sum() / 300.0 - mean**2, rel=1e-10)
    assert (seen.value, seen.low, seen.high) == (path[-1], path.min(), path.max())


def test_reset_observables():
    """After a reset, averages and extremes start anew from the value at that time."""
    simulation = queue(seed=5)
    simulation.run(until=400.0)
    value = simulation.observe()["Present"].value
    simulation.reset_observables()
    seen = simulation.observe()["Present"]
    assert (seen.value, seen.low, seen.high) == (value, value, value)
    assert math.isnan(seen.mean)
    assert math.isnan(seen.variance)
    end = (400.0 + simulation.next_event().time) / 2
    simulation.run(until=end)
    assert simulation.observe()["Present"].mean == pytest.approx(value, rel=1e-12, abs=0)


def test_row_observables_sum_over_rows():
    """An observable of an entity is the sum over its rows, and its averages too."""
    simulation = Simulation(switch.MODEL, switch.make_world(40), seed=6)
    simulation.run(until=20.0)
    seen = simulation.observe()["On"]
    assert seen.value == simulation.world.switches["is_on"].sum()
    assert simulation.row_means("On").sum() == pytest.approx(seen.mean, rel=1e-12)
    with pytest.raises(InputError, match=r"there is no observable 'Onn'\. Did you mean 'On'\?"):
        simulation.row_means("Onn")


def test_progress_is_told_between_slices():
    """`progress` is called between slices, with the simulation, and changes nothing."""
    simulation, seen = culture(20), []
    simulation.run(events=40_000, progress=lambda s: seen.append(s.n_events))
    assert seen == sorted(seen)
    assert all(0 < n < 40_000 for n in seen)
    plain = culture(20)
    plain.run(events=40_000)
    assert plain.state_hash() == simulation.state_hash()


def test_an_error_in_progress_leaves_a_run_that_can_go_on():
    """An exception raised between two slices, such as Ctrl-C, cuts no event in two."""

    def stop(simulation):
        raise KeyboardInterrupt

    simulation, plain = queue(jit=False), queue(jit=False)
    with pytest.raises(KeyboardInterrupt):
        simulation.run(events=1000, progress=stop)
    assert 0 < simulation.n_events < 1000
    simulation.run(events=1000 - simulation.n_events)
    plain.run(events=1000)
    assert simulation.state_hash() == plain.state_hash()


def test_simulations_run_in_threads():
    """Simulations of one model run side by side in threads, each with its own bits."""
    simulations = [culture(20, seed) for seed in range(4)]
    threads = [threading.Thread(target=s.run, kwargs={"events": 20_000}) for s in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, simulation in enumerate(simulations):
        alone = culture(20, seed)
        alone.run(events=20_000)
        assert simulation.state_hash() == alone.state_hash()


def test_to_arrow():
    """`to_arrow` gives the live rows of a table now; references are row numbers or null."""
    simulation = culture(6, seed=3)
    simulation.run(events=300)
    cells, table = simulation.world.cells, simulation.to_arrow("cells")
    assert table.column_names == ["index", "mother", "mass", "generation", "n_daughters"]
    assert table["index"].to_pylist() == [cell.index for cell in cells]
    assert table["mother"].to_pylist() == [None if c.mother is None else c.mother.index for c in cells]
    assert simulation.to_arrow("cells", ["mass"]).column_names == ["index", "mass"]
    with pytest.raises(InputError, match=r"there is no table 'cell'\. Did you mean 'cells'\?"):
        simulation.to_arrow("cell")
    with pytest.raises(InputError, match=r"cells has no column 'generatoin'\. Did you mean 'generation'\?"):
        simulation.to_arrow("cells", ["generatoin"])
