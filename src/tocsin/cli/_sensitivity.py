"""`tocsin sensitivity`: which keys of a scenario matter, and how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    from tocsin.experiment import Sensitivity

_HEADS = {"local": ("elasticity", "±"), "sobol": ("alone", "±", "in all", "±"), "morris": ("effect", "±", "spread")}


@explained
def sensitivity(
    scenario: Annotated[Path, typer.Argument(help="A scenario file with a table [sensitivity].", show_default=False)],
    set_: SetAny = None,
    out: Out = None,
    executor: Executor = "threads",
    workers: Workers = None,
    resume: Resume = False,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    """Print how much each metric depends on each axis: elasticities, Sobol indices or Morris's effects."""
    from tocsin.experiment import sensitivity_of
    from tocsin.scenario import parse_override

    folder = out or Path("out") / scenario.stem
    overrides = [parse_override(text) for text in set_ or []]
    with going_on(folder), telling(progress), shown(progress, as_json) as show:
        found = sensitivity_of(
            scenario, out=folder, overrides=overrides, executor=executor, workers=workers, resume=resume, progress=show
        )
    if as_json:
        indices = {metric: [i._asdict() for i in own] for metric, own in found.indices.items()}
        facts = {"event": "done", "runs": len(found.results), "folder": str(folder), "method": found.method}
        typer.echo(json_line({**facts, "indices": indices}))
        return
    typer.echo("\n\n".join([*(_table(found, metric) for metric in found.indices), runs_in(len(found.results), folder)]))


def _table(found: Sensitivity, metric: str) -> str:
    head = _HEADS[found.method]
    rows = [
        (index.path, *(number(float(f"{value:.3g}")) for value in index[1 : 1 + len(head)]))
        for index in found.indices[metric]
    ]
    return columns([(metric, *head), *rows], numeric=range(1, 1 + len(head)))
