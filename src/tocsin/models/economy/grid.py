"""Grids of designs with targets: a sweep of the experiment layer, asked and answered in the words of a design."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.models.economy.compare import MOST_POINTS, Point, Target, point_of
from tocsin.models.economy.run import Source, load
from tocsin.models.economy.shards import check_count
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from tocsin.experiment import Results

HEAD = "init.design."
"""Where a design stands in a scenario."""


def sweep(
    source: Source, axes: Mapping[str, Sequence[Any]], targets: Mapping[str, Target], *, n: int = 5, players: int = 1000,
    days: int = 14, seed: int = 0, threads: int | None = None, out: str | Path | None = None, resume: bool = False,
    executor: Any = "threads",
) -> list[Point]:  # fmt: skip
    """Return every point of a grid with verdicts on the targets; a bad design is a point with an error.

    It is the same experiment as that of `tocsin economy sweep`: the same seed gives the same numbers, kept or not.

    Parameters
    ----------
    axes : values by path in the design, such as {"activities.dig.gain.gold": [5, 10, 20]}
    targets : (least, most) by metric
    n : runs of each point; run k of all points draws the same numbers
    players, days, seed : of each run, and of the experiment
    threads : how many workers; by default one a core
    out : folder that keeps every run, readable by `experiment.Results.load`; None keeps nothing
    resume : go on with what is in `out`; runs that are there are not made again
    executor : as in `experiment.run_sweep`

    Raises InputError, ExecutorError and OutputError.
    """
    from tocsin.experiment import Sweep

    size = math.prod(len(values) for values in axes.values())
    if not axes or not 1 <= size <= MOST_POINTS:
        raise InputError(f"a grid must have 1..{MOST_POINTS:,} points, got {size if axes else 0:,}")
    check_count("replicates", n, 10_000)
    if resume and out is None:
        raise InputError("resume goes on with what a folder has; say which with out=...")
    places = {path_of(path): list(values) for path, values in axes.items()}
    asked = Sweep.of(scenario_of(source, players, days), places, replicates=n, seed=seed)
    found = points_of(asked.run(out, executor=executor, workers=threads, resume=resume), targets)
    values = itertools.product(*axes.values())  # as they were given: a table has one type a column
    return [replace(p, values=dict(zip(axes, at, strict=True))) for p, at in zip(found, values, strict=True)]


def points_of(results: Results, targets: Mapping[str, Target]) -> list[Point]:
    """Return the points of a sweep with intervals and verdicts. Raises InputError for an unknown metric."""
    has_any = len(results.failures()) < len(results)
    for metric in targets:
        if has_any and metric not in results.metrics:
            raise InputError(
                f"there is no metric {metric!r}.{nearest(metric, results.metrics)} There are: {', '.join(results.metrics)}"
            )
    errors = {row["candidate"]: row["error"] for row in results.failures().to_pylist()}
    paths = [path_in_design(path) for path in results.axes]
    return [
        point_of(
            dict(zip(paths, values, strict=True)),
            {} if c in errors else {m: results.of(c, m).tolist() for m in targets},
            targets,
            errors.get(c, ""),
        )
        for c, values in results.candidate_values().items()
    ]


def scenario_of(source: Source, players: int, days: int, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the scenario that runs a design, with its defaults written out, so that axes reach into them."""
    check_count("players", players, 1_000_000)
    check_count("days", days, 1000)
    values = load(source, changes).model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "model": "economy", "init": {"design": values, "players": players, "days": days}, "run": {"until": float(days)},
    }  # fmt: skip


def path_of(path: str) -> str:
    """Return the path in a scenario of a path in a design: loot.box.classes.0.rate has a number in brackets there."""
    parts = [f"[{part}]" if part.isdecimal() else f".{part}" for part in path.split(".")]
    return f"{HEAD}{''.join(parts).removeprefix('.')}"


def path_in_design(path: str) -> str:
    """Return the path in a design of a path in a scenario: the other way round."""
    return path.removeprefix(HEAD).replace("[", ".").replace("]", "")
