"""Optimise: the parameters with the best mean of a metric, or the best trade-offs of several.

A noisy best of many is mostly a lucky one. So the search compares candidates by paired runs (common random
numbers), and its best, the finalists, run again with seeds that the search has not seen: their estimates and
intervals are of those runs alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.experiment._axes import Axis
from tocsin.experiment._goals import Constraint, Goal, parse_constraint, parse_goal
from tocsin.experiment._intervals import Interval, mean_interval
from tocsin.experiment._results import Results
from tocsin.experiment._samplers import Asker, Told
from tocsin.experiment._subject import Given, read_subject
from tocsin.experiment._trials import Place, Trials
from tocsin.scenario._tables import Table
from tocsin.scenario._toml import Override


class OptimiseTable(Table):
    """`[optimise]`: what is looked for, and how."""

    goals: str | list[str] = Field(description="'maximise METRIC' or 'minimise METRIC'; several give trade-offs")
    constraints: str | list[str] = Field([], description="'METRIC <= 0.2', 'METRIC >= 3' or 'METRIC = 200 ±5%'")
    sampler: Literal["tpe", "nsga2", "cmaes", "random"] = Field("tpe", description="how candidates are chosen")
    trials: int = Field(100, ge=1, description="candidates that are tried")
    batch: int = Field(10, ge=1, description="candidates that are chosen at a time; the population of nsga2 and cmaes")
    replicates: int = Field(4, ge=1, description="runs of each candidate, with the same seeds for all")
    finalists: int = Field(5, ge=1, description="candidates that run again at the end")
    confirm: int = Field(20, ge=2, description="runs of each finalist, with seeds of their own")
    confidence: float = Field(0.95, gt=0, lt=1, description="of the finalists' intervals, all together")
    seed: int = Field(0, ge=0, le=(1 << 64) - 1, description="of the search and of all runs")
    axes: dict[str, Any] = Field({}, description="by path: {range = [low, high], log, integer}, or a list of choices")

    @model_validator(mode="after")
    def _holds_together(self) -> OptimiseTable:
        if not self.goals:
            raise ValueError("goals is empty: say what to maximise or to minimise")
        if self.sampler == "cmaes" and isinstance(self.goals, list) and len(self.goals) > 1:
            raise ValueError("cmaes takes one goal; take sampler = 'tpe' or 'nsga2'")
        if self.sampler == "cmaes" and self.batch < 2:
            raise ValueError(f"batch is the population of cmaes, and must be >= 2, got {self.batch}")
        return self


class Finalist(NamedTuple):
    """A candidate that was run again."""

    candidate: int
    values: dict[str, Any]
    """Of the axes, by path."""
    metrics: dict[str, Interval]
    """Of goals and constraints, from the runs with fresh seeds."""
    is_feasible: bool
    """Whether the means keep all constraints."""


_Means = Mapping[int, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a search has found."""

    finalists: tuple[Finalist, ...]
    """The best first; of several goals, those that no other finalist beats in all, in order of the first goal."""
    goals: tuple[Goal, ...]
    constraints: tuple[Constraint, ...]
    results: Results
    """All runs."""

    @property
    def best(self) -> Finalist:
        """The first finalist."""
        return self.finalists[0]


def optimise(
    scenario: Given,
    axes: Mapping[str, Any] | None = None,
    goals: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    overrides: Sequence[Override] = (),
    **options: Any,
) -> Optimum:
    """Look for the best values of some keys of a scenario.

    Parameters
    ----------
    scenario : a file, which may have a table [optimise], or nested plain values
    axes : by path: ranges such as {"range": [0.1, 10], "log": True}, or lists of choices
    goals : 'maximise METRIC', 'minimise METRIC', or several of them
    out : folder of the store; None keeps the results in memory only
    overrides : other values of the file's keys, as pairs (path, value)
    options : the other keys of [optimise] (sampler, trials, replicates, constraints, ...), and executor, workers,
        resume and progress as in `run_sweep`

    Raises InputError, also if no candidate keeps the constraints or all fail.
    """
    place, given = Place.taken(out, options)
    given |= {"axes": axes} if axes is not None else {}
    given |= {"goals": goals if isinstance(goals, str) else list(goals)} if goals is not None else {}
    subject, table = read_subject(scenario, "optimise", OptimiseTable, given, overrides)
    found = _checked(subject.axes(table.axes), table, subject.where)
    search = _Search(table, found, subject.where)
    decisive = table.model_dump(include={"goals", "constraints", "sampler", "batch", "replicates", "axes"})
    total = table.trials * table.replicates + table.finalists * table.confirm
    with Trials(
        "optimise", subject, [axis.path for axis in found], decisive,
        seed=table.seed, paired=True, total=total, place=place,
    ) as trials:  # fmt: skip
        return search.run(trials)


def _checked(axes: tuple[Axis, ...], table: OptimiseTable, where: str) -> tuple[Axis, ...]:
    if not axes:
        raise InputError(f"{where}: there is no axis; give one, as in params.rates.step = {{ range = [0.5, 2.0] }}")
    for axis in axes:
        if axis.formula is not None:
            raise InputError(f"{where}: {axis.path} is a formula; a search needs ranges and lists of choices")
    if table.sampler == "cmaes" and (len(axes) < 2 or not all(axis.is_range for axis in axes)):
        raise InputError(f"{where}: cmaes needs at least two axes, and ranges only; take sampler = 'tpe'")
    return axes


class _Search:
    """Ask, run, tell; then the finalists."""

    def __init__(self, table: OptimiseTable, axes: Sequence[Axis], where: str) -> None:
        self._table, self._axes = table, axes
        place = where.replace("optimise.axes", "optimise")
        self.goals = tuple(parse_goal(text, place) for text in _listed(table.goals))
        self.constraints = tuple(parse_constraint(text, place) for text in _listed(table.constraints))
        named = [*(goal.metric for goal in self.goals), *(one.metric for one in self.constraints)]
        self.metrics = list(dict.fromkeys(named))
        self._means: dict[int, dict[str, float]] = {}

    def run(self, trials: Trials) -> Optimum:
        """Make all runs. Raises InputError if there is nothing to choose from."""
        t = self._table
        asker = Asker(t.sampler, self._axes, self.goals, t.batch, t.seed)
        error = None
        for first in range(0, t.trials, t.batch):
            asked, points = asker.ask(min(t.batch, t.trials - first))
            told = []
            for trial, candidate in zip(asked, trials.run(points, t.replicates), strict=True):
                means = self._mean(trials, candidate, 0, t.replicates)
                if any(map(math.isnan, means.values())):
                    error = error or trials.why(candidate, self.metrics, t.replicates)
                    told.append(Told(trial, None))
                    continue
                self._means[candidate] = means
                told.append(Told(trial, [means[goal.metric] for goal in self.goals], self._violations(means)))
            asker.tell(told)
        if not self._means:
            raise InputError(f"all {t.trials} candidates failed, such as: {error}")
        chosen = self._chosen(self._means)
        trials.more(chosen, t.replicates, t.replicates + t.confirm)
        finalists = self._finalists(trials, chosen)
        outcome = {
            "goals": [str(goal) for goal in self.goals], "constraints": [one.text for one in self.constraints],
            "finalists": [_plain(finalist) for finalist in finalists],
        }  # fmt: skip
        return Optimum(finalists, self.goals, self.constraints, trials.finish(outcome))

    def _mean(self, trials: Trials, candidate: int, first: int, stop: int) -> dict[str, float]:
        return {metric: float(trials.values(metric, candidate, first, stop).mean()) for metric in self.metrics}

    def _violations(self, means: Mapping[str, float]) -> list[float]:
        return [one.violation(means[one.metric]) for one in self.constraints]

    def _finalists(self, trials: Trials, chosen: Sequence[int]) -> tuple[Finalist, ...]:
        t, paths = self._table, [axis.path for axis in self._axes]
        level = 1.0 - (1.0 - t.confidence) / (len(chosen) * len(self.metrics))
        found: dict[int, Finalist] = {}
        for candidate in chosen:
            values = {m: trials.values(m, candidate, t.replicates, t.replicates + t.confirm) for m in self.metrics}
            seen = {m: mean_interval(v, level) for m, v in values.items()}
            is_kept = max(self._violations({m: i.estimate for m, i in seen.items()}), default=0.0) <= 0.0
            point = dict(zip(paths, trials.point(candidate), strict=True))
            found[candidate] = Finalist(candidate, point, seen, is_kept)
        means = {c: {m: i.estimate for m, i in f.metrics.items()} for c, f in found.items()}
        order = self._ranked(means)
        front = self._front(means) if len(self.goals) > 1 else []
        return tuple(found[c] for c in [*front, *(c for c in order if c not in front)])

    def _ranked(self, means: _Means) -> list[int]:
        """Return candidates, the best first: by the goals, in their order, if they keep the constraints, else by how little."""
        broken = {c: sum(max(0.0, v) for v in self._violations(m)) for c, m in means.items()}
        return sorted(means, key=lambda c: (broken[c], *self._key(means[c])))

    def _front(self, means: _Means) -> list[int]:
        """Return the candidates that keep the constraints and that no other of them beats, in order of the first goal."""
        kept = [c for c in self._ranked(means) if max(self._violations(means[c]), default=0.0) <= 0.0]
        return [c for c in kept if not any(self._beats(means[d], means[c]) for d in kept)]

    def _chosen(self, means: _Means) -> list[int]:
        """Return the finalists: the best, or some all along the front."""
        k, front = self._table.finalists, self._front(means) if len(self.goals) > 1 else []
        if not front:
            return self._ranked(means)[:k]
        if len(front) <= k:
            return front
        return [front[round(n * (len(front) - 1) / max(1, k - 1))] for n in range(k)]

    def _key(self, means: Mapping[str, float]) -> tuple[float, ...]:
        keys = (-means[g.metric] if g.is_max else means[g.metric] for g in self.goals)
        return tuple(math.inf if math.isnan(key) else key for key in keys)  # the unknown is last

    def _beats(self, a: Mapping[str, float], b: Mapping[str, float]) -> bool:
        """Say whether `a` is no worse in all goals, and better in one."""
        mine, other = self._key(a), self._key(b)
        return mine != other and all(x <= y for x, y in zip(mine, other, strict=True))


def _listed(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def _plain(finalist: Finalist) -> dict[str, Any]:
    """Return a finalist for JSON."""
    return {**finalist._asdict(), "metrics": {m: i._asdict() for m, i in finalist.metrics.items()}}
