"""The same bits, however a run is made: compiled or not, in slices, watched, recorded."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from tocsin import Simulation, Stop
from tocsin.models.extrusion import BARE, MODEL, make_fibre

from ...oracle.extrusion import pending

GOLDEN = Path(__file__).parents[2] / "golden.json"
MODELS = {"observed": MODEL, "bare": BARE}
MILLION = 1_000_000


@pytest.fixture(params=MODELS)
def model(request):
    """The model with and without its observables."""
    return MODELS[request.param]


def fibre():
    """Return 500 sites with ten CTCFs and 20 LEFs: every rule is used within a thousand events."""
    sites = np.arange(25, 500, 50)
    return make_fibre(
        500, 20, ctcf_sites=sites, captures_from=["right" if s % 100 == 25 else "left" for s in sites],
        strength=0.7, seed=5,
        rates={"step": 1.0, "respawn": 0.01, "respawn_blocked": 0.05, "respawn_captured": 0.002},
    )  # fmt: skip


def after(model, events, **kw):
    """Return a run after a number of events."""
    simulation = Simulation(model, fibre(), seed=2, **kw)
    assert simulation.run(events=events).n_events == events
    return simulation


def observed(simulation):
    """Return everything that the observables say."""
    rows = {name: simulation.row_means(name).tolist() for name in simulation.observe()}
    return simulation.observe(), rows


def test_compiled_is_interpreted(model):
    """Machine code and plain Python leave the same state, pending times and observables."""
    compiled, plain = after(model, 5_000), after(model, 5_000, jit=False)
    assert min(compiled.counts.values()) > 50
    assert compiled.counts == plain.counts
    assert compiled.state_hash() == plain.state_hash()
    assert observed(compiled) == observed(plain)


@pytest.mark.slow
def test_compiled_is_interpreted_for_long(model):
    """Machine code and plain Python agree over 100,000 events."""
    compiled, plain = after(model, 100_000), after(model, 100_000, jit=False)
    assert compiled.state_hash() == plain.state_hash()
    assert observed(compiled) == observed(plain)


def test_ten_slices_are_one_run(model):
    """A run in ten slices, of events or of time, is one run."""
    whole, by_events, by_time = after(model, 20_000), after(model, 0), after(model, 0)
    for events in (1, 0, 999, 4_000, 3, 2_997, 5_000, 2_000, 4_000, 1_000):
        by_events.run(events=events)
    assert by_events.state_hash() == whole.state_hash()
    end = whole.now
    for k in range(1, 11):
        by_time.run(until=end * k / 10)
    assert by_time.now == end
    assert by_time.state_hash() == whole.state_hash()
    assert observed(by_time) == observed(by_events) == observed(whole)


def test_watching_changes_nothing():
    """The observed and the bare model go through the same states at the same times."""
    watched, bare = after(MODEL, 0), after(BARE, 0)
    for _ in range(50):
        watched.run(events=200)
        bare.run(events=200)
        assert (watched.now, watched.counts) == (bare.now, bare.counts)
        for table in ("sites", "legs"):
            for column in ("leg",) if table == "sites" else ("site", "captured"):
                assert np.array_equal(getattr(watched.world, table)[column], getattr(bare.world, table)[column])
        assert pending(watched) == pending(bare)


def test_recording_changes_nothing(model):
    """A run that is recorded, by events or by snapshots, ends in the same bits as one that is not."""
    quiet = after(model, 10_000)
    logged = Simulation(model, fibre(), seed=2)
    events = logged.record_events(events=10_000).to_arrow()
    assert events.num_rows == 10_000
    assert logged.state_hash() == quiet.state_hash()

    end = quiet.now + 1.0
    quiet.run(until=end)
    drawn = Simulation(model, fibre(), seed=2)
    assert drawn.record(every=end / 37, until=end, columns={"legs": ["site"]}).to_arrow().num_rows >= 37 * 40
    drawn.run(until=end)
    assert drawn.state_hash() == quiet.state_hash()


def test_the_log_tells_the_whole_run():
    """Replaying the logged steps and landings by hand gives the positions of the legs at the end."""
    start, simulation = fibre(), Simulation(MODEL, fibre(), seed=2)
    table = simulation.record_events(events=5_000).to_arrow().to_pydict()
    assert table["time"] == sorted(table["time"])
    moved = np.zeros(40, int)
    landed = np.zeros(20, bool)
    for action, index in zip(table["action"], table["index"], strict=True):
        if action == "Step":
            moved[index] += 1
        else:
            lef = index if action == "Respawn" else index // 2
            moved[2 * lef : 2 * lef + 2], landed[lef] = 0, True
    at = simulation.world.legs["site"]
    assert (at[1::2] - at[::2] == moved[1::2] + moved[::2]).all()
    stay = np.flatnonzero(~landed)
    assert (at[2 * stay + 1] == start.legs["site"][2 * stay + 1] + moved[2 * stay + 1]).all()


@pytest.mark.parametrize("name", MODELS)
def test_golden_hash(name):
    """A million events end in the state that is on record (TOCSIN_UPDATE_GOLDEN=1 records it anew)."""
    simulation = Simulation(MODELS[name], fibre(), seed=2024)
    assert simulation.run(events=MILLION).stopped is Stop.REACHED_EVENTS
    got = {"events": MILLION, "now": simulation.now, "sha256": simulation.state_hash()}
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("TOCSIN_UPDATE_GOLDEN"):
        known[f"extrusion/{name}"] = got
        GOLDEN.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    assert got == known[f"extrusion/{name}"]
