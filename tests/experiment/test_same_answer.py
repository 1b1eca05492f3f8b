"""One sweep of loop extrusion, 24 candidates × 8 seeds, made in every way there is: one table, by its hash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tocsin.experiment import Results, Sweep
from tocsin.experiment._processes import Processes

N_RUNS = 24 * 8
SCENARIO = """
model = "extrusion"
[init]
n_sites = 400
ctcf = [{ site = 120, captures_from = "right" }, { site = 260, captures_from = "left" }]
[run]
until = 100.0
[sweep]
replicates = 8
seed = 11
[sweep.axes]
params.rates.step = [0.5, 1.0, 2.0]
params.rates.respawn = { logspace = [0.002, 0.02, 4] }
init.n_lefs = [5, 20]
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    """The file of the sweep."""
    path = tmp_path_factory.mktemp("same") / "s.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def reference(scenario):
    """Made by one thread, in memory."""
    return Sweep.load(scenario).run(workers=1)


def check(results, reference):
    """Every run is there and went well, and every value is the same."""
    assert (len(results), results.failures().num_rows) == (N_RUNS, 0)
    assert results.hash() == reference.hash()
    assert results.intervals("n.Step")[5] == reference.intervals("n.Step")[5]


def test_threads_and_processes(scenario, reference, tmp_path):
    """Two of each, in memory and through a store."""
    check(Sweep.load(scenario).run(executor="threads", workers=2), reference)
    check(Sweep.load(scenario).run(tmp_path / "x", executor="processes", workers=2), reference)


def test_a_process_is_killed_midway(scenario, reference):
    """Its run is done again by the one that takes its place."""
    pool, killed = Processes(2), []

    def kill(state):
        if state.done == N_RUNS // 2:
            killed.append(pool._workers[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)

    check(Sweep.load(scenario).run(executor=pool, progress=kill), reference)
    assert killed


def test_a_cluster_of_two_and_one_of_them_is_killed(scenario, reference):
    """Dask on this machine: first undisturbed, then with a death after half of the runs."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        check(Sweep.load(scenario).run(executor=address), reference)
        killed = []

        def kill(state):
            if not killed and state.done >= N_RUNS // 2:
                killed.append(next(iter(cluster.workers.values())).process.pid)
                os.kill(killed[0], signal.SIGKILL)

        check(Sweep.load(scenario).run(executor=address, progress=kill), reference)
        assert killed


def test_the_whole_is_killed_and_resumed(scenario, reference, tmp_path):
    """`tocsin sweep` ended by SIGKILL after a quarter of the runs, gone on with from the command line."""
    command = [sys.executable, "-m", "tocsin", "sweep", str(scenario), "--out", str(tmp_path / "x"), "--workers", "2"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "x" / "results" / "journal.jsonl"
    while child.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= N_RUNS // 4):
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, "it was killed before its end"
    assert N_RUNS // 4 <= len(Results.load(tmp_path / "x")) < N_RUNS
    subprocess.run([*command, "--resume"], check=True, stdout=subprocess.DEVNULL)
    check(Results.load(tmp_path / "x"), reference)
