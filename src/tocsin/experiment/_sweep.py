"""`Sweep`: an experiment as data, from `[sweep]` of a scenario file or from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.experiment._axes import Axis, fitted
from tocsin.experiment._designs import candidates, read_table
from tocsin.experiment._paths import Paths
from tocsin.experiment._plan import Plan, planned
from tocsin.experiment._subject import Given, Subject, check_twice, read_subject
from tocsin.experiment._target import Target, parse_target
from tocsin.scenario._tables import Table
from tocsin.scenario._toml import Override

if TYPE_CHECKING:
    from tocsin.experiment._results import Results


class SweepTable(Table):
    """`[sweep]`: what is varied, and how often each candidate runs."""

    design: Literal["grid", "zip", "random", "lhs", "sobol", "table"] = Field("grid", description="how axes combine")
    candidates: int | None = Field(None, ge=1, description="how many are drawn, for random, lhs and sobol")
    table: str | None = Field(None, description="CSV or Parquet file with one candidate a row, for design = 'table'")
    replicates: int | Literal["auto"] = Field(1, description="runs of each candidate, or 'auto': until target is met")
    target: str | list[str] = Field([], description="'METRIC ±1%' or 'METRIC ±0.5': the half-width that auto aims at")
    least: int = Field(20, ge=2, description="replicates before auto looks at the interval")
    most: int = Field(1000, ge=2, description="replicates of one candidate at which auto gives up")
    confidence: float = Field(0.95, gt=0, lt=1, description="of all intervals")
    seed: int = Field(0, ge=0, le=(1 << 64) - 1, description="of the experiment: all seeds follow from it")
    paired: bool = Field(True, description="whether replicate r of all candidates draws the same numbers")
    keep: bool = Field(False, description="whether each run writes what [record] asks for, below runs/")
    axes: dict[str, Any] = Field({}, description="by path: a list of values, or a table such as {linspace = [0, 1, 5]}")

    @model_validator(mode="after")
    def _holds_together(self) -> SweepTable:
        if isinstance(self.replicates, int) and self.replicates < 1:
            raise ValueError(f"replicates must be >= 1 or 'auto', got {self.replicates}")
        if (self.replicates == "auto") != bool(self.target):
            raise ValueError("replicates = 'auto' and target = 'METRIC ±1%' belong together")
        if self.most < self.least:
            raise ValueError(f"most must be >= least, {self.least}, got {self.most}")
        if (self.design == "table") != (self.table is not None):
            raise ValueError("design = 'table' and table = 'FILE' belong together")
        return self


@dataclass(frozen=True, eq=False)
class Sweep:
    """A scenario, the axes along which it is varied, and how often each candidate runs.

    Make one with `Sweep.load(file)` or `Sweep.of(scenario, axes=...)`.
    """

    subject: Subject
    axes: tuple[Axis, ...]
    rows: tuple[tuple[Any, ...], ...] | None
    """The candidates, if a table gives them."""
    settings: SweepTable
    targets: tuple[Target, ...]

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[Override] = ()) -> Sweep:
        """Read a scenario file with a table [sweep]. Raises InputError."""
        return _sweep(*read_subject(path, "sweep", SweepTable, {}, overrides))

    @classmethod
    def of(cls, scenario: Given, axes: Mapping[str, Any] | None = None, **settings: Any) -> Sweep:
        """Return a sweep of a scenario: a file, or nested plain values such as {"model": "mm1", "run": {...}}.

        Parameters
        ----------
        axes : by path, lists of values or tables such as {"linspace": [0, 1, 5]}
        settings : the other keys of [sweep]: design, candidates, replicates, seed, paired, ...

        Raises InputError.
        """
        given = {**({"axes": axes} if axes is not None else {}), **settings}
        return _sweep(*read_subject(scenario, "sweep", SweepTable, given))

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.subject.name

    def plan(self) -> Plan:
        """Return all candidates, checked; a bad one says what is wrong with it. Nothing runs."""
        s = self.settings
        where = f"{self.subject.file.name}, [sweep]"
        rows = (
            list(self.rows) if self.rows is not None else candidates(self.axes, s.design, s.candidates, s.seed, where)
        )
        job = self.subject.job([axis.path for axis in self.axes], s.keep)
        return planned(self.name, job, self.subject.preset, rows, s.seed, s.paired)

    def run(self, out: str | Path | None = None, **options: Any) -> Results:
        """Run all of it and return the results; options as in `run_sweep`."""
        from tocsin.experiment._run import run_sweep

        return run_sweep(self, out, **options)


def _sweep(subject: Subject, settings: SweepTable) -> Sweep:
    where = subject.where
    if settings.table is not None:
        if settings.axes:
            raise InputError(f"{where}: design = 'table' takes its axes from the table; leave [sweep.axes] out")
        axes, rows = _tabled(subject, settings.table)
    else:
        axes, rows = subject.axes(settings.axes), None
    named = [settings.target] if isinstance(settings.target, str) else settings.target
    goals = f"{subject.file.name}, [sweep]"
    return Sweep(subject, axes, rows, settings, tuple(parse_target(text, goals) for text in named))


def _tabled(subject: Subject, table: str) -> tuple[tuple[Axis, ...], tuple[tuple[Any, ...], ...]]:
    """Return the axes and candidates of an explicit table."""
    paths, where = Paths(subject.preset), subject.where
    names, rows = read_table(subject.file.parent / table, where)
    axes = tuple(fitted(Axis(name), paths, where) for name in names)
    check_twice(axes, where)
    columns = [
        fitted(Axis(name, column), paths, where).values
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    ]
    return axes, tuple(zip(*columns, strict=True))
