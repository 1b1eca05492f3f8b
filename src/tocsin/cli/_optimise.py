"""`tocsin optimise`: look for the best values of some keys of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._errors import explained
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

if TYPE_CHECKING:
    from tocsin.experiment import Optimum


@explained
def optimise(
    scenario: Annotated[Path, typer.Argument(help="A scenario file with a table [optimise].", show_default=False)],
    set_: SetAny = None,
    out: Out = None,
    executor: Executor = "threads",
    workers: Workers = None,
    resume: Resume = False,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    """Look for the best candidates, run them again with fresh seeds, and print these finalists.

    The intervals are of the fresh runs alone, and hold all together.
    """
    from tocsin.experiment import optimise as search
    from tocsin.scenario import parse_override

    folder = out or Path("out") / scenario.stem
    overrides = [parse_override(text) for text in set_ or []]
    with going_on(folder), telling(progress), shown(progress, as_json) as show:
        found = search(
            scenario, out=folder, overrides=overrides, executor=executor, workers=workers, resume=resume, progress=show
        )
    typer.echo(
        json_line(_facts(found, folder)) if as_json else f"{_table(found)}\n\n{runs_in(len(found.results), folder)}"
    )


def _facts(found: Optimum, folder: Path) -> dict[str, Any]:
    finalists = [{**f._asdict(), "metrics": {m: i._asdict() for m, i in f.metrics.items()}} for f in found.finalists]
    return {"event": "done", "runs": len(found.results), "folder": str(folder), "finalists": finalists}


def _table(found: Optimum) -> str:
    best = found.best
    head = ("candidate", *best.values, *(part for metric in best.metrics for part in (metric, "±")))
    rows = [
        (str(f.candidate), *map(number, f.values.values()),
         *(number(v) for i in f.metrics.values() for v in (i.estimate, i.half_width)),
         *([] if f.is_feasible else ["breaks a constraint"]))
        for f in found.finalists
    ]  # fmt: skip
    width = max(map(len, rows))
    padded = [(*row, *[""] * (width - len(row))) for row in (head, *rows)]
    return columns(padded, numeric=range(len(head)))
