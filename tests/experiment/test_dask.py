"""Dask: a local cluster, with a worker that is killed, gives the table of one thread."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from tocsin.errors import ExecutorError, InputError
from tocsin.experiment import _dask

from ._sweeps import ARRIVAL, queue
from .test_workers import check, deadly

distributed = pytest.importorskip("distributed")


def test_a_local_cluster_gives_the_same_table_though_a_worker_is_killed():
    """24 runs on two workers, of which one dies after the first results."""
    sweep = queue({ARRIVAL: [0.1 * k for k in range(1, 9)]}, replicates=3, seed=4)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        killed = []

        def kill(state):
            if state.done == 3:
                killed.append(next(iter(cluster.workers.values())).process.pid)
                os.kill(killed[0], signal.SIGKILL)

        results = sweep.run(executor=f"dask://{address}", progress=kill)
        assert killed
    assert results.hash() == sweep.run(workers=1).hash()


def test_a_scheduler_that_is_not_there_is_one_sentence(monkeypatch):
    """Nobody listens; somebody does who says nothing; an address that is none."""
    monkeypatch.setattr(_dask, "SECONDS_TO_CONNECT", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"dask://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ExecutorError, match=r"cannot be reached within 0.2 s: .*refused; see that it runs"):
            queue().run(executor=address)
        free.listen()
        with pytest.raises(ExecutorError, match=r"cannot be reached within 0.2 s: timed out"):
            queue().run(executor=address)
    for wrong in ("dask://", "dask://here", "dask://here:", "dask://here:99999", "dask://:8786"):
        with pytest.raises(InputError, match=r"executor must name a host and a port, as in dask://localhost:8786"):
            queue().run(executor=wrong)


@pytest.mark.slow
def test_a_run_that_kills_dask_workers_is_named(tmp_path: Path):
    """The others finish."""
    check(deadly(tmp_path, [1, 99, 0, 2]).run(executor="dask", workers=2))
