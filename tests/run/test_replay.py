"""Laws of replay: any time of a run can be visited, and a log is checked event by event."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tocsin import InputError, Simulation
from tocsin.run import Replay, replay

from ._cells import MODEL, Dish


def cells(seed=3, **options):
    """Return a simulation of cells that divide and die about as often."""
    return Simulation(MODEL, Dish(cells={"mass": [1.0] * 50}, division=0.5), seed=seed, jit=False, **options)


def at(time, **options):
    """Return the straight run up to a time."""
    simulation = cells(**options)
    simulation.run(until=time)
    return simulation


@pytest.mark.parametrize("most", [2, 3, 64])
def test_any_time_in_any_order(most):
    """What is at a time does not depend on what was visited before, or on how many copies are kept."""
    start = cells()
    visits = Replay(start, every=0.25, most=most)
    for time in (3.0, 1.1, 4.0, 0.0, 3.9, 1.1, 2.75):
        there = visits.at(time)
        assert there.now == time
        assert there.state_hash() == at(time).state_hash()
        there.run(events=50)  # what is done to it stays with it
    assert len(visits.kept) <= most
    assert visits.kept == sorted(set(visits.kept))
    assert start.n_events == 0


def test_copies_are_thinned_evenly():
    """When there are too many copies, every second one goes, and the spacing doubles."""
    visits = Replay(cells(), every=0.125, most=8)
    visits.at(3.0)
    assert (visits.every, visits.kept) == (0.5, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])


def test_it_may_start_anywhere(tmp_path):
    """A replay starts where its simulation stands, a loaded one for instance; before that is nothing."""
    at(2.0).save(tmp_path / "a")
    visits = Replay(Simulation.load(tmp_path / "a", MODEL, jit=False), every=1.0)
    assert visits.at(3.5).state_hash() == at(3.5).state_hash()
    for time in (1.9, float("nan"), float("inf")):
        with pytest.raises(InputError, match=r"time must be >= 2\.0, where the replay starts"):
            visits.at(time)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"every": 0.0}, "every must be > 0"), ({"every": float("nan")}, "every must be"),
     ({"every": 1.0, "most": 1}, "most must be >= 2")],
)  # fmt: skip
def test_arguments_out_of_range(arguments, text):
    """Spacing and number of copies are checked."""
    with pytest.raises(InputError, match=text):
        Replay(cells(), **arguments)


@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
def test_a_log_is_followed(method, tmp_path):
    """A log of the same run, as a table, a file or a stream, is followed to its end."""
    simulation = at(1.0, method=method)
    log = simulation.copy().record_events(events=300).to_arrow()
    simulation.copy().record_events(events=300).to_parquet(tmp_path / "log.parquet")
    end = simulation.copy()
    end.run(events=300)
    for given in (log, tmp_path / "log.parquet", str(tmp_path / "log.parquet"), log.to_reader(), log.combine_chunks()):
        assert replay(simulation, given).state_hash() == end.state_hash()
    assert simulation.now == 1.0


def changed(log, column, row, value):
    """Return a log with one entry changed."""
    columns = log.to_pydict()
    columns[column][row] = value
    return pa.table(columns)


def test_the_first_difference_is_told():
    """A time that differs in its last bit, another row, another action: the event is named."""
    simulation = cells()
    log = simulation.copy().record_events(events=200).to_arrow()
    row = log.slice(120, 1).to_pylist()[0]
    bit = row["time"] * (1.0 + 2.0**-52)
    other = "Die" if row["action"] == "Divide" else "Divide"
    for column, value in (("time", bit), ("index", row["index"] + 1), ("action", other)):
        wrong = {**row, column: value}
        text = f"event 121 differs: the log has {wrong['action']}({wrong['index']}) at t={wrong['time']!r}, "
        with pytest.raises(InputError) as caught:
            replay(simulation, changed(log, column, 120, value))
        fires = f"the run fires {row['action']}({row['index']}) at t={row['time']!r}."
        assert str(caught.value).startswith(text + fires)


def test_a_log_that_goes_on_after_the_run_ended():
    """A run that has no event left differs from a log that has."""
    quiet = Simulation(MODEL, Dish(cells={"mass": [1.0] * 3}, division=0.0), jit=False)
    log = quiet.copy().record_events(events=3).to_arrow()
    with pytest.raises(InputError, match=r"event 4 differs: .*, no clock of the run ever rings again"):
        replay(quiet, pa.concat_tables([log, log.slice(0, 1)]))


def test_another_seed_is_another_log():
    """A log belongs to a seed."""
    log = cells(seed=4).record_events(events=10).to_arrow()
    with pytest.raises(InputError, match="event 1 differs"):
        replay(cells(seed=5), log)


@pytest.mark.parametrize("log", [pa.table({"time": [1.0]}), "no/such.parquet", 7, pa.table({"time": ["x"]})])
def test_what_is_no_log(log):
    """A table without the columns, a file that is not there, a number."""
    with pytest.raises(InputError, match="log"):
        replay(cells(), log)
