"""Loop extrusion by cohesin on a lattice of chromatin with CTCF sites.

Loop-extruding factors (LEFs) hold chromatin with two legs that walk apart, cannot pass each
other, are caught by CTCF sites that face them, and fall off and land elsewhere. Model:
Fudenberg et al. 2016, doi:10.1016/j.celrep.2016.04.085; Goloborodko, Marko, Mirny 2016,
doi:10.1016/j.bpj.2016.02.041. The rules are those of the lefsim engine, version 0.1.0.
"""

from __future__ import annotations

from tocsin.kernel import Rng, Touched
from tocsin.schema import (
    Action,
    Arena,
    Entity,
    Model,
    Observable,
    OptionalRef,
    Params,
    Ref,
    World,
    boolean,
    float64,
    int8,
    int32,
    param,
)  # fmt: skip

LEFT, RIGHT = -1, 1
OPEN, BEHIND, HELD, BLOCKED = 0, 1, 2, 3
"""What a leg may have ahead: a way on, a bare CTCF met from behind, one that a captured leg
holds, or an obstacle (a leg, or the end of the lattice)."""


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours (1/step is one site's walk)."""

    step: float64 = param(1.0, unit="1/time", gt=0, doc="steps of a free leg")
    respawn: float64 = param(1e-3, unit="1/time", gt=0, doc="unloading of a LEF with both legs free")
    respawn_blocked: float64 = param(1e-2, unit="1/time", gt=0, doc="unloading with a blocked leg")
    respawn_captured: float64 = param(1e-3, unit="1/time", gt=0, doc="unloading with a captured leg")


class Ctcf(Entity):
    """A CTCF site: it may capture legs that arrive from one side."""

    captures_from: int8  # LEFT or RIGHT: the side a leg has to come from
    strength: float64  # probability of capture, 0..1


class Site(Entity):
    """One site of the lattice."""

    leg: OptionalRef[Leg]  # a leg that stands here
    ctcf: OptionalRef[Ctcf]


class Leg(Entity):
    """One leg of a LEF."""

    site: int32
    facing: int8  # LEFT or RIGHT, for good
    captured: boolean
    lef: Ref[Lef]
    partner: Ref[Leg]  # the other leg of its LEF


class Lef(Entity):
    """A loop-extruding factor."""

    left: Ref[Leg]
    right: Ref[Leg]


class Fibre(World):
    """A stretch of chromatin with its LEFs."""

    sites: Arena[Site]
    ctcfs: Arena[Ctcf]
    legs: Arena[Leg]
    lefs: Arena[Lef]
    rates: Rates

    def ahead(self, leg: Leg) -> int:
        """Return what is ahead of a leg: OPEN, BEHIND, HELD or BLOCKED."""
        place = leg.site + leg.facing
        if place < 0 or place >= len(self.sites):
            return BLOCKED
        site = self.sites[place]
        ctcf = site.ctcf
        is_behind = ctcf is not None and ctcf.captures_from == leg.facing
        other = site.leg
        if other is None:
            return BEHIND if is_behind else OPEN
        return HELD if is_behind and other.captured else BLOCKED

    def is_blocked(self, leg: Leg) -> bool:
        """Say whether a leg is kept from moving by what is ahead of it."""
        if leg.captured:
            return False
        ahead = self.ahead(leg)
        return ahead == BLOCKED or (ahead == HELD and leg.partner.captured)

    def leg_at(self, place: int, facing: int) -> Leg | None:
        """Return the leg at a site that faces this way, if there is one."""
        if place < 0 or place >= len(self.sites):
            return None
        leg = self.sites[place].leg
        if leg is not None and leg.facing != facing:
            leg = leg.partner
            if leg.site != place:
                return None
        return leg


class Step(Action):
    """A leg moves one site ahead."""

    leg: Leg

    def rate(self, world: Fibre) -> float:
        leg = self.leg
        if leg.captured:
            return 0.0
        ahead = world.ahead(leg)
        if ahead == OPEN or (ahead == BEHIND and leg.partner.captured):
            return world.rates.step
        if ahead == BEHIND:
            return world.rates.step * (1.0 - strength_ahead(world, leg))
        return 0.0

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        leg = self.leg
        old, new = leg.site, leg.site + leg.facing
        stay = leg.partner
        shared = stay.site == old
        world.sites[old].leg = stay if shared else None
        world.sites[new].leg = leg
        leg.site = new
        touched.add(leg)
        touched.add(world.sites[old])
        touched.add(world.sites[new])
        ctcf = world.sites[new].ctcf
        if ctcf is not None and ctcf.captures_from != leg.facing and rng.bernoulli(ctcf.strength):
            leg.captured = True
            touched.add(stay)
            touched.add(leg.lef)
        elif world.is_blocked(leg):
            touched.add(leg.lef)
        if not shared:
            disturb(world, world.leg_at(old - leg.facing, leg.facing), touched)
        disturb(world, world.leg_at(new + leg.facing, -leg.facing), touched)


class Evict(Action):
    """A CTCF met from behind throws a leg off, and with it its LEF, which lands elsewhere."""

    leg: Leg

    def rate(self, world: Fibre) -> float:
        leg = self.leg
        if leg.captured or leg.partner.captured:
            return 0.0
        ahead = world.ahead(leg)
        if ahead == HELD:
            return world.rates.step
        if ahead == BEHIND:
            return world.rates.step * strength_ahead(world, leg)
        return 0.0

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        move_elsewhere(world, self.leg.lef, rng, touched)


class Respawn(Action):
    """A LEF falls off and lands elsewhere."""

    lef: Lef

    def rate(self, world: Fibre) -> float:
        left, right = self.lef.left, self.lef.right
        rates = world.rates
        if left.captured or right.captured:
            return rates.respawn_captured
        if world.is_blocked(left) or world.is_blocked(right):
            return rates.respawn_blocked
        return rates.respawn

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        move_elsewhere(world, self.lef, rng, touched)


class LoopSize(Observable):
    """Sum of all loop sizes, in sites."""

    leg: Leg

    def value(self, world: Fibre) -> float:
        return self.leg.facing * self.leg.site


class Captured(Observable):
    """Number of captured legs."""

    leg: Leg

    def value(self, world: Fibre) -> float:
        return self.leg.captured


class Blocked(Observable):
    """Number of blocked legs."""

    leg: Leg

    def value(self, world: Fibre) -> float:
        return world.is_blocked(self.leg)


class Occupancy(Observable):
    """Number of occupied sites; on each site, the fraction of time that a leg stands there."""

    site: Site

    def value(self, world: Fibre) -> float:
        return self.site.leg is not None


def strength_ahead(world: Fibre, leg: Leg) -> float:
    """Return the strength of the CTCF ahead of a leg, 0 if there is none."""
    ctcf = world.sites[leg.site + leg.facing].ctcf
    return 0.0 if ctcf is None else ctcf.strength


def disturb(world: Fibre, leg: Leg | None, touched: Touched) -> None:
    """Mark a leg whose way has changed, and its LEF, whose unloading may have."""
    if leg is not None:
        touched.add(leg)
        touched.add(leg.lef)


def move_elsewhere(world: Fibre, lef: Lef, rng: Rng, touched: Touched) -> None:
    """Take a LEF off and put both legs on a free plain site, all equally likely."""
    left, right = lef.left, lef.right
    for leg in (left, right):
        world.sites[leg.site].leg = None
        touched.add(world.sites[leg.site])
    for leg in (left, right):
        disturb(world, world.leg_at(leg.site - 1, RIGHT), touched)
        disturb(world, world.leg_at(leg.site + 1, LEFT), touched)
        leg.captured = False
    place = free_site(world, rng)
    for leg in (left, right):
        leg.site = place
        touched.add(leg)
    world.sites[place].leg = left
    touched.add(world.sites[place])
    touched.add(lef)
    disturb(world, world.leg_at(place - 1, RIGHT), touched)
    disturb(world, world.leg_at(place + 1, LEFT), touched)


def free_site(world: Fibre, rng: Rng) -> int:
    """Draw a site that is plain and empty, by rejection."""
    while True:
        place = rng.integers(0, len(world.sites))
        site = world.sites[place]
        if site.ctcf is None and site.leg is None:
            return place


ACTIONS = (Step, Evict, Respawn)
OBSERVABLES = (LoopSize, Captured, Blocked, Occupancy)
MODEL = Model(Fibre, ACTIONS, observables=OBSERVABLES, tie="entity", name="extrusion")
BARE = Model(Fibre, ACTIONS, tie="entity", name="extrusion-bare")
"""The same rules with nothing observed: as fast as they go."""
