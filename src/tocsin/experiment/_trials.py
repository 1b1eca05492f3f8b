"""Trials: an experiment whose candidates are chosen as its results come in.

What is asked next must depend on the seed and on the results so far alone, never on workers or on the
order in which runs end. Then an experiment that was killed is resumed by asking everything again: runs
that the store has are not made again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.experiment._executors import executor_named
from tocsin.experiment._plan import Plan, Run, errors_of
from tocsin.experiment._results import Results, joined, read_plan
from tocsin.experiment._rows import FIXED, rows_to_arrow
from tocsin.experiment._run import Progress, now, opened, provenance, rows_of
from tocsin.experiment._subject import Subject
from tocsin.experiment._work import Row
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from tocsin.experiment._store import Store

Point = tuple[Any, ...]
"""One value an axis."""


@dataclass(frozen=True)
class Place:
    """Where the runs of an experiment are made, and kept.

    Parameters
    ----------
    out : folder of the store; None keeps the results in memory only
    executor : 'threads', 'processes', 'dask', 'dask://HOST:PORT', any `concurrent.futures.Executor`
    workers : how many; by default one a core
    resume : go on with what is in `out`, if it is the same experiment
    progress : called after every run
    """

    out: str | Path | None = None
    executor: Any = "threads"
    workers: int | None = None
    resume: bool = False
    progress: Callable[[Progress], None] | None = None

    @classmethod
    def taken(cls, out: str | Path | None, options: Mapping[str, Any]) -> tuple[Place, dict[str, Any]]:
        """Take what belongs here out of some options; return it and the rest."""
        own = {field.name for field in fields(cls)}
        rest = {name: value for name, value in options.items() if name not in own}
        return cls(out, **{name: value for name, value in options.items() if name in own}), rest


class Trials:
    """Runs of points that are handed in batch by batch; use it in a `with` statement.

    Parameters
    ----------
    kind : of the experiment, for the manifest
    axes : paths that the points have values of
    settings : what, with the seed, decides what is asked: another store is refused by them
    total : runs that are expected, for progress
    """

    def __init__(
        self, kind: str, subject: Subject, axes: Sequence[str], settings: Mapping[str, Any], *, seed: int,
        paired: bool, total: int, place: Place,
    ) -> None:  # fmt: skip
        facts = {"kind": kind, "settings": dict(settings)}
        self._plan = Plan(subject.name, subject.job(axes), subject.preset, (), (), seed, paired, facts)
        self._store = None if place.out is None else opened(Path(place.out), self._plan, place.resume)
        self._kept: list[Point] = []
        self._rows: dict[tuple[int, int], Row] = {}
        self._errors: dict[int, str] = {}
        try:
            if self._store is not None:
                self._take_up(self._store)
            self._executor = executor_named(place.executor, place.workers)
        except BaseException:
            if self._store is not None:
                self._store.release()
            raise
        self._progress, self._state = place.progress, Progress(total=max(0, total - len(self._rows)))
        self._facts = {**provenance(self._plan, self._executor.name), **facts}
        self._write("running")

    def _take_up(self, store: Store) -> None:
        """Read what an interrupted experiment has left."""
        tables = store.tables()
        if tables:
            with contextlib.suppress(InputError):  # then it is written again, and cannot be compared
                self._kept = _points(read_plan(store))
        for table in tables:
            for row in table.to_pylist():
                metrics = {n: v for n, v in row.items() if n not in FIXED and v is not None}
                self._note({**row, "metrics": metrics})

    def run(self, points: Sequence[Point], replicates: int, leaders: Sequence[int] | None = None) -> list[int]:
        """Run replicates 0 .. replicates - 1 of new points; return their numbers as candidates.

        `leaders` says of each point which one of them has the seeds that it is to use.
        """
        first = len(self._plan)
        rows = [*self._plan.rows, *points]
        for n, kept in enumerate(self._kept[first : len(rows)], first):
            if not all(map(_is_same, kept, rows[n])):
                raise InputError(
                    f"candidate {n} of the store is {kept}, and this one asks for {rows[n]}: it was made by another "
                    f"version of a library. Choose another folder with --out."
                )
        errors = [*self._plan.errors, *errors_of(self._plan.job, self._plan.preset, points, first)]
        groups = [*self._plan.groups, *(first + k for k in leaders)] if leaders is not None else ()
        self._plan = replace(self._plan, rows=rows, errors=errors, groups=groups)
        if self._store is not None and len(rows) > len(self._kept):
            self._store.write_table("plan.parquet", self._plan.to_arrow())
        found = list(range(first, len(rows)))
        self.more(found, 0, replicates)
        return found

    def more(self, candidates: Iterable[int], first: int, stop: int) -> None:
        """Run replicates first .. stop - 1 of some candidates."""
        due = [self._plan.run(c, r) for r in range(first, stop) for c in candidates]
        self._fill([run for run in due if (run.candidate, run.replicate) not in self._rows])

    def _fill(self, runs: Sequence[Run]) -> None:
        state = self._state
        state.total = max(state.total, state.done + len(runs))
        for row in rows_of(self._plan, self._executor, iter(runs)):
            self._note(row)
            if self._store is not None:
                self._store.add(row)
            state.note(row)
            if self._progress is not None:
                self._progress(state)

    def _note(self, row: Row) -> None:
        self._rows[row["candidate"], row["replicate"]] = row
        if row["error"] is not None:
            self._errors.setdefault(row["candidate"], row["error"])

    def values(self, metric: str, candidate: int, first: int, stop: int) -> NDArray[Any]:
        """Return a metric of some replicates of a candidate, float64, NaN where a run failed.

        Raises InputError if no run has the metric.
        """
        import numpy as np

        found = [self._rows[candidate, r]["metrics"].get(metric, np.nan) for r in range(first, stop)]
        if np.isnan(found).all():
            self._check_name(metric)
        return np.array(found, np.float64)

    def why(self, candidate: int, metrics: Sequence[str], replicates: int) -> str:
        """Return why a candidate lacks some metrics, or which, and in how many of its first replicates."""
        import numpy as np

        if self._plan.errors[candidate]:
            return str(self._plan.errors[candidate])  # it names the candidate
        if candidate in self._errors:
            return f"candidate {candidate}: {self._errors[candidate]}"
        found = []
        for metric in metrics:
            n = int(np.isnan(self.values(metric, candidate, 0, replicates)).sum())
            if n:
                found.append(f"{metric} is no number in {n} of {replicates} runs of candidate {candidate}")
        return ", ".join(found)

    def _check_name(self, metric: str) -> None:
        known = sorted({name for row in self._rows.values() for name in row["metrics"]})
        if known and metric not in known:
            raise InputError(f"there is no metric {metric!r}.{nearest(metric, known)} There are: {', '.join(known)}.")

    def point(self, candidate: int) -> Point:
        """Return the values of a candidate."""
        return tuple(self._plan.rows[candidate])

    def error(self, candidate: int) -> str | None:
        """Return why a candidate, or one of its runs, went wrong."""
        return self._plan.errors[candidate] or self._errors.get(candidate)

    def finish(self, outcome: Any) -> Results:
        """Write what was found into the manifest, and return all runs."""
        if self._store is None:
            return joined([rows_to_arrow(self._rows.values())], self._plan.to_arrow())
        self._store.roll()
        self._write("complete", ended=now(), outcome=outcome)
        return Results.load(self._store.folder)

    def _write(self, state: str, **more: Any) -> None:
        if self._store is not None:
            if not (self._store.folder / "plan.parquet").exists():
                self._store.write_table("plan.parquet", self._plan.to_arrow())
            self._store.write_manifest({**self._facts, "n_candidates": len(self._plan), "state": state, **more})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):
            self._executor.close()
        if self._store is not None:
            self._store.close()


def _points(plan: Any) -> list[Point]:
    """Return the points of a plan's table."""
    return [tuple(row.values()) for row in plan.drop_columns(["candidate", "error"]).to_pylist()]


def _is_same(kept: Any, asked: Any) -> bool:
    """Say whether a value that was read from a plan is the one that is asked for; what is no number is text there."""
    return bool(kept == asked or kept == json.dumps(asked, default=str))
