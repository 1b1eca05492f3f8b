"""Laws that hold for every model: the same seed gives the same bits, however it is run."""

import json
import os
from pathlib import Path

import pytest

from tocsin import Model, Simulation, Stop

from ._models import NAMES, classic

GOLDEN = Path(__file__).parents[2] / "golden.json"
MILLION = 1_000_000
INTERPRETED = {"phold": 10_000}
"""Events of the default run as plain Python, 2,000 unless said here."""


@pytest.fixture(scope="module", params=NAMES)
def built(request):
    """Each classic model in turn."""
    return classic(request.param)


@pytest.fixture
def case(built, method):
    """Each classic model by each method."""
    built.key = f"classic/{built.name}" if method == "next-reaction" else f"classic/{built.name}/{method}"
    return built


def hash_after(case, events, seed=11, **kw):
    """Return the state hash after `events` events on the small world."""
    simulation = Simulation(case.model, case.small, seed=seed, **kw)
    assert simulation.run(events=events).n_events == events
    return simulation.state_hash()


def test_compiled_is_interpreted(case):
    """Machine code and plain Python leave the same bits in every part of the state."""
    events = INTERPRETED.get(case.name, 2_000)
    assert hash_after(case, events) == hash_after(case, events, jit=False)


@pytest.mark.slow
def test_compiled_is_interpreted_for_long(case):
    """Machine code and plain Python agree over 100,000 events."""
    runs = [Simulation(case.model, case.middle, seed=12, jit=jit) for jit in (True, False)]
    for simulation in runs:
        simulation.run(events=100_000)
    assert runs[0].state_hash() == runs[1].state_hash()


def test_golden_hash(case):
    """A million events end in the state that is on record (TOCSIN_UPDATE_GOLDEN=1 records it anew)."""
    simulation = Simulation(case.model, case.large, seed=2024)
    assert simulation.run(events=MILLION).stopped is Stop.REACHED_EVENTS
    got = {"events": MILLION, "now": simulation.now, "sha256": simulation.state_hash()}
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("TOCSIN_UPDATE_GOLDEN"):
        known[case.key] = got
        GOLDEN.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    assert got == known[case.key]


def test_slices_by_time(case):
    """A run in ten pieces of time is one run."""
    whole, pieces = (Simulation(case.model, case.small, seed=13) for _ in range(2))
    whole.run(events=1000)
    end = whole.now
    whole.run(until=end * 1.5)
    for part in (0.01, 0.02, 0.3, 0.300001, 0.5, 0.51, 0.9, 1.0, 1.4, 1.5):
        pieces.run(until=end * part)
        assert pieces.now == end * part
    assert pieces.state_hash() == whole.state_hash()


def test_slices_by_events(case):
    """A run in pieces of any number of events, single steps among them, is one run."""
    pieces = Simulation(case.model, case.small, seed=11)
    for events in (0, 1, 2, 1, 96, 0, 500, 399):
        pieces.run(events=events)
        pieces.observe()
        pieces.next_event()
    assert pieces.step().time == pieces.now
    assert pieces.state_hash() == hash_after(case, 1000)


def test_recorders_change_nothing(case):
    """Recording events or snapshots moves no bit of the state."""
    recorded = Simulation(case.model, case.small, seed=11)
    assert recorded.record_events(events=1000).to_arrow().num_rows == 1000
    assert recorded.state_hash() == hash_after(case, 1000)
    if case.model.schema.entities:
        plain, recorded = (Simulation(case.model, case.small, seed=14) for _ in range(2))
        plain.run(until=0.5)
        recorded.record(every=0.11, until=0.5).to_arrow()
        assert recorded.state_hash() == plain.state_hash()


@pytest.mark.parametrize("name", ["mm1", "switch"])
def test_observables_change_nothing(name, method):
    """A model without its observables has the same state after the same events."""
    case = classic(name)
    blind = Model(case.model.world, [m.cls for m in case.model.actions], method=method)
    simulation = Simulation(blind, case.small, seed=11)
    simulation.run(events=1000)
    assert simulation.observe() == {}
    assert simulation.state_hash() == hash_after(case, 1000)


def test_seeds_differ(case):
    """Another seed, in any of its 64 bits, gives another run."""
    seeds = (0, 1, 1 << 31, 1 << 32, 1 << 63, (1 << 64) - 1)
    assert len({hash_after(case, 50, seed) for seed in seeds}) == len(seeds)


def test_the_given_world_stays(case):
    """A simulation works on a copy: the world it was given stays as it was."""
    assert hash_after(case, 300) == hash_after(case, 300)
