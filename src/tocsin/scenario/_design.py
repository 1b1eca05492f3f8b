"""A design of an economy where a scenario is expected: the scenario that runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tocsin.scenario._toml import Override, read_toml

DAYS = 30
_TABLES = ("init", "run", "record", "params", "sweep", "sensitivity", "optimise", "calibrate")


def read_scenario(path: Path, overrides: Sequence[Override] = ()) -> tuple[dict[str, Any], list[Override]]:
    """Return the content of a scenario file, and what is put over it.

    The design of an economy stands for a scenario that runs it for 30 days; `--set` then reaches both the design
    (resources.gems.start) and the scenario (init.players). Raises InputError if the file cannot be read.
    """
    values = read_toml(path)
    if not is_design(values):
        return values, list(overrides)
    made = {"model": "economy", "init": {"design": values, "days": DAYS}, "run": {"until": float(DAYS)}}
    return made, [(key if key[0] in _TABLES else ("init", "design", *key), value) for key, value in overrides]


def is_design(values: Mapping[str, Any]) -> bool:
    """Whether a table is the design of an economy, and no scenario: it names no model."""
    if isinstance(values.get("model"), str):
        return False
    return values.get("preset") == "sandtable" or {"resources", "activities"} <= values.keys()
