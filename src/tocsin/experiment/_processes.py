"""Processes of this machine: each holds one run at a time, so a death is laid at the right door."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from tocsin.errors import ExecutorError
from tocsin.experiment._executors import MOST_DEATHS, killed_row
from tocsin.experiment._plan import Job, Run
from tocsin.experiment._work import Row, run_one

_METHOD = multiprocessing.get_context("spawn")
"""A fresh interpreter: a fork of a process with threads may hang."""


@dataclass(eq=False)
class _Worker:
    process: Any
    pipe: Connection
    run: Run | None = None
    is_ready: bool = False


class Processes:
    """Worker processes that are restarted when they die."""

    def __init__(self, n: int) -> None:
        self.name, self._n = f"processes ({n})", n
        self._workers: list[_Worker] = []
        self._job: Job | None = None
        self._stillborn = 0

    def rows(self, job: Job, runs: Iterator[Run]) -> Iterator[Row]:
        """Yield a row for each run. Raises ExecutorError if workers die before they have begun.

        The workers stay for more runs of the job, but for those that are at one when this is closed early.
        """
        again: list[Run] = []
        deaths: dict[Run, int] = {}
        if job != self._job:
            self.close()
        try:
            if not self._workers:
                self._job, self._workers = job, [_started(job) for _ in range(self._n)]
            for worker in self._workers:
                _hand(worker, runs, again)
            while any(worker.run is not None for worker in self._workers):
                for pipe in wait([w.pipe for w in self._workers if w.run is not None]):
                    worker = next(w for w in self._workers if w.pipe is pipe)
                    row = self._taken(worker, job, deaths, again)
                    if worker in self._workers:
                        _hand(worker, runs, again)
                    if row is not None:
                        yield row
                for worker in self._workers:
                    if worker.run is None and again:
                        _hand(worker, runs, again)
        finally:
            if any(worker.run is not None for worker in self._workers):
                self.close()

    def _taken(self, worker: _Worker, job: Job, deaths: dict[Run, int], again: list[Run]) -> Row | None:
        """Return what a worker sends; if it is dead, put another in its place and its run back in line."""
        run = worker.run
        assert run is not None
        try:
            row: Row | None = worker.pipe.recv()
        except (EOFError, OSError):
            return self._died(worker, run, job, deaths, again)
        self._stillborn, worker.run = 0, None
        return row

    def _died(self, worker: _Worker, run: Run, job: Job, deaths: dict[Run, int], again: list[Run]) -> Row | None:
        worker.process.join(5.0)
        how = _how(worker.process.exitcode)
        if not worker.pipe.closed:
            worker.pipe.close()
        deaths[run] = deaths.get(run, 0) + 1
        self._stillborn += 1
        if self._stillborn > 20 * self._n:
            raise ExecutorError(
                f"worker processes die one after the other ({how}); what is done is kept, go on with --resume"
            )
        fresh = _started(job)
        self._workers[self._workers.index(worker)] = fresh
        row = None
        if deaths[run] < MOST_DEATHS:
            again.append(run)
        else:
            row = killed_row(run, how)
        return row

    def close(self) -> None:
        """End all workers, whatever they are at."""
        for worker in self._workers:
            worker.process.terminate()
            with contextlib.suppress(OSError):
                worker.pipe.close()
        for worker in self._workers:
            worker.process.join(5.0)
            if worker.process.is_alive():
                worker.process.kill()
        self._workers = []


def _started(job: Job) -> _Worker:
    ours, theirs = _METHOD.Pipe()
    process = _METHOD.Process(target=_work, args=(theirs, job), daemon=True)
    process.start()
    theirs.close()  # so that the pipe ends when the worker does
    return _Worker(process, ours)


def _hand(worker: _Worker, runs: Iterator[Run], again: list[Run]) -> None:
    """Give a worker its next run, if there is one."""
    run = again.pop() if again else next(runs, None)
    if run is None:
        return
    worker.run = run
    with contextlib.suppress(OSError):  # it is dead: its pipe will say so
        worker.pipe.send(run)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _work(pipe: Connection, job: Job) -> None:
    """Run what comes through the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    while True:
        try:
            run = pipe.recv()
            pipe.send(run_one(job, run))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return
