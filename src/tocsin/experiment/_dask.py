"""Dask: workers on this machine or over a cluster."""

from __future__ import annotations

import logging
import socket
from typing import Any

from tocsin.errors import ExecutorError, InputError
from tocsin.experiment._executors import MOST_DEATHS, Futures

SECONDS_TO_CONNECT = 10


class _DaskFutures(Futures):
    """Dask's client as an executor, which is closed with the experiment."""

    def __init__(self, client: Any, cluster: Any, workers: int, name: str) -> None:
        super().__init__(client.get_executor(pure=False, retries=0), workers, name)
        self._client, self._cluster = client, cluster

    def close(self) -> None:
        """Leave the scheduler; end the workers, if they are ours."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def dask_executor(chosen: str, workers: int) -> _DaskFutures:
    """Return Dask as an executor: 'dask', or 'dask://HOST:PORT'.

    Raises InputError if Dask is missing, ExecutorError if the scheduler cannot be reached.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(
            f"the executor {chosen!r} needs Dask, which is not installed; run: pip install 'tocsin[cluster]'"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    dask.config.set({"distributed.scheduler.allowed-failures": MOST_DEATHS - 1})
    if chosen == "dask":
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        )
        return _DaskFutures(Client(cluster), cluster, workers, f"dask ({workers} workers here)")
    host, port = _place(chosen)
    try:
        _knock(host, port)  # a client takes half a minute to give up, or never does, and complains at the end
        client = Client(f"tcp://{host}:{port}", timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError, TimeoutError) as error:
        text = str(error).split("\n")[0][:200]
        raise ExecutorError(
            f"the Dask scheduler {chosen!r} cannot be reached within {SECONDS_TO_CONNECT} s: {text}; "
            f"see that it runs, as in: dask scheduler --port {port}"
        ) from None
    n = max(1, sum(client.ncores().values()))
    return _DaskFutures(client, None, n, chosen)


def _place(chosen: str) -> tuple[str, int]:
    """Return host and port. Raises InputError."""
    host, _, port = chosen.removeprefix("dask://").rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise InputError(f"executor must name a host and a port, as in dask://localhost:8786, got {chosen!r}")
    return host, int(port)


def _knock(host: str, port: int) -> None:
    """Raise OSError if nobody is there, or does not speak first, as schedulers do."""
    with socket.create_connection((host.strip("[]"), port), SECONDS_TO_CONNECT) as line:
        if not line.recv(1):
            raise ConnectionError("it hangs up")
