"""The command line as a whole: `tocsin`, its version, and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from tocsin.cli import (
    _bench,
    _calibrate,
    _check,
    _compare,
    _economy,
    _economy_answers,
    _export,
    _graph,
    _models,
    _new,
    _optimise,
    _query,
    _reactions,
    _report,
    _run,
    _sensitivity,
    _swarm,
    _sweep,
)

app = typer.Typer(
    name="tocsin",
    help="Exact, event-driven simulation at native speed.",
    epilog="Exit codes: 0 done, 1 the run failed, 2 bad usage or bad input, 130 Ctrl-C.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(_run.run)
app.command("sweep")(_sweep.sweep)
app.command("query")(_query.query)
app.command("models")(_models.models)
app.command("new")(_new.new)
app.command("compare")(_compare.compare)
app.command("sensitivity")(_sensitivity.sensitivity)
app.command("optimise")(_optimise.optimise)
app.command("calibrate")(_calibrate.calibrate)
app.command("report")(_report.report)
app.command("check")(_check.check)
app.command("graph")(_graph.graph)
app.command("bench")(_bench.bench)
app.command("export")(_export.export)
app.command("view")(_export.view)
app.command("validate")(_economy.validate)
app.add_typer(_economy_answers.app, name="economy")
app.add_typer(_swarm.app, name="swarm")
app.add_typer(_reactions.app, name="reactions")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from tocsin import __version__

        typer.echo(f"tocsin {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; the entry point of the `tocsin` program."""
    app(prog_name="tocsin")
