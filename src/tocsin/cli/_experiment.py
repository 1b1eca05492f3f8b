"""What the commands of experiments share: their options, and how far they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tocsin.cli._errors import INTERRUPTED, complain
from tocsin.cli._text import json_line

if TYPE_CHECKING:
    from tocsin.experiment import Progress

SetAny = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Set any key, as in sweep.replicates=8. Repeatable."),
]
Out = Annotated[Path | None, typer.Option(help="Folder of the results.", show_default="out/<scenario name>")]
Executor = Annotated[
    str, typer.Option(help="threads, processes, dask (a cluster on this machine) or dask://HOST:PORT.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="How many.", show_default="one a core")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what is in the folder.")]
ShowProgress = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="Show progress.", show_default="if stderr is a terminal"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object a run as it ends, and one at the end.")]


def runs_in(n: int, folder: Path) -> str:
    """Return the last line of an experiment: how many runs are where."""
    return f"{n:,} run{'s' * (n != 1)} in {folder}"


@contextmanager
def going_on(folder: Path) -> Iterator[None]:
    """Say, after Ctrl-C, how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        complain(f"interrupted; every run that ended is in {folder}: go on with --resume")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def shown(is_asked: bool | None, as_json: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows how far an experiment is: on stdout as JSON lines, on stderr as a bar."""
    if as_json:
        yield lambda state: typer.echo(
            json_line({"event": "run", "done": state.done, "total": state.total, **(state.row or {})})
        )
        return
    if not (sys.stderr.isatty() if is_asked is None else is_asked):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    parts = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*parts, console=console, transient=console.is_terminal) as bar:
        task, begun = bar.add_task("starting", total=None), time.perf_counter()

        def show(state: Progress) -> None:
            rate = state.n_events / max(time.perf_counter() - begun, 1e-9)
            text = f"{rate:,.0f} events/s" + (f", {state.failures} failed" if state.failures else "")
            bar.update(task, completed=state.done, total=state.total, description=text)

        yield show
