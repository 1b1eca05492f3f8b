"""Checks that compare two runs, which must end in the same state."""

from __future__ import annotations

import math
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tocsin.check._report import Verdict
from tocsin.check._trial import Trial, n_asked, run_for
from tocsin.run import Simulation

MOST_INTERPRETED = 200_000
"""Clocks and observed rows that are asked in plain Python; each takes some microseconds."""
INTERPRETED_EVENTS = 1_000
_SAVE = "save.tocsin"


def check_interpreted(trial: Trial, method: str, seconds: float) -> Verdict:
    """The compiled model and the same functions as plain Python leave the same bits."""
    name = f"compiled = interpreted, {method}"
    plain = trial.simulation(jit=False, method=method)
    if n_asked(plain) > MOST_INTERPRETED:
        return Verdict(name, "skipped", f"{n_asked(plain):,} clocks and observed rows are too many for plain Python")
    n = run_for(plain, min(INTERPRETED_EVENTS, trial.n_short), seconds)
    compiled = trial.simulation(method=method)
    compiled.run(events=n)
    return _compared(name, plain, compiled, f"{n:,} events")


def check_rerun(trial: Trial, base: Simulation[Any]) -> Verdict:
    """The same seed gives the same run."""
    again = trial.simulation()
    again.run(events=base.n_events)
    return _compared("rerun", base, again, f"{base.n_events:,} events")


def check_slices(trial: Trial, base: Simulation[Any]) -> Verdict:
    """A run in pieces, by events and by time, is the run in one go."""
    whole, cut, n_pieces = trial.simulation(), trial.simulation(), 0
    start, end = whole.now, base.now
    whole.run(until=end)
    for k in range(1, 13):
        if cut.now < end:
            cut.run(events=k)
            cut.run(until=max(cut.now, min(end, start + (end - start) * k / 12)))
            n_pieces += 2
    if cut.now < end:
        cut.run(until=end)
    whole.run(events=cut.n_events - whole.n_events)  # the last piece may have gone beyond
    return _compared("slices", whole, cut, f"{whole.n_events:,} events in {n_pieces} pieces")


def check_continued(trial: Trial, base: Simulation[Any], name: str) -> Verdict:
    """What was saved and loaded, copied or pickled half way ends where the run in one go ends."""
    half = trial.simulation()
    half.run(events=base.n_events // 2)
    try:
        other = _WAYS[name](trial, half)
    except TypeError as error:
        return Verdict(name, "skipped", str(error))
    other.run(events=base.n_events - half.n_events)
    return _compared(name, base, other, f"after {half.n_events:,} of {base.n_events:,} events")


def _loaded(trial: Trial, simulation: Simulation[Any]) -> Simulation[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _SAVE
        simulation.save(path)
        return Simulation.load(path, trial.model)


def _pickled(trial: Trial, simulation: Simulation[Any]) -> Simulation[Any]:
    return pickle.loads(pickle.dumps(simulation))  # type: ignore[no-any-return]  # noqa: S301  # our own bytes


_WAYS: dict[str, Callable[[Trial, Simulation[Any]], Simulation[Any]]] = {
    "save and load": _loaded,
    "copy": lambda trial, simulation: simulation.copy(),
    "pickle": _pickled,
}
CONTINUED = tuple(_WAYS)


def check_recordings(trial: Trial, base: Simulation[Any]) -> Verdict:
    """A run whose events are recorded, and then one with snapshots, is the run without."""
    name, streamed = "recordings", trial.simulation()
    n_rows = sum(batch.num_rows for batch in streamed.record_events(events=base.n_events))
    if n_rows != base.n_events:
        return Verdict(name, "finding", f"{n_rows:,} events were recorded of {base.n_events:,}")
    found = _compared(name, base, streamed, f"events, {n_rows:,} rows")
    span = base.now - base.start
    if found.status != "pass" or not (trial.model.schema.entities and 0.0 < span < math.inf):
        return found
    plain, seen = trial.simulation(), trial.simulation()
    plain.run(until=base.now)
    n_rows = sum(batch.num_rows for batch in seen.record(every=span / 7, until=base.now))
    return _compared(name, plain, seen, f"{found.detail}; snapshots, {n_rows:,} rows")


def _compared(name: str, one: Simulation[Any], other: Simulation[Any], what: str) -> Verdict:
    if one.state_hash() == other.state_hash() and repr(one.observe()) == repr(other.observe()):
        return Verdict(name, "pass", what)
    return Verdict(name, "finding", f"{what}: the states differ: {_difference(one, other)}")


def _difference(one: Simulation[Any], other: Simulation[Any]) -> str:
    """Say where two simulations differ: time, events, the first part of the world, observables, clocks."""
    import numpy as np

    from tocsin.run._driver import memory_of

    for label in ("now", "n_events"):
        a, b = getattr(one, label), getattr(other, label)
        if a != b:
            return f"{label} is {a!r} and {b!r}"
    mine, theirs = memory_of(one.world), memory_of(other.world)
    for label, values in mine.items():
        if values.tobytes() != theirs[label].tobytes():
            is_same_shape = values.ndim > 0 and values.shape == theirs[label].shape
            rows = np.flatnonzero(np.ravel(values != theirs[label])).tolist() if is_same_shape else []
            where = f" in row {rows[0]}" if rows else ""
            return f"{label.removeprefix('=')}{where}"
    return "an observable" if repr(one.observe()) != repr(other.observe()) else "the pending times or the draws"
