"""What holds after every event, and what is known in closed form or from a small master equation, solved."""

import numpy as np
import pytest
from scipy import stats

from tocsin import Simulation
from tocsin.models.extrusion import BARE, MODEL, Fibre, fibre_from_legs, make_fibre
from tocsin.models.extrusion.model import ACTIONS, OBSERVABLES, Evict, Lef, Leg, Respawn, Step

from ...oracle.extrusion import (
    KINDS,
    NotingModel,
    Twin,
    TwinRun,
    audit,
    expectations,
    pending,
    stationary,
    violations,
)  # fmt: skip

LIMIT = 4.5  # standard errors


def random_fibre(seed, n_sites=40, n_lefs=10, n_ctcfs=12):
    """Return a crowded lattice with CTCFs of every side and strength."""
    rng = np.random.default_rng(seed)
    return make_fibre(
        n_sites, n_lefs, ctcf_sites=rng.choice(n_sites, n_ctcfs, replace=False), seed=seed,
        captures_from=rng.choice([-1, 1], n_ctcfs), strength=rng.choice([0.0, 0.3, 0.5, 0.8, 1.0], n_ctcfs),
        rates={"step": 1.0, "respawn": 0.02, "respawn_blocked": 0.07, "respawn_captured": 0.03},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_no_event_leads_to_a_state_that_cannot_be(seed):
    """Exclusion, order, nesting, facing, captures and the map of sites hold after every event."""
    n_lefs = 3 + seed % 12
    simulation = Simulation(MODEL, random_fibre(seed, n_sites=2 * n_lefs + 11 + seed, n_lefs=n_lefs), seed=seed)
    for _ in range(300):
        simulation.run(events=1 + seed % 7)
        assert violations(simulation.world, n_lefs) == []
        twin, times = Twin.of(simulation.world), pending(simulation)
        for clock in twin.clocks:
            assert (times[clock] < np.inf) == (twin.rate(*clock) > 0.0)
            assert times[clock] >= simulation.now


@pytest.mark.parametrize("seed", range(4))
def test_the_twin_goes_through_the_same_events(seed):
    """From one seed, the plain-Python twin and the model fire the same clocks at the same times."""
    fibre = random_fibre(seed + 100)
    simulation, twin = Simulation(MODEL, fibre, seed=seed), TwinRun(Twin.of(fibre), seed)
    for _ in range(1000):
        assert tuple(simulation.step()) == twin.step()
        legs = simulation.world.legs
        assert (tuple(legs["site"].tolist()), tuple(legs["captured"].astype(bool).tolist())) == twin.twin.state


def noting(actions=ACTIONS, seed=0):
    """Return an interpreted run on a crowded lattice that notes the rate of every draw."""
    model = NotingModel(Fibre, actions, observables=OBSERVABLES, tie="entity")
    return Simulation(model, random_fibre(seed + 200), seed=seed, jit=False)


@pytest.mark.slow
def test_every_clock_is_redrawn_over_many_events():
    """No pending time is stale over 50,000 events."""
    simulation = noting(seed=99)
    assert list(audit(simulation, 50_000)) == []


@pytest.mark.parametrize("seed", range(4))
def test_every_clock_is_redrawn_when_its_rate_changes(seed):
    """After each event, every pending time belongs to the rate that its clock has now."""
    simulation = noting(seed=seed)
    assert list(audit(simulation, 1000)) == []
    assert min(simulation.counts.values()) > 30


class Deaf:
    """Touched rows, of which some are not heard."""

    def __init__(self, touched, is_lost):
        self.touched, self.is_lost = touched, is_lost

    def add(self, row):
        if not self.is_lost(row):
            self.touched.add(row)


def planted(cls, is_lost):
    """Return the actions with one of them forgetting to touch what `is_lost(action, row)` says."""

    def fire(self, world, now, rng, touched):
        cls.fire(self, world, now, rng, Deaf(touched, lambda row: is_lost(self, row)))

    kind = "lef" if cls is Respawn else "leg"
    made = type(cls.__name__, (cls,), {"__annotations__": dict(cls.__annotations__), "fire": fire})
    assert kind in made.__annotations__
    return tuple(made if action is cls else action for action in ACTIONS)


@pytest.mark.parametrize(
    ("cls", "is_lost"),
    [
        (Step, lambda self, row: isinstance(row, Leg) and row.lef.index != self.leg.lef.index),
        (Step, lambda self, row: isinstance(row, Leg) and row.index == self.leg.index ^ 1),
        (Step, lambda self, row: isinstance(row, Lef) and row.index != self.leg.lef.index),
        (Step, lambda self, row: isinstance(row, Lef) and row.index == self.leg.lef.index),
        (Evict, lambda self, row: isinstance(row, Leg) and row.lef.index != self.leg.lef.index),
        (Respawn, lambda self, row: isinstance(row, Leg) and row.lef.index == self.lef.index),
        (Respawn, lambda self, row: isinstance(row, Lef) and row.index != self.lef.index),
    ],
)
def test_the_audit_finds_a_planted_missing_touch(cls, is_lost):
    """A rule that forgets a neighbour, a partner or a LEF does not pass the audit."""
    assert next(audit(noting(planted(cls, is_lost)), 5000), None) is not None


def chi_square(counts, expected):
    """Return how many standard errors (of a normal tail) a chi-square stands off; bins of 10 at least."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    assert np.isclose(counts.sum(), expected.sum())
    bins = np.minimum(np.cumsum(expected) // 10, expected.sum() // 10 - 1).astype(int)
    counts, expected = np.bincount(bins, counts), np.bincount(bins, expected)
    counts, expected = counts[expected > 0], expected[expected > 0]
    statistic = ((counts - expected) ** 2 / expected).sum()
    return stats.norm.isf(stats.chi2.sf(statistic, len(counts) - 1))


def loop_sizes(simulation, n, every):
    """Return loop sizes at equal intervals."""
    sizes = np.empty(n, int)
    for k in range(n):
        simulation.run(until=simulation.now + every)
        left, right = simulation.world.legs["site"]
        sizes[k] = right - left
    return sizes


def test_loop_of_a_free_lef_is_geometric():
    """A free loop of step 1 and unloading r has P(k) = q (1 - q)^k, q = r / (2 + r), of mean 2 / r; 2 steps a time.

    The ends take from the mean at most what the legs would walk beyond them: 2 (1 + r) / (n r^2).
    """
    r, n_sites, n, every = 0.2, 200_000, 10_000, 50.0
    fibre = make_fibre(n_sites, 1, rates={"step": 1.0, "respawn": r, "respawn_blocked": r}, seed=1)
    simulation = Simulation(BARE, fibre, seed=1)
    sizes = loop_sizes(simulation, n, every)
    # samples `every` apart share a loop with probability exp(-10): they count as independent
    assert np.exp(-r * every) < 1e-4
    error = np.sqrt((2 / r) * (1 + 2 / r) / n)
    assert 2 * (1 + r) / (n_sites * r**2) < 0.1 * error
    assert abs(sizes.mean() - 2 / r) < LIMIT * error

    q = r / (2 + r)
    k = np.arange(200)
    expected = n * np.append(q * (1 - q) ** k, (1 - q) ** 200)
    assert chi_square(np.bincount(np.minimum(sizes, 200), minlength=201), expected) < LIMIT

    steps, span = simulation.counts["Step"], simulation.now
    assert 2 * (1 + r) / (n_sites * r) * span < 0.1 * np.sqrt(2 * span)  # steps lost at the ends
    assert abs(steps - 2 * span) < LIMIT * np.sqrt(2 * span)
    assert abs(simulation.counts["Respawn"] - r * span) < LIMIT * np.sqrt(r * span)


def test_loop_between_two_ends_follows_the_master_equation():
    """On a lattice of 30 sites, loop sizes follow the stationary solution of (left, right), ends and all."""
    fibre = make_fibre(30, 1, rates={"step": 1.0, "respawn": 0.1, "respawn_blocked": 0.25}, seed=1)
    states, weights = stationary(Twin.of(fibre))
    assert len(states) == 30 * 31 // 2
    expected = np.bincount([pos[1] - pos[0] for pos, _ in states], weights)
    n = 10_000
    sizes = loop_sizes(Simulation(BARE, fibre, seed=2), n, 100.0)
    assert chi_square(np.bincount(sizes, minlength=30), n * expected) < LIMIT
    k = np.arange(30)
    mean = k @ expected
    assert abs(sizes.mean() - mean) < LIMIT * np.sqrt((k**2 @ expected - mean**2) / n)


FAST = {"step": 1.0, "respawn": 0.2, "respawn_blocked": 0.7, "respawn_captured": 0.1}
CHAINS = {
    "one LEF, two CTCFs": (8, 1, {2: ("right", 0.6), 5: ("left", 0.8)}, FAST),
    "behind only": (9, 1, {2: ("left", 0.3), 6: ("right", 0.9)}, FAST),
    "two LEFs": (7, 2, {2: ("right", 0.6), 5: ("left", 0.8)}, FAST),
    "two LEFs, both ways": (8, 2, {1: ("left", 1.0), 4: ("left", 0.5), 6: ("right", 0.4)}, FAST),
    "three LEFs, no room": (6, 3, {3: ("right", 0.7)}, {**FAST, "step": 3.0, "respawn_captured": 0.9}),
}


@pytest.mark.parametrize("name", CHAINS)
def test_small_fibres_follow_the_master_equation(name):
    """Event rates, loop size, captured, blocked and the occupancy of every site are the exact stationary ones."""
    n_sites, n_lefs, ctcfs, rates = CHAINS[name]
    fibre = make_fibre(
        n_sites, n_lefs, ctcf_sites=list(ctcfs), captures_from=[s for s, _ in ctcfs.values()],
        strength=[p for _, p in ctcfs.values()], rates=rates, seed=1,
    )  # fmt: skip
    exact = expectations(Twin.of(fibre))
    rows = [observe(fibre, seed, burn=200.0, span=2000.0) for seed in range(64)]
    for key, expected in exact.items():
        seen = np.array([row[key] for row in rows])
        error = seen.std(ddof=1) / np.sqrt(len(seen))
        assert abs(seen.mean() - expected) <= LIMIT * error + 1e-12, (key, seen.mean(), expected, error)


def observe(fibre, seed, burn, span):
    """Return the time averages of one run under the names that `expectations` uses."""
    simulation = Simulation(MODEL, fibre, seed=seed)
    simulation.run(until=burn)
    simulation.reset_observables()
    before = simulation.counts
    simulation.run(until=burn + span)
    seen = {kind: (simulation.counts[kind] - before[kind]) / span for kind in KINDS}
    found = simulation.observe()
    seen.update({name: found[name].mean for name in ("LoopSize", "Captured", "Blocked")})
    seen.update({f"site {k}": mean for k, mean in enumerate(simulation.row_means("Occupancy"))})
    assert np.isclose(found["Occupancy"].mean, simulation.row_means("Occupancy").sum())
    return seen


def units(n, side, strength, length):
    """Return `n` LEFs, one every `length` sites, each with a CTCF ahead of its right leg."""
    start = length * np.arange(n) + length // 2
    slow = {"step": 1.0, "respawn": 1e-12, "respawn_blocked": 1e-12, "respawn_captured": 1e-12}
    return fibre_from_legs(n * length, start + 2, [side] * n, strength, start, start + 1, rates=slow)


@pytest.mark.parametrize("strength", [0.15, 0.5, 0.8])
def test_a_landing_leg_is_captured_with_probability_strength(strength):
    """Of the legs that have landed on or passed a facing CTCF, the fraction `strength` is captured."""
    n = 10_000
    fibre = units(n, "left", strength, 40)
    simulation = Simulation(BARE, fibre, seed=7)
    assert n * stats.poisson.sf(36, 2 * 3.0) < 1e-6  # legs of two units meet
    simulation.run(until=3.0)
    right = np.arange(1, 2 * n, 2)
    legs = simulation.world.legs
    caught = np.count_nonzero(legs["captured"][right])
    n_landed = np.count_nonzero(legs["site"][right] > fibre.legs["site"][right])
    assert abs(caught - strength * n_landed) < LIMIT * np.sqrt(n_landed * strength * (1 - strength))
    assert abs(n_landed - n * (1 - np.exp(-3.0))) < LIMIT * np.sqrt(n * np.exp(-3.0) * (1 - np.exp(-3.0)))


@pytest.mark.parametrize("strength", [0.15, 0.5, 0.8])
def test_a_leg_is_evicted_first_with_probability_strength(strength):
    """Before a bare CTCF met from behind, Evict rings before Step with probability `strength`."""
    n = 20_000
    simulation = Simulation(BARE, units(n, "right", strength, 6), seed=8)
    simulation.next_event()
    times = pending(simulation)
    evicted = sum(times["Evict", leg] < times["Step", leg] for leg in range(1, 2 * n, 2))
    assert abs(evicted - strength * n) < LIMIT * np.sqrt(n * strength * (1 - strength))


def test_landings_are_uniform_on_plain_sites():
    """Over many unloadings, all plain sites are landed on equally often, and no CTCF ever."""
    ctcfs = [4, 5, 6, 13]
    rates = {"step": 1e-9, "respawn": 1.0, "respawn_blocked": 1.0, "respawn_captured": 1.0}
    fibre = make_fibre(20, 1, ctcf_sites=ctcfs, captures_from="left", rates=rates, seed=3)
    simulation = Simulation(BARE, fibre, seed=9)
    counts, n = np.zeros(20), 16_000
    for _ in range(n):
        simulation.run(events=1)
        counts[simulation.world.legs["site"][0]] += 1
    assert counts[ctcfs].sum() == 0
    assert chi_square(np.delete(counts, ctcfs), np.full(16, n / 16)) < LIMIT
