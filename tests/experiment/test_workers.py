"""Workers that die: their runs are tried again, a run that kills three is named, the rest finishes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from tocsin.errors import ExecutorError, InputError
from tocsin.experiment import Results, Sweep

from ._sweeps import ARRIVAL, queue, write_sweep

DEADLY = (Path(__file__).parent / "deadly.py").as_posix()


def deadly(tmp_path: Path, deaths: list[int]) -> Sweep:
    """Return a sweep whose candidates kill so many processes each."""
    table = ["init.n_present,init.deaths", *(f"{n},{d}" for n, d in enumerate(deaths))]
    (tmp_path / "t.csv").write_text("\n".join(table))
    path = tmp_path / "s.toml"
    path.write_text(f'model = "{DEADLY}:build"\n[run]\nuntil = 40.0\n[sweep]\ndesign = "table"\ntable = "t.csv"\n')
    return Sweep.load(path)


def check(results: Results) -> None:
    """All is as if nobody had died, but for candidate 1, which kills whom it meets."""
    rows = results.table.to_pylist()
    assert [row["stop"] for row in rows] == ["reached_time", "killed", "reached_time", "reached_time"]
    assert f"seed {rows[1]['seed']}" in rows[1]["error"]
    assert "killed 3 workers" in rows[1]["error"]


def test_processes_are_replaced(tmp_path):
    """One death costs nothing; 3 by one run end that run."""
    sweep = deadly(tmp_path, [1, 9, 0, 2])
    results = sweep.run(executor="processes", workers=2)
    check(results)
    assert "SIGKILL" in results.table.to_pylist()[1]["error"]
    harmless = deadly(tmp_path, [0, 0, 0, 0]).run(workers=1)
    hashes = [[row["state_hash"] for row in found.table.to_pylist()] for found in (results, harmless)]
    assert hashes[0] == [hashes[1][0], None, *hashes[1][2:]]


class Flaky(Executor):
    """An executor that fails some tasks, as a cluster does."""

    def __init__(self, fails, gives_up=False):
        self.fails, self.gives_up = fails, gives_up

    def submit(self, function, /, job, runs):
        future: Future = Future()
        if self.gives_up:
            raise RuntimeError("no more")
        if any(self.fails(run) for run in runs):
            future.set_exception(ConnectionError("lost"))
        else:
            future.set_result(function(job, runs))
        return future


def test_any_executor_may_lose_a_task():
    """What fails now and then is tried again; what always fails is named; a broken executor is one sentence."""
    reference = queue(replicates=3).run(workers=1)
    lost = []

    def once(run):
        lost.append(run)
        return lost.count(run) == 1 and run.candidate == 1

    assert queue(replicates=3).run(executor=Flaky(once)).hash() == reference.hash()
    results = queue(replicates=3).run(executor=Flaky(lambda run: (run.candidate, run.replicate) == (2, 1)))
    assert [(r["candidate"], r["replicate"], r["stop"]) for r in results.failures().to_pylist()] == [(2, 1, "killed")]
    with pytest.raises(ExecutorError, match=r"Flaky takes no more work \(RuntimeError: no more\)"):
        queue().run(executor=Flaky(once, gives_up=True))


def test_an_unknown_executor_is_refused():
    """With the names that there are."""
    with pytest.raises(InputError, match=r"threads, processes, dask or dask://HOST:PORT, got 'slurm'"):
        queue().run(executor="slurm")
    with pytest.raises(InputError, match=r"workers must be a whole number >= 1, got 0"):
        queue().run(workers=0)


def test_a_scheduler_out_of_reach_is_one_sentence():
    """Nobody listens at port 9 of this machine."""
    with pytest.raises(ExecutorError, match=r"the Dask scheduler 'dask://127.0.0.1:9' cannot be reached within \d+ s"):
        queue().run(executor="dask://127.0.0.1:9")


def test_sigkill_loses_the_runs_in_flight_at_most(tmp_path):
    """`tocsin sweep` killed by SIGKILL half-way, and resumed: the table of an undisturbed experiment."""
    axes = f'"{ARRIVAL}" = {{ linspace = [0.1, 0.9, 9] }}'
    path = write_sweep(tmp_path / "s.toml", "replicates = 60", axes)
    sweep, out = Sweep.load(path), tmp_path / "x"
    command = [sys.executable, "-m", "tocsin", "sweep", str(path), "--out", str(out), "--workers", "2"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = out / "results" / "journal.jsonl"
    while child.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 20):
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, "it was killed before its end"
    n_before = len(Results.load(out))
    assert 20 <= n_before < 540
    done = []
    results = sweep.run(out, resume=True, progress=lambda state: done.append(state.row))
    assert len(done) == 540 - n_before
    assert results.hash() == sweep.run().hash()
