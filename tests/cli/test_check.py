"""`tocsin check`: the table of verdicts, the exit codes, and what can be said about the world."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SMALL = (Path(__file__).parent.parent / "check" / "_small.py").as_posix()
ALLOW = ("--allow", "Customer.before=it is there to be looked at")


def test_a_clean_scenario_ends_with_0_and_a_table(tocsin, gate):
    """One line for each check, and one that sums them up."""
    result = tocsin("check", gate, "--events", 100)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("pass     compiles ")
    assert "\npass     audit, composition-rejection " in result.stdout
    assert result.stdout.endswith(" passed, 0 found something, 1 skipped\n")
    assert result.stderr == ""


def test_a_finding_ends_with_1_and_is_told_below_the_table(tocsin, tmp_path):
    """The sentence of what was found stands below, by the name of the check; --json says the same."""
    args = ("check", f"{SMALL}:STREET", "--set", "init.lamps=2", "--events", 50)
    result = tocsin(*args)
    assert result.exit_code == 1
    assert "\nfinding  lints " in result.stdout
    assert "\nlints: [Dusk.fire/Light.rate] Dusk.fire writes night (_small.py:" in result.stdout
    assert "\naudit, next-reaction: At t=" in result.stdout
    found = json.loads(tocsin(*args, "--json").stdout)
    assert found["is_clean"] is False
    assert {v["name"] for v in found["verdicts"] if v["status"] == "finding"} >= {"lints", "audit, next-reaction"}


def test_findings_can_be_allowed_with_a_reason(tocsin):
    """An allowed lint is a pass that says so; --seed and --seconds are heard."""
    args = ("check", f"{SMALL}:shop", "--events", 60, "--seed", 9, "--json")
    assert tocsin(*args).exit_code == 1
    result = tocsin(*args, *ALLOW, "--seconds", 30)
    found = json.loads(result.stdout)
    assert (result.exit_code, found["seed"], found["model"]) == (0, 9, "shop")
    assert "it is there to be looked at" in found["verdicts"][1]["detail"]


def test_the_world_can_be_set(tocsin):
    """--set reaches [init] and [params] of a model without a scenario."""
    result = tocsin("check", f"{SMALL}:shop", "--set", "init.wrong=2", "--events", 60, *ALLOW)
    assert result.exit_code == 1
    assert "there is NaN in Till.takings" in result.stdout
    result = tocsin("check", f"{SMALL}:shop", "--set", "params.settings.rate=-1", *ALLOW)
    assert result.exit_code == 2
    assert "settings.rate must be > 0, got -1" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("check", "ehrenfets"), "there is no model 'ehrenfets'. Did you mean 'ehrenfest'?"),
        (("check", "nowhere.toml"), "there is no scenario file"),
        (("check", f"{SMALL}:none"), "_small.py has no 'none'"),
        (("check", "mm1", "--set", "init.n=3"), "check a scenario"),
        (("check", "mm1", "--allow", "Serve.fire"), "--allow must read label=reason"),
        (("check", "mm1", "--seconds", "0"), "events and seconds must be > 0"),
        (("graph", "ehrenfets"), "Did you mean 'ehrenfest'?"),
        (("graph", "mm1", "--format", "png"), "--format must be one of mermaid, dot, svg, matrix, got 'png'"),
    ],
)
def test_bad_input_is_exit_code_2(refused, args, said):
    """One paragraph on stderr."""
    assert said in refused(2, *args)
