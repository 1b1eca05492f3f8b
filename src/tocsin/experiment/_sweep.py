"""`Sweep`: an experiment as data, from `[sweep]` of a scenario file or from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.experiment._axes import KEYS, Axis, fitted, read_axis
from tocsin.experiment._designs import candidates, read_table
from tocsin.experiment._paths import Paths
from tocsin.experiment._plan import Job, Plan, planned
from tocsin.experiment._target import Target, parse_target
from tocsin.scenario import find_preset
from tocsin.scenario._design import read_scenario
from tocsin.scenario._explain import Origin, check
from tocsin.scenario._tables import ScenarioFile, Table
from tocsin.scenario._toml import Override, override

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

    name: str
    values: Mapping[str, Any]
    """The scenario as plain values."""
    file: Path
    """Where it comes from: file names in it start from its folder."""
    axes: tuple[Axis, ...]
    rows: tuple[tuple[Any, ...], ...] | None
    """The candidates, if a table gives them."""
    settings: SweepTable
    targets: tuple[Target, ...]

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[Override] = ()) -> Sweep:
        """Read a scenario file with a table [sweep]. Raises InputError."""
        path = Path(path)
        values, changes = read_scenario(path, overrides)
        return _sweep(values, path, Origin(path.name, override(values, changes)))

    @classmethod
    def of(
        cls, scenario: str | Path | Mapping[str, Any], axes: Mapping[str, Any] | None = None, **settings: Any
    ) -> Sweep:
        """Return a sweep of a scenario: a file, or nested plain values such as {"model": "mm1", "run": {...}}.

        Parameters
        ----------
        axes : by path, lists of values or tables such as {"linspace": [0, 1, 5]}
        settings : the other keys of [sweep]: design, candidates, replicates, seed, paired, ...

        Raises InputError.
        """
        is_file = isinstance(scenario, (str, Path))
        path = Path(scenario) if isinstance(scenario, (str, Path)) else Path("scenario")
        values = read_scenario(path)[0] if is_file else dict(scenario)  # type: ignore[arg-type]
        given = {**({"axes": axes} if axes is not None else {}), **settings}
        return _sweep({**values, "sweep": {**values.get("sweep", {}), **given}}, path, Origin(path.name))

    def plan(self) -> Plan:
        """Return all candidates, checked; a bad one says what is wrong with it. Nothing runs."""
        preset = find_preset(str(self.values["model"]), self.file.parent)
        s = self.settings
        where = f"{self.file.name}, [sweep]"
        rows = (
            list(self.rows) if self.rows is not None else candidates(self.axes, s.design, s.candidates, s.seed, where)
        )
        job = Job(dict(self.values), str(self.file), tuple(axis.path for axis in self.axes), s.keep)
        return planned(self.name, job, preset, rows, s.seed, s.paired)

    def run(self, out: str | Path | None = None, **options: Any) -> Results:
        """Run all of it and return the results; options as in `run_sweep`."""
        from tocsin.experiment._run import run_sweep

        return run_sweep(self, out, **options)


def _sweep(values: dict[str, Any], path: Path, origin: Origin) -> Sweep:
    file = check(ScenarioFile, values, origin)
    settings = check(SweepTable, file.sweep, origin, ("sweep",))
    where = origin.of(("sweep", "axes", ""))
    preset = find_preset(file.model, path.parent)
    paths = Paths(preset)
    if settings.table is not None:
        if settings.axes:
            raise InputError(f"{where}: design = 'table' takes its axes from the table; leave [sweep.axes] out")
        names, rows = read_table(path.parent / settings.table, where)
        axes = [fitted(Axis(name), paths, where) for name in names]
        columns = [
            fitted(Axis(name, column), paths, where).values
            for name, column in zip(names, zip(*rows, strict=True), strict=True)
        ]
        rows = list(zip(*columns, strict=True))
    else:
        axes = [fitted(read_axis(name, given, where), paths, where) for name, given in _flat(settings.axes).items()]
        rows = None
    _check_twice(axes, where)
    plain = {key: value for key, value in values.items() if key != "sweep"}
    named = [settings.target] if isinstance(settings.target, str) else settings.target
    targets = tuple(parse_target(text, where) for text in named)
    return Sweep(path.stem, plain, path, tuple(axes), None if rows is None else tuple(rows), settings, targets)


def _check_twice(axes: Sequence[Axis], where: str) -> None:
    paths = [axis.path for axis in axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice:
        raise InputError(f"{where}: {twice} is there twice")


def _flat(given: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    """Make `params.rates.step = [...]`, which TOML nests, one path again."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        is_whole = "." in key or not isinstance(value, Mapping) or _is_axis(value)
        found |= {head + key: value} if is_whole else _flat(value, f"{head}{key}.")
    return found


def _is_axis(value: Mapping[str, Any]) -> bool:
    return any(key in KEYS and not isinstance(inner, Mapping) for key, inner in value.items())
