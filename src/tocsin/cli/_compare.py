"""`tocsin compare`: two candidates of an experiment, by the differences of paired runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import complain, explained
from tocsin.cli._text import columns, json_line, number


@explained
def compare(
    folder: Annotated[Path, typer.Argument(help="Folder of an experiment.", show_default=False)],
    metrics: Annotated[list[str], typer.Argument(help="Metrics, such as LoopSize.mean.", show_default=False)],
    a: Annotated[int, typer.Option("--a", help="The candidate that is compared with.")] = 0,
    b: Annotated[int, typer.Option("--b", help="The candidate that is compared.")] = 1,
    confidence: Annotated[
        float | None, typer.Option(help="Of all intervals together.", show_default="the experiment's")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")] = False,
) -> None:
    """Print b - a for each metric, with its interval by pairs, and what pairing has saved."""
    from tocsin.experiment import Results
    from tocsin.experiment import compare as compared

    results = Results.load(folder)
    for text in results.damaged:
        complain(text)
    found = compared(results, metrics, a, b, confidence)
    if as_json:
        rows = [
            {"metric": c.metric, "paired": c.paired._asdict(), "unpaired": c.unpaired._asdict(),
             "p_value": c.p_value, "share": c.share}
            for c in found
        ]  # fmt: skip
        typer.echo(json_line(rows))
        return
    head = ("metric", "b - a", "low", "high", "pairs", "p", "runs of unpaired")
    lines = [
        (c.metric, *(number(v) for v in (c.paired.estimate, c.paired.low, c.paired.high, c.paired.n, c.p_value)),
         f"{c.share:.0%}")
        for c in found
    ]  # fmt: skip
    typer.echo(columns([head, *lines], numeric=range(1, len(head))))
