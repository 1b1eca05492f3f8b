"""A run into a folder: what is recorded is what happened, and recording changes nothing."""

from __future__ import annotations

import json
import os
import signal
import threading

import numpy as np
import pyarrow.parquet as pq
import pytest

from tocsin import Simulation
from tocsin.errors import InputError, OutputError
from tocsin.scenario import execute, prepare_folder, summarise, write_summary

RECORD = "[record]\nevents = true\nsnapshots = { every = 4.0, columns = ['n_flips'] }"


def straight(scenario, **limits):
    """The same run without any recorder."""
    simulation, _ = scenario.start()
    report = simulation.run(**limits)
    return simulation, report


def test_recording_does_not_move_the_trajectory(load, tmp_path):
    """With and without recorders, in chunks or in one go, the state at the end is the same."""
    scenario = load(RECORD)
    outcome = execute(scenario, tmp_path)
    assert outcome.stopped == "reached_time"
    assert outcome.simulation.state_hash() == straight(scenario, until=20.0)[0].state_hash()


def test_every_event_is_recorded_once_in_order(load, tmp_path):
    """events.parquet is what `record_events` gives in one go."""
    scenario = load(RECORD, "run.until=400", "init.n_gates=100")
    outcome = execute(scenario, tmp_path)
    table = pq.read_table(tmp_path / "events.parquet")
    assert table.num_rows == outcome.simulation.n_events > 30_000
    assert table.equals(scenario.start()[0].record_events(until=400.0).to_arrow())


def test_snapshots_are_the_state_after_all_events_until_then(load, tmp_path):
    """At 0, 4, ..., 20 each gate's flips are the events on it until that time."""
    execute(load(RECORD), tmp_path)
    events = pq.read_table(tmp_path / "events.parquet").to_pydict()
    states = pq.read_table(tmp_path / "snapshots.parquet")
    assert states.column_names == ["time", "index", "n_flips"]
    rows = states.to_pylist()
    assert [row["time"] for row in rows[::4]] == [0.0, 4.0, 8.0, 12.0, 16.0, 20.0]
    for row in rows:
        before = [i for t, i in zip(events["time"], events["index"], strict=True) if t <= row["time"]]
        assert row["n_flips"] == before.count(row["index"])


def test_snapshots_equal_those_of_the_library(load, tmp_path):
    """snapshots.parquet is what `Simulation.record` gives."""
    scenario = load("[record.snapshots]\nevery = 3.0\ntable = 'gates'")
    execute(scenario, tmp_path)
    expected = scenario.start()[0].record(every=3.0, until=20.0, columns="gates").to_arrow()
    assert pq.read_table(tmp_path / "snapshots.parquet").equals(expected)


def test_burn_in_is_run_but_neither_observed_nor_recorded(load, tmp_path):
    """Recordings and averages start at the end of the burn-in."""
    scenario = load(RECORD, "run.burn_in=10")
    outcome = execute(scenario, tmp_path)
    other, _ = straight(scenario, until=10.0)
    n_before = other.n_events
    other.reset_observables()
    other.run(until=20.0)
    assert outcome.simulation.observe() == other.observe()
    assert pq.read_table(tmp_path / "events.parquet").num_rows == other.n_events - n_before
    assert pq.read_table(tmp_path / "snapshots.parquet")["time"][0].as_py() == 10.0


@pytest.mark.parametrize("record", ["", RECORD])
@pytest.mark.parametrize("limits", ["events = 50", "events = 50\nuntil = 1e9"])
def test_a_run_ends_after_its_events(load, tmp_path, record, limits):
    """`events` counts from the start, whatever is recorded."""
    outcome = execute(load(f"[run]\n{limits}\n{record}"), tmp_path)
    assert (outcome.stopped, outcome.simulation.n_events) == ("reached_events", 50)
    if record:
        assert pq.read_table(tmp_path / "events.parquet").num_rows == 50


@pytest.mark.parametrize("record", ["", RECORD])
def test_a_world_where_nothing_can_happen_is_exhausted(load, tmp_path, record):
    """Without clocks a run ends at once, also without a time to run to."""
    text = f"[run]\nevents = 5\n[init]\ngates = 0\n{record}"
    outcome = execute(load(text, model="model"), tmp_path)
    assert (outcome.stopped, outcome.simulation.n_events) == ("exhausted", 0)
    assert all(n == 0 for n in outcome.files.values())


def test_reports_and_picture_are_written_on_request(load, tmp_path):
    """A model's own files are those asked for in [record], and its picture with `plot`."""
    outcome = execute(load("[record]\nflips = true"), tmp_path, plot=True)
    n = outcome.simulation.world.n_flips
    assert (tmp_path / "flips.txt").read_text() == (tmp_path / "plot.png").read_text() == f"{n}\n"
    assert outcome.files == {"flips.txt": None, "plot.png": None}
    execute(load(), tmp_path / "none") if (tmp_path / "none").mkdir() else None
    assert not (tmp_path / "none" / "flips.txt").exists()


def test_a_preset_may_set_parameters_but_not_over_the_scenario(load):
    """`given` tells a builder which parameters the scenario sets."""
    assert load("[init]\nspeed = 5.0").start()[0].world.rates.flip == 5.0
    both = load("[init]\nspeed = 5.0\n[params]\nrates.flip = 2.0")
    assert both.start()[0].world.rates.flip == 2.0


def test_a_failing_model_leaves_what_was_done(load, tmp_path):
    """The events before the failure are on disk, the error is in the summary."""
    scenario = load(RECORD, "params.rates.limit=30")
    outcome = execute(scenario, tmp_path)
    assert outcome.stopped == "failed"
    assert "Flip(gate" in str(outcome.error)
    assert pq.read_table(tmp_path / "events.parquet").num_rows >= 29
    found = summarise(scenario, outcome)
    assert "rate" in found["error"]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("record", ["", RECORD.replace("4.0", "1e6")])
def test_ctrl_c_ends_the_run_between_two_events_and_loses_none(load, tmp_path, record):
    """After Ctrl-C all events that fired are recorded, and the state is that after as many."""
    scenario = load(f"[run]\nuntil = 1e9\n{record}", "init.n_gates=50")
    pressed = threading.Event()

    def press(simulation):
        if simulation.n_events > 20_000 and not pressed.is_set():
            pressed.set()
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    outcome = execute(scenario, tmp_path, progress=press)
    assert outcome.stopped == "interrupted"
    assert signal.getsignal(signal.SIGINT) is before
    n = outcome.simulation.n_events
    again, _ = straight(scenario, events=n)
    assert np.array_equal(again.world.gates["n_flips"], outcome.simulation.world.gates["n_flips"])
    if record:
        assert pq.read_table(tmp_path / "events.parquet").num_rows == n


def test_a_folder_that_cannot_be_written_is_found_before_the_run(tmp_path):
    """A file in the way of --out is refused with the system's reason."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write into '.*file/out': .*choose another folder with --out"):
        prepare_folder(tmp_path / "file" / "out")


def test_a_parquet_file_appears_whole(load, tmp_path):
    """Nothing but finished files is left in the folder."""
    scenario = load(RECORD)
    write_summary(tmp_path, summarise(scenario, execute(scenario, tmp_path)))
    names = {path.name for path in tmp_path.iterdir()} - {"gate.toml"}
    assert names == {"events.parquet", "snapshots.parquet", "summary.json"}


def test_a_summary_that_cannot_be_written_is_an_output_error(tmp_path):
    """The path and the reason are told."""
    with pytest.raises(OutputError, match=r"cannot write '.*gone/summary\.json'"):
        write_summary(tmp_path / "gone", {})


def test_the_summary_holds_the_provenance(load, tmp_path):
    """Versions, seed, hashes, stop and times: all it takes to know and repeat a run."""
    scenario = load("", "run.seed=7")
    outcome = execute(scenario, tmp_path)
    found = summarise(scenario, outcome)
    assert (found["seed"], found["stopped"], found["time"]) == (7, "reached_time", 20.0)
    assert found["n_events"] == sum(found["events_by_action"].values()) == outcome.simulation.n_events
    assert found["summary"] == {"flips a gate": found["n_events"] / 4}
    assert found["scenario"] == scenario.effective()
    made_with = found["provenance"]
    assert made_with["scenario_hash"] == scenario.hash()
    assert made_with["state_hash"] == outcome.simulation.state_hash()
    assert {"tocsin", "python", "numpy", "numba", "pyarrow", "platform", "started", "ended"} <= made_with.keys()
    again = summarise(scenario, execute(scenario, tmp_path))
    assert again["provenance"]["state_hash"] == made_with["state_hash"]


def test_numbers_that_json_lacks_become_null(load, tmp_path):
    """NaN and infinity are null in summary.json, which any reader can then read."""
    scenario = load("[run]\nevents = 1\n[init]\ngates = 0", model="model")
    path = write_summary(tmp_path, summarise(scenario, execute(scenario, tmp_path)))
    assert json.loads(path.read_text())["observables"]["Open"]["mean"] is None


def test_a_run_off_the_main_thread_needs_no_signals(load, tmp_path):
    """Signals belong to the main thread; elsewhere a run goes without."""
    found = []
    thread = threading.Thread(target=lambda: found.append(execute(load(), tmp_path).stopped))
    thread.start()
    thread.join()
    assert found == ["reached_time"]


def test_the_model_runs_the_same_as_plain_python(load):
    """The tiny world of these tests keeps the law of every model."""
    scenario = load()
    simulation, _ = straight(scenario, events=40)
    slow = Simulation(scenario.preset.model, scenario.start()[0].world, seed=1, jit=False)
    slow.run(events=40)
    assert slow.state_hash() == simulation.state_hash()


def test_observables_at_equal_times_beside_snapshots(load, tmp_path):
    """Two recordings with spacings of their own; each begins after burn-in and holds what is so then."""
    record = "[record]\nsnapshots = { every = 4.0 }\nobservables = { every = 3.0, names = ['Open'] }"
    outcome = execute(load(record, "run.burn_in=2"), tmp_path)
    curves, states = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("observables", "snapshots"))
    assert curves["time"].to_pylist() == [2.0, 5.0, 8.0, 11.0, 14.0, 17.0, 20.0]
    assert sorted(set(states["time"].to_pylist())) == [2.0, 6.0, 10.0, 14.0, 18.0]
    at_14 = [
        is_open
        for time, is_open in zip(states["time"].to_pylist(), states["is_open"].to_pylist(), strict=True)
        if time == 14.0
    ]
    assert curves["Open"].to_pylist()[4] == sum(at_14)
    assert outcome.files == {"snapshots.parquet": states.num_rows, "observables.parquet": 7}


def test_an_unknown_observable_is_refused_before_the_run(load):
    """The message says where, and which there are."""
    with pytest.raises(
        InputError, match=r"gate.toml, \[record.observables\]: there is no observable 'Opn'. Did you mean"
    ):
        load("[record]\nobservables = { every = 1.0, names = ['Opn'] }")
