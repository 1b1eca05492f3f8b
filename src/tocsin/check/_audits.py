"""Checks that look at one run: the audit, extreme parameters, finite numbers, references."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tocsin.check._lints import lints
from tocsin.check._report import Verdict
from tocsin.check._trial import Trial, run_for, runs
from tocsin.errors import AuditError, FireError, ScheduleError, SimulationError, ZenoError
from tocsin.run import Simulation
from tocsin.schema import FieldSpec, Params, ParamSpec, World

LARGE, MANY_TIMES = 1e300, 10
"""What an unbounded parameter is set to: a number, and a multiple of the default for whole numbers."""
PROBE_EVENTS, SUSPICIOUS = 500, 50
"""Events of a run with an extreme parameter; events at one instant that make one ask whether there is an end."""

GIVE_A_WORLD = "check a scenario (.toml), or a function that makes the world: file.py:make_world"


def check_lints(trial: Trial) -> Verdict:
    """Static lints; those that are allowed are said with their reason."""
    found = lints(trial.model)
    open_ = [lint for lint in found if lint.label not in trial.allowed]
    if open_:
        return Verdict("lints", "finding", " ".join(f"[{lint.label}] {lint.text}" for lint in open_))
    by_reason: dict[str, list[str]] = {}
    for lint in found:
        by_reason.setdefault(trial.allowed[lint.label], []).append(lint.label)
    told = "; ".join(f"{', '.join(labels)} ({reason})" for reason, labels in by_reason.items())
    return Verdict("lints", "pass", f"allowed: {told}" if told else "nothing in the read and write sets")


def check_audit(trial: Trial, method: str, seconds: float) -> Verdict:
    """After each event, ask all clocks and observed rows again; from several seeds if the model comes to rest."""
    name, done, n_runs = f"audit, {method}", 0, 0
    for _, fired in runs(trial, name, trial.n_events, seconds, method=method, audit=True):
        done, n_runs = done + fired, n_runs + 1
    if done == 0:
        return Verdict(name, "finding", f"nothing happens in this world, so nothing is checked; {GIVE_A_WORLD}")
    short = "" if done >= trial.n_events else f" of {trial.n_events:,}, which was all that the time allowed"
    return Verdict(name, "pass", f"{done:,} events{short}, in {_counted(n_runs, 'run')}")


def check_extremes(trial: Trial, seconds: float) -> Verdict:
    """Each parameter at its bounds: the run goes on, or stops with an error that names a clock."""
    name, stops, n_probes = "extreme parameters", dict[str, str](), 0
    probes = list(_probes(trial.model.schema.params))
    if not probes:
        return Verdict(name, "skipped", "the model has no parameters that are numbers")
    ends = trial.left() - seconds
    for block, key, value in probes:
        if trial.left() < ends:
            break
        n_probes += 1
        world = trial.make_world().copy()
        setattr(world.__dict__[block], key, value)
        setting = f"{block}.{key} = {value:g}"
        trial.tell(f"{name}: {setting}")
        try:
            run_for(Simulation(trial.model, world, seed=trial.seed, audit=True), PROBE_EVENTS, seconds / len(probes))
        except (ScheduleError, ZenoError, FireError) as error:
            stops[setting] = type(error).__name__
        except AuditError as error:
            return Verdict(name, "finding", f"with {setting}: {error}")
    told = "; ".join(f"{setting}: {error}" for setting, error in stops.items())
    few = "" if n_probes == len(probes) else f" of {len(probes)}, which was all that the time allowed"
    return Verdict(
        name, "pass", f"{_counted(n_probes, 'setting')}{few}" + (f"; stopped, naming the clock: {told}" if told else "")
    )


def _probes(blocks: dict[str, type[Params]]) -> Iterator[tuple[str, str, float]]:
    for block, cls in blocks.items():
        for key, field in cls.fields().items():
            if field.kind in ("int", "float"):
                for value in extremes(cls.spec(key), field):
                    yield block, key, value


def extremes(spec: ParamSpec, field: FieldSpec) -> tuple[float, ...]:
    """Return the least and the largest value that a parameter may have.

    Without a bound: for a number 1e300 (3e38 in 32 bits), for a whole number ten times the default.
    """
    if field.kind == "int":
        far = MANY_TIMES * max(abs(int(spec.default)), 1)
        low: float = -far if spec.ge is None and spec.gt is None else math.ceil(_low(spec, 1))
        high: float = far if spec.le is None and spec.lt is None else math.floor(_high(spec, 1))
    else:
        most = LARGE if field.dtype == "f8" else 3e38
        low = max(-most, _low(spec, 0))
        high = min(most, _high(spec, 0))
    return tuple(value for value in dict.fromkeys((low, high)) if spec.breach(value) is None and value != spec.default)


def _low(spec: ParamSpec, step: int) -> float:
    above = -math.inf if spec.gt is None else spec.gt + step if step else math.nextafter(spec.gt, math.inf)
    return max(above, -math.inf if spec.ge is None else spec.ge)


def _high(spec: ParamSpec, step: int) -> float:
    below = math.inf if spec.lt is None else spec.lt - step if step else math.nextafter(spec.lt, -math.inf)
    return min(below, math.inf if spec.le is None else spec.le)


def check_time(trial: Trial, simulation: Simulation[Any], seconds: float) -> Verdict:
    """Time goes on: where the run stands at one instant, run on until it moves or the kernel calls it Zeno."""
    name, kernel = "time advances", simulation._kernel
    if kernel.n_still >= SUSPICIOUS:
        on = simulation.copy()
        run_for(on, kernel.still_limit + 1, seconds)
        if on.now == simulation.now and on.n_events - simulation.n_events <= kernel.still_limit:
            return Verdict(
                name, "skipped", f"{on._kernel.n_still:,} events at t={on.now!r}, and no time to see the end"
            )
    return Verdict(name, "pass", f"t = {simulation.now:g} after {simulation.n_events:,} events")


def check_numbers(trial: Trial, simulation: Simulation[Any]) -> Verdict:
    """No float of the world has become NaN; one that was NaN at the start may stay so."""
    name, start, end = "numbers", _floats(trial.make_world()), _floats(simulation.world)
    bad = [part for part, is_nan in end.items() if is_nan and not start[part] and part not in trial.allowed]
    if bad:
        return Verdict(name, "finding", f"after {simulation.n_events:,} events there is NaN in {', '.join(bad)}")
    return Verdict(name, "pass", f"no NaN in {_counted(len(end), 'float field')} after {simulation.n_events:,} events")


def _floats(world: World) -> dict[str, bool]:
    """Say of each part of a world that holds floats whether there is NaN in it, live rows only."""
    import numpy as np

    schema, found = world.schema(), dict[str, bool]()
    for entity in schema.entities:
        for name, spec in entity.fields.items():
            if spec.kind == "float":
                values = world._tables[entity.name][name][_live(world, entity.name)]
                found[f"{entity.name}.{name}"] = bool(np.isnan(values).any())
    for name, array in schema.arrays.items():
        if array.field.kind == "float":
            found[name] = bool(np.isnan(world.__dict__[name].values).any())
    for name, spec in schema.scalars.items():
        if spec.kind == "float":
            found[name] = math.isnan(getattr(world, name))
    return found


def _live(world: World, entity: str) -> Any:
    """Return which rows of a table are live, as an index of its columns."""
    table = world._tables[entity]
    if not world.schema().entity(entity).pooled:
        return slice(None)
    return table._columns["_generation"][: len(table)] % 2 == 1


def check_references(trial: Trial, simulation: Simulation[Any]) -> Verdict:
    """No `Ref` of a live row points to a row of a pool that was removed: reading it would stop the run."""
    name, world, found, n_fields = "references", simulation.world, list[str](), 0
    for entity in world.schema().entities:
        for field in entity.fields.values():
            if field.keyed:
                n_fields += 1
                n_stale = _n_stale(world, entity.name, field)
                if n_stale and not field.nullable and f"{entity.name}.{field.name}" not in trial.allowed:
                    found.append(f"{entity.name}.{field.name} of {_counted(n_stale, 'row')}")
    if not n_fields:
        return Verdict(name, "skipped", "no field refers to a row of a pool")
    if found:
        text = f"points to rows that were removed: {', '.join(found)}. Clear or replace it in the fire that removes"
        return Verdict(name, "finding", f"{text}, or declare it OptionalRef, which then reads as None.")
    return Verdict(name, "pass", f"{_counted(n_fields, 'field')} looked at; an OptionalRef to a removed row is None")


def _n_stale(world: World, entity: str, field: FieldSpec) -> int:
    """Return how many live rows hold a reference whose row is no longer there."""
    import numpy as np

    keys = world._tables[entity][field.name][_live(world, entity)]
    keys = keys[keys >= 0]
    generations = world._tables[field.target or ""]._columns["_generation"]
    return int(np.count_nonzero(generations[keys & 0xFFFFFFFF] != keys >> 32))


def grids_of(world: World) -> dict[str, str]:
    """Return the grids of a world on which rows of pools are: name to entity."""
    schema = world.schema()
    parts = [part for part in schema.parts.values() if part.entity is not None and "cell_of" in part.arrays]
    return {part.name: str(part.entity) for part in parts if schema.entity(str(part.entity)).pooled}


def check_grids(trial: Trial, simulation: Simulation[Any]) -> Verdict:
    """No row that was removed from its pool still holds a cell of a grid, where it would be in the way."""
    import numpy as np

    name, world, found = "grids", simulation.world, list[str]()
    grids = grids_of(world)
    for grid, entity in grids.items():
        cells = world.__dict__[grid].cell_of.values[: len(world._tables[entity])]
        n_ghosts = int(np.count_nonzero(cells[~_live(world, entity)] >= 0))
        if n_ghosts and grid not in trial.allowed:
            found.append(f"{_counted(n_ghosts, 'row')} of {entity} on {grid}")
    if found:
        text = f"rows that were removed still hold their cells: {', '.join(found)}"
        return Verdict(name, "finding", f"{text}. Take a row off first, as in world.grid.remove(row).")
    return Verdict(name, "pass", f"{_counted(len(grids), 'grid')} looked at")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def failed(name: str, error: SimulationError) -> Verdict:
    """Return the verdict for a run that stopped with an error."""
    return Verdict(name, "finding", str(error))
