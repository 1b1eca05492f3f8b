"""What events do to the world: a leg moves, is caught, lets go; a LEF falls off and lands.

Each function touches the rows whose clocks it may have changed, and no others: where no leg
slides, exactly those that `tocsin.models.extrusion` touches, so that both draw alike.
"""

from __future__ import annotations

import math

from tocsin.kernel import Rng, Touched
from tocsin.models.chromatin.world import (
    ANCHORED,
    CAPTURED,
    EITHER,
    MOVING,
    UNBOUND,
    Chromatin,
    Lef,
    Leg,
)  # fmt: skip
from tocsin.models.extrusion.model import LEFT, RIGHT


def disturb(leg: Leg | None, touched: Touched) -> None:
    """Mark a leg whose way ahead has changed, and its LEF, whose unloading may have."""
    if leg is not None:
        touched.add(leg)
        touched.add(leg.lef)


def disturb_back(leg: Leg | None, touched: Touched) -> None:
    """Mark a leg whose way back has changed, which only those that slide can take."""
    if leg is not None and leg.rates().slide > 0.0:
        touched.add(leg)


def disturb_side(world: Chromatin, place: int, side: int, touched: Touched) -> None:
    """Mark the legs on one side of a site that was filled, emptied or switched."""
    there = world.beside(place, side)
    disturb(world.leg_at(there, -side), touched)
    disturb_back(world.leg_at(there, side), touched)


def disturb_around(world: Chromatin, place: int, touched: Touched) -> None:
    """Mark the legs on both sides of a site that was filled, emptied or switched."""
    disturb_side(world, place, LEFT, touched)
    disturb_side(world, place, RIGHT, touched)


def shift(world: Chromatin, leg: Leg, place: int, n_ahead: int, touched: Touched) -> bool:
    """Put a leg on an empty site; say whether its partner still stands where it stood."""
    old, stay = leg.site, leg.partner
    is_shared = stay.site == old
    world.sites[old].leg = stay if is_shared else None
    world.sites[place].leg = leg
    leg.site = place
    leg.walked += n_ahead
    touched.add(leg)
    touched.add(world.sites[old])
    touched.add(world.sites[place])
    return is_shared


def catch(world: Chromatin, leg: Leg, towards: int, rng: Rng, touched: Touched) -> bool:
    """Let the CTCF on which a leg has just arrived, moving `towards`, capture it, or not."""
    ctcf = world.sites[leg.site].ctcf
    if ctcf is None or not ctcf.is_on or ctcf.captures_from == towards or not rng.bernoulli(ctcf.strength):
        return False
    leg.state = CAPTURED
    touched.add(leg.partner)
    touched.add(leg.lef)
    return True


def jump(world: Chromatin, leg: Leg, place: int, n_ahead: int, rng: Rng, touched: Touched) -> None:
    """Move a leg otherwise than by a step: any empty site, either way."""
    old = leg.site
    shift(world, leg, place, n_ahead, touched)
    catch(world, leg, RIGHT if n_ahead * leg.facing > 0 else LEFT, rng, touched)
    touched.add(leg.lef)
    disturb_around(world, old, touched)
    disturb_around(world, place, touched)


def let_go(world: Chromatin, leg: Leg, touched: Touched) -> None:
    """Free a captured leg: it and its partner, no longer protected, go on."""
    leg.state = MOVING
    touched.add(leg)
    touched.add(leg.partner)
    touched.add(leg.lef)
    disturb_around(world, leg.site, touched)


def fall_off(world: Chromatin, lef: Lef, rng: Rng, touched: Touched) -> None:
    """Take a LEF off; it lands elsewhere at once, or waits unbound if its loading takes time."""
    left, right = lef.left, lef.right
    for leg in (left, right):
        world.sites[leg.site].leg = None
        touched.add(world.sites[leg.site])
    for leg in (left, right):
        disturb_around(world, leg.site, touched)
    for leg in (left, right):
        leg.site = -1
        leg.walked = 0
        leg.state = UNBOUND
        touched.add(leg)
    touched.add(lef)
    if lef.species.rates.load == math.inf:
        land(world, lef, rng, touched)


def land(world: Chromatin, lef: Lef, rng: Rng, touched: Touched) -> None:
    """Put both legs of an unbound LEF on a free site, drawn by loading weight."""
    place = world.free_site(rng)
    anchor = lef.species.anchor
    if anchor == EITHER:
        anchor = LEFT if rng.bernoulli(0.5) else RIGHT
    for leg in (lef.left, lef.right):
        leg.site = place
        leg.state = ANCHORED if leg.facing == anchor else MOVING
        touched.add(leg)
    world.sites[place].leg = lef.left
    touched.add(world.sites[place])
    touched.add(lef)
    disturb_around(world, place, touched)
