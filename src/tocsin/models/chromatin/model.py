"""Loop extrusion beyond one kind of LEF on one static fibre: the actions.

Everything beyond `tocsin.models.extrusion` is off by default, and then both go through the same
events at the same times. Sources: one-sided and mixed LEFs, Banigan et al. 2020,
doi:10.7554/eLife.53558; bypassing, Brandao et al. 2021, doi:10.1038/s41594-021-00626-1;
passive sliding, Brackley et al. 2017, doi:10.1103/PhysRevLett.119.138101; CTCF exchange,
Hansen et al. 2017, doi:10.7554/eLife.25776.
"""

from __future__ import annotations

from tocsin.kernel import Rng, Touched
from tocsin.models.chromatin.moves import (
    catch,
    disturb_around,
    disturb_side,
    fall_off,
    jump,
    land,
    let_go,
    shift,
)  # fmt: skip
from tocsin.models.chromatin.observables import OBSERVABLES
from tocsin.models.chromatin.world import (
    CAPTURED,
    MOVING,
    PAUSED,
    UNBOUND,
    Chromatin,
    Ctcf,
    Lef,
    Leg,
)  # fmt: skip
from tocsin.models.extrusion.model import BEHIND, HELD, OPEN
from tocsin.schema import NEVER, Action, Model


class Step(Action):
    """A leg moves one site ahead."""

    leg: Leg

    def rate(self, world: Chromatin) -> float:
        leg = self.leg
        if leg.state != MOVING:
            return 0.0
        ahead = world.ahead(leg)
        if ahead == OPEN or (ahead == BEHIND and leg.partner.state == CAPTURED):
            return leg.step_rate()
        if ahead == BEHIND:
            return leg.step_rate() * (1.0 - world.strength_ahead(leg))
        return 0.0

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        leg = self.leg
        old, facing = leg.site, leg.facing
        is_shared = shift(world, leg, world.beside(old, facing), 1, touched)
        if not catch(world, leg, facing, rng, touched) and world.is_blocked(leg):
            touched.add(leg.lef)
        if not is_shared:
            disturb_side(world, old, -facing, touched)
        disturb_side(world, leg.site, facing, touched)


class Evict(Action):
    """A CTCF met from behind throws a leg off, and with it its LEF."""

    leg: Leg

    def rate(self, world: Chromatin) -> float:
        leg = self.leg
        if leg.state != MOVING or leg.partner.state == CAPTURED:
            return 0.0
        ahead = world.ahead(leg)
        if ahead == HELD:
            return leg.step_rate()
        if ahead == BEHIND:
            return leg.step_rate() * world.strength_ahead(leg)
        return 0.0

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        fall_off(world, self.leg.lef, rng, touched)


class Respawn(Action):
    """A LEF falls off."""

    lef: Lef

    def rate(self, world: Chromatin) -> float:
        left, right = self.lef.left, self.lef.right
        rates = self.lef.species.rates
        if left.state == UNBOUND:
            return 0.0
        if left.state == CAPTURED or right.state == CAPTURED:
            return rates.respawn_captured
        if world.is_blocked(left) or world.is_blocked(right):
            return rates.respawn_blocked
        return rates.respawn

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        fall_off(world, self.lef, rng, touched)


class Load(Action):
    """An unbound LEF lands."""

    lef: Lef

    def rate(self, world: Chromatin) -> float:
        return self.lef.species.rates.load if self.lef.left.state == UNBOUND else 0.0

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        land(world, self.lef, rng, touched)


class Release(Action):
    """A captured leg lets go of its CTCF."""

    leg: Leg

    def rate(self, world: Chromatin) -> float:
        return self.leg.rates().release if self.leg.state == CAPTURED else 0.0

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        let_go(world, self.leg, touched)


class Pause(Action):
    """A moving leg stops where it is, or a paused one goes on."""

    leg: Leg

    def rate(self, world: Chromatin) -> float:
        if self.leg.state == MOVING:
            return self.leg.rates().pause
        return self.leg.rates().resume if self.leg.state == PAUSED else 0.0

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        self.leg.state = MOVING if self.leg.state == PAUSED else PAUSED
        touched.add(self.leg)


class Slide(Action):
    """A leg moves passively to a free neighbouring site, ahead or back."""

    leg: Leg

    def rate(self, world: Chromatin) -> float:
        leg = self.leg
        slide = leg.rates().slide
        if slide == 0.0 or leg.state != MOVING:
            return 0.0
        ahead = slide if world.can_slide(leg, leg.facing) else 0.0
        back = slide if world.can_slide(leg, -leg.facing) else 0.0
        return ahead + back

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        leg = self.leg
        is_back = world.can_slide(leg, -leg.facing)
        if is_back and world.can_slide(leg, leg.facing):
            is_back = rng.bernoulli(0.5)
        ahead = -1 if is_back else 1
        jump(world, leg, world.beside(leg.site, ahead * leg.facing), ahead, rng, touched)


class Bypass(Action):
    """A blocked leg jumps over the legs that block it onto the next free site, if there is one."""

    leg: Leg

    def rate(self, world: Chromatin) -> float:
        leg = self.leg
        bypass = leg.rates().bypass
        if bypass == 0.0 or leg.state != MOVING or not world.is_blocked(leg):
            return 0.0
        return bypass if world.beside(leg.site, leg.facing) >= 0 else 0.0

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        place = world.beyond(self.leg)
        if place >= 0:
            jump(world, self.leg, place, world.distance(self.leg, place), rng, touched)


class Exchange(Action):
    """A CTCF protein leaves its site, or one binds to an empty site."""

    ctcf: Ctcf

    def rate(self, world: Chromatin) -> float:
        ctcf = self.ctcf
        return ctcf.unbinding * world.unbinding if ctcf.is_on else ctcf.binding * world.binding

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        ctcf = self.ctcf
        ctcf.is_on = not ctcf.is_on
        touched.add(ctcf)
        leg = world.sites[ctcf.site].leg
        if leg is not None and leg.state == CAPTURED and ctcf.is_releasing:
            let_go(world, leg, touched)
        disturb_around(world, ctcf.site, touched)


class ChangeRates(Action):
    """Rates change at a given time."""

    def schedule(self, world: Chromatin, now: float, rng: Rng) -> float:
        if world.n_changed >= len(world.changes):
            return NEVER
        return max(now, world.changes[world.n_changed].at)

    def fire(self, world: Chromatin, now: float, rng: Rng, touched: Touched) -> None:
        while world.n_changed < len(world.changes) and world.changes[world.n_changed].at <= now:
            change = world.changes[world.n_changed]
            change.species.rates = change.rates
            world.binding = change.binding
            world.unbinding = change.unbinding
            world.n_changed += 1
        touched.all(world.legs)
        touched.all(world.lefs)
        touched.all(world.ctcfs)


ACTIONS = (Step, Evict, Respawn, Load, Release, Pause, Slide, Bypass, Exchange, ChangeRates)
MODEL = Model(Chromatin, ACTIONS, observables=OBSERVABLES, tie="entity", name="chromatin")
BARE = Model(Chromatin, ACTIONS, tie="entity", name="chromatin-bare")
"""The same rules with nothing observed: as fast as they go."""
