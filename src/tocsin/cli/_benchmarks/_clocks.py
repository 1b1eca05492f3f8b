"""Tiny models of clocks that only set themselves again: the loads of the queue benchmarks."""

from __future__ import annotations

import math

from tocsin.kernel import Rng, Touched
from tocsin.schema import NEVER, Action, Arena, Entity, Model, Pool, World, boolean, float64, int32

NINE_DECADES = 9.0 * math.log(10.0)
N_ACTIVE = 1000
N_FIRST = 10


class Clock(Entity):
    """A clock, and how often it fired."""

    n_fired: int32


class Clocks(World):
    """Clocks that know nothing of each other."""

    clocks: Arena[Clock]


class Ring(Action):
    """PHOLD: the next ring comes after an exponential wait of mean 1."""

    clock: Clock

    def rate(self, world: Clocks) -> float:
        return 1.0

    def fire(self, world: Clocks, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1


class RingAnyTime(Action):
    """Each wait is log-uniform over nine orders of magnitude."""

    clock: Clock

    def schedule(self, world: Clocks, now: float, rng: Rng) -> float:
        return now + math.exp(NINE_DECADES * (rng.random() - 0.5))

    def fire(self, world: Clocks, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1


class RingSoonOrLate(Action):
    """Each wait is 1e-3 or 1e3, after a first one between 0 and 1e3."""

    clock: Clock

    def schedule(self, world: Clocks, now: float, rng: Rng) -> float:
        if now == 0.0:
            return rng.uniform(0.0, 1e3)
        return now + (1e-3 if rng.bernoulli(0.5) else 1e3)

    def fire(self, world: Clocks, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1


class RingTogether(Action):
    """All clocks ring at the same times."""

    clock: Clock

    def schedule(self, world: Clocks, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Clocks, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1


class Timed(Entity):
    """A clock with a rate of its own."""

    n_fired: int32
    rate: float64


class TimedClocks(World):
    """Clocks of different rates."""

    clocks: Arena[Timed]


class RingTimed(Action):
    """An exponential wait at the clock's own rate."""

    clock: Timed

    def rate(self, world: TimedClocks) -> float:
        return self.clock.rate

    def fire(self, world: TimedClocks, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1


class Relay(Entity):
    """A clock that rings only while it is active."""

    n_fired: int32
    is_active: boolean


class Relays(World):
    """Clocks, `N_ACTIVE` of them active."""

    clocks: Arena[Relay]


class RingActive(Action):
    """A clock that fires falls silent, and another takes its turn."""

    clock: Relay

    def schedule(self, world: Relays, now: float, rng: Rng) -> float:
        return now + rng.exponential(1.0) if self.clock.is_active else NEVER

    def fire(self, world: Relays, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1
        self.clock.is_active = False
        n = len(world.clocks)
        number = self.clock.index + N_ACTIVE
        following = world.clocks[number if number < n else number - n]
        following.is_active = True
        touched.add(following)


class Born(World):
    """A population that grows up to `most`."""

    clocks: Pool[Clock]
    most: int32


class RingAndSpawn(Action):
    """PHOLD in which each firing adds a clock."""

    clock: Clock

    def rate(self, world: Born) -> float:
        return 1.0

    def fire(self, world: Born, now: float, rng: Rng, touched: Touched) -> None:
        self.clock.n_fired += 1
        if len(world.clocks) < world.most:
            world.clocks.spawn()


PHOLD = Model(Clocks, [Ring], name="phold-bare")
WAITS = Model(Clocks, [RingAnyTime], name="waits")
BIMODAL_WAITS = Model(Clocks, [RingSoonOrLate], name="bimodal-waits")
TIES = Model(Clocks, [RingTogether], name="ties")
RATES = Model(TimedClocks, [RingTimed], name="rates")
RELAYS = Model(Relays, [RingActive], name="relays")
GROWING = Model(Born, [RingAndSpawn], name="growing")
