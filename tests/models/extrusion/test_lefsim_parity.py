"""The lefsim mode equals the lefsim 0.1.0 wheel, event by event and bit by bit."""

from __future__ import annotations

import lefsim
import numpy as np
import pytest

from tocsin import InputError, Simulation, Stop
from tocsin.models.extrusion import MODEL
from tocsin.models.extrusion.lefsim import LEFSIM, LEFSIM_BARE, lefsim_fibre, lefsim_simulation

from ._lefsim import lattice_of, our_events, random_pair, their_events

GOLDEN = 0xD5D3254ED77FF3E9
"""lefsim's own golden hash, FNV-1a over its log and its snapshots."""

SEED = 0x5EED
RATES = {"step": 1.0, "respawn": 0.01, "respawn_blocked": 0.05, "respawn_captured": 0.002}


def golden_fibre():
    """Return the fibre of the golden run: 500 sites, ten CTCFs of strength 0.7, 20 LEFs."""
    sites = np.arange(25, 500, 50)
    sides = ["right" if s % 100 == 25 else "left" for s in sites]
    return lefsim_fibre(500, 20, ctcf_sites=sites, captures_from=sides, strength=0.7, rates=RATES, seed=SEED)


def golden_model():
    """Return lefsim's model of the golden run."""
    sites = np.arange(25, 500, 50)
    lattice = lattice_of(500, sites, ["right" if s % 100 == 25 else "left" for s in sites], [0.7] * 10)
    return lefsim.Model(lefsim.populate(lattice, 20, seed=SEED), lefsim.Rates(**RATES))


def fnv1a(data: bytes) -> int:
    """Return the 64-bit FNV-1a hash."""
    state = 0xCBF29CE484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def test_golden_hash():
    """The golden run, 50,000 events with snapshots every 5 time units, has lefsim's published hash."""
    run = lefsim_simulation(golden_fibre(), seed=SEED, model=LEFSIM_BARE)
    log = our_events(run, 50_000)
    watched = lefsim_simulation(golden_fibre(), seed=SEED, model=LEFSIM_BARE)
    table = watched.record(every=5.0, until=run.now, columns={"legs": ["site", "captured"]}).to_arrow()
    site, captured = (table.column(c).to_numpy().reshape(-1, 40) for c in ("site", "captured"))
    assert (len(log), len(site), run.now) == (52_323, 616, 3075.156283300848)
    parts = [log, 5.0 * np.arange(616), site.astype("<u4"), *(captured[:, k::2].astype("u1") for k in (0, 1))]
    assert fnv1a(b"".join(part.tobytes() for part in parts)) == GOLDEN


def check(number: int, n_events: int) -> int:
    """Compare one random fibre at one random seed; return how many events were equal."""
    pair = random_pair(number)
    seed = [0, 1, 2**64 - 1, *np.random.default_rng(number).integers(0, 2**64, 29, dtype=np.uint64).tolist()][
        number % 32
    ]
    theirs = their_events(lefsim.Sim(pair.theirs, seed=seed), n_events)
    run = lefsim_simulation(pair.ours, seed=seed, model=LEFSIM_BARE)
    ours = our_events(run, n_events)
    assert len(ours) == len(theirs) >= n_events, pair.label
    differing = np.flatnonzero(ours != theirs)
    assert not len(differing), f"{pair.label}, seed {seed}: row {differing[0]}: {ours[differing[0]]}"
    return run.n_events


@pytest.mark.parametrize("group", range(8))
def test_random_fibres(group):
    """25 random fibres (200 over the groups): time bits, leg, site, capture and kind of 400 events each."""
    assert sum(check(number, 400) for number in range(25 * group, 25 * group + 25)) == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("group", range(8))
def test_random_fibres_for_long(group):
    """Further random fibres over 20,000 events each."""
    assert sum(check(number, 20_000) for number in range(1000 + 5 * group, 1005 + 5 * group)) == 100_000


def test_every_rule_is_met():
    """The random fibres of the first group step, land, evict and capture."""
    logs = [their_events(lefsim.Sim(random_pair(number).theirs, seed=number), 500) for number in range(25)]
    log = np.concatenate(logs)
    assert min(np.bincount(log["kind"], minlength=4)[[0, 1, 3]]) > 100
    assert 100 < log["captured"].sum() < len(log) / 2


@pytest.mark.parametrize("n_sites", [1, 2, 3, 64, 65, 1000, 2**17 + 1])
def test_placement(n_sites):
    """LEFs land where `lefsim.populate` puts them, whatever the length of the lattice."""
    sites = np.arange(3, n_sites, 7)
    lattice = lattice_of(n_sites, sites, ["left"] * len(sites), [0.5] * len(sites))
    for seed, n_lefs in ((0, 1), (9, (n_sites - len(sites) + 1) // 2), (2**64 - 1, min(n_sites, 20) // 4)):
        ours = lefsim_fibre(n_sites, n_lefs, ctcf_sites=sites, captures_from="left", strength=0.5, seed=seed)
        theirs = lefsim.populate(lattice, n_lefs, seed=seed).to_arrow().to_pyarrow()
        assert ours.legs["site"][::2].tolist() == theirs.column("left_pos").to_pylist()
        assert ours.legs["site"][1::2].tolist() == theirs.column("right_pos").to_pylist()


def test_runs_to_a_time():
    """Runs to a time, from a start that is not 0, agree in events, state and the next event's time."""
    theirs = lefsim.Sim(golden_model(), seed=7, start_time=-3.5)
    ours = lefsim_simulation(golden_fibre(), seed=7, start=-3.5, model=LEFSIM_BARE)
    for until in (-3.5, 0.0, 10.0, 10.0, 333.3):
        report = theirs.run_until(until)
        assert report.n_events == ours.run(until=until).n_events
        assert ours.now == theirs.time
        assert ours.next_event().time == theirs.next_event_time
        state = theirs.state(layout="leg").to_pyarrow()
        assert ours.world.legs["site"].tolist() == state.column("pos").to_pylist()
        names = state.column("mobility").to_pylist()
        assert ours.world.legs["captured"].tolist() == [name == "Captured" for name in names]


@pytest.mark.parametrize("model", [pytest.param(LEFSIM, marks=pytest.mark.slow), LEFSIM_BARE], ids=["observed", "bare"])
def test_compiled_is_interpreted(model):
    """Machine code and plain Python leave the same state, pending times and stream."""
    runs = [lefsim_simulation(golden_fibre(), seed=3, model=model, jit=jit) for jit in (True, False)]
    assert [run.run(events=2_000).stopped for run in runs] == [Stop.REACHED_EVENTS] * 2
    assert runs[0].state_hash() == runs[1].state_hash()
    assert runs[0].observe() == runs[1].observe()
    assert min(runs[0].counts.values()) > 5


def test_watching_changes_nothing():
    """The observed and the bare model make the same run, and what is observed is what the rules say."""
    models = {LEFSIM: False, LEFSIM_BARE: True}
    runs = [lefsim_simulation(golden_fibre(), seed=4, model=model, jit=jit) for model, jit in models.items()]
    assert runs[0].run(until=40.0) == runs[1].run(until=40.0)
    legs = [run.world.legs for run in runs]
    assert all(np.array_equal(legs[0][c], legs[1][c]) for c in ("site", "captured"))
    seen = runs[0].observe()
    world = runs[0].world
    assert seen["LoopSize"].value == (world.legs["site"][1::2] - world.legs["site"][::2]).sum()
    assert seen["Blocked"].value == sum(world.is_blocked(leg) for leg in world.legs)
    assert seen["Occupancy"].value == (world.sites["leg"] >= 0).sum()


def test_a_saved_run_goes_on(tmp_path):
    """A run that is saved in the middle, loaded and gone on with makes lefsim's events still."""
    theirs, ours = lefsim.Sim(golden_model(), seed=12), lefsim_simulation(golden_fibre(), seed=12, model=LEFSIM_BARE)
    theirs.run_events(1_000)
    ours.run(events=1_000)
    ours.save(tmp_path / "run.tocsin")
    expected = their_events(theirs, 300)
    assert np.array_equal(our_events(Simulation.load(tmp_path / "run.tocsin", LEFSIM_BARE), 300), expected)
    assert np.array_equal(our_events(ours.copy(), 300), expected)


def test_another_stream_is_another_run():
    """The keyed streams on the same rules and seed give other times: the source is what was compared."""
    keyed = Simulation(MODEL, golden_fibre(), seed=SEED, jit=False)
    sequential = lefsim_simulation(golden_fibre(), seed=SEED, jit=False)
    assert keyed.step().time != sequential.step().time


def test_too_many_lefs_are_refused():
    """More LEFs than can always land is an error with the numbers."""
    with pytest.raises(InputError, match="3 LEFs need at least 5 sites without a CTCF, but the lattice has 4"):
        lefsim_fibre(5, 3, ctcf_sites=[2], captures_from="left")
