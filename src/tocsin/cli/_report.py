"""`tocsin report`: one page of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import explained


@explained
def report(
    folder: Annotated[Path, typer.Argument(help="Folder of an experiment, running or done.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page.", show_default="FOLDER/report.html")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="What to show. Repeatable.", show_default="targets, goals, or means"),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Write the figures into this folder too, as SVG and PNG.")
    ] = None,
) -> None:
    """Write one self-contained HTML page: plan, intervals, effects, maps, sensitivities, best designs, provenance."""
    from tocsin.experiment.report import report as made

    found = made(folder, metric or ())
    path = out or folder / "report.html"
    found.write(path)
    written = [path, *(found.write_figures(figures) if figures else [])]
    typer.echo("\n".join(map(str, written)))
