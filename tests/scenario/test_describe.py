"""What can be set is read off the classes that check it."""

from __future__ import annotations

from pathlib import Path

from tocsin.scenario import describe, find_preset


def keys(table: str) -> dict[str, dict[str, object]]:
    """The keys of one table of the preset in gate.py."""
    facts = describe(find_preset("gate.py:WORLD", Path(__file__).parent))
    return {key["key"]: key for key in facts[table]}


def test_a_parameter_has_default_unit_bounds_and_meaning():
    """All four come from `param(...)`."""
    flip = {"type": "float", "default": 1.0, "required": False, "unit": "1/s", "bounds": "> 0"}
    assert keys("params")["rates.flip"] == {"key": "rates.flip", **flip, "meaning": "flips of one gate"}


def test_a_key_of_init_has_type_bounds_and_meaning():
    """They come from the pydantic class; `or None` is no type of its own."""
    n_gates, speed = keys("init")["n_gates"], keys("init")["speed"]
    assert (n_gates["type"], n_gates["default"], n_gates["bounds"]) == ("int", 4, "> 0")
    assert (speed["type"], speed["default"], speed["bounds"]) == ("float", None, "> 0")


def test_record_lists_the_reports_of_the_model():
    """A model's own files stand beside the common keys; nested tables are spelled out."""
    found = keys("record")
    assert list(found) == [
        "snapshots", "snapshots.every", "snapshots.table", "snapshots.columns", "observables", "observables.every",
        "observables.names", "events", "flips",
    ]  # fmt: skip
    assert found["flips"]["meaning"] == "how many flips there were: writes flips.txt"
    assert found["snapshots.every"]["required"] is True


def test_the_bounds_of_a_seed_are_exact():
    """2**64 - 1 is not rounded."""
    assert keys("run")["seed"]["bounds"] == ">= 0, <= 18446744073709551615"
