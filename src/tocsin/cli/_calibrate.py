"""`tocsin calibrate`: which values of some keys could have given the data."""

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
    from tocsin.experiment import Posterior


@explained
def calibrate(
    scenario: Annotated[Path, typer.Argument(help="A scenario file with a table [calibrate].", show_default=False)],
    set_: SetAny = None,
    out: Out = None,
    executor: Executor = "threads",
    workers: Workers = None,
    resume: Resume = False,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    """Print the posterior of each axis, given a table of data: mean and central 95 % interval."""
    from tocsin.experiment import calibrate as fit
    from tocsin.scenario import parse_override

    folder = out or Path("out") / scenario.stem
    overrides = [parse_override(text) for text in set_ or []]
    with going_on(folder), telling(progress), shown(progress, as_json) as show:
        found = fit(
            scenario, out=folder, overrides=overrides, executor=executor, workers=workers, resume=resume, progress=show
        )
    if as_json:
        facts = {"event": "done", "runs": len(found.results), "folder": str(folder), "effective": found.effective}
        generations = [g._asdict() for g in found.generations]
        axes = {path: found.interval(path)._asdict() for path in found.axes}
        typer.echo(json_line({**facts, "axes": axes, "generations": generations}))
        return
    typer.echo(f"{_table(found)}\n\n{_steps(found)}\n\n{runs_in(len(found.results), folder)}")


def _table(found: Posterior) -> str:
    rows = [(path, *map(number, found.interval(path)[:3])) for path in found.axes]
    return columns([("", "mean", "2.5 %", "97.5 %"), *rows], numeric=(1, 2, 3))


def _steps(found: Posterior) -> str:
    rows = [
        (str(n), "-" if n == 0 else f"{g.tolerance:.4g}", f"{g.n_proposed:,}", f"{g.effective:.1f}")
        for n, g in enumerate(found.generations)
    ]
    return columns([("generation", "tolerance", "points", "effective size"), *rows], numeric=range(4))
