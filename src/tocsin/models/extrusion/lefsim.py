"""The same model as lefsim 0.1.0 runs it: the same seed gives the same events, bit for bit.

lefsim (PyPI) draws from one sequential generator, and after an event it draws again for every
leg nearby, also where nothing changed. So the law is that of `model.py` and the trajectory
another. What is repeated here: its generator and samplers (source 'pcg64-rand'), its placement,
and which clocks draw again, in which order. Needed to check one program against the other, or
to go on with a study made with lefsim; otherwise `model.py` needs fewer draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.kernel import Rng, Touched
from tocsin.kernel._sources import pcg64_outputs, rand_seeded
from tocsin.models.extrusion import model as rules
from tocsin.models.extrusion._arguments import check_room, read_ctcfs
from tocsin.models.extrusion.fibre import fibre_from_legs
from tocsin.models.extrusion.model import OBSERVABLES, Fibre, Lef, Leg, free_site
from tocsin.run import Simulation
from tocsin.schema import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SOURCE = "pcg64-rand"


class Step(rules.Step):
    """A leg moves one site ahead."""

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        leg = self.leg
        old, new = leg.site, leg.site + leg.facing
        stay = leg.partner
        world.sites[old].leg = stay if stay.site == old else None
        world.sites[new].leg = leg
        leg.site = new
        touched.add(world.sites[old])
        touched.add(world.sites[new])
        disturb(leg, touched)
        ctcf = world.sites[new].ctcf
        if ctcf is not None and ctcf.captures_from != leg.facing and rng.bernoulli(ctcf.strength):
            leg.captured = True
            disturb(stay, touched)
        disturb_at(world, old - leg.facing, touched)
        disturb_at(world, new + leg.facing, touched)


class Evict(rules.Evict):
    """A CTCF met from behind throws a leg off, and with it its LEF, which lands elsewhere."""

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        move_elsewhere(world, self.leg.lef, rng, touched)


class Respawn(rules.Respawn):
    """A LEF falls off and lands elsewhere."""

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        move_elsewhere(world, self.lef, rng, touched)


def disturb(leg: Leg, touched: Touched) -> None:
    """Mark a leg and its LEF."""
    touched.add(leg)
    touched.add(leg.lef)


def disturb_at(world: Fibre, place: int, touched: Touched) -> None:
    """Mark all legs on a site and their LEFs, a left-facing leg first."""
    if place < 0 or place >= len(world.sites):
        return
    leg = world.sites[place].leg
    if leg is not None:
        left, right = leg.lef.left, leg.lef.right
        if left.site == place:
            disturb(left, touched)
        if right.site == place:
            disturb(right, touched)


def move_elsewhere(world: Fibre, lef: Lef, rng: Rng, touched: Touched) -> None:
    """Take a LEF off and put both legs on a free plain site, all equally likely."""
    left, right = lef.left, lef.right
    for leg in (left, right):
        world.sites[leg.site].leg = None
        touched.add(world.sites[leg.site])
    for leg in (left, right):
        disturb_at(world, leg.site - 1, touched)
        disturb_at(world, leg.site + 1, touched)
    place = free_site(world, rng)
    for leg in (left, right):
        leg.site = place
        leg.captured = False
    world.sites[place].leg = left
    touched.add(world.sites[place])
    disturb_at(world, place - 1, touched)
    disturb_at(world, place + 1, touched)
    disturb(left, touched)
    disturb(right, touched)


ACTIONS = (Step, Evict, Respawn)
LEFSIM = Model(Fibre, ACTIONS, observables=OBSERVABLES, tie="entity", name="extrusion-lefsim")
LEFSIM_BARE = Model(Fibre, ACTIONS, tie="entity", name="extrusion-lefsim-bare")
"""The same with nothing observed: as fast as it goes."""


def lefsim_simulation(
    fibre: Fibre, *, seed: int = 0, start: float = 0.0, model: Model = LEFSIM, jit: bool = True
) -> Simulation[Fibre]:
    """Return the run that `lefsim.Sim(model, seed=seed, start_time=start)` makes of this fibre.

    Parameters
    ----------
    fibre : any fibre; `lefsim_fibre` places LEFs as `lefsim.populate` does
    seed : 0 .. 2**64 - 1
    start : time at which it starts
    model : LEFSIM, or LEFSIM_BARE to leave the observables out
    jit : as in `Simulation`

    Raises InputError as `Simulation`.
    """
    return Simulation(model, fibre, seed=seed, start=start, jit=jit, method="next-reaction", source=SOURCE)


def lefsim_fibre(
    n_sites: int, n_lefs: int, *, ctcf_sites: ArrayLike = (),
    captures_from: Sequence[str | int] | NDArray[Any] | str = (), strength: ArrayLike = 1.0,
    rates: Any = None, seed: int = 0,
) -> Fibre:  # fmt: skip
    """Return the fibre that `lefsim.populate(lattice, n_lefs, seed=seed)` makes.

    Parameters as those of `make_fibre`. Raises InputError as `make_fibre`.
    """
    if n_lefs < 0:
        raise InputError(f"n_lefs must be >= 0, got {n_lefs}")
    sites, sides, strengths = read_ctcfs(n_sites, ctcf_sites, captures_from, strength)
    check_room(n_lefs, n_sites - len(sites))
    is_free = np.ones(n_sites, bool)
    is_free[sites] = False
    places = landings(is_free, n_lefs, seed)
    return fibre_from_legs(n_sites, sites, sides, strengths, places, places, rates=rates)


def landings(is_free: NDArray[np.bool_], n: int, seed: int) -> NDArray[np.int64]:
    """Return n different free sites, int64, each drawn from all sites until one is free."""
    outputs, n_sites = pcg64_outputs(*rand_seeded(seed)), len(is_free)
    zone = (n_sites << (32 - n_sites.bit_length())) - 1
    free, places = is_free.tolist(), np.zeros(n, np.int64)
    for k in range(n):
        while True:
            product = (next(outputs) & 0xFFFFFFFF) * n_sites
            if product & 0xFFFFFFFF <= zone and free[product >> 32]:
                break
        places[k] = product >> 32
        free[product >> 32] = False
    return places
