"""Small models, right and wrong, for the tests of the checks. `wrong` of a world says what breaks."""

from __future__ import annotations

import math

from tocsin import (
    NEVER,
    Action,
    Arena,
    Array,
    Entity,
    Model,
    Observable,
    OptionalRef,
    Params,
    Pool,
    Ref,
    Rng,
    Touched,
    World,
    float64,
    int64,
    param,
)

STALE_REF, NOT_A_NUMBER, NAN_RATE, ZENO, ENDLESS = 1, 2, 3, 4, 5


class Settings(Params):
    """Of the shop."""

    rate: float64 = param(1.0, unit="1/time", gt=0, doc="customers")
    patience: float64 = param(2.0, unit="time", ge=0, le=10, doc="how long one waits")
    most: int64 = param(4, ge=1, doc="customers at a time")


class Customer(Entity):
    """Waits."""

    leaves_at: float64
    before: OptionalRef[Customer]
    colour: int64


class Till(Entity):
    """Remembers."""

    last: Ref[Customer]
    takings: float64


class Shop(World):
    """Customers come and leave."""

    customers: Pool[Customer]
    tills: Arena[Till]
    weights: Array[float64]
    n_here: int64
    wrong: int64
    settings: Settings


class Come(Action):
    """A customer comes."""

    def rate(self, world: Shop) -> float:
        if world.wrong == NAN_RATE and world.n_here == 3:
            return math.nan
        return world.settings.rate if world.n_here < world.settings.most else 0.0

    def fire(self, world: Shop, now: float, rng: Rng, touched: Touched) -> None:
        customer = world.customers.spawn()
        customer.leaves_at = now + (rng.uniform(0.0, world.settings.patience) if world.wrong != ZENO else 0.0)
        customer.colour = 1 + rng.integers(0, 3)
        world.n_here += 1
        for till in world.tills:
            till.takings += world.weights[till.index] if world.wrong != NOT_A_NUMBER else math.nan
            if world.wrong == STALE_REF:
                till.last = customer
            touched.add(till)


class Leave(Action):
    """A customer leaves."""

    customer: Customer

    def schedule(self, world: Shop, now: float, rng: Rng) -> float:
        return NEVER if self.customer.colour == 0 else self.customer.leaves_at

    def fire(self, world: Shop, now: float, rng: Rng, touched: Touched) -> None:
        world.n_here -= 1
        touched.add(world)
        if world.wrong == ENDLESS:
            self.customer.leaves_at = now
        else:
            world.customers.remove(self.customer)


class Takings(Observable):
    """Money taken."""

    till: Till

    def value(self, world: Shop) -> float:
        return self.till.takings


class Here(Observable):
    """Customers."""

    def value(self, world: Shop) -> float:
        return world.n_here


SHOP = Model(Shop, [Come, Leave], observables=[Takings, Here], name="shop")


def shop(wrong: int = 0) -> Shop:
    """Return a shop with one till, whose `last` is a customer who stays away."""
    return Shop(customers={"colour": [0]}, tills={"last": [0]}, weights=[0.5], wrong=wrong)


class Lamp(Entity):
    """Never touched, though others read what changes."""

    is_on: int64
    size: float64


class Street(World):
    """Lamps."""

    lamps: Arena[Lamp]
    night: int64


class Dusk(Action):
    """Night falls: the lamps are not told."""

    def rate(self, world: Street) -> float:
        return 1.0

    def fire(self, world: Street, now: float, rng: Rng, touched: Touched) -> None:
        world.night = 1 - world.night


class Light(Action):
    """A lamp goes on by night."""

    lamp: Lamp

    def rate(self, world: Street) -> float:
        return 1.0 if world.night == 1 and self.lamp.is_on == 0 else 0.0

    def fire(self, world: Street, now: float, rng: Rng, touched: Touched) -> None:
        self.lamp.is_on = 1


class Wait(Action):
    """Does nothing."""

    def rate(self, world: Street) -> float:
        return 0.5

    def fire(self, world: Street, now: float, rng: Rng, touched: Touched) -> None:
        pass


class Glow(Observable):
    """Lamps that are seen: on, by night."""

    lamp: Lamp

    def value(self, world: Street) -> float:
        return self.lamp.is_on * world.night


STREET = Model(Street, [Dusk, Light, Wait], observables=[Glow], name="street")


class Sneak(Action):
    """A rate that writes."""

    def rate(self, world: Street) -> float:
        world.night += 1
        return 1.0

    def fire(self, world: Street, now: float, rng: Rng, touched: Touched) -> None:
        pass


IMPURE = Model(Street, [Sneak], name="impure")
