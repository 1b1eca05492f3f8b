"""Closed forms: what each option does to LEFs that meet nobody, and to CTCFs and landings by themselves."""

import math

import numpy as np
import pytest
from scipy import stats

from tocsin import Simulation
from tocsin.models.chromatin import MODEL, LefSpecies, RateChange, make_chromatin
from tocsin.models.chromatin.world import CAPTURED, UNBOUND

from ._worlds import LIMIT

R = 0.5  # unloading of a LEF in any state
SAME = {"respawn": R, "respawn_blocked": R, "respawn_captured": R}
FAR = 500  # sites for each LEF: so few meet that it does not show


def loops(*, n=4000, seed=1, until=30.0, ring=False, species=None, **more):
    """Return the loop sizes of `n` LEFs with room, long after the start: independent samples."""
    species = [LefSpecies(**(SAME | more))] if species is None else species
    world = make_chromatin(FAR * n, n, is_ring=ring, species=species, seed=seed)
    simulation = Simulation(MODEL, world, seed=seed)
    simulation.run(until=until)
    return simulation.world.legs["walked"].reshape(-1, 2)


def check_mean(values, expected):
    """Assert that a sample has this mean."""
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    assert abs(np.mean(values) - expected) < LIMIT * error


def check_uniform(u):
    """Assert that numbers are uniform in 0..1, by chi-square over 20 bins."""
    counts = np.histogram(u, np.linspace(0, 1, 21))[0]
    p = stats.chi2.sf(((counts - len(u) / 20) ** 2 / (len(u) / 20)).sum(), 19)
    assert stats.norm.isf(p) < LIMIT


def test_loops_of_two_sided_lefs():
    """Both legs together make loops of mean 2 step / respawn, each half of them."""
    walked = loops()
    check_mean(walked.sum(axis=1), 2 / R)
    check_mean(walked[:, 0] - walked[:, 1], 0.0)


@pytest.mark.parametrize("anchor", ["left", "right", "either"])
def test_one_sided_lefs_make_half_the_loop(anchor):
    """With one leg anchored the mean loop is step / respawn; 'either' anchors each leg half of the time."""
    walked = loops(anchor=anchor)
    check_mean(walked.sum(axis=1), 1 / R)
    assert (walked.min(axis=1) == 0).all()
    if anchor == "either":
        check_mean(walked[:, 0] - walked[:, 1], 0.0)
    else:
        assert not walked[:, 0 if anchor == "left" else 1].any()


def test_each_leg_has_its_step_rate():
    """A leg of step k walks k / respawn."""
    walked = loops(step_left=0.5, step_right=3.0)
    check_mean(walked[:, 0], 0.5 / R)
    check_mean(walked[:, 1], 3.0 / R)


@pytest.mark.parametrize(("pause", "resume"), [(0.3, 0.7), (5.0, 5.0), (2.0, 0.1)])
def test_pauses_slow_legs_by_their_duty_cycle(pause, resume):
    """A leg that lands moving is moving at age t with d + (1 - d) exp(-(pause + resume) t), d the duty cycle."""
    d = resume / (pause + resume)
    check_mean(loops(pause=pause, resume=resume).sum(axis=1), 2 * (d / R + (1 - d) / (R + pause + resume)))


def test_species_have_loops_of_their_own():
    """Two species on one lattice: each has the mean loop of its own rates, and its share of the LEFs."""
    slow = LefSpecies(name="slow", share=3.0, step=0.4, **SAME)
    fast = LefSpecies(name="fast", share=1.0, step=2.0, **SAME)
    size = loops(species=[slow, fast]).sum(axis=1)
    check_mean(size[:3000], 2 * 0.4 / R)
    check_mean(size[3000:], 2 * 2.0 / R)


def test_captures_end_after_exponential_times():
    """A captured leg is released after a time of rate `release`: 2,000 of them pass a chi-square."""
    n, release = 1000, 0.1
    place = 10 * np.arange(n) + 5
    species = LefSpecies(step=20.0, release=release, respawn=0.0, respawn_captured=0.0, respawn_blocked=0.0)
    world = make_chromatin(
        10 * n, n, ctcf_sites=np.concatenate([place - 1, place + 1]), captures_from="both", places=place,
        species=[species], changes=[RateChange(at=1.0, set={"step": 0.0})],
    )  # fmt: skip
    simulation = Simulation(MODEL, world, seed=3)
    events = simulation.record_events(until=400.0).to_arrow().to_pandas()
    first = events.drop_duplicates(["action", "index"]).pivot(index="index", columns="action", values="time")
    held = (first["Release"] - first["Step"]).to_numpy()[: 2 * n]
    assert len(held) == 2 * n
    check_uniform(1.0 - np.exp(-release * held))


def test_a_ctcf_is_on_for_its_share_of_the_time():
    """The time average of a site's occupation by CTCF is the bound fraction, whatever the residence."""
    n, bound, residence, until = 400, 0.7, 5.0, 500.0
    world = make_chromatin(
        n, 0, ctcf_sites=np.arange(n), captures_from="left", ctcf_bound=bound, ctcf_residence=residence
    )
    simulation = Simulation(MODEL, world, seed=1)
    simulation.run(until=until)
    relaxation = residence * (1 - bound)  # 1 / (on + off)
    error = math.sqrt(2 * bound * (1 - bound) * relaxation / until / n)
    assert abs(simulation.row_means("CtcfOn").mean() - bound) < LIMIT * error
    events = simulation.counts["Exchange"]
    expected = 2 * n * bound / residence * until
    assert abs(events - expected) < LIMIT * math.sqrt(2 * expected)


@pytest.mark.parametrize("residence", [0.02, 1.0, math.inf])
def test_an_arriving_leg_is_captured_with_strength_times_bound(residence):
    """Of legs that arrive at a CTCF in equilibrium, strength * bound are captured, however long proteins stay."""
    n, strength, bound = 6000, 0.8, 0.6
    place = 40 * np.arange(n) + 20
    still = {"respawn": 0.0, "respawn_blocked": 0.0, "respawn_captured": 0.0}
    world = make_chromatin(
        40 * n, n, ctcf_sites=place + 1, captures_from="left", strength=strength, ctcf_bound=bound,
        ctcf_residence=residence, when_unbound="hold", places=place, species=[LefSpecies(anchor="left", **still)],
    )  # fmt: skip
    simulation = Simulation(MODEL, world, seed=2)
    simulation.run(until=3.0)
    right = np.arange(1, 2 * n, 2)
    landed = int((simulation.world.legs["walked"][right] > 0).sum())
    caught = int((simulation.world.legs["state"][right] == CAPTURED).sum())
    p = strength * bound
    assert abs(caught - p * landed) < LIMIT * math.sqrt(landed * p * (1 - p))


def test_a_leg_is_free_when_its_ctcf_leaves():
    """With 'release' no leg is captured at an empty site; with 'hold' some are."""
    held = {"release": 0, "hold": 0}
    for when in held:
        world = make_chromatin(
            1000, 50, ctcf_sites=np.arange(5, 1000, 10), captures_from="both", ctcf_bound=0.5, ctcf_residence=3.0,
            when_unbound=when, seed=1,
        )  # fmt: skip
        simulation, n_caught = Simulation(MODEL, world, seed=1), 0
        for _ in range(50):
            simulation.run(until=simulation.now + 4.0)
            legs, sites, on = simulation.world.legs, simulation.world.sites, simulation.world.ctcfs["is_on"]
            caught = legs["site"][legs["state"] == CAPTURED]
            held[when] += int((on[sites["ctcf"][caught]] == 0).sum())
            n_caught += len(caught)
        assert n_caught > 100
    assert held["release"] == 0
    assert held["hold"] > 100


def test_sliding_legs_spread_evenly():
    """Passive legs on n sites come to all pairs left < right alike: loops of k sites have weight n - k."""
    n = 6
    species = LefSpecies(step=0.0, slide=1.0, respawn=0.0, respawn_blocked=0.0)
    simulation = Simulation(MODEL, make_chromatin(n, 1, species=[species], seed=1), seed=1)
    simulation.run(until=200.0)
    sizes = []
    for _ in range(3000):  # samples 20 apart: the slowest mode decays with rate > 0.25
        simulation.run(until=simulation.now + 20.0)
        sizes.append(int(simulation.world.legs["walked"].sum()))
    expected = 3000 * (n - np.arange(1, n)) / (n * (n - 1) / 2)
    counts = np.bincount(sizes, minlength=n)
    assert counts[0] == 0
    p = stats.chi2.sf(((counts[1:] - expected) ** 2 / expected).sum(), n - 2)
    assert stats.norm.isf(p) < LIMIT


@pytest.mark.parametrize("load", [0.05, 0.6])
def test_the_bound_share_of_a_free_pool(load):
    """LEFs that unload at rate u and load at rate l are bound for l / (l + u) of the time."""
    n, until = 300, 400.0
    world = make_chromatin(10_000, n, species=[LefSpecies(load=load, bound=0.5, **SAME)], seed=1)
    simulation = Simulation(MODEL, world, seed=1)
    simulation.run(until=200.0)
    simulation.reset_observables()
    simulation.run(until=200.0 + until)
    share = load / (load + R)
    error = math.sqrt(2 * share * (1 - share) / (load + R) / until / n)
    assert abs(simulation.row_means("Bound").mean() - share) < LIMIT * error
    assert simulation.observe()["Bound"].value == np.count_nonzero(simulation.world.legs["state"] != UNBOUND) / 2


def test_landings_follow_the_weights():
    """A LEF that only lands visits plain sites in proportion to their weights, and no CTCF."""
    weights, n = np.array([1.0, 0.0, 5.0, 2.5, 7.0, 0.5, 1.0, 3.0]), 8000
    species = LefSpecies(step=0.0, respawn=1.0, respawn_blocked=1.0)
    world = make_chromatin(8, 1, ctcf_sites=[4], captures_from="left", loading=weights, species=[species], seed=1)
    simulation, counts = Simulation(MODEL, world, seed=1), np.zeros(8)
    for _ in range(n):
        simulation.run(events=1)
        counts[simulation.world.legs["site"][0]] += 1
    weights[4] = 0.0
    expected = n * weights / weights.sum()
    some = expected > 0
    assert not counts[~some].any()
    p = stats.chi2.sf(((counts - expected)[some] ** 2 / expected[some]).sum(), some.sum() - 1)
    assert stats.norm.isf(p) < LIMIT


def test_a_ring_has_no_ends():
    """A lone LEF on a ring goes round until its legs meet, and is blocked then and not before."""
    n = 40
    still = LefSpecies(respawn=0.0, respawn_blocked=0.0)
    simulation = Simulation(MODEL, make_chromatin(n, 1, is_ring=True, places=[1], species=[still]), seed=1)
    for _ in range(n - 2):
        simulation.run(events=1)
        assert simulation.observe()["Blocked"].value == 0
    simulation.run(events=5)
    seen, site = simulation.observe(), simulation.world.legs["site"]
    assert (seen["LoopSize"].value, seen["Blocked"].value, simulation.n_events) == (n - 1, 2, n - 1)
    assert (site[0] - site[1]) % n == 1


def test_loops_on_a_ring_are_those_of_an_endless_fibre():
    """The mean loop on a ring is 2 step / respawn."""
    check_mean(loops(ring=True, seed=5).sum(axis=1), 2 / R)


def test_rates_change_when_they_are_said_to():
    """Steps before, between and after two changes are Poisson with the rates of their time."""
    changes = [RateChange(at=300.0, multiply={"step": 0.5}), RateChange(at=100.0, multiply={"step": 4.0})]
    still, places = LefSpecies(respawn=0.0, respawn_blocked=0.0), 5000 * np.arange(20) + 2500
    world = make_chromatin(100_000, 20, species=[still], changes=changes, places=places)
    simulation, before = Simulation(MODEL, world, seed=1), 0
    for until, expected in ((100.0, 40 * 100), (300.0, 160 * 200), (400.0, 80 * 100)):
        simulation.run(until=until)
        steps, before = simulation.counts["Step"] - before, simulation.counts["Step"]
        assert abs(steps - expected) < LIMIT * math.sqrt(expected)
    assert simulation.counts["ChangeRates"] == 2


def test_depletion():
    """Without loading and CTCF binding from a time on, LEFs and CTCFs decay exponentially; set at the start, at once."""
    n, t = 4000, 4.0
    changes = [RateChange(at=-5.0, set={"load": 0.0}), RateChange(at=-5.0, multiply={"ctcf_binding": 0.0})]
    world = make_chromatin(
        40_000, n, ctcf_sites=np.arange(0, 40_000, 10), captures_from="left", ctcf_bound=0.9, ctcf_residence=10.0,
        species=[LefSpecies(step=0.0, load=1.0, **SAME)], changes=changes, seed=1,
    )  # fmt: skip
    simulation = Simulation(MODEL, world, seed=1)
    simulation.run(until=t)
    for seen, start, rate in (("Bound", n, R), ("CtcfOn", int(world.ctcfs["is_on"].sum()), 0.1)):
        p = math.exp(-rate * t)
        assert abs(simulation.observe()[seen].value - start * p) < LIMIT * math.sqrt(start * p * (1 - p))
