"""`tocsin bench`: measure against the tools of the field, in the same minute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from tocsin.cli._errors import explained
from tocsin.cli._text import columns, number
from tocsin.errors import InputError
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from tocsin.cli._benchmarks import Comparison


@explained
def bench(
    name: Annotated[str | None, typer.Argument(help="A benchmark; lists them if left out.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a comparison.")] = False,
) -> None:
    """Run a benchmark and print each comparison: ours, the peer's, their ratio, the goal."""
    from tocsin.cli._benchmarks import BENCHMARKS

    if name is None:
        rows = [(known, (function.__doc__ or "").split("\n")[0]) for known, function in BENCHMARKS.items()]
        typer.echo(json.dumps([known for known, _ in rows]) if as_json else columns(rows))
        return
    if name not in BENCHMARKS:
        raise InputError(f"there is no benchmark {name!r}.{nearest(name, BENCHMARKS)} It has: {', '.join(BENCHMARKS)}.")
    for comparison in BENCHMARKS[name]():
        typer.echo(json.dumps(comparison.to_dict()) if as_json else _line(comparison))


def _line(found: Comparison) -> str:
    verdict = "" if found.goal is None else f", goal {found.goal:g}: {'met' if found.is_met else 'missed'}"
    return (
        f"{found.name}: {number(found.ours)} against {number(found.peer)} {found.unit}, "
        f"ratio {found.ratio:.3g}{verdict}"
    )
