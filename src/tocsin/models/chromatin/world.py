"""The state of chromatin with loop-extruding factors (LEFs): tables, and what a leg meets.

Beyond the fibre of `tocsin.models.extrusion`: several chromosomes, linear or rings; species of
LEFs, each with rates of its own; CTCF proteins that come and go; LEFs that wait unbound.
"""

from __future__ import annotations

from tocsin.kernel import Rng
from tocsin.models.extrusion.model import BEHIND, BLOCKED, HELD, LEFT, OPEN
from tocsin.schema import (
    Arena,
    Array,
    Entity,
    OptionalRef,
    Ref,
    World,
    boolean,
    float64,
    int8,
    int32,
)  # fmt: skip

BOTH = 0
"""A CTCF that captures legs from either side (`captures_from`)."""
NEITHER, EITHER = 0, 2
"""Which leg of a LEF is anchored, besides LEFT and RIGHT: none, or one drawn at each landing."""
MOVING, CAPTURED, PAUSED, ANCHORED, UNBOUND = 0, 1, 2, 3, 4
"""State of a leg. An anchored leg never moves; the legs of an unbound LEF stand nowhere."""


class Rates(Entity):
    """The rates of a species as long as they hold, in events per unit time."""

    step_left: float64  # steps of a free leg that faces left
    step_right: float64
    respawn: float64  # unloading of a LEF with both legs free
    respawn_blocked: float64  # with a blocked leg
    respawn_captured: float64  # with a captured leg
    load: float64  # loading of an unbound LEF; inf: it lands where it falls off, at once
    release: float64  # a captured leg lets go of its CTCF
    pause: float64  # a moving leg stops
    resume: float64  # a paused leg goes on
    slide: float64  # passive steps of a leg to each free side
    bypass: float64  # a blocked leg jumps over what blocks it


class Species(Entity):
    """A kind of LEF."""

    rates: Ref[Rates]
    anchor: int8  # NEITHER, LEFT, RIGHT or EITHER


class Chromosome(Entity):
    """A stretch of the lattice that no LEF leaves."""

    start: int32  # sites start .. end - 1
    end: int32
    is_ring: boolean


class Ctcf(Entity):
    """A CTCF site: while a protein is on it, it may capture legs that arrive from one side."""

    site: int32
    captures_from: int8  # LEFT, RIGHT or BOTH: the side a leg has to come from
    strength: float64  # probability of capture, 0..1
    is_on: boolean  # a protein is bound
    binding: float64  # rate at which one binds, 1/time
    unbinding: float64  # rate at which it leaves
    is_releasing: boolean  # a leg that it holds is free when it leaves


class Site(Entity):
    """One site of the lattice."""

    leg: OptionalRef[Leg]  # a leg that stands here
    ctcf: OptionalRef[Ctcf]
    chromosome: Ref[Chromosome]


class Leg(Entity):
    """One leg of a LEF."""

    site: int32  # -1: nowhere
    walked: int32  # sites ahead of where it landed; of both legs together: the loop
    facing: int8  # LEFT or RIGHT, for good
    state: int8  # MOVING, CAPTURED, PAUSED, ANCHORED or UNBOUND
    lef: Ref[Lef]
    partner: Ref[Leg]  # the other leg of its LEF

    def rates(self) -> Rates:
        """Return the rates of its species."""
        return self.lef.species.rates

    def step_rate(self) -> float:
        """Return the rate of its steps where nothing hinders it."""
        rates = self.rates()
        return rates.step_left if self.facing == LEFT else rates.step_right


class Lef(Entity):
    """A loop-extruding factor."""

    left: Ref[Leg]
    right: Ref[Leg]
    species: Ref[Species]


class Change(Entity):
    """What holds from a time on: the rates of a species, and of the exchange of CTCF proteins."""

    at: float64
    species: Ref[Species]
    rates: Ref[Rates]
    binding: float64  # factors on the rates of every CTCF
    unbinding: float64


class Chromatin(World):
    """Chromosomes on one lattice, with their CTCF sites and LEFs."""

    sites: Arena[Site]
    chromosomes: Arena[Chromosome]
    ctcfs: Arena[Ctcf]
    legs: Arena[Leg]
    lefs: Arena[Lef]
    species: Arena[Species]
    rates: Arena[Rates]
    changes: Arena[Change]  # in order of time
    loading: Array[float64]  # running sum of the sites' loading weights; empty: all alike
    n_changed: int32 = 0  # changes that have been made
    binding: float64 = 1.0  # factors that hold now on the rates of every CTCF
    unbinding: float64 = 1.0

    def beside(self, place: int, towards: int) -> int:
        """Return the next site towards LEFT or RIGHT, -1 if the chromosome ends there."""
        chromosome = self.sites[place].chromosome
        there = place + towards
        if there < chromosome.start:
            return chromosome.end - 1 if chromosome.is_ring else -1
        if there >= chromosome.end:
            return chromosome.start if chromosome.is_ring else -1
        return there

    def leg_at(self, place: int, facing: int) -> Leg | None:
        """Return the leg at a site that faces this way, if there is one; none at -1."""
        if place < 0:
            return None
        leg = self.sites[place].leg
        if leg is not None and leg.facing != facing:
            leg = leg.partner
            if leg.site != place:
                return None
        return leg

    def ahead(self, leg: Leg) -> int:
        """Return what is ahead of a leg: OPEN, BEHIND, HELD or BLOCKED."""
        place = self.beside(leg.site, leg.facing)
        if place < 0:
            return BLOCKED
        site = self.sites[place]
        ctcf = site.ctcf
        is_behind = ctcf is not None and ctcf.captures_from == leg.facing and ctcf.is_on
        other = site.leg
        if other is None:
            return BEHIND if is_behind else OPEN
        return HELD if is_behind and other.state == CAPTURED else BLOCKED

    def is_blocked(self, leg: Leg) -> bool:
        """Say whether a leg that could move is kept from it by what is ahead."""
        if leg.state != MOVING and leg.state != PAUSED:
            return False
        ahead = self.ahead(leg)
        return ahead == BLOCKED or (ahead == HELD and leg.partner.state == CAPTURED)

    def strength_ahead(self, leg: Leg) -> float:
        """Return the strength of the CTCF ahead of a leg, 0 if there is none."""
        ctcf = self.sites[self.beside(leg.site, leg.facing)].ctcf
        return 0.0 if ctcf is None else ctcf.strength

    def can_slide(self, leg: Leg, towards: int) -> bool:
        """Say whether the next site is free; a leg never passes its partner."""
        place = self.beside(leg.site, towards)
        if place < 0 or (towards != leg.facing and leg.partner.site == leg.site):
            return False
        return self.sites[place].leg is None

    def distance(self, leg: Leg, place: int) -> int:
        """Return how many sites ahead of a leg a place is; on a ring, all the way round if need be."""
        distance = (place - leg.site) * leg.facing
        if distance > 0:
            return distance
        chromosome = self.sites[place].chromosome
        return distance + chromosome.end - chromosome.start

    def beyond(self, leg: Leg) -> int:
        """Return the next free site behind those who block a leg, -1 if there is none.

        It does not look past the end of a chromosome or, on a ring, past the leg's own LEF.
        """
        place = self.beside(leg.site, leg.facing)
        while place >= 0:
            other = self.sites[place].leg
            if other is None:
                return place
            if other.lef.index == leg.lef.index:
                return -1
            place = self.beside(place, leg.facing)
        return -1

    def free_site(self, rng: Rng) -> int:
        """Draw a site without a CTCF and a leg, in proportion to its loading weight, by rejection."""
        while True:
            place = rng.integers(0, len(self.sites)) if len(self.loading) == 0 else self.weighted_site(rng)
            site = self.sites[place]
            if site.ctcf is None and site.leg is None:
                return place

    def weighted_site(self, rng: Rng) -> int:
        """Draw a site in proportion to its loading weight. Cost: one draw, log2(sites) reads."""
        low, high = 0, len(self.loading) - 1
        target = rng.random() * self.loading[high]
        while low < high:  # the answer, the first whose running sum is above target, is in low..high
            middle = (low + high) // 2
            if self.loading[middle] > target:
                high = middle
            else:
                low = middle + 1
        return low
