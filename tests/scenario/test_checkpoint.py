"""Checkpoints: a run that was killed and resumed ends as one that was not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from tocsin.errors import InputError
from tocsin.scenario import execute
from tocsin.scenario._checkpoint import FOLDER, Checkpoints

RECORD = "[record]\nevents = true\nsnapshots = { every = 4.0, columns = ['n_flips'] }\nobservables = { every = 3.0 }"
LIMITS = ("run.until=100", "run.burn_in=9", "init.n_gates=50")


class Cut(Exception):
    """What ends a run between two checkpoints."""


def cut_after(n_calls):
    """Return a progress function that gives up at its n-th call."""
    calls = iter(range(n_calls))

    def progress(simulation):
        if next(calls, None) is None:
            raise Cut

    return progress


def tables(folder):
    """Return the recordings in a folder, events first."""
    return [pq.read_table(folder / f"{name}.parquet") for name in ("events", "snapshots", "observables")]


@pytest.fixture
def straight(tmp_path):
    """Run a scenario in one go; its folder is tmp_path / "straight"."""

    def run(scenario):
        (tmp_path / "straight").mkdir()
        return execute(scenario, tmp_path / "straight")

    return run


@pytest.fixture
def always(monkeypatch):
    """Make a checkpoint each time it is asked for."""
    monkeypatch.setattr(Checkpoints, "is_due", lambda self: True)


@pytest.mark.parametrize("limits", [LIMITS, (*LIMITS, "run.events=4000")])
def test_a_run_that_is_cut_again_and_again_ends_alike(load, straight, tmp_path, always, limits):
    """State, recordings and observables of a run that goes on from checkpoints are those of a straight one."""
    scenario = load(RECORD, *limits)
    expected = straight(scenario)
    for n_calls in (1, 2, 3, 6):
        with pytest.raises(Cut):
            execute(scenario, tmp_path / "cut", checkpoint=1.0, resume=True, progress=cut_after(n_calls))
    outcome = execute(scenario, tmp_path / "cut", resume=True)
    assert (outcome.stopped, str(outcome.error)) == (expected.stopped, "None")
    assert outcome.simulation.state_hash() == expected.simulation.state_hash()
    assert outcome.simulation.observe() == expected.simulation.observe()
    assert [t.num_rows > 20 for t in tables(tmp_path / "straight")] == [True, True, True]
    for one, other in zip(tables(tmp_path / "straight"), tables(tmp_path / "cut"), strict=True):
        assert one.equals(other)
    assert outcome.files == expected.files
    assert (tmp_path / "cut" / FOLDER).exists()
    outcome.finish()
    assert sorted(p.name for p in (tmp_path / "cut").iterdir()) == [
        "events.parquet",
        "observables.parquet",
        "snapshots.parquet",
    ]


def test_the_two_newest_states_are_kept_and_a_spoilt_one_is_passed_over(load, straight, tmp_path, always):
    """If the newest checkpoint is damaged, the one before it serves; if both are, the run is refused."""
    scenario = load(RECORD, *LIMITS)
    with pytest.raises(Cut):
        execute(scenario, tmp_path, checkpoint=1.0, progress=cut_after(15))
    states = sorted((tmp_path / FOLDER).glob("state-*"))
    assert len(states) == 2
    states[1].write_bytes(states[1].read_bytes()[:-100])
    max((tmp_path / FOLDER).glob("events-*.parquet")).unlink()  # the older state does not need it
    outcome = execute(scenario, tmp_path, resume=True)
    assert outcome.simulation.state_hash() == straight(scenario).simulation.state_hash()
    for path in (tmp_path / FOLDER).glob("state-*"):
        path.write_bytes(b"PK")
    with pytest.raises(InputError, match="is not a whole save of a simulation"):
        execute(scenario, tmp_path, resume=True)


def test_ctrl_c_leaves_a_checkpoint_and_results(load, straight, tmp_path):
    """The first Ctrl-C writes a checkpoint, whatever the interval, and what was recorded so far."""
    scenario = load(RECORD, *LIMITS)

    def stop(simulation):
        if simulation.now > 30.0:
            os.kill(os.getpid(), signal.SIGINT)

    outcome = execute(scenario, tmp_path, checkpoint=1e6, progress=stop)
    assert outcome.stopped == "interrupted"
    assert tables(tmp_path)[0].num_rows > 0
    outcome.finish()
    assert len(list((tmp_path / FOLDER).glob("state-*"))) == 1
    again = execute(scenario, tmp_path, resume=True)
    expected = straight(scenario)
    assert again.simulation.state_hash() == expected.simulation.state_hash()
    for one, other in zip(tables(tmp_path), tables(tmp_path / "straight"), strict=True):
        assert one.equals(other)
    assert again.cpu_seconds > 0.0


def test_what_cannot_be_resumed(load, tmp_path, always):
    """Another scenario, a lost part, a file that is no checkpoint: each is refused with a sentence."""
    scenario = load(RECORD, *LIMITS)
    with pytest.raises(Cut):
        execute(scenario, tmp_path, checkpoint=1.0, progress=cut_after(15))
    with pytest.raises(InputError, match="is a checkpoint of another scenario"):
        execute(load(RECORD, *LIMITS, "run.seed=9"), tmp_path, resume=True)
    with pytest.raises(InputError, match="holds checkpoints of a run that has not ended; go on with --resume"):
        execute(scenario, tmp_path, checkpoint=1.0)
    (tmp_path / FOLDER / "events-000000.parquet").unlink()
    with pytest.raises(InputError, match=r"events-000000\.parquet' is gone"):
        execute(scenario, tmp_path, resume=True)
    for path in (tmp_path / FOLDER).glob("state-*"):
        scenario.start()[0].save(path)
    with pytest.raises(InputError, match="is a checkpoint of another scenario"):
        execute(scenario, tmp_path, resume=True)


@pytest.mark.parametrize("every", [0.0, -1.0, float("nan"), float("inf")])
def test_the_interval_must_be_a_time(load, tmp_path, every):
    """An interval that is no time is refused before anything is written."""
    with pytest.raises(InputError, match="checkpoints must be more than 0 apart"):
        execute(load(), tmp_path / "x", checkpoint=every)
    assert not (tmp_path / "x").exists()


def test_without_a_checkpoint_a_resumed_run_begins(load, straight, tmp_path):
    """The same command line starts a run and resumes it."""
    outcome = execute(load(), tmp_path, resume=True)
    assert outcome.simulation.state_hash() == straight(load()).simulation.state_hash()
    outcome.finish()
    assert not (tmp_path / FOLDER).exists()


def command(scenario, folder, *more):
    """Start `tocsin run` in a process of its own, with a checkpoint every 30 ms."""
    words = [sys.executable, "-m", "tocsin", "run", str(scenario), "--out", str(folder), "--json", *more]
    return subprocess.Popen([*words, "--checkpoint", "0.0005", "--resume"], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("n_kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_sigkill_at_any_moment(scenario_file, load, straight, tmp_path, n_kills):
    """A run that is killed at random moments and resumed has the same final hash and recordings."""
    text = f"[init]\nn_gates = 100\n[run]\nseed = 1\nuntil = {4_000 * (2 + n_kills)}.0\n"
    scenario = load(text + RECORD)
    expected = straight(scenario)
    file, folder, draw = scenario_file(text + RECORD), tmp_path / "killed", random.Random(1)
    for _ in range(n_kills):
        before = set((folder / FOLDER).glob("state-*"))
        process = command(file, folder)
        while process.poll() is None and set((folder / FOLDER).glob("state-*")) <= before:
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, 0.1))
        assert process.poll() is None, "the run has ended before it could be killed"
        process.kill()
        process.communicate()
    process = command(file, folder, "--save", str(tmp_path / "end"))
    summary = json.loads(process.communicate()[0])
    assert process.returncode == 0
    assert summary["provenance"]["state_hash"] == expected.simulation.state_hash()
    assert type(expected.simulation).load(tmp_path / "end", scenario.preset.model).now == expected.simulation.now
    for one, other in zip(tables(tmp_path / "straight"), tables(folder), strict=True):
        assert one.equals(other)
    assert not (folder / FOLDER).exists()
