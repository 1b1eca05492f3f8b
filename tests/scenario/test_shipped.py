"""The scenarios that are shipped can be run as they stand."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tocsin.models._preset import Start
from tocsin.scenario import load_scenario

FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))


@pytest.mark.skipif(find_spec("tocsin.models.extrusion.preset") is None, reason="no preset yet")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_scenario_is_valid_and_builds_its_world(path):
    """Every key is known, every value holds, every file it names is there."""
    scenario = load_scenario(path)
    start = Start(scenario.init, scenario.params, scenario.given, path.parent, scenario.run.seed)
    world, _ = scenario.preset.build(start)
    assert type(world) is scenario.preset.model.world
