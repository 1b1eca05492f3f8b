"""Answers: two designs by pairs of runs with the same draws, one parameter at a time, and grids with targets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tocsin.errors import InputError
from tocsin.kernel import uniforms
from tocsin.models.economy.result import MONEY, sells
from tocsin.models.economy.run import Source, load, run
from tocsin.models.economy.shards import check_count
from tocsin.schema._annotations import nearest
from tocsin.stats import Difference, Interval, holm, interval, paired, verdict

Target = tuple[float, float]
MOST_POINTS = 10_000


def seeds_of(base: int, n: int) -> list[int]:
    """Return the seeds of n replicates: of another base others, so that two experiments share none."""
    if isinstance(base, bool) or not isinstance(base, int) or not 0 <= base < 1 << 64:
        raise InputError(f"seed must be in 0..2**64-1, got {base!r}")
    return [int(u * 2.0**53) for u in uniforms(base, n, 7).tolist()]


@dataclass(frozen=True)
class Answer:
    """What two designs differ in, for one metric.

    Attributes
    ----------
    metric : its name
    difference : B minus A, with intervals
    adjusted : probability of such a difference by chance, with all compared metrics in mind (Holm)
    note : 'cannot show' if the metric stands at a bound or never differs
    a_verdict, b_verdict : against the target, '' without one
    """

    metric: str
    difference: Difference
    adjusted: float
    note: str
    a_verdict: str
    b_verdict: str

    @property
    def saying(self) -> str:
        """'B higher', 'A higher', 'no difference seen' or 'no effect at all', with all metrics in mind."""
        said = self.difference.saying
        return "no difference seen" if said.endswith("higher") and self.adjusted > 0.05 else said


def replicates(
    source: Source,
    n: int,
    players: int,
    days: int,
    seed: int,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> list[dict[str, float]]:
    """Return the summaries of n runs; run k of any design with one `seed` is one half of pair k."""
    check_count("replicates", n, 10_000)
    design = load(source, changes)
    return [run(design, players, days, one, threads=threads).summary() for one in seeds_of(seed, n)]


def compare(
    a: Source, b: Source | None = None, *, changes: Mapping[str, Any] | None = None, metrics: Sequence[str] = (),
    targets: Mapping[str, Target] | None = None, n: int = 12, players: int = 1000, days: int = 14, seed: int = 0,
    threads: int | None = None, confidence: float = 0.95,
) -> list[Answer]:  # fmt: skip
    """Compare design B, or A with `changes`, to design A, pair by pair.

    Parameters
    ----------
    metrics : names in `summary()`; by default all that one of the designs can have
    targets : (least, most) by metric
    n : pairs, at least 2
    players, days, seed, threads, confidence : of each run and of the intervals

    Raises InputError.
    """
    if n < 2:
        raise InputError(f"pairs must be >= 2, got {n}: one pair says nothing of noise")
    if b is None and not changes:
        raise InputError("give a second design, or changes of the first")
    ones = replicates(a, n, players, days, seed, threads=threads)
    twos = replicates(a if b is None else b, n, players, days, seed, changes, threads)
    shared = [name for name in ones[0] if all(name in row for row in (*ones, *twos))]
    has_prices = sells(load(a)) or sells(load(a if b is None else b, changes))
    chosen = ([metrics] if isinstance(metrics, str) else list(metrics)) or [
        name for name in shared if has_prices or name not in MONEY
    ]
    goals = dict(targets or {})
    for name in (*chosen, *goals):
        if name not in shared:
            raise InputError(
                f"there is no metric {name!r} in both designs.{nearest(name, shared)} There are: {', '.join(shared)}"
            )
    found = [paired([float(r[m]) for r in ones], [float(r[m]) for r in twos], confidence) for m in chosen]
    adjusted = holm([d.probability for d in found])
    return [
        Answer(m, d, p, _note(m, d), *(verdict(side, *goals[m]) if m in goals else "" for side in (d.a, d.b)))
        for m, d, p in zip(chosen, found, adjusted, strict=True)
    ]


def _note(metric: str, difference: Difference) -> str:
    is_share = metric.startswith(("retention_", "share_", "win_rate", "payer_share"))
    sides = (difference.a.mean, difference.b.mean)
    if difference.n_tied == difference.difference.n:
        at = " and stands at its bound" if is_share and sides[0] in (0.0, 1.0) else ""
        return f"cannot show: every pair is equal{at}; the change does not reach this metric"
    if is_share and (min(sides) > 0.98 or max(sides) < 0.02):
        return "near its bound: little can show here"
    return ""


@dataclass(frozen=True)
class Elasticity:
    """Percent of change in a metric for one percent of a parameter, from paired runs either side."""

    path: str
    metric: str
    elasticity: Interval
    is_significant: bool


def sensitivity(
    source: Source, paths: Sequence[str], metrics: Sequence[str], *, step: float = 0.05, n: int = 8, players: int = 1000,
    days: int = 14, seed: int = 0, threads: int | None = None,
) -> list[Elasticity]:  # fmt: skip
    """Return elasticities by central differences, one parameter at a time, all others where the design has them.

    Every pair shares its draws, and the interval is of the paired differences. Raises InputError.
    """
    if n < 2 or not 0.0 < step < 1.0:
        raise InputError(f"n must be >= 2 and step in (0, 1), got {n!r} and {step!r}")
    base = replicates(source, n, players, days, seed, threads=threads)
    for metric in metrics:
        _check_metric(metric, base)
    found = []
    for path in paths:
        value = value_at(source, path)
        sides = [
            replicates(source, n, players, days, seed, {path: _like(value, value * f)}, threads)
            for f in (1 - step, 1 + step)
        ]
        actual = (_like(value, value * (1 + step)) - _like(value, value * (1 - step))) / value
        for metric in metrics:
            _check_metric(metric, [*sides[0], *sides[1]])
            middle = math.fsum(float(row[metric]) for row in base) / n
            if middle == 0.0 or actual == 0.0:
                continue
            slopes = [(float(u[metric]) - float(d[metric])) / (actual * middle) for d, u in zip(*sides, strict=True)]
            one = interval(slopes)
            found.append(Elasticity(path, metric, one, one.low > 0.0 or one.high < 0.0))
    return found


def _check_metric(metric: str, rows: Sequence[Mapping[str, float]]) -> None:
    """Raise InputError unless every run has a metric: a price without a sale is none."""
    known = [name for name in rows[0] if all(name in row for row in rows)]
    if metric not in known:
        raise InputError(
            f"there is no metric {metric!r} in every run.{nearest(metric, known)} There are: {', '.join(known)}"
        )


def value_at(source: Source, path: str) -> float:
    """Return the number at a path of a design. Raises InputError if there is none, or if it is 0."""
    place: Any = load(source).model_dump(mode="python", by_alias=True)
    for part in path.split("."):
        known = (
            list(place)
            if isinstance(place, dict)
            else [str(k) for k in range(len(place))]
            if isinstance(place, tuple)
            else []
        )
        if part not in known:
            raise InputError(f"{path}: there is no {part!r}.{nearest(part, known)}")
        place = place[part] if isinstance(place, dict) else place[int(part)]
    if isinstance(place, bool) or not isinstance(place, (int, float)) or place == 0:
        raise InputError(f"{path}: must be a number other than 0, got {place!r}")
    return place


def _like(old: float, new: float) -> float:
    return round(new) if isinstance(old, int) else new


@dataclass(frozen=True)
class Point:
    """One point of a grid: its values by path, intervals and verdicts by metric, or the error of its design."""

    values: dict[str, Any]
    intervals: dict[str, Interval]
    verdicts: dict[str, str]
    error: str = ""

    @property
    def is_feasible(self) -> bool:
        """Whether every target is met."""
        return not self.error and all(v == "PASS" for v in self.verdicts.values())


def point_of(
    values: dict[str, Any], found: Mapping[str, Sequence[float]], targets: Mapping[str, Target], error: str = ""
) -> Point:
    """Return a point from the replicates of each metric; one whose design cannot run has its error and nothing else."""
    if error:
        return Point(values, {}, {}, error)
    for metric, given in found.items():
        if not given:
            return Point(values, {}, {}, f"no run has the metric {metric}")
    intervals = {m: interval(given) for m, given in found.items()}
    return Point(values, intervals, {m: verdict(i, *targets[m]) for m, i in intervals.items()})


def recommend(points: Sequence[Point], baseline: Mapping[str, Any] | None = None) -> dict[str, tuple[Any, Any]]:
    """Return, by path, the ends of a box of grid points that all meet every target, grown from the best one.

    It starts at the feasible point nearest to `baseline` (the middle of the grid by default, in steps of the grid) and
    takes in a whole neighbouring layer of any axis while all its points are feasible. Empty if no point is feasible.
    Numbers of an axis are in order of size; formulas and lists in the order of the grid.
    """
    if not points:
        return {}
    axes = {path: _axis([p.values[path] for p in points]) for path in points[0].values}
    places = {tuple(axes[k].index(p.values[k]) for k in axes): p for p in points}
    good = {place for place, p in places.items() if p.is_feasible}
    if not good:
        return {}
    home = [_nearest_place(axis, (baseline or {}).get(path)) for path, axis in axes.items()]
    start = min(good, key=lambda place: (sum((a - b) ** 2 for a, b in zip(place, home, strict=True)), place))
    low, high = list(start), list(start)
    is_growing = True
    while is_growing:
        is_growing = False
        for k, side in itertools.product(range(len(low)), (-1, 1)):
            edge = (low[k] if side < 0 else high[k]) + side
            ranges = [range(a, b + 1) for a, b in zip(low, high, strict=True)]
            ranges[k] = range(edge, edge + 1)
            if all(place in good for place in itertools.product(*ranges)):
                low[k], high[k] = min(low[k], edge), max(high[k], edge)
                is_growing = True
    return {path: (axis[low[k]], axis[high[k]]) for k, (path, axis) in enumerate(axes.items())}


def _axis(values: list[Any]) -> list[Any]:
    """Return the values of an axis, each once."""
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return sorted(found) if all(map(_is_number, found)) else found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _nearest_place(axis: list[Any], value: Any) -> int:
    if _is_number(value) and all(map(_is_number, axis)):
        return min(range(len(axis)), key=lambda k: abs(axis[k] - value))
    return axis.index(value) if value in axis else len(axis) // 2
