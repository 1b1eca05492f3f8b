"""Every event touches whose clocks it changes; no event leads to a state that cannot be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin import Simulation
from tocsin.models.chromatin import MODEL, LefSpecies, make_chromatin
from tocsin.models.chromatin.model import ACTIONS, Bypass, Evict, Exchange, Release, Slide, Step
from tocsin.models.chromatin.world import Lef, Leg

from ._twin import Twin
from ._worlds import WatchedModel, crossings, everything, untouched_changes, violations


@pytest.mark.parametrize("seed", range(2))
def test_no_answer_changes_without_a_touch(seed):
    """After each of 300 events with everything on, the clocks and observed rows that were not touched answer as before."""
    simulation = Simulation(WatchedModel(), everything(seed), seed=seed, jit=False)
    assert list(untouched_changes(simulation, 300)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 103))
def test_no_answer_changes_without_a_touch_for_long(seed):
    """The same over 3,000 events, in which every kind fires often."""
    simulation = Simulation(WatchedModel(), everything(seed), seed=seed, jit=False)
    assert list(untouched_changes(simulation, 3_000)) == []
    assert min(n for name, n in simulation.counts.items() if name != "ChangeRates") > 10


class Deaf:
    """Touched rows, of which some are not heard."""

    def __init__(self, touched, is_lost):
        self.touched, self.is_lost = touched, is_lost

    def add(self, row):
        if not self.is_lost(row):
            self.touched.add(row)


def is_of_another_lef(action, row):
    return isinstance(row, Leg) and row.lef.index != action.leg.lef.index


@pytest.mark.parametrize(
    ("cls", "is_lost"),
    [
        (Step, is_of_another_lef),
        (Evict, lambda action, row: isinstance(row, Leg) and row.index == action.leg.index),
        (Slide, is_of_another_lef),
        (Bypass, is_of_another_lef),
        (Release, lambda action, row: isinstance(row, Lef)),
        (Exchange, lambda action, row: isinstance(row, Leg)),
    ],
)
def test_a_planted_missing_touch_is_found(cls, is_lost):
    """The check is sharp: an event that forgets a neighbour or a partner does not pass it."""

    def fire(self, world, now, rng, touched):
        cls.fire(self, world, now, rng, Deaf(touched, lambda row: is_lost(self, row)))

    made = type(cls.__name__, (cls,), {"__annotations__": dict(cls.__annotations__), "fire": fire})
    model = WatchedModel([made if action is cls else action for action in ACTIONS])
    runs = (Simulation(model, everything(seed), seed=seed, jit=False) for seed in range(4))
    assert any(next(untouched_changes(run, 300), None) for run in runs)


@pytest.mark.parametrize("seed", range(5))
def test_the_audit_of_the_kernel_finds_nothing(seed):
    """Over 20,000 events with everything on, no clock that was not touched answers otherwise than before."""
    simulation = Simulation(MODEL, everything(seed), seed=seed, audit=True)
    simulation.run(events=20_000)
    assert min(simulation.counts.values()) == simulation.counts["ChangeRates"] == 3


@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
def test_compiled_is_interpreted(method):
    """Machine code and plain Python leave the same state, pending times and observables, with everything on."""
    compiled, plain = (Simulation(MODEL, everything(1), seed=1, jit=jit, method=method) for jit in (True, False))
    for simulation in (compiled, plain):
        simulation.run(events=1_200)
    assert min(compiled.counts.values()) > 0
    assert compiled.counts == plain.counts
    assert compiled.state_hash() == plain.state_hash()
    assert compiled.observe() == plain.observe()


@pytest.mark.parametrize("seed", range(4))
def test_the_second_statement_of_the_rules_agrees(seed):
    """In states of runs with everything on, the plain-Python twin gives every clock the model's rate."""
    model = WatchedModel()
    simulation = Simulation(MODEL, everything(seed), seed=seed)
    for _ in range(6):
        simulation.run(events=97)
        world, twin = simulation.world, Twin(simulation.world)
        twin.binding = [rate * world.binding for rate in twin.binding]
        twin.unbinding = [rate * world.unbinding for rate in twin.unbinding]
        answers = model.answers(world)
        for kind, row in twin.clocks:
            code = next(member.code for member in model.actions if member.name == kind)
            assert answers[kind, code, row] == pytest.approx(twin.rate(kind, row), rel=1e-12)


RATE = st.sampled_from([0.0, 0.2, 1.0, 5.0])


@st.composite
def worlds(draw, bypass):
    """Draw chromosomes, CTCFs and species of any kind."""
    lengths = draw(st.lists(st.integers(3, 30), min_size=1, max_size=4))
    n = sum(lengths)
    sites = draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n // 2))
    n_lefs = draw(st.integers(1, (n - len(sites) + 1) // 2))
    k = len(sites)
    species = [
        LefSpecies(
            name=name, step_left=draw(RATE), step_right=draw(RATE), respawn=0.1, load=draw(st.sampled_from([1.0, float("inf")])),
            release=draw(RATE), pause=draw(RATE), resume=draw(RATE), slide=draw(RATE), bypass=draw(bypass),
            anchor=draw(st.sampled_from(["none", "left", "right", "either"])),
        )
        for name in "ab"
    ]  # fmt: skip
    return make_chromatin(
        lengths, n_lefs, is_ring=draw(st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths))),
        ctcf_sites=sites, captures_from=draw(st.lists(st.sampled_from(["left", "right", "both"]), min_size=k, max_size=k)),
        strength=draw(st.sampled_from([0.2, 0.9])), ctcf_bound=draw(st.sampled_from([0.5, 1.0])), ctcf_residence=3.0,
        when_unbound=draw(st.sampled_from(["release", "hold"])), species=species, seed=draw(st.integers(0, 99)),
    )  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(world=worlds(RATE), seed=st.integers(0, 1000))
def test_no_event_leads_to_a_state_that_cannot_be(world, seed):
    """One leg a site, LEFs on one chromosome, left and right in order, loops as walked; and the audit is content."""
    simulation = Simulation(MODEL, world, seed=seed, audit=True)
    for _ in range(15):
        simulation.run(events=1 + seed % 13)
        assert violations(simulation.world) == []


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(world=worlds(st.just(0.0)), seed=st.integers(0, 1000))
def test_loops_do_not_cross_without_bypassing(world, seed):
    """Legs that cannot jump never pass one another: loops are nested or apart."""
    simulation = Simulation(MODEL, world, seed=seed)
    for _ in range(10):
        simulation.run(events=20)
        assert violations(simulation.world) == crossings(simulation.world) == []


def test_loops_do_cross_with_bypassing():
    """The check of the test above is sharp: where legs jump, some loops come to be interleaved."""
    simulation = Simulation(MODEL, make_chromatin(60, 10, species=[LefSpecies(bypass=1.0)], seed=1), seed=1)
    simulation.run(events=500)
    assert simulation.counts["Bypass"] > 0
    assert crossings(simulation.world) != []
