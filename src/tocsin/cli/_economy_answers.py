"""`tocsin economy sweep`, `sensitivity` and `recommend`: answers about a design, from experiments that are kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._economy import app, changes_of, target_of, told, write_files
from tocsin.cli._errors import FAILED, complain
from tocsin.cli._experiment import Executor, Resume, ShowProgress, Workers, going_on, shown
from tocsin.cli._progress import telling
from tocsin.cli._text import columns, number
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.models.economy.compare import Point

__all__ = ["app"]
Design = Annotated[str, typer.Argument(help="A design (.toml, .yaml, .json), or package:NAME.", show_default=False)]
Axes = Annotated[
    list[str],
    typer.Option("--axis", metavar="PATH=VALUES", help="PATH=1,2,3, or PATH=LOW:HIGH:HOW_MANY. Repeatable."),
]
Ranges = Annotated[
    list[str], typer.Option("--axis", metavar="PATH[=LOW:HIGH]", help="PATH, or PATH=LOW:HIGH. Repeatable.")
]
Targets = Annotated[list[str], typer.Option("--target", metavar="METRIC=LEAST:MOST", help="Repeatable.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Change a value. Repeatable.")]
Players = Annotated[int, typer.Option(min=1, help="Players of one run.")]
Days = Annotated[int, typer.Option(min=1, help="Days of one run.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the experiment.")]
Out = Annotated[Path, typer.Option(help="Folder of the experiment: every run, and answers.html.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("sweep")
@told
def sweep(
    design: Design,
    axis: Axes,
    target: Targets,
    set_: Set = None,
    replicates: Annotated[int, typer.Option(min=1, help="Runs of each point; all points share their draws.")] = 5,
    players: Players = 1000,
    days: Days = 14,
    seed: Seed = 0,
    out: Out = Path("out/economy-sweep"),
    executor: Executor = "threads",
    workers: Workers = None,
    resume: Resume = False,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    """Run a grid of a design's values, and say of each point whether it meets the targets."""
    from tocsin.experiment import Sweep
    from tocsin.models.economy.grid import path_of, points_of, scenario_of

    axes = {path_of(path): values for path, values in map(_values, axis)}
    goals = dict(map(target_of, target))
    with going_on(out), telling(progress), shown(progress, False) as show:
        found = Sweep.of(
            scenario_of(design, players, days, changes_of(set_, None)), axes, replicates=replicates, seed=seed
        ).run(out, executor=executor, workers=workers, resume=resume, progress=show)
    points = points_of(found, goals)
    _answer(out, points, {"design": design, "players": players, "days": days, "replicates": replicates}, as_json)
    bad = next((p for p in points if p.error), None)
    if bad is not None:
        complain(
            f"{sum(1 for p in points if p.error)} of {len(points)} points have no result, such as {bad.values}: {bad.error}"
        )
        raise typer.Exit(FAILED)


@app.command("recommend")
@told
def recommend(
    folder: Annotated[Path, typer.Argument(help="Folder of `tocsin economy sweep`.", show_default=False)],
    target: Targets,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", metavar="PATH=VALUE", help="Where to start. Repeatable.", show_default="the design"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find a region of a sweep, over all its axes, where every point meets every target. Nothing runs again."""
    from tocsin.experiment import Results
    from tocsin.models.economy.grid import points_of

    points = points_of(Results.load(folder), dict(map(target_of, target)))
    _answer(folder, points, {"sweep": str(folder)}, as_json, _baseline(folder, baseline))


@app.command("sensitivity")
@told
def sensitivity(
    design: Design,
    axis: Ranges,
    metric: Annotated[list[str], typer.Option("--metric", metavar="METRIC", help="Repeatable.")],
    method: Annotated[str, typer.Option(help="local (elasticities), morris (a screening) or sobol.")] = "local",
    n: Annotated[int, typer.Option(min=2, help="Trajectories of morris; base sample of sobol, a power of two.")] = 16,
    set_: Set = None,
    replicates: Annotated[int, typer.Option(min=1, help="Runs of each point; all points share their draws.")] = 8,
    players: Players = 1000,
    days: Days = 14,
    seed: Seed = 0,
    out: Out = Path("out/economy-sensitivity"),
    executor: Executor = "threads",
    workers: Workers = None,
    resume: Resume = False,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    """Print how much metrics depend on values of a design: at its own values, or over ranges."""
    from tocsin.experiment import sensitivity_of
    from tocsin.models.economy.grid import path_in_design, path_of, scenario_of

    axes = {path_of(path): _range(design, set_, path, text, method) for path, text in map(_parts, axis)}
    with going_on(out), telling(progress), shown(progress, False) as show:
        found = sensitivity_of(
            scenario_of(design, players, days, changes_of(set_, None)), axes, metric, out, method=method, n=n, replicates=replicates,
            seed=seed, executor=executor, workers=workers, resume=resume, progress=show,
        )  # fmt: skip
    rows = [
        {"metric": m, **i._asdict(), "path": path_in_design(i.path)} for m, own in found.indices.items() for i in own
    ]
    if as_json:
        typer.echo(json.dumps([{k: None if v != v else v for k, v in row.items()} for row in rows]))
        return
    heads = {"local": ("elasticity", "±"), "morris": ("effect", "±", "spread"), "sobol": ("alone", "±", "in all", "±")}[
        method
    ]
    keys = ("first", "first_half_width", "total", "total_half_width")[: len(heads)]
    lines = [(row["metric"], row["path"], *(number(float(f"{row[k]:.3g}")) for k in keys)) for row in rows]
    typer.echo(columns([("metric", "path", *heads), *lines], numeric=range(2, 2 + len(heads))))


def _answer(out: Path, points: Sequence[Point], facts: dict[str, Any], as_json: bool,
            baseline: Mapping[str, Any] | None = None) -> None:  # fmt: skip
    """Print points and the region that is recommended, and write them as a page and a table."""
    from tocsin.models.economy.compare import recommend as recommended
    from tocsin.models.economy.report import grid_page
    from tocsin.models.economy.sheet import write_rows

    rows = [
        {**p.values, **{f"{m} {k}": v for m, i in p.intervals.items() for k, v in (("mean", i.mean), ("low", i.low), ("high", i.high))},
         **{f"{m} verdict": v for m, v in p.verdicts.items()}, "error": p.error}
        for p in points
    ]  # fmt: skip
    box = recommended([p for p in points if not p.error], baseline)
    region = [{"path": path, "from": low, "to": high} for path, (low, high) in box.items()]
    facts |= {"points": len(points), "meet every target": sum(p.is_feasible for p in points)}
    write_files(out, {"answers.html": grid_page("Sweep", facts, points, region), "points.csv": write_rows(rows)})
    if as_json:
        typer.echo(
            json.dumps(
                {
                    **facts,
                    "region": region,
                    "rows": [{k: None if v in (math.inf, -math.inf) else v for k, v in row.items()} for row in rows],
                }
            )
        )
        return
    lines = [
        (*map(number, p.values.values()), *(f"{i.mean:.4g} [{i.low:.4g}, {i.high:.4g}]" for i in p.intervals.values()),
         " ".join(p.verdicts.values()) or "error") for p in points[:40]
    ]  # fmt: skip
    metrics = next((list(p.intervals) for p in points if p.intervals), [])
    typer.echo(
        columns(
            [
                (*points[0].values, *metrics, "verdicts"),
                *(row for row in lines if len(row) == len(points[0].values) + len(metrics) + 1),
            ],
            numeric=(),
        )
    )
    typer.echo(
        f"\n{facts['meet every target']} of {len(points)} points meet every target; {out / 'answers.html'} shows them"
    )
    typer.echo(columns([("recommended", "from", "to"), *((r["path"], number(r["from"]), number(r["to"])) for r in region)], numeric=(1, 2))
               if region else "no point meets every target: nothing to recommend")  # fmt: skip


def _baseline(folder: Path, given: list[str] | None) -> dict[str, Any]:
    """Return where to start: what is given, or the design's own values of the axes, where they are numbers."""
    from tocsin.experiment._paths import parse_path
    from tocsin.experiment._store import Store
    from tocsin.models.economy.grid import path_in_design

    place = Store(folder).manifest().get("scenario", {})
    found: dict[str, Any] = {}
    for path in Store(folder).manifest().get("sweep", {}).get("axes", {}):
        value = place
        for part in parse_path(path):
            is_there = (
                part in value
                if isinstance(value, dict)
                else isinstance(part, int) and isinstance(value, list) and part < len(value)
            )
            value = value[part] if is_there else None
        if isinstance(value, (int, float)):
            found[path_in_design(path)] = value
    return found | changes_of(given, None)


def _parts(text: str) -> tuple[str, str]:
    path, _, values = text.partition("=")
    if not path.strip():
        raise InputError(f"--axis must begin with a path, as in resources.energy.per_hour, got {text!r}")
    return path.strip(), values.strip()


def _values(text: str) -> tuple[str, list[Any]]:
    """Read PATH=1,2,3 or PATH=LOW:HIGH:HOW_MANY."""
    from tocsin.models.economy.sheet import number_or_text

    path, values = _parts(text)
    ends = values.split(":")
    try:
        if len(ends) == 3 and 2 <= (n := int(ends[2])) <= 1000:
            low, high = float(ends[0]), float(ends[1])
            found = [low + (high - low) * k / (n - 1) for k in range(n)]
            return path, [int(v) if v.is_integer() else v for v in found]
    except ValueError:
        pass
    if not values or len(ends) > 1:
        raise InputError(f"--axis must read PATH=1,2,3 or PATH=LOW:HIGH:HOW_MANY with 2 to 1000, got {text!r}")
    return path, [number_or_text(value.strip()) for value in values.split(",")]


def _range(design: str, set_: list[str] | None, path: str, text: str, method: str) -> Any:
    """Return an axis of a sensitivity: a range, or the design's own value for elasticities."""
    from tocsin.models.economy import load
    from tocsin.models.economy.compare import value_at

    if not text:
        if method != "local":
            raise InputError(f"--axis {path}: method {method} needs a range: {path}=LOW:HIGH")
        return [value_at(load(design, changes_of(set_, None)), path)]
    low, sign, high = text.partition(":")
    try:
        if sign:
            return {
                "range": [float(low), float(high)],
                "integer": _is_whole(load(design, changes_of(set_, None)), path),
            }
        return [float(low)]
    except ValueError:
        raise InputError(f"--axis must read PATH or PATH=LOW:HIGH, got {path}={text}") from None


def _is_whole(design: Any, path: str) -> bool:
    """Whether a design has a whole number at a path, and so may have no other."""
    from tocsin.models.economy.compare import value_at

    try:
        return isinstance(value_at(design, path), int)
    except InputError:
        return False
