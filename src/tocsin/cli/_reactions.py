"""`tocsin reactions`: run a network from a file, or the public suite of stochastic cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._errors import FAILED, explained
from tocsin.cli._text import columns, number
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.models.reactions.dsmts import Outcome

app = typer.Typer(help="Reaction networks: run a file, run the public suite.", no_args_is_help=True)

_METHOD = typer.Option("--method", help="direct, next-reaction, composition-rejection or auto.")
_SEED = typer.Option("--seed", min=0, help="Seed of the first trajectory.")
MOST_STEPS = 10_000_000
_SET = typer.Option("--set", help="NAME=VALUE: another parameter, or amount at the start; may be repeated.")
_MOST = typer.Option("--most-events", min=1, help="Events after which a trajectory is stopped, as an error.")
_THREADS = typer.Option("--threads", min=1, help="Threads; the numbers do not depend on it.")


@app.command("run")
@explained
def run(
    file: Annotated[Path, typer.Argument(help="A network: SBML (.xml, .sbml) or Tocsin's text.", show_default=False)],
    until: Annotated[float, typer.Option("--until", help="Last time that is recorded.")] = 10.0,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Intervals of the grid of times.")] = 10,
    trajectories: Annotated[int, typer.Option("--trajectories", min=1, help="1 prints the trajectory itself.")] = 1,
    seed: Annotated[int, _SEED] = 0,
    method: Annotated[str, _METHOD] = "auto",
    threads: Annotated[int, _THREADS] = 1,
    most_events: Annotated[int, _MOST] = 1_000_000_000,
    values: Annotated[list[str] | None, _SET] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a network; print a trajectory, or means and variances of several."""
    import numpy as np

    from tocsin.models.reactions import Network

    network = Network.from_file(file).with_values(**dict(map(_given, values or ())))
    if not 0.0 <= until < np.inf:
        raise InputError(f"--until must be a time >= 0, got {until}")
    if steps > MOST_STEPS:
        raise InputError(f"--steps must be <= {MOST_STEPS:,}, got {steps:,}")
    times = np.linspace(0.0, until, steps + 1).tolist()
    if trajectories == 1:
        table = network.run(times, seed, method, most_events=most_events).to_arrow()
    else:
        table = network.ensemble(trajectories, times, seed, method, threads, most_events=most_events).to_arrow()
    found = table.to_pydict()
    typer.echo(json.dumps(found) if as_json else _table(found))


def _given(text: str) -> tuple[str, float]:
    """Return the name and the number of `k=0.1`."""
    key, equals, value = text.partition("=")
    try:
        return key.strip(), float(value)
    except ValueError:
        rule = f"{value!r} is no number" if equals else "it lacks '='"
        raise InputError(f"--set takes NAME=VALUE, such as k=0.1, got {text!r}: {rule}") from None


def _table(found: dict[str, list[float]]) -> str:
    rows = [tuple(found), *(tuple(map(number, row)) for row in zip(*found.values(), strict=True))]
    return columns(rows, numeric=range(len(found)))


@app.command("dsmts")
@explained
def dsmts(
    folder: Annotated[
        Path, typer.Argument(help="Cases of the SBML Test Suite: a folder of folders.", show_default=False)
    ],
    trajectories: Annotated[int, typer.Option("--trajectories", min=2, help="Trajectories of each case.")] = 10_000,
    seed: Annotated[int, _SEED] = 1,
    method: Annotated[str, _METHOD] = "auto",
    threads: Annotated[int, _THREADS] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the stochastic cases of the SBML Test Suite against their published means and deviations.

    Unsupported cases are listed with the feature; exit code 0 if every supported case passes, else 1.
    """
    from tocsin.models.reactions.dsmts import find_cases, read_case, run_case

    outcomes = [run_case(read_case(path), trajectories, seed, method, threads) for path in find_cases(folder)]
    typer.echo(json.dumps([_facts(o) for o in outcomes], indent=2) if as_json else _page(outcomes))
    ran = [o for o in outcomes if not o.refused]
    if not ran or not all(o.passed for o in ran):
        raise typer.Exit(FAILED)


def _facts(outcome: Outcome) -> dict[str, Any]:
    found = [
        {"column": c.label, "worst": c.worst, "outside": c.n_outside, "points": c.n_points} for c in outcome.columns
    ]
    return {"case": outcome.case, "passed": outcome.passed, "unsupported": outcome.refused, "columns": found}


def _page(outcomes: list[Outcome]) -> str:
    rows = [("case", "column", "worst Z or Y", "outside", "")]
    for outcome in outcomes:
        for c in outcome.columns:
            verdict = "passed" if c.passed else "FAILED"
            rows.append((outcome.case, c.label, f"{c.worst:.2f}", f"{c.n_outside} of {c.n_points}", verdict))
    refused = [f"{o.case}: not supported: {o.refused}" for o in outcomes if o.refused]
    n_passed, n_ran = sum(o.passed for o in outcomes), len(outcomes) - len(refused)
    last = f"{n_passed} of {n_ran} supported cases passed; {len(refused)} not supported"
    return "\n".join([columns(rows, numeric=(2, 3)), *refused, last])
