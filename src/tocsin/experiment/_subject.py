"""What an experiment is about: a scenario and the ranges of some of its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tocsin.errors import InputError
from tocsin.experiment._axes import KEYS, Axis, fitted, read_axis
from tocsin.experiment._paths import Paths
from tocsin.experiment._plan import Job
from tocsin.scenario import AnyPreset, find_preset
from tocsin.scenario._design import read_scenario
from tocsin.scenario._explain import Origin, check
from tocsin.scenario._tables import ScenarioFile, Table
from tocsin.scenario._toml import Override, override

T = TypeVar("T", bound=Table)
Given = str | Path | Mapping[str, Any]
"""A scenario: a file, or nested plain values such as {"model": "mm1", "run": {...}}."""
EXPERIMENTS = ("sweep", "sensitivity", "optimise", "calibrate")
"""Tables of a scenario that a single run leaves alone."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A scenario as plain values, its model, and where it comes from."""

    name: str
    values: Mapping[str, Any]
    """Without the tables of experiments."""
    file: Path
    """File names in it start from its folder."""
    preset: AnyPreset
    where: str
    """Where the axes stand, for messages."""

    def axes(self, given: Mapping[str, Any]) -> tuple[Axis, ...]:
        """Return axes, checked. Raises InputError."""
        paths = Paths(self.preset)
        found = tuple(fitted(read_axis(name, one, self.where), paths, self.where) for name, one in flat(given).items())
        check_twice(found, self.where)
        return found

    def job(self, axes: Sequence[str], keep: bool = False) -> Job:
        """Return what all runs share."""
        return Job(dict(self.values), str(self.file), tuple(axes), keep)


def read_subject(
    scenario: Given, table: str, cls: type[T], given: Mapping[str, Any], overrides: Sequence[Override] = ()
) -> tuple[Subject, T]:
    """Return a scenario and one of its tables of experiments, with some keys given otherwise. Raises InputError."""
    is_file = isinstance(scenario, (str, Path))
    path = Path(scenario) if isinstance(scenario, (str, Path)) else Path("scenario")
    values, changes = read_scenario(path, overrides) if is_file else (dict(scenario), [*overrides])  # type: ignore[arg-type]
    origin = Origin(path.name, override(values, changes))
    own = values.get(table, {})
    file = check(ScenarioFile, {**values, table: {**own, **given} if isinstance(own, Mapping) else own}, origin)
    settings = check(cls, getattr(file, table), origin, (table,))
    plain = {key: value for key, value in values.items() if key not in EXPERIMENTS}
    preset = find_preset(file.model, path.parent)
    return Subject(path.stem, plain, path, preset, origin.of((table, "axes", ""))), settings


def ranges(axes: Sequence[Axis], where: str) -> tuple[Axis, ...]:
    """Return axes if they are ranges, and there is one. Raises InputError."""
    if not axes:
        raise InputError(f"{where}: there is no axis; give one, as in params.rates.step = {{ range = [0.5, 2.0] }}")
    for axis in axes:
        if not axis.is_range:
            raise InputError(f"{where}: {axis.path} must be a range, as in {{ range = [0.5, 2.0] }}")
    return tuple(axes)


def check_twice(axes: Sequence[Axis], where: str) -> None:
    """Raise InputError if two axes have one path."""
    paths = [axis.path for axis in axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice:
        raise InputError(f"{where}: {twice} is there twice")


def flat(given: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    """Make `params.rates.step = [...]`, which TOML nests, one path again."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        is_whole = "." in key or not isinstance(value, Mapping) or _is_axis(value)
        found |= {head + key: value} if is_whole else flat(value, f"{head}{key}.")
    return found


def _is_axis(value: Mapping[str, Any]) -> bool:
    return any(key in KEYS and not isinstance(inner, Mapping) for key, inner in value.items())
