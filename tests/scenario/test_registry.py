"""Shipped models are found by name, each imported only when it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tocsin.models
from tocsin.errors import InputError
from tocsin.scenario import describe, find_preset, shipped

GATE = (Path(__file__).parent / "gate.py").read_text()


@pytest.fixture
def more_models(tmp_path, monkeypatch):
    """Add shipped models: one file, one package with a preset."""
    monkeypatch.setattr(tocsin.models, "__path__", [*tocsin.models.__path__, str(tmp_path)])
    (tmp_path / "single.py").write_text(GATE.replace('"gate", "Gates', '"single", "Gates'))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__init__.py").write_text("")
    (tmp_path / "folder" / "preset.py").write_text(GATE.replace('"gate", "Gates', '"folder", "Gates'))
    yield
    for name in [n for n in sys.modules if n.startswith(("tocsin.models.single", "tocsin.models.folder"))]:
        del sys.modules[name]


def test_a_preset_is_found_in_a_file_or_in_a_package(more_models, tmp_path):
    """WORLD stands in models/<name>.py or in models/<name>/preset.py."""
    assert find_preset("single", tmp_path).name == "single"
    assert find_preset("folder", tmp_path).name == "folder"
    assert {"single", "folder", "switch"} <= {preset.name for preset in shipped()}


def test_a_plain_model_file_is_run_through_make_world(tmp_path):
    """MODEL and make_world are enough to be run by name."""
    preset = find_preset("switch", tmp_path)
    assert list(preset.init.model_fields) == ["n_switches", "is_on"]
    assert preset.summary.startswith("Two-state switches")


def test_every_shipped_model_can_be_described(tmp_path):
    """Each has a name under which it is found, a line about it, and a meaning for each parameter."""
    for preset in shipped():
        facts = describe(find_preset(preset.name, tmp_path))
        assert facts["summary"]
        assert all(key["meaning"] for key in facts["params"])


def test_naming_one_model_imports_no_other():
    """A model costs nothing until it is named."""
    code = (
        "import sys, pathlib; from tocsin.scenario import find_preset; find_preset('switch', pathlib.Path());"
        "print([n for n in sys.modules if n.startswith('tocsin.models.') and 'switch' not in n])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert sorted(eval(found)) == ["tocsin.models._preset", "tocsin.models.classic"]


def test_an_unknown_model_is_refused_with_the_nearest(tmp_path):
    """The error lists what there is."""
    with pytest.raises(InputError, match=r"no model 'ehrenfst'\. Did you mean 'ehrenfest'\? Shipped models: .*switch"):
        find_preset("ehrenfst", tmp_path)
