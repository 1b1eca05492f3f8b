"""Executors: where runs happen. What they return does not depend on which, nor on the order.

An executor is anything with `rows(job, runs)`: it takes runs from an iterator as it has room for
them and yields one row for each, in order of completion.
"""

from __future__ import annotations

import concurrent.futures as futures
import itertools
import os
import queue
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from tocsin.errors import ExecutorError, InputError
from tocsin.experiment._plan import Job, Run
from tocsin.experiment._work import KILLED, Row, empty_row, run_one

MOST_DEATHS = 3
"""Workers that a run may kill before it is given up."""
SECONDS_A_TASK = 0.5
"""Time that a task should take on a cluster: enough small runs go together that its own cost is small."""
TASKS_A_SECOND = 200
"""What a scheduler should have to do with at most: many workers are given longer tasks."""
MOST_A_TASK = 10_000


class Executor(Protocol):
    """Where runs happen."""

    name: str

    def rows(self, job: Job, runs: Iterator[Run]) -> Iterator[Row]:
        """Yield a row for each run, in order of completion."""
        ...

    def close(self) -> None:
        """Let go of all workers."""
        ...


def executor_named(chosen: Any, workers: int | None) -> Executor:
    """Return an executor.

    Parameters
    ----------
    chosen : 'threads', 'processes', 'dask' (a cluster on this machine), 'dask://HOST:PORT' (a
        scheduler that runs already), a `concurrent.futures.Executor`, or an executor as above
    workers : how many; by default one a core

    Raises InputError for another name, ExecutorError if a scheduler cannot be reached.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number >= 1, got {workers!r}")
    n = workers or n_cores()
    if chosen == "threads":
        return Threads(n)
    if chosen == "processes":
        from tocsin.experiment._processes import Processes

        return Processes(n)
    if isinstance(chosen, str) and (chosen == "dask" or chosen.startswith("dask://")):
        from tocsin.experiment._dask import dask_executor

        return dask_executor(chosen, n)
    if isinstance(chosen, str):
        raise InputError(f"executor must be threads, processes, dask or dask://HOST:PORT, got {chosen!r}")
    if hasattr(chosen, "rows"):
        return chosen  # type: ignore[no-any-return]
    if hasattr(chosen, "submit"):
        return Futures(chosen, n)
    raise InputError(f"executor must be a name or have a method submit(function, *arguments), got {chosen!r}")


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: the compiled loops run side by side, as they hold no interpreter lock."""

    def __init__(self, n: int) -> None:
        self.name, self._n = f"threads ({n})", n

    def rows(self, job: Job, runs: Iterator[Run]) -> Iterator[Row]:
        """Yield a row for each run. When it is closed early, the runs under way are stopped."""
        if self._n == 1:
            yield from (run_one(job, run) for run in runs)
            return
        crew = _Crew(job, runs)
        threads = [threading.Thread(target=crew.work, name=f"tocsin-{k}", daemon=True) for k in range(self._n)]
        try:
            for thread in threads:
                thread.start()
            yield from crew.rows(self._n)
        finally:
            crew.stop.set()
            for thread in threads:
                thread.join()

    def close(self) -> None:
        """Nothing is held."""


class _Crew:
    """Threads that take runs from one iterator and put rows in one queue."""

    def __init__(self, job: Job, runs: Iterator[Run]) -> None:
        self.stop = threading.Event()
        self._job, self._runs = job, runs
        self._lock = threading.Lock()
        self._done: queue.SimpleQueue[Row | BaseException | None] = queue.SimpleQueue()

    def work(self) -> None:
        """Run what is left; None in the queue says that nothing is."""
        try:
            while not self.stop.is_set():
                with self._lock:
                    run = next(self._runs, None)
                if run is None:
                    break
                self._done.put(run_one(self._job, run, self.stop.is_set))
        except BaseException as error:  # handed to the thread that waits
            self._done.put(error)
        self._done.put(None)

    def rows(self, n: int) -> Iterator[Row]:
        """Yield rows until all of `n` threads have none left."""
        while n > 0:
            row = self._done.get()
            if row is None:
                n -= 1
            elif isinstance(row, BaseException):
                raise row
            else:
                yield row


def run_batch(job: Job, runs: list[Run]) -> list[Row]:
    """Run some runs one after the other: one task of a cluster."""
    return [run_one(job, run) for run in runs]


class Futures:
    """Any `concurrent.futures.Executor`: of MPI, of Slurm, of Dask. Runs go to it in tasks of half a second or more.

    A task that fails is tried again, one run a task; a run that fails so is tried again at the end
    with nothing else under way, so that no run is blamed for another; then it is given up.
    """

    def __init__(self, pool: Any, workers: int, name: str = "") -> None:
        self.name = name or type(pool).__name__
        self._pool, self._width = pool, 4 * workers
        self._size, self._mean = 1, 0.0
        self._seconds = max(SECONDS_A_TASK, workers / TASKS_A_SECOND)

    def rows(self, job: Job, runs: Iterator[Run]) -> Iterator[Row]:
        """Yield a row for each run. Raises ExecutorError if the executor takes no more work."""
        pending: dict[Any, list[Run]] = {}
        again: list[list[Run]] = []
        suspects: list[Run] = []
        try:
            while True:
                while len(pending) < self._width and (task := again.pop() if again else self._next(runs)):
                    pending[self._submit(job, task)] = task
                if not pending:
                    break
                done, _ = futures.wait(pending, return_when=futures.FIRST_COMPLETED)
                for future in done:
                    task = pending.pop(future)
                    if self._error(future) is None:
                        yield from self._resized(future.result())
                    elif len(task) > 1:
                        again += [[run] for run in task]
                    else:
                        suspects += task
        finally:
            for future in pending:
                future.cancel()
        yield from (self._alone(job, run) for run in suspects)

    def _alone(self, job: Job, run: Run) -> Row:
        """Try a run that failed again, with nothing else under way."""
        for _ in range(1, MOST_DEATHS):
            future = self._submit(job, [run])
            error = self._error(future)
            if error is None:
                row: Row = future.result()[0]
                return row
            if type(error).__name__ == "KilledWorker":
                break  # Dask has tried it as often
        return killed_row(run, f"{type(error).__name__}: {error}"[:300])

    def _error(self, future: Any) -> BaseException | None:
        try:
            error: BaseException | None = future.exception()
        except futures.CancelledError as cancelled:
            error = cancelled
        if isinstance(error, (futures.BrokenExecutor, futures.CancelledError)):
            raise _gone(self.name, error) from None
        return error

    def _next(self, runs: Iterator[Run]) -> list[Run]:
        return list(itertools.islice(runs, self._size))

    def _submit(self, job: Any, task: list[Run]) -> Any:
        try:
            return self._pool.submit(run_batch, job, task)
        except (RuntimeError, OSError) as error:
            raise _gone(self.name, error) from None

    def _resized(self, rows: list[Row]) -> list[Row]:
        """Fit the size of a task to how long runs take."""
        seconds = sum(row["wall_seconds"] for row in rows) / len(rows)
        self._mean = seconds if self._mean == 0.0 else 0.8 * self._mean + 0.2 * seconds
        self._size = max(1, min(MOST_A_TASK, int(self._seconds / max(self._mean, 1e-6))))
        return rows

    def close(self) -> None:
        """The pool belongs to who made it."""


def killed_row(run: Run, what: str) -> Row:
    """Return the row of a run that took its workers with it."""
    text = f"it killed {MOST_DEATHS} workers ({what}); seed {run.seed}. Run it alone to see why."
    return {**empty_row(run), "stop": KILLED, "error": text}


def _gone(name: str, error: BaseException) -> ExecutorError:
    return ExecutorError(
        f"the executor {name} takes no more work ({type(error).__name__}: {error}); what is done is kept, go on with --resume"
    )
