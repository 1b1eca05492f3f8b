"""The plan: every candidate with its values, checked, before anything runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import TocsinError
from tocsin.experiment._paths import parse_path, with_values
from tocsin.experiment._seeds import seed_of
from tocsin.scenario import AnyPreset, Scenario, find_preset, make_scenario
from tocsin.scenario._explain import Origin
from tocsin.scenario._summary import _file_hash

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CHECKED = 20_000
"""Candidates that are checked before anything runs; of larger plans the rest is checked when its turn comes."""


class Run(NamedTuple):
    """One run of the plan: plain values, so that it can go anywhere."""

    candidate: int
    replicate: int
    seed: int
    values: tuple[Any, ...]
    """One value an axis."""


@dataclass(frozen=True)
class Job:
    """What all runs of an experiment share: sent to each worker once."""

    values: dict[str, Any]
    """The scenario that is varied, as plain values."""
    file: str
    axes: tuple[str, ...]
    keep: bool = False
    folder: str = ""
    """The store, if runs write recordings of their own."""

    def scenario(self, run: Run, preset: AnyPreset | None = None) -> Scenario:
        """Return the scenario of one run. Raises InputError if the candidate breaks a rule."""
        changes = [(parse_path(path), value) for path, value in zip(self.axes, run.values, strict=True)]
        values = with_values(self.values, [*changes, (("run", "seed"), run.seed)])
        if values["model"] != self.values["model"]:
            preset = find_preset(values["model"], Path(self.file).parent)
        return make_scenario(values, Path(self.file), Origin(f"candidate {run.candidate}"), preset)


@dataclass(frozen=True, eq=False)
class Plan:
    """All candidates of an experiment."""

    name: str
    job: Job
    preset: AnyPreset
    rows: Sequence[tuple[Any, ...]]
    errors: Sequence[str | None]
    """What is wrong with each candidate."""
    seed: int
    paired: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else decides which candidates there are, where they are chosen as results come in."""
    groups: Sequence[int] = ()
    """Of unpaired candidates, whose seeds each shares: its own number by default."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def axes(self) -> tuple[str, ...]:
        """The paths that are varied."""
        return self.job.axes

    @property
    def bad(self) -> list[int]:
        """The candidates that break a rule."""
        return [n for n, error in enumerate(self.errors) if error is not None]

    def run(self, candidate: int, replicate: int) -> Run:
        """Return one run."""
        group = self.groups[candidate] if self.groups else candidate
        seed = seed_of(self.seed, None if self.paired else group, replicate)
        return Run(candidate, replicate, seed, self.rows[candidate])

    def runs(self, replicates: int) -> Iterator[Run]:
        """Yield the runs of all candidates: all of the first replicate, then all of the second, ..."""
        return (self.run(c, r) for r in range(replicates) for c in range(len(self.rows)))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that the result of a run depends on, but for its place in the plan.

        Replicates are not part of it: an experiment can be resumed with more of them.
        """
        from tocsin import __version__

        source = self.preset.source
        facts = {
            "tocsin": __version__.split(".")[:2], "scenario": self.job.values, "axes": self.axes,
            "rows": self.rows, "seed": self.seed, "paired": self.paired,
            "model_file": None if source is None else _file_hash(source),
            **self.facts,
        }  # fmt: skip
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_arrow(self) -> pa.Table:
        """Return a table: candidate, one column an axis, error (null if there is none)."""
        import pyarrow as pa

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.axes)
        names = ["candidate", *self.axes, "error"]
        arrays = [
            pa.array(range(len(self.rows)), pa.int32()),
            *map(column, columns),
            pa.array(self.errors, pa.string()),
        ]
        return pa.table(arrays, names=names)


def column(values: Sequence[Any]) -> pa.Array:
    """Return the values of an axis as one Arrow array: int64, float64, bool, or text (JSON for tables and lists)."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if kinds <= {int} and all(-(1 << 63) <= v < 1 << 63 for v in values if v is not None):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([v if isinstance(v, str) or v is None else json.dumps(v, default=str) for v in values], pa.string())


def planned(name: str, job: Job, preset: AnyPreset, rows: Sequence[tuple[Any, ...]], seed: int, paired: bool) -> Plan:
    """Return the plan of some candidates, checked."""
    return Plan(name, job, preset, rows, errors_of(job, preset, rows), seed, paired)


def errors_of(job: Job, preset: AnyPreset, rows: Sequence[tuple[Any, ...]], first: int = 0) -> list[str | None]:
    """Return what is wrong with each of some candidates, numbered from `first`."""
    errors: list[str | None] = [None] * len(rows)
    for n, row in enumerate(rows[:MOST_CHECKED]):
        try:
            job.scenario(Run(first + n, 0, 0, row), preset)
        except TocsinError as error:
            errors[n] = str(error)
    return errors
