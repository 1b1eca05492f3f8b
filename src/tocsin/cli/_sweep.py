"""`tocsin sweep`: run a scenario over a plan of parameters and replicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._errors import FAILED, complain, explained
from tocsin.cli._experiment import (
    AsJson,
    Executor,
    Out,
    Resume,
    SetAny,
    ShowProgress,
    Workers,
    going_on,
    runs_in,
    shown,
)
from tocsin.cli._progress import telling
from tocsin.cli._text import columns, json_line, number
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.experiment import Plan, Results, Sweep

_SHOWN = 20
"""Lines of a table that are printed."""


@explained
def sweep(
    scenario: Annotated[Path, typer.Argument(help="A scenario file with a table [sweep].", show_default=False)],
    set_: SetAny = None,
    out: Out = None,
    executor: Executor = "threads",
    workers: Workers = None,
    resume: Resume = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and what it will cost; run a pilot only.")
    ] = False,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    """Run every candidate of a sweep, with replicates, and keep one row a run.

    Exit code 1 if some run failed: the rest is done, and the table says which and why.
    """
    from tocsin.experiment import Sweep, run_sweep
    from tocsin.scenario import parse_override

    loaded = Sweep.load(scenario, [parse_override(text) for text in set_ or []])
    if not loaded.settings.model_fields_set:
        raise InputError(f"{scenario.name} has no table [sweep], so nothing would vary: for one run, say tocsin run")
    folder = out or Path("out") / loaded.name
    if dry_run:
        with telling(progress):
            _print_plan(loaded, workers, as_json)
        return
    with going_on(folder), telling(progress), shown(progress, as_json) as show:
        results = run_sweep(loaded, folder, executor=executor, workers=workers, resume=resume, progress=show)
    failures = results.failures()
    typer.echo(json_line(_facts(results, folder)) if as_json else _page(results, folder))
    if failures.num_rows:
        complain(f"{failures.num_rows} of {len(results)} runs failed, such as {_first_failure(failures)}")
        raise typer.Exit(FAILED)


def _first_failure(failures: Any) -> str:
    row = failures.slice(0, 1).to_pylist()[0]
    return f"candidate {row['candidate']}, replicate {row['replicate']}, seed {row['seed']}: {row['error']}"


def _print_plan(loaded: Sweep, workers: int | None, as_json: bool) -> None:
    from tocsin.experiment._executors import n_cores
    from tocsin.experiment._pilot import pilot

    plan = loaded.plan()
    replicates = loaded.settings.replicates
    least = replicates if isinstance(replicates, int) else loaded.settings.least
    found, n = pilot(plan), len(plan) * least
    cpu = found.cpu_seconds * n
    wall = cpu / (workers or n_cores())
    facts = {
        "candidates": len(plan), "bad": len(plan.bad), "replicates": replicates, "runs": n, "pilot_runs": found.n,
        "cpu_seconds_a_run": found.cpu_seconds, "events_a_run": found.n_events, "cpu_seconds": cpu,
        "wall_seconds": wall, "start_seconds": found.start_seconds, "pilot_error": found.error,
    }  # fmt: skip
    if as_json:
        typer.echo(json_line({**facts, "plan": plan.to_arrow().to_pylist()}))
        return
    more = "" if isinstance(replicates, int) else " at least: more until the target is met"
    lines = [
        _plan_table(plan),
        f"{len(plan):,} candidates × {least:,} replicates = {n:,} runs{more}",
        f"about {number(found.cpu_seconds)} s of CPU time and {number(round(found.n_events))} events a run "
        f"(pilot of {found.n}), {_span(cpu)} in all, {_span(wall)} with {workers or n_cores()} workers",
        f"starting comes on top: imports, and {_span(found.start_seconds)} here to have the model as machine code, "
        f"once for all threads, and for each worker of processes or dask (some seconds the first time, when it compiles)",
    ]
    typer.echo("\n\n".join(lines))
    if plan.bad:
        complain(
            f"{len(plan.bad)} of {len(plan)} candidates are bad and will be reported, not run; the first: {plan.errors[plan.bad[0]]}"
        )
    if found.error:
        complain(f"a run of the pilot failed: {found.error}")


def _span(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} s"


def _plan_table(plan: Plan) -> str:
    rows = [("candidate", *plan.axes, "")]
    for n, values in enumerate(plan.rows[:_SHOWN]):
        error = plan.errors[n]
        rows.append((str(n), *map(number, values), "" if error is None else f"bad: {error}"))
    left = len(plan) - _SHOWN
    return columns(rows, numeric=range(1 + len(plan.axes))) + (f"\n... and {left:,} more" if left > 0 else "")


def _facts(results: Results, folder: Path) -> dict[str, Any]:
    return {
        "event": "done", "runs": len(results), "failed": results.failures().num_rows, "hash": results.hash(),
        "folder": str(folder), "damaged": list(results.damaged),
    }  # fmt: skip


def _page(results: Results, folder: Path) -> str:
    parts = [*(f"damaged: {text}" for text in results.damaged)]
    means = [m for m in results.metrics if m.endswith(".mean")]
    for metric in results.targets or (means or list(results.metrics))[:3]:
        parts.append(_metric(results, metric))
    parts.append(runs_in(len(results), folder))
    return "\n\n".join(parts)


def _metric(results: Results, metric: str) -> str:
    found = list(results.intervals(metric).items())
    level = f"{100 * results.confidence:g} %"
    rows = [("candidate", *results.axes, metric, f"± ({level})", "runs")]
    values = results.candidate_values()
    for candidate, seen in found[:_SHOWN]:
        half = "-" if seen.half_width != seen.half_width else number(seen.half_width)
        rows.append((str(candidate), *map(number, values[candidate]), number(seen.estimate), half, str(seen.n)))
    left = len(found) - _SHOWN
    return columns(rows, numeric=range(len(rows[0]))) + (f"\n... and {left:,} more" if left > 0 else "")
