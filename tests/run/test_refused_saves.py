"""What a save is refused for: another model, another version, whatever cannot be."""

from __future__ import annotations

import io
import math
import pickle
import sys
import zipfile
from types import ModuleType

import numpy as np
import pytest

from tocsin import Action, InputError, Model, OutputError, Rng, Simulation, SimulationError, Touched, World, float64
from tocsin.models.classic import mm1
from tocsin.run._save import read_save, rules_hash, write_save

from ._cells import MODEL, Die, Dish, Divide, culture
from ._saves import METHODS, cells


class Other(World):
    """A world of another name."""

    n: float64


class Tick(Action):
    """Its clock."""

    def rate(self, world: Other) -> float:
        return 1.0

    def fire(self, world: Other, now: float, rng: Rng, touched: Touched) -> None:
        world.n += 1.0


OTHER = Model(Other, [Tick])


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (OTHER, r"is of another model: its world is 'Dish', that of Other is 'Other'"),
        (Model(Dish, [Die, Divide], observables=[m.cls for m in MODEL.observables]), "its actions is"),
        (Model(Dish, [Divide, Die]), "its observables is"),
        (Model(Dish, [Divide, Die], observables=[m.cls for m in MODEL.observables], tie="entity"), "its tie is"),
        ("MODEL", "model must be the Model that was saved"),
    ],
)
def test_another_model_is_refused(model, text, tmp_path):
    """A save says which world, actions, observables and tie rule it is of."""
    cells(jit=False).save(tmp_path / "a")
    with pytest.raises(InputError, match=text):
        Simulation.load(tmp_path / "a", model, jit=False)


def test_other_rules_are_refused(tmp_path, monkeypatch):
    """A save belongs to the rules it was made with: a changed function is another model."""
    cells(jit=False).save(tmp_path / "a")
    before = rules_hash(MODEL)

    def rate(self, world):
        return 2.0 * world.death

    monkeypatch.setattr(Die, "rate", rate)
    assert rules_hash(MODEL) != before
    with pytest.raises(InputError, match=r"other rules: a function or a declaration of Dish has changed"):
        Simulation.load(tmp_path / "a", MODEL, jit=False)


SCRIPT = """
from tocsin import Action, Model, Params, Simulation, World, float64, param

class Rates(Params):
    tick: float64 = param(1.0)

class Hut(World):
    n: float64
    rates: Rates

def step():
    return STEP

STEP = {step}

class Tick(Action):
    def rate(self, world: Hut) -> float:
        return world.rates.tick

    def fire(self, world: Hut, now, rng, touched) -> None:
        world.n += step()

MODEL = Model(Hut, [Tick])
"""


def test_rules_do_not_depend_on_the_name_of_a_module(monkeypatch):
    """A model is the same in another module; a constant that a function mentions makes another."""
    hashes = []
    for name, step in (("one_hut", 1.0), ("other_hut", 1.0), ("other_hut", 2.0)):
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(SCRIPT.format(step=step), module.__dict__)
        hashes.append(rules_hash(module.MODEL))
    assert hashes[0] == hashes[1] != hashes[2]


def test_another_version_is_refused(tmp_path, monkeypatch):
    """A save belongs to one minor version; patches of it read it."""
    simulation = cells(jit=False)
    monkeypatch.setattr("tocsin.__version__", "0.0.9")
    simulation.save(tmp_path / "a")
    monkeypatch.setattr("tocsin.__version__", "0.0.10")
    Simulation.load(tmp_path / "a", MODEL, jit=False)
    monkeypatch.setattr("tocsin.__version__", "0.1.0")
    with pytest.raises(InputError, match=r"saved by Tocsin 0\.0\.9 in format 1, and this is 0\.1\.0"):
        Simulation.load(tmp_path / "a", MODEL, jit=False)


def rewritten(path, changes, compress=zipfile.ZIP_STORED):
    """Write a save again, with members replaced (None: left out) and all checksums right."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()} | changes
    with zipfile.ZipFile(path, "w", compress) as new:
        for name, content in members.items():
            if content is not None:
                new.writestr(name, content)


def npy(values):
    """Return an array as bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


@pytest.mark.parametrize(
    ("member", "values", "text"),
    [
        ("world/cells/counts", [320, 5, -1], "the counts of cells"),
        ("world/cells/counts", [-1, 5, -1], "the counts of cells"),
        ("world/cells/mother", [5_000] * 320, r"cells\.mother refers to rows that Cell does not have"),
        ("world/cells/mother", [-7] * 320, r"cells\.mother refers to rows that Cell does not have"),
        ("world/cells/mass", [1] * 320, "holds '<i8', not '<f8'"),
        ("world/cells/mass", [1.0] * 319, r"has shape \(319,\), not \(320\)"),
        ("world/cells/_next", np.zeros(320, "i4"), "the counts of cells"),
        ("kernel/clocks/time", [math.nan] * 641, "a clock has a pending time that is NaN"),
        ("kernel/clocks/time", [-1.0] * 641, "before its time"),
        ("kernel/clocks/time", [1e9] * 641, "a clock that cannot ring has a pending time"),
        ("kernel/owners/epoch", [-1] * 641, "its counts of events or draws"),
        ("kernel/actions/n_fired", [1, 1], "its counts of events or draws"),
        ("kernel/=now", [math.inf], "its counts of events or draws"),
        ("kernel/=started", [2], "its counts of events or draws"),
        ("kernel/=rated_time", [3.0], "no clock may have a rate"),
        ("kernel/=now", None, r"it has no kernel/=now\.npy"),
        ("world/more", [1], "it has members that do not belong in it"),
    ],
)
def test_what_cannot_be_is_refused(member, values, text, tmp_path):
    """Counts, references, times: each is checked, whatever the checksums say."""
    simulation = cells(jit=False)
    simulation.run(events=600)
    simulation.world.cells.remove(next(iter(simulation.world.cells)))
    assert simulation.world.cells.n_live < len(simulation.world.cells)
    assert len(simulation.world.cells.rows) == 320
    simulation.save(tmp_path / "a")
    rewritten(tmp_path / "a", {f"{member}.npy": None if values is None else npy(values)})
    with pytest.raises(InputError, match=text):
        Simulation.load(tmp_path / "a", MODEL, jit=False)


@pytest.mark.parametrize(
    ("member", "change", "text"),
    [
        ("rated/rate", lambda v: -v, "a clock has a rate that it cannot have"),
        ("rated/rate", lambda v: v + 1.0, "a clock has a rate that it cannot have"),
        ("rated/place", lambda v: v * 0, "the clocks of a level have no order"),
        ("levels/bound", lambda v: v * 0.9, "the bound 0.9 of its rates up to 1.0 cannot be"),
        ("levels/bound", lambda v: v * 4.0, "the bound 4.0 of its rates up to 1.0 cannot be"),
        ("levels/rank", lambda v: v + 1, "the levels of its rates have no order"),
        ("draws/wait", lambda v: -v, "the draws made ahead"),
        ("draws/place", lambda v: v + 1.0, "the draws made ahead"),
        ("=rated_slot", lambda v: v + (1 << 40), "the next event of its rates"),
        ("=rated_time", lambda v: v * 0.0, "the next event of its rates"),
        ("=n_drawn", lambda v: v - 100, "the next event of its rates"),
    ],
)
def test_rates_that_cannot_be_are_refused(member, change, text, tmp_path):
    """The lists of composition-rejection are checked before they are dealt."""
    simulation = cells(jit=False, method=METHODS[1])
    simulation.run(events=300)
    simulation.save(tmp_path / "a")
    name = f"kernel/{member}.npy"
    with zipfile.ZipFile(tmp_path / "a") as old:
        values = np.load(io.BytesIO(old.read(name)))
    rewritten(tmp_path / "a", {name: npy(change(values).astype(values.dtype))})
    with pytest.raises(InputError, match=text):
        Simulation.load(tmp_path / "a", MODEL, jit=False)


def test_params_out_of_bounds_are_refused(tmp_path):
    """A parameter in a save keeps the bounds that it was declared with."""
    Simulation(mm1.MODEL, mm1.make_world(), jit=False).save(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as old:
        name = next(n for n in old.namelist() if n.startswith("world/=rates."))
    rewritten(tmp_path / "a", {name: npy([-1.0])})
    with pytest.raises(InputError, match=r"is not a whole save of a simulation: .* must be >= 0, got -1\.0"):
        Simulation.load(tmp_path / "a", mm1.MODEL, jit=False)


def test_compressed_members_are_refused(tmp_path):
    """Only stored members are read, so no small file becomes a large one."""
    cells(jit=False).save(tmp_path / "a")
    rewritten(tmp_path / "a", {}, zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="is compressed; members are stored as they are"):
        Simulation.load(tmp_path / "a", MODEL, jit=False)


def test_objects_are_never_unpickled(tmp_path):
    """An array of objects is refused by its header, whatever it would run."""
    cells(jit=False).save(tmp_path / "a")
    file = io.BytesIO()
    np.save(file, np.array([print, print], object), allow_pickle=True)
    rewritten(tmp_path / "a", {"world/cells/mass.npy": file.getvalue()})
    with pytest.raises(InputError, match=r"holds '\|O', not '<f8'"):
        Simulation.load(tmp_path / "a", MODEL, jit=False)


def test_files_that_are_not_there_or_no_saves(tmp_path):
    """A missing file, a folder and a text are refused with a sentence."""
    (tmp_path / "text").write_text("site,strength\n")
    for name, text in (("none", "cannot read"), (".", "cannot read"), ("text", "is not a zip file")):
        with pytest.raises(InputError, match=text):
            Simulation.load(tmp_path / name, MODEL, jit=False)


def test_a_save_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    """A folder that is missing raises OutputError; a full disk leaves the file that was there."""
    simulation = cells(jit=False)
    with pytest.raises(OutputError, match="choose another place or free some space"):
        simulation.save(tmp_path / "none" / "a")
    simulation.save(tmp_path / "a")
    before = (tmp_path / "a").read_bytes()
    simulation.run(events=10)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        simulation.save(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_simulation_that_stopped_inside_an_event_cannot_be_saved(tmp_path):
    """What cannot go on cannot be saved, copied or pickled either."""
    simulation = culture(3, jit=False, division=-1.0)
    with pytest.raises(SimulationError):
        simulation.run(events=1)
    for attempt in (lambda: simulation.save(tmp_path / "a"), simulation.copy, lambda: pickle.dumps(simulation)):
        with pytest.raises(SimulationError, match="stopped in the middle of an event"):
            attempt()


def test_a_pickle_needs_a_model_that_can_be_imported():
    """A model that is no global of a module is refused with what to do instead."""
    local = Simulation(Model(Other, [Tick]), Other(), jit=False)
    with pytest.raises(TypeError, match=r"use simulation\.save\(path\) and Simulation\.load\(path, model\)"):
        pickle.dumps(local)
    place = pickle.loads(pickle.dumps(Simulation(mm1.MODEL, mm1.make_world(), jit=False)))
    assert place.model is mm1.MODEL


def test_plain_values_travel_with_a_save(tmp_path):
    """What a checkpoint says beside the simulation comes back."""
    extra = {"n": 3, "parts": {"events": 2}, "text": "é", "x": 0.1}
    write_save(cells(jit=False), tmp_path / "a", extra)
    assert read_save(Simulation, tmp_path / "a", MODEL, False)[1] == extra
