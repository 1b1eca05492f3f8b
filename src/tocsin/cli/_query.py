"""`tocsin query`: SQL over the results of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tocsin.cli._errors import complain, explained
from tocsin.cli._text import columns, json_line, number


@explained
def query(
    folder: Annotated[Path, typer.Argument(help="Folder of an experiment, running or done.", show_default=False)],
    sql: Annotated[str, typer.Argument(help="A query, over the tables results and plan.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")] = False,
) -> None:
    """Ask the results of an experiment something in SQL, as in "select candidate, avg(n_events) from results group by 1".

    Names with a dot are put in double quotes. Nothing but the folder's results can be read, and nothing is written:
    the query has a database of its own in memory, without files, extensions or settings.
    """
    from tocsin.experiment import query as ask

    found = ask(folder, sql, complain)
    if as_json:
        typer.echo(json_line(found.to_pylist()))
        return
    rows = [tuple(map(_shown, row.values())) for row in found.to_pylist()]
    numeric = [k for k, field in enumerate(found.schema) if str(field.type) not in ("string", "large_string")]
    typer.echo(columns([tuple(found.column_names), *rows], numeric=numeric))


def _shown(value: Any) -> str:
    """Return a value as it can be used again: a seed without commas."""
    return str(value) if type(value) is int else number(value)
