"""A model in a user's file: a Model, a world builder or a Preset; errors with file and line."""

from __future__ import annotations

import sys

import pytest

from tocsin.errors import InputError
from tocsin.scenario import find_preset


def test_a_model_takes_the_keywords_of_its_world(load):
    """[init] of a bare Model holds row counts, columns, arrays and scalars."""
    text = "[init]\ngates = { is_open = [true, false] }\nheights = [1.5]\nn_flips = 7\n[params]\nrates.flip = 2"
    simulation, _ = load(text, model="model").start()
    world = simulation.world
    assert world.gates["is_open"].tolist() == [True, False]
    assert (list(world.heights), world.n_flips, world.rates.flip) == ([1.5], 7, 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gate = 3", r"\[init\]: unknown key 'gate'\. Did you mean 'gates'\? It has: gates, heights, n_flips"),
        ("gates = -1", r"\[init\]: gates must be >= 0 rows, got -1"),
        ("gates = 'x'", r"gates must be a whole number or a table, got 'x'"),
        ("gates = { is_opn = [true] }", r"gates has no column 'is_opn'\. Did you mean 'is_open'\?"),
        ("gates = { is_open = ['x'] }", r"gates\.is_open must hold numbers"),
        ("heights = [[1.0]]", r"heights must have 1 dimension\(s\), got shape \(1, 1\)"),
        ("n_flips = 1.5", r"n_flips must be a whole number, got 1\.5"),
    ],
)
def test_a_world_that_cannot_be_made_is_refused(load, text, message):
    """What the World refuses is told as an error of [init]."""
    with pytest.raises(InputError, match=message):
        load(f"[init]\n{text}", model="model").start()


def test_a_builder_takes_its_arguments(load):
    """[init] of a builder holds its arguments; Params, seed and folder come from the scenario."""
    text = "[init]\nn_gates = 5\nis_open = true\n[params]\nrates.flip = 4"
    world = load(text, model="hall").start()[0].world
    assert (len(world.gates), world.gates[0].is_open, world.rates.flip, world.heights[0]) == (5, True, 4.0, 1.0)


def test_a_builder_without_params_is_given_them(load):
    """Parameters that a builder does not take are set on the world it returns."""
    assert load("[params]\nrates.flip = 4", model="plain").start()[0].world.rates.flip == 4.0


def test_an_error_inside_a_builder_names_the_line(load):
    """An exception of the user's own code is one paragraph with file and line."""
    with pytest.raises(InputError, match=r"\[init\]: gate\.py, line \d+: RuntimeError: thirteen is unlucky"):
        load("[init]\nn_gates = 13", model="hall").start()


def test_a_builder_must_say_its_world(load):
    """The return annotation is how a builder finds its Model."""
    with pytest.raises(InputError, match=r"gate\.py:no_world must say which World it returns"):
        load(model="no_world")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("modl", r"gate\.py has no 'modl'\. Did you mean 'model'\? It has: .*model"),
        ("Rates", r"gate\.py:Rates is a type, and must be a Model, a Preset or a function"),
        ("a b", r"a model in a file is named \"file\.py:name\""),
    ],
)
def test_a_name_that_is_no_model_is_refused(load, name, message):
    """Only a Model, a Preset or a builder can be run."""
    with pytest.raises(InputError, match=message):
        load(model=name)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\ny = z\n", r"^bad\.py, line 2: NameError: name 'z' is not defined$"),
        ("x = (\n", r"^bad\.py, line 1: SyntaxError: "),
        ("import no_such_module_at_all\n", r"^bad\.py, line 1: ModuleNotFoundError: .*no_such_module_at_all"),
        ("raise SystemExit(3)\n", r"^bad\.py, line 1: SystemExit: 3$"),
        ("from tocsin import World, Model\nclass W(World): pass\nModel(W, [])\n", r"^bad\.py, line 3: model W has no actions"),
        ("from tocsin import World\ndef f() -> 'W': ...\nclass W(World): pass\n", r"bad\.py:f returns a W, .*exactly one Model, and has 0"),
    ],
)  # fmt: skip
def test_a_file_that_fails_is_shown_with_its_line(tmp_path, monkeypatch, source, message):
    """An error while the file is imported is the user's to put right: no traceback of ours."""
    monkeypatch.delitem(sys.modules, "bad", raising=False)
    (tmp_path / "bad.py").write_text(source)
    with pytest.raises(InputError, match=message):
        find_preset("bad.py:f", tmp_path)
    assert "bad" not in sys.modules or source.startswith("from tocsin")


def test_a_file_that_is_not_there_is_told(tmp_path):
    """The path that was tried is shown in full."""
    with pytest.raises(InputError, match=r"there is no file '/.*nowhere\.py'"):
        find_preset("nowhere.py:model", tmp_path)


def test_a_file_may_import_its_neighbour(tmp_path):
    """The file's folder is on the path while it is imported, and no longer."""
    (tmp_path / "neighbour_of_model.py").write_text("from tocsin import World\nclass W(World): n: int\n")
    (tmp_path / "own.py").write_text(
        "from neighbour_of_model import W\nfrom tocsin import Action, Model\n"
        "class A(Action):\n    def rate(self, world): return 1.0\n"
        "    def fire(self, world, now, rng, touched): pass\nmodel = Model(W, [A])\n"
    )
    assert find_preset("own.py:model", tmp_path).model.world.__name__ == "W"
    assert str(tmp_path) not in sys.path


def test_a_file_named_like_a_module_of_python_replaces_none(tmp_path):
    """A model in random.py leaves `import random` alone."""
    import random

    (tmp_path / "random.py").write_text("model = 3\n")
    with pytest.raises(InputError, match=r"random\.py:model is a int"):
        find_preset("random.py:model", tmp_path)
    assert sys.modules["random"] is random
