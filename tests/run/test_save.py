"""Laws of save, load, copy and pickle: what comes back is the same simulation, and goes on alike."""

from __future__ import annotations

import copy
import inspect
import io
import json
import math
import pickle
import zipfile

import numpy as np
import pytest

from tocsin import Action, InputError, Model, OutputError, Rng, Simulation, SimulationError, Touched, World, float64
from tocsin.kernel import Clockwork
from tocsin.models.classic import mm1, sir_network
from tocsin.run import _members
from tocsin.run._save import read_save, rules_hash, write_save

from ._cells import MODEL, Die, Dish, Divide, culture

METHODS = ("next-reaction", "composition-rejection")


def town(jit=True, **options):
    """An epidemic: arrays, params, silent clocks, observables on rows."""
    n = 7_500 if jit else 100
    contacts = sir_network.random_contacts(n, 3 * n, seed=1)
    world = sir_network.make_world(n, contacts, range(n // 10))
    return Simulation(sir_network.MODEL, world, seed=2, jit=jit, **options)


def cells(jit=True, **options):
    """A pool that grows, with references, a free list and observables."""
    return Simulation(MODEL, Dish(cells={"mass": [1.0] * 20}), seed=3, jit=jit, **options)


def saved(simulation, path):
    """Save and load again."""
    simulation.save(path / "run.tocsin")
    return Simulation.load(path / "run.tocsin", simulation.model, jit=simulation.jit)


def pickled(simulation, path):
    """Pickle and unpickle."""
    return pickle.loads(pickle.dumps(simulation))


WAYS = {
    "save": saved, "pickle": pickled, "copy": lambda s, _: s.copy(), "copy.copy": lambda s, _: copy.copy(s),
    "deepcopy": lambda s, _: copy.deepcopy(s),
}  # fmt: skip


def same(one, other, n_events):
    """Say that two simulations are equal now, for the next events, and after them."""
    assert one.state_hash() == other.state_hash()
    assert str(one.observe()) == str(other.observe())
    streams = [s.record_events(events=n_events).to_arrow() for s in (one, other)]
    assert streams[0].equals(streams[1])
    assert one.state_hash() == other.state_hash()
    assert str(one.observe()) == str(other.observe())
    assert (one.now, one.n_events, one.counts, one.seed, one.start) == (
        other.now, other.n_events, other.counts, other.seed, other.start,
    )  # fmt: skip
    return streams[0].num_rows


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [cells, town])
@pytest.mark.parametrize(("jit", "n_events"), [(True, 10_000), (False, 60)])
def test_what_comes_back_goes_on_alike(make, method, jit, n_events, tmp_path):
    """By each way there and back, state, observables and the next events are the same bits."""
    simulation = make(jit, method=method)
    simulation.run(events=min(700, n_events // 3))
    for way in WAYS.values():
        again = way(simulation, tmp_path)
        assert type(again) is Simulation
        assert same(simulation.copy(), again, n_events) > min(n_events, 4_000) * 0.9


def test_a_copy_is_independent():
    """What happens to a copy does not happen to the original."""
    simulation = cells()
    simulation.run(events=500)
    before, other = simulation.state_hash(), simulation.copy()
    other.run(events=500)
    other.world.dead_mass = 9.0
    assert simulation.state_hash() == before != other.state_hash()


@pytest.mark.parametrize("source", ["philox", "pcg64", "pcg64-rand", "splitmix64"])
def test_every_random_source_goes_on(source, tmp_path):
    """Keyed streams and single ones continue where they stood."""
    simulation = cells(jit=False, source=source)
    simulation.run(events=301)
    same(simulation, saved(simulation, tmp_path), 300)


@pytest.mark.parametrize("method", METHODS)
def test_another_seed_branches(method):
    """A copy with another seed keeps state and pending times, and then draws other numbers."""
    simulation = cells(method=method)
    simulation.run(events=500)
    branches = [simulation.copy(seed=seed) for seed in (simulation.seed, 4, 5)]
    assert {branch.next_event() for branch in branches} == {simulation.next_event()}
    assert [branch.now for branch in branches] == [simulation.now] * 3
    simulation.run(events=200)
    for branch in branches:
        branch.run(events=200)
    assert branches[0].state_hash() == simulation.state_hash()
    assert len({branch.world.cells["mass"].tobytes() for branch in branches}) == 3
    again = simulation.copy(seed=7), simulation.copy(seed=7)
    same(*again, 300)


def test_an_audited_run_goes_on_audited(tmp_path):
    """The audit finds nothing after a load that it would not find without; its seed cannot change."""
    simulation = cells(jit=False, audit=True)
    simulation.run(events=50)
    again = saved(simulation, tmp_path)
    assert again.audit
    same(simulation, again, 50)
    with pytest.raises(InputError, match="with audit=True a copy keeps its seed"):
        simulation.copy(seed=4)


@pytest.mark.parametrize("jit", [True, False])
def test_compiled_and_interpreted_load_the_same(jit, tmp_path):
    """A compiled run goes on interpreted, and the other way round."""
    simulation = cells(jit)
    simulation.run(events=400)
    simulation.save(tmp_path / "a")
    same(simulation, Simulation.load(tmp_path / "a", MODEL, jit=not jit), 300)


def test_before_the_first_event(tmp_path):
    """A simulation that has not begun is saved as such: what is changed by hand later still counts."""
    simulation = cells()
    again = saved(simulation, tmp_path)
    for one in (simulation, again):
        one.world.division = 0.0
    same(simulation, again, 100)
    assert simulation.world.n_births == 0


def test_rows_changed_by_hand_are_taken_along(tmp_path):
    """Rows touched, spawned and removed by hand are in the save, their clocks with them."""
    simulation = cells()
    simulation.run(events=100)
    row = next(iter(simulation.world.cells))
    simulation.world.cells.remove(row)
    for _ in range(200):
        simulation.world.cells.spawn().mass = 2.0
    same(simulation, saved(simulation, tmp_path), 1_000)


def test_between_two_batches_of_a_recording(tmp_path):
    """A save in the middle of a stream of events holds all that was handed on, and no more."""
    simulation = town()
    stream = iter(simulation.record_events(events=1_000))
    next(stream)
    again = saved(simulation, tmp_path)
    assert again.n_events == simulation.n_events
    same(simulation, again, 500)


def test_row_means_and_resets_go_on(tmp_path):
    """Integrals of each row, and the time since which they are taken, are kept."""
    simulation = cells()
    simulation.run(until=2.0)
    simulation.reset_observables()
    simulation.run(until=4.0)
    again = saved(simulation, tmp_path)
    for one in (simulation, again):
        one.run(until=6.0)
    assert simulation.row_means("Mass").tobytes() == again.row_means("Mass").tobytes()


def test_the_same_state_makes_the_same_file(tmp_path):
    """A save holds no time of day and nothing of its maker: equal simulations, equal bytes."""
    for name in "ab":
        simulation = cells(jit=False)
        simulation.run(events=200)
        simulation.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_every_part_of_the_kernel_is_kept_or_known_to_follow():
    """A new field of the kernel has to be put on one side or the other."""
    schema = Clockwork.schema()
    follows = {
        "clocks": {"next", "prev"}, "owners": {"row", "action", "mark"}, "run": {"time", "slot"},
        "heap": {"time", "slot"}, "days": {"first"}, "marks": {"kind", "row"}, "log": {"time", "action", "row"},
        "kinds": {"first", "n_actions", "n_rows", "head", "stride", "first_observable", "n_observables", "unused"},
        "actions": {"base", "stride", "rows_at", "row_bytes", "kind", "asked", "unused"}, "series": {"base"},
        "rated": {"level"}, "levels": {"inverse", "n", "weight"},
        "rngs": {"key_low", "key_high", "row", "epoch", "purpose", "block", "low", "high", "n_left"},
    }  # fmt: skip
    for table, entity in schema.tables().items():
        assert entity.fields.keys() == follows.get(table, set()) | set(_members.KEPT.get(table, ())), table
    arrays = {"kind_actions", "kind_observables", "members", "pages", "free_pages", "used", "raw"}
    assert schema.arrays.keys() == arrays | set(_members.KEPT_ARRAYS)
    scalars = {
        "n_clocks", "is_stale", "n_queued", "n_run", "n_heap", "n_marks", "today", "n_days", "log_days", "origin",
        "width", "days_per_time", "credit", "n_seen", "crowd", "looked_at", "gap_sum", "event_sum", "crowd_sum",
        "n_free_pages", "n_used", "is_unsettled", "total", "mean_wait", "is_logging", "n_log", "still_limit",
        "stop_slot", "stop_time", "next_time", "phase", "fired_slot", "n_touched", "stale",
    }  # fmt: skip
    assert schema.scalars.keys() == scalars | set(_members.KEPT_SCALARS)


def test_every_option_of_a_simulation_is_kept():
    """What `Simulation` is given, `_options` says, as plain values."""
    given = {p.name for p in inspect.signature(Simulation).parameters.values() if p.kind is p.KEYWORD_ONLY}
    options = cells(jit=False, method=METHODS[0], source="pcg64")._options()
    assert options.keys() == given - {"seed", "start", "jit"}
    assert json.loads(json.dumps(options)) == options
    assert (options["method"], options["source"]) == (METHODS[0], "pcg64")


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
