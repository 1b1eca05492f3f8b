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
app.command("run", short_help="Run a scenario and print a summary.")(_run.run)
app.command("sweep", short_help="Run every candidate of a sweep, with replicates.")(_sweep.sweep)
app.command("query", short_help="Ask the results of an experiment something in SQL.")(_query.query)
app.command("models", short_help="List the shipped models, or the keys of one.")(_models.models)
app.command("new", short_help="Write a small commented model and a scenario that runs it.")(_new.new)
app.command("compare", short_help="Compare two designs by pairs, with intervals.")(_compare.compare)
app.command("sensitivity", short_help="Elasticities, Sobol indices or Morris's effects.")(_sensitivity.sensitivity)
app.command("optimise", short_help="Look for the best candidates.")(_optimise.optimise)
app.command("calibrate", short_help="Find the parameters that fit a table of data.")(_calibrate.calibrate)
app.command("report", short_help="Write one HTML page on an experiment.")(_report.report)
app.command("check", short_help="Check a model: lints, audit, reruns, saves, extremes.")(_check.check)
app.command("graph", short_help="Draw which action touches what.")(_graph.graph)
app.command("bench", short_help="Race against the peers.")(_bench.bench)
app.command("export", short_help="Write one page that runs a scenario in any browser.")(_export.export)
app.command("view", short_help="Show a scenario live in the browser.")(_export.view)
app.command("validate", short_help="Check an economy's design and print what it holds.")(_economy.validate)
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
