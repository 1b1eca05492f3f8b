"""`tocsin check`: what is wrong with a model, before it is believed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tocsin.cli._errors import FAILED, explained
from tocsin.cli._subject import WHAT, find_subject
from tocsin.cli._text import columns
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.check import Report


@explained
def check(
    model: Annotated[str, typer.Argument(help=WHAT, show_default=False)],
    events: Annotated[
        int, typer.Option(min=1, help="Events to audit, with each method.", show_default="100000")
    ] = 100_000,
    seed: Annotated[int | None, typer.Option(help="As --set run.seed=...", show_default=False)] = None,
    seconds: Annotated[
        float, typer.Option(help="About how long it may take, without compiling.", show_default="60")
    ] = 60.0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set any key, as in init.n_people=10. Repeatable."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow", metavar="LABEL=REASON", help="A finding that is none, by its label in [ ]. Repeatable."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Check a model: lints, audit, reruns, saves, recordings, extreme parameters; exit code 1 for a finding."""
    from tocsin.check import check as checked
    from tocsin.scenario import parse_override

    changes = [parse_override(text) for text in set_ or []]
    changes += [] if seed is None else [(("run", "seed"), seed)]
    found = find_subject(model, changes)
    allowed = {**found.allowed, **dict(map(_allowed, allow or []))}
    with _told() as tell:
        report = checked(
            found.model, found.world, events=events, seed=found.seed, seconds=seconds, allow=allowed, tell=tell
        )
    typer.echo(json.dumps(report.to_dict(), indent=2) if as_json else _page(report))
    if not report.is_clean:
        raise typer.Exit(FAILED)


def _allowed(text: str) -> tuple[str, str]:
    label, sign, reason = text.partition("=")
    if not sign or not label.strip() or not reason.strip():
        raise InputError(f"--allow must read label=reason, got {text!r}")
    return label.strip(), reason.strip()


def _page(report: Report) -> str:
    """Return the table of verdicts, then what was found, then one line that sums it up."""
    rows = [(v.status, v.name, "see below" if v.status == "finding" else v.detail) for v in report.verdicts]
    parts = [columns(rows), *(f"{v.name}: {v.detail}" for v in report.findings)]
    n_passed = sum(v.status == "pass" for v in report.verdicts)
    n_skipped = len(report.verdicts) - n_passed - len(report.findings)
    parts.append(f"{report.model}: {n_passed} passed, {len(report.findings)} found something, {n_skipped} skipped")
    return "\n\n".join(parts)


@contextmanager
def _told() -> Iterator[Callable[[str], None] | None]:
    """Show on a terminal what is being checked."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)
