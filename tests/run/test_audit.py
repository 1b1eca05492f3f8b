"""The audit finds every planted missing `touched`, and names the clocks, the row, the time and the field."""

from __future__ import annotations

import re

import pytest

from tocsin import AuditError, InputError, Simulation
from tocsin.run import access_of

from . import _planted as planted

WORLDS = {
    "clinic": (planted.CLINIC, planted.clinic),
    "epidemic": (planted.EPIDEMIC, planted.town),
    "fibre": (planted.EXTRUSION, planted.fibre),
}
BUGS = [
    ("clinic", 1, "Arrive()", r"Leave(desk \d+)", "Desk.done_at"),
    ("clinic", 2, r"(Arrive()|Leave(desk \d+))", r"GiveUp(patient \d+)", "Patient.is_seated"),
    ("clinic", 3, r"GiveUp(patient \d+)", "Arrive()", "n_waiting"),
    ("clinic", 4, r"(Leave(desk \d+)|GiveUp(patient \d+))", r"Call(friend \d+)", "Patient (remove)"),
    ("clinic", 5, r"Call(friend \d+)", r"Calls(patient \d+)", "Patient.n_calls"),
    ("epidemic", 1, r"Catch(person \d+)", r"Recover(person \d+)", "Person.state"),
    ("epidemic", 2, r"Catch(person \d+)", r"Catch(person \d+)", "Person.n_infected_neighbours"),
    ("epidemic", 3, r"Recover(person \d+)", r"Catch(person \d+)", "Person.n_infected_neighbours"),
    ("fibre", 1, r"Step(leg \d+)", r"(Step(leg \d+)|Respawn(lef \d+)|Blocked(leg \d+))", "Site.leg"),
    ("fibre", 2, r"Step(leg \d+)", r"Respawn(lef \d+)", "Leg.captured"),
    ("fibre", 3, r"Step(leg \d+)", r"Occupancy(site \d+)", "Site.leg"),
]
METHODS = ("next-reaction", "composition-rejection")


def name(pattern):
    """Return a pattern of clocks, written without escapes, as one for `re`; ( at its start groups."""
    is_group = pattern.startswith("(")
    inner = pattern[1:-1] if is_group else pattern
    return f"({inner.replace('(', chr(92) + '(').replace(')', chr(92) + ')')})"


def found(model, world, method, jit):
    """Run until the audit speaks, and return what it says, with the simulation."""
    for seed in range(40):
        simulation = Simulation(model, world, seed=seed, method=method, jit=jit, audit=True)
        try:
            simulation.run(events=150)
        except AuditError as error:
            return str(error), simulation
    raise AssertionError("nothing was found")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("world", "bug", "firing", "stale", "field"), BUGS)
def test_a_planted_bug_is_found_and_named(world, bug, firing, stale, field, method):
    """The error names the event, the clock or observable that is stale, the time and the field; both ways alike."""
    model, make = WORLDS[world]
    text, simulation = found(model, make(bug), method, jit=True)
    start = rf"At t={re.escape(repr(simulation.now))} \(event {simulation.n_events}\) {name(firing)} changed what {name(stale)} depends on"
    match = re.match(start, text)
    assert match, text
    fired, asked = match[1], match[2]
    written = re.search(r"\.fire writes (.*?) \(/?[^ ]*\.py:\d+", text)
    assert written, text
    assert field in written[1].split(", ")
    assert f"which {asked.split('(')[0]}." in text
    assert f"in {fired.split('(')[0]}.fire, call touched.add with the " in text
    plain, again = found(model, make(bug), method, jit=False)
    assert plain == text
    assert (again.now, again.n_events, again.seed) == (simulation.now, simulation.n_events, simulation.seed)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("world", WORLDS)
def test_the_same_models_without_the_bug_are_clean(world, method, jit):
    """The audit has no false alarm, and does not change the run."""
    model, make = WORLDS[world]
    audited, plain = (Simulation(model, make(), seed=3, method=method, jit=jit, audit=audit) for audit in (True, False))
    for simulation in (audited, plain):
        simulation.run(events=5_000 if jit else 150)
    assert audited.n_events > 20
    assert audited.state_hash() == plain.state_hash()
    assert audited.observe() == plain.observe()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_clocks_are_found_again_where_a_growing_pool_moved_them(method, seed):
    """A pool that grows while its rated neighbour fires, and no rate changes, leaves every clock its own row."""
    simulation = Simulation(planted.STEADY, planted.clinic(), seed=seed, method=method, jit=False, audit=True)
    simulation.run(events=150)
    assert len(simulation.world.patients) > 2
    assert simulation.counts["Steady"] > 20


def run_for_ever(simulation, step):
    """Run slice after slice, until something stops it."""
    while simulation.run(events=step).n_events:
        pass


def test_a_run_in_slices_is_audited_to_the_end():
    """The bug is found whatever the slices are; the error comes at the same event."""
    at = []
    for step in (1, 7, 10_000):
        simulation = Simulation(planted.EXTRUSION, planted.fibre(1), seed=0, audit=True)
        with pytest.raises(AuditError):
            run_for_ever(simulation, step)
        at.append((simulation.n_events, simulation.now))
    assert at[0] == at[1] == at[2]


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("n_before", [0, 20])
def test_a_change_by_hand_without_touch_is_found(jit, n_before):
    """A field that is set between two runs, and not touched, is told before the next event."""
    simulation = Simulation(planted.CLINIC, planted.clinic(), seed=1, jit=jit, audit=True)
    simulation.run(events=n_before)
    simulation.observe()
    simulation.world.n_waiting += 1
    with pytest.raises(
        AuditError, match=r"what Arrive\(\) depends on.*did not touch it: its pending time is"
    ) as caught:
        simulation.run(events=1)
    assert simulation.n_events == n_before
    assert "a change made by hand altered" in str(caught.value)
    assert "It reads n_waiting. Remedy: call simulation.touch with the world" in str(caught.value)


@pytest.mark.parametrize("jit", [True, False])
def test_a_change_by_hand_with_touch_is_clean(jit):
    """The same change, touched, goes on."""
    simulation = Simulation(planted.CLINIC, planted.clinic(), seed=1, jit=jit, audit=True)
    simulation.run(events=20)
    simulation.world.n_waiting += 1
    simulation.touch(simulation.world)
    assert simulation.run(events=20).n_events == 20


def test_what_cannot_be_drawn_again_is_refused():
    """One stream for all clocks cannot be audited, and a copy of an audited run keeps its seed."""
    with pytest.raises(InputError, match="the audit draws again what clocks drew"):
        Simulation(planted.CLINIC, planted.clinic(), audit=True, source="pcg64")
    simulation = Simulation(planted.CLINIC, planted.clinic(), seed=1, audit=True)
    with pytest.raises(InputError, match="a copy keeps its seed"):
        simulation.copy(seed=2)


def test_a_copy_and_a_save_are_still_audited(tmp_path):
    """A copy, and what was saved and loaded, find the bug at the event at which the run itself finds it."""
    ends = []
    for way in ("run", "copy", "load"):
        simulation = Simulation(planted.EXTRUSION, planted.fibre(2), seed=4, audit=True)
        simulation.run(events=3)
        if way == "copy":
            simulation = simulation.copy()
        if way == "load":
            simulation.save(tmp_path / "half")
            simulation = Simulation.load(tmp_path / "half", planted.EXTRUSION)
        with pytest.raises(AuditError) as caught:
            simulation.run(events=5_000)
        ends.append((str(caught.value), simulation.n_events))
    assert ends[0] == ends[1] == ends[2]


def test_access_says_what_each_function_does():
    """Reads, writes and touches of deadlines, rates, pools and observables."""
    access = access_of(planted.CLINIC)
    assert access["Leave.schedule"].reads == {"Desk.done_at", "Desk.patient"}
    assert access["Call.rate"].reads == {"Friend.patient", "Patient.weight"}
    assert access["Calls.value"].reads == {"Patient.n_calls"}
    assert set(access["GiveUp.fire"].writes) == {"n_waiting", "Patient (remove)"}
    assert access["GiveUp.fire"].touches == {"Clinic", "Friend", "Patient"}
    assert not access["Leave.schedule"].writes
