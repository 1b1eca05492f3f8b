"""Laws of recordings: Arrow batches in bounded memory, of a run that is the same run."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin import InputError, OutputError, Simulation
from tocsin.models.classic import birth_death, phold, switch

from ._cells import culture

MANY = 200_000


def machine(seed=1):
    """Return a simulation of 100 messages."""
    return Simulation(phold.MODEL, phold.make_world(100), seed=seed)


def board(seed=1, n=1000):
    """Return a simulation of `n` switches."""
    return Simulation(switch.MODEL, switch.make_world(n), seed=seed)


def test_events_in_batches():
    """Many events come as several batches, in order of time, none lost at the seams."""
    batches = list(machine().record_events(events=MANY))
    assert len(batches) > 2
    assert max(b.num_rows for b in batches) <= 65_536
    table = pa.Table.from_batches(batches)
    assert table.num_rows == MANY
    assert table.schema == machine().record_events(events=1).schema
    times = table["time"].to_numpy()
    assert (np.diff(times) > 0).all()
    plain = machine()
    plain.run(events=MANY)
    assert plain.now == times[-1]
    visits = np.bincount(table["index"].to_numpy(), minlength=100)
    assert visits.sum() == plain.counts["Hop"]


@pytest.mark.parametrize("n_events", [0, 1, 65_535, 65_536, 65_537, 131_072])
def test_events_at_the_seams(n_events):
    """Any number of events is recorded, and the simulation stands where a plain run does."""
    recorded, plain = machine(), machine()
    assert recorded.record_events(events=n_events).to_arrow().num_rows == n_events
    plain.run(events=n_events)
    assert recorded.state_hash() == plain.state_hash()
    recorded.run(events=100_000)
    plain.run(events=100_000)
    assert recorded.state_hash() == plain.state_hash()


def test_events_until():
    """A recording until a time ends at that time."""
    recorded, plain = machine(), machine()
    table = recorded.record_events(until=30.0).to_arrow()
    assert plain.run(until=30.0).n_events == table.num_rows
    assert table["time"].to_numpy().max() <= 30.0 == recorded.now
    assert recorded.state_hash() == plain.state_hash()


def test_events_interpreted():
    """The event log of plain Python is that of machine code."""
    runs = [Simulation(phold.MODEL, phold.make_world(20), seed=2, jit=jit) for jit in (True, False)]
    tables = [s.record_events(events=500).to_arrow() for s in runs]
    assert tables[0].equals(tables[1])


def test_a_recording_given_up():
    """A stream that is left after its first batch leaves a simulation that can go on."""
    simulation = machine()
    stream = iter(simulation.record_events(events=MANY))
    assert next(stream).num_rows == 65_536
    stream.close()
    assert simulation.run(events=MANY).n_events == MANY
    plain = machine()
    plain.run(events=65_536 + MANY)
    assert simulation.state_hash() == plain.state_hash()


def test_a_run_while_a_recording_is_open():
    """A run is whole also while a stream of its events has been read in part."""
    simulation = machine()
    stream = iter(simulation.record_events(events=MANY))
    next(stream)
    assert simulation.run(events=MANY).n_events == MANY
    del stream


def test_snapshots():
    """Snapshots are the table after all events up to and including their time."""
    table = board().record(every=0.25, until=1.0).to_arrow()
    assert table.column_names == ["time", "index", "is_on", "n_flips"]
    assert table.num_rows == 5 * 1000
    twin = board()
    for k in range(5):
        twin.run(until=0.25 * k)
        rows = table.slice(1000 * k, 1000)
        assert set(rows["time"].to_pylist()) == {0.25 * k}
        assert rows["is_on"].to_pylist() == twin.world.switches["is_on"].tolist()
        assert rows["n_flips"].to_pylist() == twin.world.switches["n_flips"].tolist()


def test_snapshots_reach_until():
    """Where the last interval is short, the run still ends at until; times do not drift."""
    simulation = board(n=3)
    table = simulation.record(every=0.1, until=0.95).to_arrow()
    assert sorted(set(table["time"].to_pylist())) == [k * 0.1 for k in range(10)]
    assert simulation.now == 0.95
    again = simulation.record(every=0.1, until=1.25).to_arrow()
    assert sorted(set(again["time"].to_pylist())) == [0.95 + k * 0.1 for k in range(4)]


def test_snapshots_in_batches():
    """Many snapshots come as several batches of many rows each."""
    batches = list(board().record(every=0.01, until=2.0))
    assert len(batches) > 2
    assert sum(b.num_rows for b in batches) == 201 * 1000
    assert max(b.num_rows for b in batches) <= 65_536 + 1000


def test_snapshots_of_a_pool():
    """Snapshots hold the live rows; references are row numbers, null for none."""
    simulation = culture(4, seed=3)
    table = simulation.record(every=0.5, until=3.0, columns={"cells": ["mother", "mass"]}).to_arrow()
    assert table.schema.names == ["time", "index", "mother", "mass"]
    last = table.filter(pa.compute.equal(table["time"], 3.0)).to_pylist()
    cells = list(simulation.world.cells)
    assert [row["index"] for row in last] == [cell.index for cell in cells]
    assert [row["mother"] for row in last] == [c.mother and c.mother.index for c in cells]


@pytest.mark.parametrize("columns", ["switches", {"switches": ["is_on", "n_flips"]}, ["is_on", "n_flips"], None])
def test_ways_to_choose_columns(columns):
    """A table's name, a table with columns, columns of the first table, or nothing: all the same."""
    table = board(n=5).record(every=1.0, until=1.0, columns=columns).to_arrow()
    assert table.column_names == ["time", "index", "is_on", "n_flips"]


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("switch", r"there is no table 'switch'\. Did you mean 'switches'\?"),
        ({"switches": ["ison"]}, r"switches has no column 'ison'\. Did you mean 'is_on'\?"),
        (["nflips"], r"switches has no column 'nflips'\. Did you mean 'n_flips'\?"),
        ({"a": [], "b": []}, "a recording follows one table"),
    ],
)
def test_unknown_columns(columns, text):
    """An unknown table or column is refused at once, with the nearest name."""
    with pytest.raises(InputError, match=text):
        board(n=5).record(every=1.0, until=1.0, columns=columns)


@pytest.mark.parametrize(
    ("every", "until", "text"),
    [
        (0.0, 1.0, r"every must be > 0, got 0\.0"),
        (-1.0, 1.0, r"every must be > 0, got -1\.0"),
        (float("nan"), 1.0, "every must be > 0, got nan"),
        (1.0, float("inf"), r"until must be a time >= now \(0\.0\), got inf"),
        (1.0, -1.0, r"until must be a time >= now \(0\.0\), got -1\.0"),
    ],
)
def test_bad_intervals(every, until, text):
    """Intervals and ends that mean nothing are refused."""
    with pytest.raises(InputError, match=text):
        board(n=5).record(every=every, until=until)


def test_a_world_without_tables():
    """A world of numbers alone has no table to record, and says so."""
    simulation = Simulation(birth_death.MODEL, birth_death.make_world())
    with pytest.raises(InputError, match="this world has no table to record"):
        simulation.record(every=1.0, until=2.0)


def test_a_stream_is_read_once():
    """A run cannot be read twice."""
    for stream in (machine().record_events(events=10), board(n=5).record(every=1.0, until=1.0)):
        stream.to_arrow()
        with pytest.raises(InputError, match="this recording has been read"):
            stream.to_arrow()


def test_capsule():
    """Anything that reads the Arrow PyCapsule interface reads a stream."""
    expected = machine().record_events(events=100_000).to_arrow()
    assert pa.RecordBatchReader.from_stream(machine().record_events(events=100_000)).read_all() == expected
    assert pa.table(machine().record_events(events=100_000)) == expected


def test_polars():
    """Polars reads a stream, by method and through the capsule."""
    polars = pytest.importorskip("polars")
    expected = machine().record_events(events=70_000).to_arrow()
    frame = machine().record_events(events=70_000).to_polars()
    assert frame["time"].to_list() == expected["time"].to_pylist()
    direct = polars.DataFrame(machine().record_events(events=70_000))
    assert direct["action"].cast(polars.String).to_list() == expected["action"].to_pylist()


def test_pandas():
    """Pandas takes a stream by method."""
    pytest.importorskip("pandas")
    frame = machine().record_events(events=100).to_pandas()
    assert list(frame.columns) == ["time", "action", "index"]
    assert len(frame) == 100


def test_parquet(tmp_path):
    """A Parquet file has a row group a batch and the rows of the Arrow table."""
    path = tmp_path / "events.parquet"
    assert machine().record_events(events=MANY).to_parquet(path) == MANY
    file = pq.ParquetFile(path)
    assert file.num_row_groups == 4
    read, expected = file.read(), machine().record_events(events=MANY).to_arrow()
    assert read["time"].equals(expected["time"])
    assert read["index"].equals(expected["index"])
    assert read["action"].to_pylist() == expected["action"].to_pylist()


def test_parquet_of_snapshots(tmp_path):
    """Snapshots keep their types through a Parquet file."""
    path = tmp_path / "rows.parquet"
    assert board().record(every=0.1, until=1.0).to_parquet(path) == 11_000
    assert pq.read_table(path).equals(board().record(every=0.1, until=1.0).to_arrow())


def test_parquet_that_cannot_be_written(tmp_path):
    """A place that cannot be written is an OutputError that says what to do."""
    path = tmp_path / "no" / "such" / "folder.parquet"
    with pytest.raises(OutputError, match=r"cannot write .*folder\.parquet: .* choose another place"):
        machine().record_events(events=10).to_parquet(path)
