"""A scenario of the tiny world in gate.py, to be changed by each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tocsin.scenario import Scenario, load_scenario, parse_override

GATE = Path(__file__).parent / "gate.py"


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a scenario file: the lines given, with a model and a [run] if they have none."""

    def write(text: str = "", model: str = "WORLD", run: str = "[run]\nseed = 1\nuntil = 20.0") -> Path:
        path = tmp_path / "gate.toml"
        head = "" if text.startswith("model") else f'model = "{GATE.as_posix()}:{model}"\n'
        path.write_text(f"{head}{text}\n{'' if '[run]' in text else run}\n")
        return path

    return write


@pytest.fixture
def load(scenario_file: Callable[..., Path]) -> Callable[..., Scenario]:
    """Load a scenario from text, with --set texts over it."""

    def loaded(text: str = "", *changes: str, **more: Any) -> Scenario:
        return load_scenario(scenario_file(text, **more), [parse_override(change) for change in changes])

    return loaded
