"""`tocsin models`: what there is to run, and what can be set."""

from __future__ import annotations

import json
import re
from pathlib import Path

GATE = (Path(__file__).parent.parent / "scenario" / "gate.py").as_posix()


def test_the_shipped_models_are_listed_with_a_line_each(tocsin):
    """A name and its summary on each line."""
    lines = tocsin("models").stdout.splitlines()
    assert any(re.match(r"switch +Two-state switches", line) for line in lines)


def test_the_list_as_json(tocsin):
    """The same as objects."""
    found = {one["name"]: one["summary"] for one in json.loads(tocsin("models", "--json").stdout)}
    assert "Two-state switches" in found["switch"]


def test_one_model_is_shown_with_all_that_can_be_set(tocsin):
    """Parameters with default, unit, bounds and meaning; keys of [init], [run] and [record]."""
    text = tocsin("models", f"{GATE}:WORLD").stdout
    for line in (
        r"gate: Gates that open and close\.", r"actions +Flip", r"observables +Open", r"\[params\]",
        r"  rates\.flip +1\.0 +float +1/s > 0 +flips of one gate", r"\[init\]",
        r"  n_gates +4 +int +> 0 +number of gates", r"\[run\]", r"  seed +0 +int", r"\[record\]",
        r"  snapshots\.every +required +float", r"  flips +false +bool +how many flips there were",
    ):  # fmt: skip
        assert re.search(f"(?m)^{line}", text), line


def test_one_model_as_json(tocsin):
    """The same as one object."""
    found = json.loads(tocsin("models", f"{GATE}:WORLD", "--json").stdout)
    assert [key["key"] for key in found["params"]] == ["rates.flip", "rates.limit"]
    assert {"name", "summary", "actions", "observables", "init", "run", "record"} <= found.keys()


def test_an_unknown_model_is_refused(refused):
    """With the nearest name, and exit code 2."""
    assert "there is no model 'switsh'. Did you mean 'switch'?" in refused(2, "models", "switsh")
