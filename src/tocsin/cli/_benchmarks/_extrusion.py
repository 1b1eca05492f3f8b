"""Loop extrusion: the bare rules on a striped fibre, against lefsim, which has the same rules."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from tocsin.cli._benchmarks._comparison import Comparison, alternated, check_close, faster, require, speed
from tocsin.models.extrusion.model import BARE, LEFT, RIGHT, Fibre
from tocsin.run import Simulation
from tocsin.schema._model import Method

EVERY, FIRST, STRENGTH = 100, 50, 0.8
"""CTCF sites: one every so many sites from the first, facing right and left in turn."""
EVENTS = 300_000
TOLERANCE = 0.03
CHANCE = 0.32
"""Over sqrt(LEFs): 4.5 standard errors of the relative difference of the event rates of two such runs."""


class Size(NamedTuple):
    """How large a fibre, and how long it runs before the first figure."""

    n_sites: int
    n_lefs: int
    burn_in: float
    goal: float
    goal_by_rates: float


SIZES = (
    Size(1_000, 10, 3_000.0, 1.5, 5.0),
    Size(10_000, 100, 3_000.0, 2.0, 5.0),
    Size(100_000, 1_000, 3_000.0, 2.0, 5.0),
    Size(1_000_000, 10_000, 600.0, 3.0, 5.0),
)


def extrusion() -> Iterator[Comparison]:
    """Loop extrusion with CTCF sites, nothing observed: against lefsim, same rules and rates."""
    lefsim = require("lefsim", "lefsim==0.1.0")
    for size in SIZES:
        yield _one(lefsim, size, "next-reaction", size.goal)


def rates() -> Iterator[Comparison]:
    """The same by composition-rejection: against lefsim."""
    lefsim = require("lefsim", "lefsim==0.1.0")
    for size in SIZES:
        yield _one(lefsim, size, "composition-rejection", size.goal_by_rates)


def _one(lefsim: ModuleType, size: Size, method: Method, goal: float) -> Comparison:
    ours, peer = _ours(size, method), _theirs(lefsim, size)
    ours.run(until=size.burn_in)
    peer.run_until(size.burn_in)
    at = _Mark(ours.n_events, ours.now), _Mark(peer.n_events, peer.time)
    figures = alternated(
        lambda: speed(lambda: ours.run(events=EVENTS).n_events), lambda: speed(lambda: _run_peer(peer, EVENTS))
    )
    check_close(
        at[0].until(ours.n_events, ours.now) / size.n_lefs, at[1].until(peer.n_events, peer.time) / size.n_lefs,
        max(TOLERANCE, CHANCE / size.n_lefs**0.5), "events per time and LEF",
    )  # fmt: skip
    return faster(f"{method}, {size.n_sites:,} sites, {size.n_lefs:,} LEFs, lefsim", *figures, goal)


class _Mark(NamedTuple):
    """Where a simulation stands."""

    n_events: int
    now: float

    def until(self, n_events: int, now: float) -> float:
        """Return the events per unit time from here to there."""
        return (n_events - self.n_events) / (now - self.now)


def _run_peer(simulation: Any, n_events: int) -> int:
    before = simulation.n_events
    simulation.run_events(n_events)
    return int(simulation.n_events - before)


def _ours(size: Size, method: Method) -> Simulation[Fibre]:
    import numpy as np

    n, n_lefs = size.n_sites, size.n_lefs
    ctcf_sites = np.arange(FIRST, n, EVERY)
    is_plain = np.ones(n, bool)
    is_plain[ctcf_sites] = False
    homes = np.random.default_rng(1).choice(np.flatnonzero(is_plain), n_lefs, replace=False)
    ctcf, leg = np.full(n, -1), np.full(n, -1)
    ctcf[ctcf_sites] = np.arange(len(ctcf_sites))
    leg[homes] = 2 * np.arange(n_lefs)
    world = Fibre(
        sites={"ctcf": ctcf, "leg": leg},
        ctcfs={
            "captures_from": np.where(np.arange(len(ctcf_sites)) % 2, LEFT, RIGHT),
            "strength": np.full(len(ctcf_sites), STRENGTH),
        },
        legs={
            "site": np.repeat(homes, 2), "facing": np.tile([LEFT, RIGHT], n_lefs),
            "lef": np.repeat(np.arange(n_lefs), 2), "partner": np.arange(2 * n_lefs) ^ 1,
        },
        lefs={"left": 2 * np.arange(n_lefs), "right": 2 * np.arange(n_lefs) + 1},
    )  # fmt: skip
    return Simulation(BARE, world, seed=2, method=method)


def _theirs(lefsim: ModuleType, size: Size) -> Any:
    import numpy as np

    sites = np.arange(FIRST, size.n_sites, EVERY)
    from_ = ["left" if k % 2 else "right" for k in range(len(sites))]
    barriers = {"site": sites.astype("u4"), "captures_from": from_, "strength": STRENGTH}
    world = lefsim.populate(lefsim.Lattice(size.n_sites, barriers), size.n_lefs, seed=1)
    return lefsim.Sim(lefsim.Model(world), seed=2)
