"""`tocsin run`: run a scenario."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._errors import INTERRUPTED, complain, exit_code, explained
from tocsin.cli._progress import shown, telling
from tocsin.cli._text import columns, number
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.scenario import Scenario

_NUMBERS = ("value", "mean", "variance", "low", "high")


@explained
def run(
    scenario: Annotated[Path, typer.Argument(help="A scenario file (TOML).", show_default=False)],
    seed: Annotated[int | None, typer.Option(help="As --set run.seed=...", show_default=False)] = None,
    until: Annotated[float | None, typer.Option(help="As --set run.until=...", show_default=False)] = None,
    events: Annotated[int | None, typer.Option(help="As --set run.events=...", show_default=False)] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set any key, as in params.rates.step=2. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="out/<scenario name>")
    ] = None,
    checkpoint: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Save the run every so often, to be resumed.", show_default=False),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint, if there is one.")] = False,
    save: Annotated[Path | None, typer.Option(help="Save the state at the end to a file.", show_default=False)] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the model's picture: plot.png.")] = False,
    gif: Annotated[bool, typer.Option("--gif", help="Write a film of the run: film.gif.")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="Write a film of the run: film.mp4.")] = False,
    progress: Annotated[
        bool | None,
        typer.Option("--progress/--no-progress", help="Show progress.", show_default="if stderr is a terminal"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a scenario; write its recordings and summary.json, and print a summary."""
    from tocsin.scenario import execute, load_scenario, prepare_folder, summarise, write_summary

    loaded = load_scenario(scenario, _overrides(set_ or [], seed, until, events))
    folder = out or Path("out") / loaded.name
    if plot:
        _check_plot(loaded)
    films = [kind for kind, is_wanted in (("gif", gif), ("mp4", mp4)) if is_wanted]
    if films:
        _check_film(loaded, mp4)
    if save is not None:
        _check_place(save)
    prepare_folder(folder)
    with telling(progress), shown(progress, loaded.run.until, loaded.run.events) as show:
        seconds = None if checkpoint is None else 60.0 * checkpoint
        outcome = execute(loaded, folder, progress=show, plot=plot, films=films, checkpoint=seconds, resume=resume)
    summary = summarise(loaded, outcome)
    path = write_summary(folder, summary)
    if save is not None and outcome.error is None:
        outcome.simulation.save(save)
    outcome.finish()
    typer.echo(json.dumps(summary, indent=2) if as_json else _table(summary, path))
    if outcome.error is not None:
        complain(f"{str(outcome.error).rstrip('.')}. What was done until then is in {folder}.")
        raise typer.Exit(exit_code(outcome.error))
    if outcome.stopped == "interrupted":
        complain(f"interrupted at t={outcome.simulation.now:g}; what was done is in {folder}")
        raise typer.Exit(INTERRUPTED)


def _overrides(
    texts: list[str], seed: int | None, until: float | None, events: int | None
) -> list[tuple[tuple[str, ...], Any]]:
    from tocsin.scenario import parse_override

    flags = {"seed": seed, "until": until, "events": events}
    named = [(("run", name), value) for name, value in flags.items() if value is not None]
    return [*map(parse_override, texts), *named]


def _check_place(path: Path) -> None:
    """Refuse before the run a place where nothing can be written after it."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"--save {str(path)!r} must be a file in a folder that exists")


def _check_plot(scenario: Scenario) -> None:
    preset = scenario.preset
    if preset.plot is None:
        raise InputError(f"the model {preset.name!r} draws no picture; leave --plot out")
    if find_spec("matplotlib") is None:
        raise InputError("--plot needs Matplotlib, which is not installed; run: pip install 'tocsin[plot]'")


def _check_film(scenario: Scenario, is_mp4: bool) -> None:
    preset = scenario.preset
    if preset.film is None:
        raise InputError(f"the model {preset.name!r} has no film; leave --gif and --mp4 out")
    if find_spec("matplotlib") is None or (is_mp4 and find_spec("imageio_ffmpeg") is None):
        raise InputError("a film needs Matplotlib, and --mp4 imageio-ffmpeg; run: pip install 'tocsin[film]'")


def _table(summary: dict[str, Any], path: Path) -> str:
    speed = f"{number(summary['events_per_cpu_second'])}/s of CPU time"
    rows = [
        ("model", summary["model"]),
        ("seed", str(summary["seed"])),
        ("time", f"{number(summary['time'])} ({summary['stopped'].replace('_', ' ')})"),
        ("events", f"{number(summary['n_events'])} ({speed})"),
        *((f"  {name}", number(n)) for name, n in summary["events_by_action"].items()),
        *((name, number(value)) for name, value in summary["summary"].items()),
    ]
    parts = [columns(rows), _observables(summary["observables"]), _written(summary["files"], path)]
    return "\n\n".join(part for part in parts if part)


def _observables(found: dict[str, Any]) -> str:
    if not found:
        return ""
    rows = [(name, *(number(seen[n]) for n in _NUMBERS)) for name, seen in found.items()]
    return columns([("observable", *_NUMBERS), *rows], numeric=range(1, 1 + len(_NUMBERS)))


def _written(files: dict[str, int | None], path: Path) -> str:
    rows = [(str(path.parent / name), "" if n is None else f"{n:,} rows") for name, n in files.items()]
    return columns([*rows, (str(path), "")])
