"""Local Zig-Zag on a Gaussian with sparse precision: every event time by exact inversion.

The potential is (x - mean)' P (x - mean) / 2. Coordinate i moves at velocity +v or -v; its clock
rings at rate (v_i g_i)^+ with g the gradient, and reverses it. Between events g_i is affine in time, so each row
keeps g and its slope h, and an event at i changes only the rows that share an entry of P with it.
Bierkens, Fearnhead and Roberts 2019, doi:10.1214/18-AOS1715; local clocks: Bouchard-Cote, Vollmer and Doucet
2018, doi:10.1080/01621459.2017.1294075.

Sticky coordinates halt when they reach zero and go on, in the same direction, at rate
`thaw`: the target then has an atom at zero (Bierkens, Grazzi, van der Meulen and Schauer 2023,
doi:10.1007/s11222-022-10180-5). Walls reflect, at the exact time at which the path meets them.
"""

from __future__ import annotations

import math

from tocsin import NEVER, Action, Arena, Entity, Model, Ref, Rng, Touched, float64, int32, int64
from tocsin.models.sampling._recorded import Draw, Recorded
from tocsin.models.sampling._waits import affine_wait

THIRD = 1.0 / 3.0


class Coordinate(Entity):
    """What events read and write: 64 bytes, one cache line."""

    x: float64  # position at `since`
    v: float64  # velocity, 0 while it is halted at zero
    since: float64
    g: float64  # partial derivative of the potential at `at`
    h: float64  # its slope in time
    at: float64
    meets: float64  # when the path reaches the next wall or zero; when a halt ends
    first: int32  # its links are links[first : first + n_links], its own among them
    n_links: int32


class Trail(Entity):
    """What belongs to the coordinate of the same number, and is only needed at its own events."""

    area: float64  # integral of x over time, up to `since`
    area_squared: float64
    moving: float64  # time not halted at zero
    speed: float64  # while it is halted, the velocity with which it goes on
    thaw: float64  # rate at which a halt at zero ends; inf: it does not halt
    low: float64  # walls, -inf and inf for none
    high: float64
    n_turns: int64


class Link(Entity):
    """One entry of the precision matrix, by rows."""

    value: float64
    to: Ref[Coordinate]


class Knot(Entity):
    """One turn of the path, written down: the path is straight between two turns of a coordinate."""

    time: float64
    x: float64
    v: float64
    coordinate: int64


class Field(Recorded):
    """Coordinates, and the precision matrix as links between them."""

    coordinates: Arena[Coordinate]
    trails: Arena[Trail]
    links: Arena[Link]
    knots: Arena[Knot]
    n_flips: int64 = 0
    n_reflections: int64 = 0
    n_halts: int64 = 0
    n_thaws: int64 = 0

    def move(self, c: Coordinate, now: float) -> None:
        """Bring a coordinate to `now`, and add what it passed to the integrals."""
        trail = self.trails[c.index]
        dt = now - c.since
        if c.v != 0.0:
            step = c.v * dt
            trail.area += dt * (c.x + 0.5 * step)
            trail.area_squared += dt * (c.x * (c.x + step) + step * step * THIRD)
            trail.moving += dt
            c.x += step
        c.since = now

    def turn(self, c: Coordinate, v: float, now: float, touched: Touched) -> None:
        """Give a coordinate a new velocity, tell those that it is linked to, and look ahead."""
        change = v - c.v
        c.v = v
        for k in range(c.first, c.first + c.n_links):
            link = self.links[k]
            other = link.to
            other.g += other.h * (now - other.at)
            other.at = now
            other.h += link.value * change
            if other.v != 0.0 and other.index != c.index:  # the clock that fired is set again anyway
                touched.add(other)

    def reverse(self, c: Coordinate, now: float, touched: Touched) -> None:
        """Let a coordinate go back."""
        self.n_flips += 1
        self.trails[c.index].n_turns += 1
        self.move(c, now)
        self.turn(c, -c.v, now, touched)
        self.look_ahead(c)
        self.keep(c)

    def meet(self, c: Coordinate, now: float, rng: Rng, touched: Touched) -> None:
        """Reflect a coordinate at a wall, halt it at zero, or end its halt."""
        trail = self.trails[c.index]
        trail.n_turns += 1
        goal = barrier(trail, c.x, c.v)
        v = -c.v
        is_halted = c.v == 0.0
        self.move(c, now)
        if is_halted:
            self.n_thaws += 1
            v = trail.speed
        else:
            c.x = goal
            if goal == 0.0 and trail.thaw < NEVER:
                self.n_halts += 1
                trail.speed = inward(trail, c.v)
                v = 0.0
            else:
                self.n_reflections += 1
        self.turn(c, v, now, touched)
        self.look_ahead(c)
        if v == 0.0:
            c.meets = now + rng.exponential(trail.thaw)
        self.keep(c)

    def look_ahead(self, c: Coordinate) -> None:
        """Find when a moving coordinate meets a wall, or the zero at which it halts."""
        trail = self.trails[c.index]
        c.meets = NEVER
        if c.v != 0.0:
            goal = barrier(trail, c.x, c.v)
            if -NEVER < goal < NEVER:
                c.meets = c.since + (goal - c.x) / c.v

    def keep(self, c: Coordinate) -> None:
        """Write down a turn, if there is room for it."""
        n = self.n_knots
        if n < len(self.knots):
            knot = self.knots[n]
            knot.time, knot.x, knot.v, knot.coordinate = c.since, c.x, c.v, c.index
            self.n_knots = n + 1

    def draw(self, now: float) -> None:
        """Write down where the kept coordinates are, and what they passed."""
        n = self.n_draws
        for k in range(len(self.kept)):
            c = self.coordinates[self.kept[k]]
            trail = self.trails[self.kept[k]]
            dt = now - c.since
            step = c.v * dt
            self.draws[n, k] = c.x + step
            self.areas[n, k] = trail.area + dt * (c.x + 0.5 * step)
            self.squares[n, k] = trail.area_squared + dt * (c.x * (c.x + step) + step * step * THIRD)
        self.count(n)

    def count(self, n: int) -> None:
        """Write down how many events of each kind there were."""
        self.counts[n, 0] = self.n_flips
        self.counts[n, 1] = self.n_reflections
        self.counts[n, 2] = self.n_halts
        self.counts[n, 3] = self.n_thaws


def barrier(trail: Trail, x: float, v: float) -> float:
    """Return the next place ahead at which something happens: zero, a wall; inf if there is none."""
    if v > 0.0:
        return 0.0 if x < 0.0 and trail.thaw < NEVER else trail.high
    return 0.0 if x > 0.0 and trail.thaw < NEVER else trail.low


def inward(trail: Trail, v: float) -> float:
    """Return the velocity with which a coordinate leaves zero: the one it came with, unless a wall stands there."""
    if trail.low == 0.0:
        return math.fabs(v)
    if trail.high == 0.0:
        return -math.fabs(v)
    return v


class Turn(Action):
    """A coordinate reverses, is reflected, halts at zero or goes on: whichever comes first."""

    coordinate: Coordinate

    def schedule(self, world: Field, now: float, rng: Rng) -> float:
        c = self.coordinate
        if c.v == 0.0:
            return c.meets
        slope = c.v * c.h
        rate = c.v * c.g + slope * (now - c.at)
        return min(now + affine_wait(rate, slope, rng.exponential(1.0)), c.meets)

    def fire(self, world: Field, now: float, rng: Rng, touched: Touched) -> None:
        c = self.coordinate
        if c.v == 0.0 or now == c.meets:
            world.meet(c, now, rng, touched)
        else:
            world.reverse(c, now, touched)


MODEL = Model(Field, [Turn, Draw], name="zigzag")
