"""`tocsin swarm`: check a run of robots against a trace, and search for a bad schedule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import FAILED, explained

app = typer.Typer(help="Robot swarms: replay a trace, attack an algorithm.", no_args_is_help=True)


@app.command("replay")
@explained
def replay(
    traces: Annotated[list[Path], typer.Argument(help="Event traces of the LCM simulator (JSON).", show_default=False)],
) -> None:
    """Run each trace's configuration and compare every event; print the first difference.

    Exit code 0 if all agree, 1 if one does not.
    """
    from tocsin.models.swarm.lcm.replay import read_trace
    from tocsin.models.swarm.lcm.replay import replay as compared

    n_bad = 0
    for path in traces:
        found = compared(read_trace(path))
        typer.echo(f"{path.name}: {found.difference or f'agrees, {found.n_events} events'}")
        n_bad += found.difference is not None
    if n_bad:
        raise typer.Exit(FAILED)
