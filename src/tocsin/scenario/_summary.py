"""summary.json: what a run was, what came of it, and with what it was made."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from tocsin.errors import OutputError, SimulationError
from tocsin.scenario._execute import Outcome
from tocsin.scenario._scenario import Scenario

FILE = "summary.json"


def summarise(scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    """Return the summary as plain values: numbers that are not finite become None."""
    simulation, preset = outcome.simulation, scenario.preset
    own: Mapping[str, Any] = {}
    if outcome.error is None and preset.summarise is not None:
        own = preset.summarise(simulation, outcome.context)
    found = {
        "name": scenario.name,
        "model": preset.model.name,
        "seed": scenario.run.seed,
        "stopped": outcome.stopped,
        "error": None if outcome.error is None else str(outcome.error),
        "time": simulation.now,
        "n_events": simulation.n_events,
        "cpu_seconds": round(outcome.cpu_seconds, 6),
        "events_per_cpu_second": _rate(outcome),
        "events_by_action": simulation.counts,
        "observables": _observables(outcome),
        "summary": dict(own),
        "params": {block: getattr(simulation.world, block).to_dict() for block in preset.params},
        "files": outcome.files,
        "provenance": _provenance(scenario, outcome),
        "scenario": scenario.effective(),
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Write summary.json whole or not at all. Raises OutputError."""
    path = folder / FILE
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    try:
        handle, name = tempfile.mkstemp(prefix=f".{FILE}-", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    return path


def _rate(outcome: Outcome) -> float | None:
    spent = outcome.cpu_seconds
    return round(outcome.simulation.n_events / spent) if spent > 0.0 else None


def _observables(outcome: Outcome) -> dict[str, Any]:
    try:
        found = outcome.simulation.observe()
    except SimulationError:  # the run stopped inside an event
        return {}
    return {name: seen._asdict() for name, seen in found.items()}


def _state_hash(outcome: Outcome) -> str | None:
    try:
        return outcome.simulation.state_hash()
    except SimulationError:
        return None


def _provenance(scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    import tocsin

    source = scenario.preset.source
    return {
        "tocsin": tocsin.__version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "numba", "llvmlite", "pyarrow")},
        "platform": platform.platform(),
        "machine": platform.machine(),
        "scenario_hash": scenario.hash(),
        "model_file_hash": None if source is None else _file_hash(source),
        "state_hash": _state_hash(outcome),
        "started": outcome.started.isoformat(timespec="seconds"),
        "ended": outcome.ended.isoformat(timespec="seconds") if outcome.ended else None,
    }


def _version(name: str) -> str | None:
    """Return a package's version without importing it."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _file_hash(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
