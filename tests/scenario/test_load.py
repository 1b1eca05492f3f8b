"""A scenario is taken whole and as meant, or refused in one paragraph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tocsin.errors import InputError
from tocsin.scenario import load_scenario, parse_override


def test_defaults_are_filled_in(load):
    """What a file leaves out has the value that the classes declare."""
    assert load().effective() == {
        "model": load().model,
        "params": {"rates": {"flip": 1.0, "limit": 1 << 40}},
        "init": {"n_gates": 4, "speed": None},
        "run": {"seed": 1, "until": 20.0, "events": None, "method": None, "burn_in": 0.0},
        "record": {"snapshots": None, "observables": None, "events": False, "flips": False},
    }


@pytest.mark.parametrize(
    "params",
    ["rates.flip = 2.0", '"rates.flip" = 2.0', "rates = { flip = 2.0 }", "[params.rates]\nflip = 2"],
)
def test_parameters_may_be_dotted_or_nested(load, params):
    """Every spelling of a parameter's path means the same."""
    scenario = load(f"[params]\n{params}")
    assert scenario.effective()["params"]["rates"]["flip"] == 2.0
    assert scenario.given == {"rates.flip"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[rum]\nx = 1", r"gate\.toml: unknown key 'rum'\. Did you mean 'run'\? It has: model, params, init"),
        ("[run]\nsede = 3\nuntil = 1", r"gate\.toml, \[run\]: unknown key 'sede'\. Did you mean 'seed'\?"),
        ("[init]\nn_gate = 3", r"gate\.toml, \[init\]: unknown key 'n_gate'\. Did you mean 'n_gates'\?"),
        ("[record]\nflip = true", r"\[record\]: unknown key 'flip'\. Did you mean 'flips'\?"),
        ("[record.snapshots]\nevry = 1", r"\[record\.snapshots\]: unknown key 'evry'\. Did you mean 'every'\?"),
        ("[params]\nrates.flop = 1", r"\[params\.rates\]: unknown parameter 'rates\.flop'\. Did you mean 'rates\.fl"),
        ("[params]\nlimit = 1", r"\[params\]: unknown parameter 'limit'\. Did you mean 'rates\.limit'\?"),
        ("[params.rates]\nflip = 0", r"\[params\.rates\]: rates\.flip must be > 0, got 0\."),
        ("[params.rates]\nlimit = 1.5", r"rates\.limit must be a whole number, got 1\.5"),
        ("[run]\nseed = 1", r"\[run\]: say when to stop: until = \.\.\., events = \.\.\., or both\."),
        ("[run]\nuntil = -1.0", r"\[run\]: until must be > 0, got -1\.0\."),
        ("[run]\nuntil = inf", r"until must be finite, got inf"),
        ("[run]\nevents = 1.5", r"events must be a whole number, got 1\.5"),
        ("[run]\nevents = true", r"events must be a whole number, got True"),
        ("[run]\nuntil = 5\nburn_in = 6", r"\[run\]: burn_in must be < until, 5, got 6\."),
        ("[run]\nuntil = 1\nseed = -1", r"seed must be >= 0, got -1"),
        ("[run]\nuntil = 1\nseed = 18446744073709551616", r"seed must be <= 18446744073709551615"),
        ("[init]\nn_gates = 'x'", r"n_gates must be a whole number, got 'x'"),
        ("[init]\nspeed = 'x'", r"speed must be a number, got 'x'"),
        ("[record]\nsnapshots = true", r"snapshots must be a table, got True"),
        ("[record]\nsnapshots = {}", r"\[record\.snapshots\]: the key 'every' is missing\."),
        ("[record.snapshots]\nevery = 1\ntable = 'gate'", r"no table 'gate'\. Did you mean 'gates'\? It has: gates"),
        ("[record.snapshots]\nevery = 1\ncolumns = ['is_opn']", r"gates has no column 'is_opn'\. Did you mean 'is_o"),
        ("[record.snapshots]\nevery = 1\ncolumns = [1]", r"columns\[0\] must be text, got 1"),
        ("model = 3", r"gate\.toml: model must be text, got 3"),
        ("model = 'switsh'", r"there is no model 'switsh'\. Did you mean 'switch'\? Shipped models: .*\"file\.py:name\""),
        ("model = ", r"gate\.toml is not valid TOML: .*line 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_place_and_remedy(load, text, message):
    """An error names the file, the table, the key, the rule and the nearest known key."""
    with pytest.raises(InputError, match=message):
        load(text)


def test_several_errors_are_told_at_once_but_not_too_many(load):
    """Three errors are told, and the others counted."""
    text = "[run]\nuntil = 1\na = 1\nb = 1\nc = 1\nd = 1"
    with pytest.raises(InputError, match=r"'a'.*'b'.*'c'.*\(1 more error\.\)$"):
        load(text)


def test_a_missing_model_is_told(tmp_path):
    """The one key that every scenario needs is `model`."""
    path = tmp_path / "x.toml"
    path.write_text("[run]\nuntil = 1\n")
    with pytest.raises(InputError, match=r"^x\.toml: the key 'model' is missing\.$"):
        load_scenario(path)


def test_a_missing_file_is_told(tmp_path):
    """A path that leads nowhere is shown."""
    with pytest.raises(InputError, match=r"there is no scenario file '.*nowhere\.toml'"):
        load_scenario(tmp_path / "nowhere.toml")


def test_a_folder_and_a_binary_file_are_told(tmp_path):
    """What is no text file is no scenario."""
    with pytest.raises(InputError, match="cannot read"):
        load_scenario(tmp_path)
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"b\.toml is not UTF-8 text \(byte 0\)"):
        load_scenario(tmp_path / "b.toml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b=2", 2), ("a.b = 2.5", 2.5), ("a.b=true", True), ("a.b=[1, 2]", [1, 2]), ("a.b=x", "x"),
        ('a.b="7"', "7"), ("a.b=x=y", "x=y"), ("a.b=", ""), ("a.b=1\nc = 2", "1\nc = 2"),
        ("a.b={ c = 1 }", {"c": 1}),
    ],
)  # fmt: skip
def test_set_takes_toml_values_or_text(text, value):
    """What follows = is a TOML value, and text if it is none."""
    assert parse_override(text) == (("a", "b"), value)


@pytest.mark.parametrize("text", ["seed", "=3", "run..seed=3", ""])
def test_set_needs_a_path_and_a_value(text):
    """Without path=value there is nothing to set."""
    with pytest.raises(InputError, match=re.escape("--set must read path=value, as in run.seed=7")):
        parse_override(text)


def test_set_goes_over_the_file(load):
    """A key set on the command line wins; tables that the file lacks are made."""
    scenario = load("", "run.seed=9", "params.rates.flip=3", "init.n_gates=2", "record.snapshots.every=5")
    found = scenario.effective()
    assert (found["run"]["seed"], found["params"]["rates"]["flip"], found["init"]["n_gates"]) == (9, 3.0, 2)
    assert found["record"]["snapshots"] == {"every": 5.0, "table": None, "columns": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("run.sede=1", r"^command line, \[run\]: unknown key 'sede'\. Did you mean 'seed'\?"),
        ("run.seed=x", r"^command line, \[run\]: seed must be a whole number, got 'x'\."),
        ("params.rates.flip=-1", r"^command line, \[params\.rates\]: rates\.flip must be > 0"),
        ("run.seed.x=1", r"^--set run\.seed\.x: run\.seed is 1, which is not a table"),
        ("rn.seed=1", r"^command line: unknown key 'rn'\. Did you mean 'run'\?"),
    ],
)
def test_what_is_set_wrongly_is_said_to_be(load, change, message):
    """An error of --set does not blame the file."""
    with pytest.raises(InputError, match=message):
        load("", change)


def test_the_hash_is_of_what_counts(load, tmp_path):
    """Comments, order and defaults written out leave the hash; another value changes it."""
    base = load().hash()
    assert load("# a comment\n[init]\nn_gates = 4").hash() == base
    assert load("", "run.until=20").hash() == base
    assert load("", "run.seed=2").hash() != base
    assert load("", "params.rates.flip=2").hash() != base
    assert re.fullmatch("[0-9a-f]{64}", base)


def test_a_model_file_is_found_from_the_scenario(tmp_path, monkeypatch):
    """ "file.py:name" is relative to the scenario's folder, wherever one is."""
    source = (Path(__file__).parent / "gate.py").read_text()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "gate.py").write_text(source)
    (tmp_path / "sub" / "a.toml").write_text('model = "gate.py:model"\n[run]\nuntil = 1\n')
    monkeypatch.chdir(tmp_path)
    assert load_scenario("sub/a.toml").preset.source == (tmp_path / "sub" / "gate.py").resolve()
