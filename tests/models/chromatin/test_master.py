"""Small worlds follow their master equation, solved from a second, independent statement of the rules."""

import math

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.chromatin import MODEL, LefSpecies, make_chromatin

from ...oracle.extrusion import stationary
from ._twin import KINDS, Twin, features
from ._worlds import LIMIT

FAST = {"step": 1.0, "respawn": 0.2, "respawn_blocked": 0.7, "respawn_captured": 0.1}
CTCFS = {"ctcf_sites": [2, 5], "captures_from": ["right", "left"], "strength": [0.6, 0.8]}


def lef(**more):
    """Return a species that is fast to forget."""
    return LefSpecies(**(FAST | more))


WORLDS = {
    "release": lambda: make_chromatin(8, 1, species=[lef(release=0.5)], **CTCFS),
    "bypass": lambda: make_chromatin(6, 2, species=[lef(release=0.3, bypass=0.9)], **CTCFS),
    "sliding": lambda: make_chromatin(8, 1, species=[lef(step=0.2, slide=0.7, release=0.4)], **CTCFS),
    "two slide": lambda: make_chromatin(6, 2, species=[lef(step=0.0, slide=1.0)], **CTCFS | {"captures_from": "both"}),
    "pausing": lambda: make_chromatin(8, 1, species=[lef(pause=0.8, resume=0.5)], **CTCFS),
    "legs of two speeds": lambda: make_chromatin(9, 1, species=[lef(step_left=0.3, step_right=2.0)], **CTCFS),
    "one-sided": lambda: make_chromatin(8, 2, species=[lef(anchor="either")], **CTCFS),
    "weights": lambda: make_chromatin(7, 2, species=[lef()], loading=[3, 1, 9, 0, 0.5, 9, 2], **CTCFS),
    "both sides": lambda: make_chromatin(8, 1, species=[lef(release=0.3)], **CTCFS | {"captures_from": "both"}),
    "exchange": lambda: make_chromatin(
        7, 1, species=[lef(release=0.1)], ctcf_bound=[0.5, 0.8], ctcf_residence=[2.0, 5.0], **CTCFS
    ),
    "exchange, legs held": lambda: make_chromatin(
        6, 2, species=[lef()], ctcf_bound=0.6, ctcf_residence=4.0, when_unbound="hold", **CTCFS
    ),
    "free pool": lambda: make_chromatin(
        7, 2, species=[lef(load=0.3), lef(name="at once", step=0.5, respawn=0.4)], **CTCFS
    ),
    "ring": lambda: make_chromatin(6, 2, is_ring=True, species=[lef(bypass=0.5, load=1.0)], **CTCFS),
    "sliding round a ring": lambda: make_chromatin(7, 1, is_ring=True, species=[lef(slide=0.6, release=0.2)], **CTCFS),
    "two chromosomes": lambda: make_chromatin(
        [4, 5], 2, is_ring=[True, False], species=[lef(slide=0.3), lef(name="b", anchor="left", load=0.5)],
        ctcf_sites=[2, 5], captures_from="left", strength=0.7,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_small_worlds_follow_the_master_equation(name):
    """Rates of all events, loops, classes of legs, bound LEFs and CTCFs, occupied sites: exact, by both methods."""
    world = WORLDS[name]()
    twin = Twin(world)
    states, weights = stationary(twin)
    assert len(states) > 20
    exact = dict.fromkeys(features(twin), 0.0)
    for state, weight in zip(states, weights, strict=True):
        for key, value in features(twin.at(state)).items():
            exact[key] += weight * value
    for method in ("next-reaction", "composition-rejection"):
        rows = list(batches(Simulation(MODEL, world, seed=1, method=method), n=48, span=1500.0))
        for key, expected in exact.items():
            seen = np.array([row[key] for row in rows])
            error = seen.std(ddof=1) / math.sqrt(len(seen))
            assert abs(seen.mean() - expected) <= LIMIT * error + 1e-12, (method, key, seen.mean(), expected, error)


def batches(simulation, n, span):
    """Yield time averages over `n` stretches of one run, under the names that `features` uses.

    A state is forgotten within some 20 units of time, so stretches of 1500 are as good as independent.
    """
    simulation.run(until=150.0)
    for _ in range(n):
        simulation.reset_observables()
        before = simulation.counts
        simulation.run(until=simulation.now + span)
        seen = {kind: (simulation.counts[kind] - before[kind]) / span for kind in KINDS}
        found = simulation.observe()
        seen |= {name: found[name].mean for name in ("LoopSize", "Captured", "Blocked", "Bound", "CtcfOn")}
        yield seen | {f"site {k}": mean for k, mean in enumerate(simulation.row_means("Occupancy"))}
