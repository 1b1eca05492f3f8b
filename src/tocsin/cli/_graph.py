"""`tocsin graph`: what the actions of a model read, write and touch, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import explained
from tocsin.cli._subject import WHAT, find_model
from tocsin.errors import InputError, OutputError


@explained
def graph(
    model: Annotated[str, typer.Argument(help=WHAT, show_default=False)],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="mermaid|dot|svg|matrix", help="How to write it.", show_default="from FILE, or mermaid"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; stdout if left out.", show_default=False),
    ] = None,
) -> None:
    """Draw what actions and observables read, write and touch, as the compiler found it."""
    from tocsin.check import FORMATS, graph_of

    name = format_ or _by_suffix(output)
    if name not in FORMATS:
        raise InputError(f"--format must be one of {', '.join(FORMATS)}, got {name!r}")
    text = FORMATS[name](graph_of(find_model(model)))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {str(output)!r}: {error.strerror}; choose another place") from None


def _by_suffix(output: Path | None) -> str:
    suffix = "" if output is None else output.suffix.lower()
    known = {
        "": "mermaid",
        ".svg": "svg",
        ".dot": "dot",
        ".gv": "dot",
        ".mmd": "mermaid",
        ".mermaid": "mermaid",
        ".md": "mermaid",
    }
    if suffix not in known:
        raise InputError(f"{str(output)!r}: a graph is written as .svg, .dot or .mmd; or name the --format")
    return known[suffix]
