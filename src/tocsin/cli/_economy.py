"""`tocsin economy`: simulate a design, compare two, answer about pulls; and `tocsin validate`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from tocsin.cli._errors import BAD_INPUT, explained
from tocsin.cli._progress import telling
from tocsin.cli._text import columns, number
from tocsin.errors import InputError, OutputError

if TYPE_CHECKING:
    from tocsin.models.economy.run import Result

P = ParamSpec("P")
R = TypeVar("R")

app = typer.Typer(help="Game economies: simulate, compare, answer about pulls.", no_args_is_help=True)

_DESIGN = typer.Argument(help="A design (.toml, .yaml, .json), or package:NAME.", show_default=False)
_SET = typer.Option("--set", metavar="PATH=VALUE", help="Change a value, as in resources.gems.start=3200. Repeatable.")
_VALUES = typer.Option("--values", help="A CSV file of path and value.", show_default=False)
_PLAYERS = typer.Option("--players", min=1, help="Players of one run.")
_DAYS = typer.Option("--days", min=1, help="Days of one run.")
_SEED = typer.Option("--seed", min=0, help="Seed.")
_THREADS = typer.Option("--threads", min=1, help="Threads; the numbers do not depend on it.", show_default="one a core")
_JSON = typer.Option("--json", help="Print JSON.")


def told(command: Callable[P, R]) -> Callable[P, R]:
    """Print what is wrong with a design as it is, line by line: a formula with its caret."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except InputError as error:
            typer.echo(f"tocsin: {error}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return explained(wrapped)


@told
def validate(
    design: Annotated[str, _DESIGN],
    set_: Annotated[list[str] | None, _SET] = None,
    values: Annotated[Path | None, _VALUES] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Check a design: every key, value, name and formula; print its hash. Exit code 2 if something is wrong."""
    from tocsin.models.economy import design_hash, load, meeting

    loaded = load(design, changes_of(set_, values))
    facts = {"design": str(design), "hash": design_hash(loaded), "players": meeting(loaded)}
    typer.echo(json.dumps(facts) if as_json else f"{design} is valid, hash {facts['hash'][:16]}; {facts['players']}")


@app.command("run")
@told
def run(
    design: Annotated[str, _DESIGN],
    players: Annotated[int, _PLAYERS] = 10_000,
    days: Annotated[int, _DAYS] = 30,
    seed: Annotated[int, _SEED] = 0,
    set_: Annotated[list[str] | None, _SET] = None,
    values: Annotated[Path | None, _VALUES] = None,
    threads: Annotated[int | None, _THREADS] = None,
    shards: Annotated[int | None, typer.Option(min=1, help="Parts of the population.", show_default="by size")] = None,
    rng: Annotated[str, typer.Option(help='With preset = "sandtable": tocsin or sandtable.')] = "tocsin",
    battles: Annotated[str, typer.Option(help='With preset = "sandtable": rounds or exact.')] = "rounds",
    out: Annotated[Path | None, typer.Option(help="Folder for report.json, report.html and CSV tables.")] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Simulate a design; print its figures and what the detectors find."""
    from tocsin.models import economy

    loaded = economy.load(design, changes_of(set_, values))
    with telling(None):
        result = economy.run(loaded, players, days, seed, threads=threads, shards=shards, rng=rng, battles=battles)
    facts = {"design": str(design), "hash": economy.design_hash(loaded), "players": players, "days": days, "seed": seed}
    found = [vars(f) for f in economy.findings(result)]
    if out is not None:
        _write(out, result, facts, found)
    if as_json:
        typer.echo(json.dumps({**facts, "summary": result.summary(), "findings": found}, indent=2))
        return
    typer.echo(columns([(k, number(v)) for k, v in result.summary().items()], numeric=(1,)))
    for finding in found:
        typer.echo(f"{finding['kind']}: {finding['subject']}, from day {finding['day']}: {finding['evidence']}")


@app.command("compare")
@told
def compare(
    a: Annotated[str, _DESIGN],
    b: Annotated[str | None, typer.Argument(help="The other design; or use --set.", show_default=False)] = None,
    set_: Annotated[list[str] | None, _SET] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="Repeatable; all by default.")] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="METRIC=LEAST:MOST", help="Repeatable.")
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=2, help="Pairs of runs.")] = 12,
    players: Annotated[int, _PLAYERS] = 1000,
    days: Annotated[int, _DAYS] = 14,
    seed: Annotated[int, _SEED] = 0,
    threads: Annotated[int | None, _THREADS] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Compare two designs, or one with changes, by pairs of runs with the same draws."""
    from tocsin.models import economy
    from tocsin.models.economy.report import answer_row

    with telling(None):
        answers = economy.compare(
            a, b, changes=changes_of(set_, None), metrics=metric or [], targets=dict(map(target_of, target or [])), n=pairs,
            players=players, days=days, seed=seed, threads=threads,
        )  # fmt: skip
    rows = [answer_row(answer) for answer in answers]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    else:
        shown = [tuple(rows[0]), *(tuple(number(v) for v in row.values()) for row in rows)]
        typer.echo(columns(shown, numeric=range(1, 7)))


@app.command("pulls")
@told
def pulls(
    rate: Annotated[float, typer.Argument(help="Probability of a hit.", show_default=False)],
    hard: Annotated[int, typer.Option(min=0, help="The pull that hits for certain; 0 for none.")] = 0,
    soft_start: Annotated[int, typer.Option(min=0, help="The pull from which the rate rises; 0 for none.")] = 0,
    soft_step: Annotated[float, typer.Option(help="By how much a pull.")] = 0.0,
    featured: Annotated[float, typer.Option(help="Share of hits that are featured; then the other comes first.")] = 1.0,
    copies: Annotated[int, typer.Option(min=1, max=20, help="Featured hits wanted.")] = 1,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Print how many pulls it takes, exactly: mean, and enough for half, 90 and 99 % of the players."""
    from tocsin.models.economy import pulls_to_featured, pulls_to_hit

    law = pulls_to_hit(rate, hard=hard, soft_start=soft_start, soft_step=soft_step)
    law = pulls_to_featured(law, featured, copies=copies)
    facts = {"mean": law.mean, "sd": law.sd, **{f"p{100 * q:g}": law.pulls_for(q) for q in (0.5, 0.9, 0.99)}}
    typer.echo(json.dumps(facts) if as_json else columns([(k, number(v)) for k, v in facts.items()], numeric=(1,)))


@app.command("draws")
@told
def draws(
    design: Annotated[str, _DESIGN],
    table: Annotated[str, typer.Argument(help="A loot table of it.", show_default=False)],
    want: Annotated[list[str], typer.Option("--want", metavar="RESOURCE=AMOUNT", help="Repeatable.")],
    players: Annotated[int, _PLAYERS] = 2000,
    seed: Annotated[int, _SEED] = 0,
    set_: Annotated[list[str] | None, _SET] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Print how many draws of a loot table it takes until it has given all that is wanted, by simulation."""
    from tocsin.models.economy import draws_to_target, load

    with telling(None):
        found = draws_to_target(load(design, changes_of(set_, None)), table, changes_of(want, None), players, seed)
    facts: dict[str, Any] = {
        "players": players,
        "reached": found.reached,
        "mean": found.mean if found.reached else None,
    }
    facts |= {f"p{100 * q:g}": found.draws_for(q) for q in (0.5, 0.9, 0.99)}
    lines = [(k, "-" if v is None else number(v)) for k, v in facts.items()]
    typer.echo(json.dumps(facts) if as_json else columns(lines, numeric=(1,)))


@app.command("values")
@told
def values(design: Annotated[str, _DESIGN], set_: Annotated[list[str] | None, _SET] = None) -> None:
    """Print a design as CSV of path and value, for a spreadsheet; `--values` reads it back."""
    from tocsin.models.economy import load
    from tocsin.models.economy.sheet import write_values

    typer.echo(write_values(load(design, changes_of(set_, None))), nl=False)


def changes_of(given: list[str] | None, sheet: Path | None) -> dict[str, Any]:
    """Return changes by path, from a spreadsheet and from --set. Raises InputError."""
    from tocsin.models.economy.sheet import number_or_text, read_values

    found = read_values(sheet) if sheet is not None else {}
    for text in given or []:
        path, sign, value = text.partition("=")
        if not sign or not path.strip():
            raise InputError(f"--set must read path=value, as in resources.gems.start=3200, got {text!r}")
        found[path.strip()] = number_or_text(value.strip())
    return found


def target_of(text: str) -> tuple[str, tuple[float, float]]:
    """Read METRIC=LEAST:MOST. Raises InputError."""
    metric, _, ends = text.partition("=")
    least, sign, most = ends.partition(":")
    try:
        if not sign:
            raise ValueError
        low, high = float(least or "-inf"), float(most or "inf")
        if not low <= high:
            raise ValueError
        return metric.strip(), (low, high)
    except ValueError:
        raise InputError(f"--target must read METRIC=LEAST:MOST, as in retention_d7=0.2:0.4, got {text!r}") from None


def _write(out: Path, result: Result, facts: dict[str, Any], found: list[dict[str, Any]]) -> None:
    from tocsin.models.economy.report import html_report
    from tocsin.models.economy.result import EconomyResult
    from tocsin.models.economy.sheet import write_rows

    files = {
        "report.json": json.dumps({**facts, "summary": result.summary(), "findings": found}, indent=2) + "\n",
        "report.html": html_report(result, str(facts["design"]), facts),
        "days.csv": write_rows(result.day_rows()),
    }
    if isinstance(result, EconomyResult):
        files |= {
            "retention.csv": write_rows(result.retention()), "cohorts.csv": write_rows(result.cohort_rows()),
            "flows.csv": write_rows(result.flow_rows()), "distributions.csv": write_rows(result.distribution_rows()),
            "milestones.csv": write_rows(result.milestone_rows()), "personas.csv": write_rows(result.persona_rows()),
            "targets.csv": write_rows(result.target_rows()), "markets.csv": write_rows(result.market_rows()),
        }  # fmt: skip
    write_files(out, files)


def write_files(out: Path, files: Mapping[str, str]) -> None:
    """Write files, those that are not empty, into a folder. Raises OutputError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in ((name, text) for name, text in files.items() if text):
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write to {str(out)!r}: {error.strerror}") from None
