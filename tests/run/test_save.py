"""Laws of save, load, copy and pickle: what comes back is the same simulation, and goes on alike."""

from __future__ import annotations

import copy
import inspect
import json
import pickle

import pytest

from tocsin import InputError, Simulation
from tocsin.kernel import Clockwork
from tocsin.run import _members

from ._cells import MODEL
from ._saves import METHODS, cells, town


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
        "actions": {"base", "stride", "rows_at", "row_bytes", "kind", "asked", "every"}, "series": {"base"},
        "rated": {"level"}, "levels": {"inverse", "n", "weight"},
        "lanes": {"task", "part", "action", "is_listed", "start", "stop", "tick", "row", "frozen", "flags"},
        "rngs": {"key_low", "key_high", "row", "epoch", "purpose", "block", "low", "high", "n_left"},
    }  # fmt: skip
    for table, entity in schema.tables().items():
        assert entity.fields.keys() == follows.get(table, set()) | set(_members.KEPT.get(table, ())), table
    arrays = {"kind_actions", "kind_observables", "members", "pages", "free_pages", "used", "raw", "order"}
    assert schema.arrays.keys() == arrays | set(_members.KEPT_ARRAYS)
    scalars = {
        "n_clocks", "is_stale", "n_queued", "n_run", "n_heap", "n_marks", "today", "n_days", "log_days", "origin",
        "width", "days_per_time", "credit", "n_seen", "crowd", "looked_at", "gap_sum", "event_sum", "crowd_sum",
        "n_free_pages", "n_used", "is_unsettled", "total", "mean_wait", "chosen_wait", "chosen_slot", "n_chosen", "is_logging", "n_log", "still_limit",
        "stop_slot", "stop_time", "next_time", "phase", "fired_slot", "n_touched", "stale", "begun_at", "visited",
    }  # fmt: skip
    assert schema.scalars.keys() == scalars | set(_members.KEPT_SCALARS)


def test_every_option_of_a_simulation_is_kept():
    """What `Simulation` is given, `_options` says, as plain values."""
    given = {p.name for p in inspect.signature(Simulation).parameters.values() if p.kind is p.KEYWORD_ONLY}
    options = cells(jit=False, method=METHODS[0], source="pcg64")._options()
    assert options.keys() == given - {"seed", "start", "jit", "threads"}
    assert json.loads(json.dumps(options)) == options
    assert (options["method"], options["source"]) == (METHODS[0], "pcg64")
