"""Sensitivity of a scenario: Sobol, Morris or local elasticities, over runs on any executor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.experiment._axes import Axis
from tocsin.experiment._elasticity import around, elasticity, middle
from tocsin.experiment._results import Results
from tocsin.experiment._sensitivity import Design, Index
from tocsin.experiment._subject import Given, Subject, ranges, read_subject
from tocsin.experiment._trials import Place, Trials
from tocsin.scenario import make_scenario
from tocsin.scenario._explain import Origin
from tocsin.scenario._tables import Table
from tocsin.scenario._toml import Override


class SensitivityTable(Table):
    """`[sensitivity]`: which metrics, of which axes, and how."""

    metrics: str | list[str] = Field(description="what may depend on the axes, such as LoopSize.mean")
    method: Literal["sobol", "morris", "local"] = Field(
        "local", description="shares of the variance, a screening, or elasticities at one point"
    )
    n: int = Field(64, ge=2, description="base sample of sobol, a power of two; trajectories of morris")
    replicates: int = Field(20, ge=1, description="runs of each point, with the same seeds for all")
    step: float = Field(0.05, gt=0, le=1, description="of local: how far to go each way, as a part of the value")
    confidence: float = Field(0.95, gt=0, lt=1, description="of the intervals of local")
    seed: int = Field(0, ge=0, le=(1 << 64) - 1, description="of the sample and of all runs")
    axes: dict[str, Any] = Field({}, description="by path: ranges; for local also [value], all parameters by default")

    @model_validator(mode="after")
    def _holds_together(self) -> SensitivityTable:
        if not self.metrics:
            raise ValueError("metrics is empty: name at least one")
        return self


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What was found."""

    method: str
    indices: dict[str, list[Index]]
    """By metric, one an axis; of local, `first` is the elasticity and `total` is NaN."""
    results: Results
    """All runs."""


def sensitivity_of(
    scenario: Given,
    axes: Mapping[str, Any] | None = None,
    metrics: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    overrides: Sequence[Override] = (),
    **options: Any,
) -> Sensitivity:
    """Return how much the means of some metrics depend on some keys of a scenario.

    All points run with the same seeds, so that differences are of the keys, not of chance. With noise left, by
    few replicates, Sobol's first indices come out smaller than they are.

    Parameters
    ----------
    scenario : a file, which may have a table [sensitivity], or nested plain values
    axes : by path, ranges such as {"range": [0.1, 10], "log": True}; for local also [value]; none: all
        parameters of the model, at the scenario's values
    metrics : one, or several
    out : folder of the store; None keeps the results in memory only
    overrides : other values of the file's keys, as pairs (path, value)
    options : the other keys of [sensitivity] (method, n, replicates, step, ...), and executor, workers, resume and
        progress as in `run_sweep`

    Raises InputError, also if runs fail, as an index needs all of them.
    """
    place, given = Place.taken(out, options)
    given |= {"axes": axes} if axes is not None else {}
    given |= {"metrics": metrics if isinstance(metrics, str) else list(metrics)} if metrics is not None else {}
    subject, table = read_subject(scenario, "sensitivity", SensitivityTable, given, overrides)
    names = [table.metrics] if isinstance(table.metrics, str) else table.metrics
    found = subject.axes(table.axes or (_parameters(subject) if table.method == "local" else {}))
    way = _Local(found, table, subject.where) if table.method == "local" else _Global(found, table, subject.where)
    with Trials(
        "sensitivity", subject, [axis.path for axis in found], table.model_dump(exclude={"metrics", "confidence"}),
        seed=table.seed, paired=True, total=len(way.points) * table.replicates, place=place,
    ) as trials:  # fmt: skip
        candidates = trials.run(way.points, table.replicates)
        values = {m: [trials.values(m, c, 0, table.replicates) for c in candidates] for m in names}
        _check_runs(trials, candidates, values, table.replicates)
        indices = {m: way.indices(v) for m, v in values.items()}
        outcome = {"method": table.method, "indices": {m: [i._asdict() for i in v] for m, v in indices.items()}}
        return Sensitivity(table.method, indices, trials.finish(outcome))


def _parameters(subject: Subject) -> dict[str, list[float]]:
    """Return the parameters of a scenario that are numbers > 0, each at its value."""
    scenario = make_scenario(subject.values, subject.file, Origin(subject.file.name), subject.preset)
    return {
        f"params.{block}.{name}": [value]
        for block, params in scenario.params.items()
        for name, value in params.to_dict().items()
        if isinstance(value, float) and 0.0 < value < math.inf
    }


def _check_runs(
    trials: Trials, candidates: Sequence[int], values: Mapping[str, Sequence[Any]], replicates: int
) -> None:
    for metric, rows in values.items():
        lost = [sum(map(math.isnan, row.tolist())) for row in rows]
        if any(lost):
            first = candidates[next(k for k, n in enumerate(lost) if n)]
            why = trials.why(first, [metric], replicates)
            raise InputError(
                f"sensitivity needs {metric} of every run, and {sum(lost):,} of {len(rows) * replicates:,} runs, "
                f"of {sum(map(bool, lost)):,} of {len(rows):,} candidates, have none, such as: {why}"
            )


class _Local:
    """Elasticities: two points an axis."""

    def __init__(self, axes: Sequence[Axis], table: SensitivityTable, where: str) -> None:
        if not axes:
            raise InputError(f"{where}: the model has no parameter > 0; name axes, as in params.rates.step = [1.0]")
        self._axes, self._confidence = axes, table.confidence
        base = tuple(middle(axis, where) for axis in axes)
        self._around = [around(axis, value, table.step) for axis, value in zip(axes, base, strict=True)]
        self.points = [(*base[:k], value, *base[k + 1 :]) for k, pair in enumerate(self._around) for value in pair]

    def indices(self, values: Sequence[Any]) -> list[Index]:
        """Return the elasticity of each axis."""
        found = []
        for k, (axis, pair) in enumerate(zip(self._axes, self._around, strict=True)):
            seen = elasticity(values[2 * k], values[2 * k + 1], *pair, self._confidence)
            found.append(Index(axis.path, seen.estimate, seen.half_width, math.nan, math.nan))
        return found


class _Global:
    """Sobol and Morris: the mean at each point of a sample."""

    def __init__(self, axes: Sequence[Axis], table: SensitivityTable, where: str) -> None:
        self._design = Design(
            {axis.path: axis for axis in ranges(axes, where)}, table.method, table.n, table.seed % (1 << 32)
        )
        self.points = self._design.rows

    def indices(self, values: Sequence[Any]) -> list[Index]:
        """Return the indices of each axis."""
        return self._design.indices([float(row.mean()) for row in values])
