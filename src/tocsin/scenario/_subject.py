"""What `tocsin check` and `tocsin graph` are asked about: a scenario, or a model by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin.scenario._registry import find_preset
from tocsin.scenario._scenario import Scenario, load_scenario, scenario_of
from tocsin.scenario._toml import Override, read_toml
from tocsin.schema import Model, World

TRIALS = Path(__file__).parent / "trials"
"""Scenarios with a small world, for the shipped models that need to be told what world."""
_PAUSE = "a pause is between two ways of moving, neither captured nor unbound, which is all that it asks of a leg"
ALLOWED: dict[str, dict[str, str]] = {
    "chromatin": {f"Pause.fire/{asked}": _PAUSE for asked in ("Respawn.rate", "Load.rate", "Bound.value")},
}
"""Static lints that are false alarms on shipped models, each with its reason."""


@dataclass(frozen=True)
class Subject:
    """A model with a world to try it on."""

    name: str
    model: Model
    world: World
    seed: int
    allowed: Mapping[str, str] = field(default_factory=dict)


def find_model(text: str, folder: Path) -> Model:
    """Return the model that is named, as in `find_subject`. Raises InputError."""
    if _is_scenario(text):
        return load_scenario(folder / text).preset.model
    return find_preset(text, folder).model


def find_subject(text: str, folder: Path, overrides: Sequence[Override] = ()) -> Subject:
    """Return what `text` names, with its world built.

    Parameters
    ----------
    text : a scenario file ending in .toml, a shipped model, or "file.py:name"; for a model the
        world is that of an empty `[init]`, or a small one that is shipped for this purpose
    folder : where relative paths start
    overrides : put over the scenario, as `tocsin run --set` does

    Raises InputError: no such thing, or `[init]` lacks a key.
    """
    scenario = load_scenario(folder / text, overrides) if _is_scenario(text) else _of_model(text, folder, overrides)
    try:
        world, _ = scenario.build()
    except InputError as error:
        raise InputError(f"{text}: {error}") from None
    allowed = ALLOWED.get(scenario.preset.name, {}) if scenario.preset.source is None else {}
    return Subject(scenario.preset.name, scenario.preset.model, world, scenario.run.seed, allowed)


def _of_model(text: str, folder: Path, overrides: Sequence[Override]) -> Scenario:
    trial = TRIALS / f"{text}.toml"
    values: dict[str, Any] = read_toml(trial) if trial.is_file() else {"model": text, "run": {"events": 1}}
    if not trial.is_file():
        find_preset(text, folder)  # a name that is none is told before what it lacks
    try:
        return scenario_of(values, folder / text.rpartition(":")[0] if ".py:" in text else folder / text, overrides)
    except InputError as error:
        raise InputError(f"{error} Say it with --set, as in --set init.n=10, or check a scenario.") from None


def _is_scenario(text: str) -> bool:
    return text.lower().endswith(".toml")
