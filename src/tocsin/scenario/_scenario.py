"""`Scenario`: one run, stated in full."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tocsin.errors import InputError
from tocsin.models._preset import Preset, Start, Variant
from tocsin.run import Simulation
from tocsin.run._series import known_observables
from tocsin.scenario._design import read_scenario
from tocsin.scenario._explain import Origin, check
from tocsin.scenario._parameters import read_params
from tocsin.scenario._registry import find_preset
from tocsin.scenario._reports import check_reports
from tocsin.scenario._tables import Observables, RecordTable, RunTable, ScenarioFile, Snapshots, record_table
from tocsin.scenario._toml import Override, override
from tocsin.schema import Params
from tocsin.schema._annotations import nearest


@dataclass(frozen=True, eq=False)
class Scenario:
    """A model, its parameters and initial world, when to stop, and what to record."""

    name: str
    file: Path
    model: str
    """The model as the file names it."""
    preset: Preset[Any, Any, Any]
    params: Mapping[str, Params]
    given: frozenset[str]
    init: BaseModel
    run: RunTable
    record: RecordTable

    def effective(self) -> dict[str, Any]:
        """Return everything that the run depends on, defaults filled in, as plain values."""
        return {
            "model": self.model,
            "params": {block: p.to_dict() for block, p in self.params.items()},
            "init": self.init.model_dump(mode="json"),
            "run": self.run.model_dump(mode="json"),
            "record": self.record.model_dump(mode="json"),
        }

    def hash(self) -> str:
        """Return the SHA-256 of the effective scenario as JSON with sorted keys."""
        text = json.dumps(self.effective(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def start(self) -> tuple[Simulation[Any], Any]:
        """Build the world and return a simulation of it, and the preset's context.

        Compiles the model, unless that is cached. Raises InputError for a world that cannot
        be built, CompileError for a model that does not compile.
        """
        world, context = self.build()
        variant = self.variant()
        simulation = Simulation(variant.model, world, seed=self.run.seed, **variant.options)
        if variant.begin is not None:
            variant.begin(simulation, context)
        return simulation, context

    def variant(self) -> Variant:
        """Return the model that runs, and the options of its simulation. Raises InputError."""
        chosen = self.preset.variant(self.init) if self.preset.variant else Variant(self.preset.model)
        if self.run.method is None:
            return chosen
        if chosen.options.get("method", self.run.method) != self.run.method:
            raise InputError(f"run.method: what [init] chooses runs by {chosen.options['method']} only; leave it out")
        return replace(chosen, options={**chosen.options, "method": self.run.method})

    def build(self) -> tuple[Any, Any]:
        """Return the initial world, and the preset's context. Raises InputError."""
        return self.preset.build(Start(self.init, self.params, self.given, self.file.parent, self.run.seed))


def load_scenario(path: str | Path, overrides: Sequence[Override] = ()) -> Scenario:
    """Read a scenario file, put `overrides` over it, and check everything but the world.

    Parameters
    ----------
    path : a TOML file; the design of an economy stands for a scenario that runs it
    overrides : pairs (path, value), such as (("run", "seed"), 7)

    Raises InputError: no such file or model, an unknown key, a value that breaks a rule.
    """
    path = Path(path)
    values, changes = read_scenario(path, overrides)
    return make_scenario(values, path, Origin(path.name, override(values, changes)))


def make_scenario(
    values: Mapping[str, Any], path: Path, origin: Origin, preset: Preset[Any, Any, Any] | None = None
) -> Scenario:
    """Return the scenario that nested plain values state, checked but for the world.

    Parameters
    ----------
    path : the file that they are said to come from; file names in them start from its folder
    preset : what `model` names, if that is known already

    Raises InputError as `load_scenario` does.
    """
    file = check(ScenarioFile, values, origin)
    preset = preset or find_preset(file.model, path.parent)
    params, given = read_params(file.params, preset.params, origin)
    init = check(preset.init, file.init, origin, ("init",))
    run = check(RunTable, file.run, origin, ("run",))
    record = check(record_table(preset), file.record, origin, ("record",))
    if record.snapshots is not None:
        _check_snapshots(record.snapshots, preset, origin)
    if record.observables is not None:
        _check_observables(record.observables, preset, origin)
    check_reports(record, preset, origin)
    return Scenario(path.stem, path, file.model, preset, params, given, init, run, record)


def _check_observables(observables: Observables, preset: Preset[Any, Any, Any], origin: Origin) -> None:
    try:
        known_observables(preset.model, observables.names)
    except InputError as error:
        raise InputError(f"{origin.of(('record', 'observables', 'names'))}: {error}") from None


def _check_snapshots(snapshots: Snapshots, preset: Preset[Any, Any, Any], origin: Origin) -> None:
    tables = preset.model.schema.tables()
    if not tables:
        raise InputError(f"{origin.of(('record', 'snapshots'))}: the world has no table to record.")
    table = snapshots.table or next(iter(tables))
    if table not in tables:
        raise InputError(
            f"{origin.of(('record', 'snapshots', 'table'))}: the world has no table {table!r}."
            f"{nearest(table, tables)} It has: {', '.join(tables)}."
        )
    fields = tables[table].fields
    for column in snapshots.columns or ():
        if column not in fields:
            raise InputError(
                f"{origin.of(('record', 'snapshots', 'columns'))}: {table} has no column {column!r}."
                f"{nearest(column, fields)} It has: {', '.join(fields)}."
            )
