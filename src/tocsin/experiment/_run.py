"""Run a sweep: all that its plan still lacks, on any executor, into a store that survives a crash."""

from __future__ import annotations

import contextlib
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.experiment._executors import Executor, executor_named
from tocsin.experiment._plan import Plan, Run
from tocsin.experiment._precision import Precision
from tocsin.experiment._results import Results, joined
from tocsin.experiment._rows import rows_to_arrow
from tocsin.experiment._store import Store
from tocsin.experiment._work import REFUSED, Row, empty_row
from tocsin.scenario._summary import _version

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.experiment._sweep import Sweep

_PACKAGES = ("numpy", "numba", "llvmlite", "pyarrow", "scipy")


@dataclass
class Progress:
    """How far an experiment is."""

    total: int
    """Runs that are planned by now; replicates = 'auto' adds to it."""
    done: int = 0
    failures: int = 0
    n_events: int = 0
    row: Row | None = None
    """The row that came last."""

    def note(self, row: Row) -> None:
        """Count a row."""
        self.done, self.row = self.done + 1, row
        self.failures += row["error"] is not None
        self.n_events += row["n_events"] or 0


def run_sweep(
    sweep: Sweep,
    out: str | Path | None = None,
    *,
    executor: Any = "threads",
    workers: int | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run a sweep and return its results.

    Parameters
    ----------
    out : folder of the store; None keeps the results in memory only
    executor : 'threads', 'processes', 'dask', 'dask://HOST:PORT', any `concurrent.futures.Executor`
    workers : how many; by default one a core
    resume : go on with what is in `out`, if it is the same experiment
    progress : called after every run

    A run that fails has a row that says why; nothing is dropped. Raises InputError, ExecutorError
    and OutputError; after KeyboardInterrupt the store holds every run that ended.
    """
    plan = sweep.plan()
    refuse_hopeless(plan)
    if sweep.settings.keep and out is None:
        raise InputError("keep = true writes recordings below runs/ of the store; say where with out=...")
    with contextlib.ExitStack() as stack:
        store = None if out is None else stack.enter_context(contextlib.closing(opened(Path(out), plan, resume)))
        if store is not None:
            plan = replace(plan, job=replace(plan.job, folder=str(store.folder.resolve())))
        place = executor_named(executor, workers)
        try:
            return _filled(sweep, plan, store, place, progress)
        finally:
            with contextlib.suppress(Exception):
                place.close()


def refuse_hopeless(plan: Plan) -> None:
    """Raise InputError if all candidates have one and the same fault: it is the scenario's, and nothing is written."""
    said = {re.sub(r"^candidate \d+, ", "", error or "") for error in plan.errors}
    fault = said.pop() if len(said) == 1 else ""
    if fault:
        raise InputError(f"no candidate can run: {fault}")


def _filled(
    sweep: Sweep, plan: Plan, store: Store | None, place: Executor, progress: Callable[[Progress], None] | None
) -> Results:
    facts = _facts(sweep, plan, place.name)
    tables = [] if store is None else store.tables()
    if store is not None:
        store.write_table("plan.parquet", plan.to_arrow())
        store.write_manifest({**facts, "state": "running"})
    rows: list[Row] = []
    stages = Precision(sweep, plan, tables)
    state = Progress(total=stages.n_planned - stages.n_done)
    try:
        for runs in stages:
            for row in rows_of(plan, place, runs):
                stages.note(row)
                rows.append(row) if store is None else store.add(row)
                state.note(row)
                state.total = stages.n_planned - stages.n_held
                if progress is not None:
                    progress(state)
    finally:
        if store is not None:
            store.roll()
    if store is None:
        return joined([rows_to_arrow(rows)], plan.to_arrow(), (), sweep.settings.confidence, facts["first_stage"])
    store.write_manifest({**facts, "state": "complete", "ended": now()})
    return Results.load(store.folder)


def rows_of(plan: Plan, place: Executor, runs: Iterable[Run]) -> Iterator[Row]:
    """Yield the rows of some runs; those of bad candidates need no worker."""
    refused: list[Row] = []

    def good() -> Iterator[Run]:
        for run in runs:
            error = plan.errors[run.candidate]
            if error is None:
                yield run
            else:
                refused.append(
                    {**empty_row(run), "stop": REFUSED, "error": error, "wall_seconds": 0.0, "cpu_seconds": 0.0}
                )

    for row in place.rows(plan.job, good()):
        yield row
        while refused:
            yield refused.pop()
    yield from refused


def opened(folder: Path, plan: Plan, resume: bool) -> Store:
    """Return the store, new or taken up where it was left. Raises InputError and OutputError."""
    store = Store(folder)
    try:
        store.begin() if not resume else _taken_up(store, plan)
    except BaseException:
        store.release()
        raise
    return store


def _taken_up(store: Store, plan: Plan) -> None:
    folder = store.folder
    store.make()
    if not store.manifest_path.exists():
        if store.is_begun():
            raise InputError(
                f"{str(folder)!r} has results and no manifest.json, so that nothing says what made them; "
                f"choose another folder with --out"
            )
        return
    manifest = store.manifest()
    if manifest.get("plan_hash") != plan.hash:
        raise InputError(
            f"{str(folder)!r} holds another experiment: its scenario, its axes, its seed or its version of Tocsin "
            f"({manifest.get('tocsin')}) is not that of {plan.name}. Choose another folder with --out."
        )
    store.recover()
    store.tables()
    store.set_aside()


def _facts(sweep: Sweep, plan: Plan, executor: str) -> dict[str, Any]:
    """Return what the manifest of a sweep says."""
    s = sweep.settings
    return {
        **provenance(plan, executor), "kind": "sweep", "n_candidates": len(plan), "replicates": s.replicates,
        "targets": [s.target] if isinstance(s.target, str) else s.target, "confidence": s.confidence,
        "first_stage": {target.metric: s.least for target in sweep.targets},
        "design": s.design, "sweep": s.model_dump(mode="json"),
    }  # fmt: skip


def provenance(plan: Plan, executor: str) -> dict[str, Any]:
    """Return what made an experiment: versions, model, hashes, machine, command line."""
    from tocsin import __version__

    return {
        "name": plan.name, "model": plan.preset.name, "tocsin": __version__, "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES}, "platform": platform.platform(),
        "machine": platform.machine(), "command": " ".join(sys.argv), "executor": executor, "plan_hash": plan.hash,
        "model_hash": _rules(plan), "seed": plan.seed, "paired": plan.paired, "scenario": plan.job.values,
        "started": now(),
    }  # fmt: skip


def _rules(plan: Plan) -> str | None:
    from tocsin.run._save import rules_hash

    return rules_hash(plan.preset.model)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def held(tables: Iterable[Any]) -> NDArray[Any]:
    """Return the runs in some tables as sorted numbers candidate << 32 | replicate."""
    import numpy as np

    parts = [
        np.asarray(t.column("candidate")).astype(np.int64) << 32 | np.asarray(t.column("replicate")) for t in tables
    ]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
