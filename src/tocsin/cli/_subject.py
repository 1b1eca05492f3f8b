"""What `tocsin check` and `tocsin graph` are asked about: a scenario, or a model by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.schema import Model, World

TRIALS = Path(__file__).parent / "trials"
"""Scenarios with a small world, for the shipped models that need to be told what world."""
_PAUSE = "it asks only whether a leg is captured or unbound, and a pause is neither"
ALLOWED: dict[str, dict[str, str]] = {
    "epidemic": {"Contact.source": "the same model with clocks of contacts reads it"},
    "station": dict.fromkeys(("Customer.kind", "Customer.work"), "customers of other queues have them"),
    "swarm": dict.fromkeys(("Robot.lamp", "Robot.lamp_at"), "algorithms of one's own may set and see it"),
    "chromatin": {f"Pause.fire/{asked}": _PAUSE for asked in ("Respawn.rate", "Load.rate", "Bound.value")},
}
"""Static lints that are false alarms on shipped models, each with its reason."""
WHAT = 'A shipped model, "file.py:name", or a scenario (.toml).'


@dataclass(frozen=True)
class Subject:
    """A model with a world to try it on."""

    model: Model
    world: World
    seed: int
    allowed: Mapping[str, str] = field(default_factory=dict)


def find_model(text: str) -> Model:
    """Return the model that is named, as in `find_subject`. Raises InputError."""
    from tocsin.scenario import find_preset, load_scenario

    return load_scenario(text).variant().model if _is_scenario(text) else find_preset(text, Path()).model


def find_subject(text: str, overrides: Sequence[tuple[tuple[str, ...], Any]] = ()) -> Subject:
    """Return what `text` names, with its world built.

    Parameters
    ----------
    text : a scenario file ending in .toml, a shipped model, or "file.py:name"; for a model the
        world is that of an empty `[init]`, or a small one that is shipped for this purpose
    overrides : put over the scenario, as `tocsin run --set` does

    Raises InputError: no such thing, or `[init]` lacks a key.
    """
    from tocsin.scenario import find_preset, load_scenario

    trial = TRIALS / f"{text}.toml"
    if not (_is_scenario(text) or trial.is_file()):
        return _of_preset(text, find_preset(text, Path()), overrides)
    scenario = load_scenario(text if _is_scenario(text) else trial, overrides)
    preset = scenario.preset
    return Subject(scenario.variant().model, scenario.build()[0], scenario.run.seed, _allowed(preset))


def _allowed(preset: Any) -> Mapping[str, str]:
    """Return the lints that are false alarms on a model, if it is a shipped one."""
    from tocsin.scenario import shipped

    return ALLOWED.get(preset.name, {}) if any(preset.model is one.model for one in shipped()) else {}


def _of_preset(text: str, preset: Any, overrides: Sequence[tuple[tuple[str, ...], Any]]) -> Subject:
    """Return a preset with a world made of the overrides alone."""
    from tocsin.models._preset import Start
    from tocsin.scenario._explain import Origin, check
    from tocsin.scenario._parameters import read_params
    from tocsin.scenario._tables import RunTable
    from tocsin.scenario._toml import override

    values: dict[str, Any] = {"params": {}, "init": {}, "run": {"events": 1}}
    known = set(values)
    origin = Origin(text, override(values, overrides))
    for key in values.keys() - known:
        raise InputError(f"--set {key}...: a key starts with {', '.join(sorted(known))}; got {key!r}")
    try:
        params, given = read_params(values["params"], preset.params, origin)
        init = check(preset.init, values["init"], origin, ("init",))
        seed = check(RunTable, values["run"], origin, ("run",)).seed
        world, _ = preset.build(Start(init, params, given, (preset.source or Path()).parent, seed))
    except InputError as error:
        raise InputError(f"{error} Say what world with --set, as in --set init.n=10, or check a scenario.") from None
    return Subject(preset.model, world, seed, _allowed(preset))


def _is_scenario(text: str) -> bool:
    return text.lower().endswith(".toml")
