"""Samplers in which all coordinates move together: Zig-Zag, Bouncy Particle, Boomerang, Factorised Boomerang.

They are two choices by two. A particle moves on a straight line, or on a circle around the centre of a standard
normal reference; and an event reverses one coordinate, or reflects the velocity at the gradient:

============ ============================ ====================================================
\\            one coordinate reverses      the velocity is reflected
line         Zig-Zag                      Bouncy Particle (doi:10.1080/01621459.2017.1294075)
circle       Factorised Boomerang         Boomerang (doi:10.48550/arXiv.2006.13777)
============ ============================ ====================================================

Positions z are in a scale in which the target is near to standard normal. The rate is (v . g)^+, or (v_i g_i)^+ for
each coordinate, with g the gradient of the potential, less z on the circle. It is bounded in one of four ways, the `bound`:

AFFINE    on a line: exact for a quadratic potential, certified if |second derivatives| <= `curvature`
CONSTANT  on a circle, whose radius in each coordinate does not change: certified by the same
ROOT      Bouncy Particle on a convex potential: the event is where the potential has risen by an
          exponential number above its least value ahead; no bound is needed
GRID      from gradients at points ahead: approximate; violations that are seen are counted

Walls reflect, and coordinates with a spike halt at zero: `_barriers`.
"""

from __future__ import annotations

import math

from tocsin import NEVER, Action, Model, Rng, Touched
from tocsin.kernel._elementary import cos, sin
from tocsin.models.sampling._barriers import NOTHING, Barriers
from tocsin.models.sampling._motion import AFFINE, CONSTANT, GRID, N_GRID, ROOT, Particle, moved, radius, turned
from tocsin.models.sampling._recorded import Draw
from tocsin.models.sampling._waits import affine_wait

__all__ = ["AFFINE", "CONSTANT", "GRID", "MODEL", "N_GRID", "ROOT", "Flight", "Particle"]


LONGEST = 10.0
"""Time after which a declared bound is checked, and taken anew, though nothing was proposed."""


class Flight(Barriers):
    """Particles, and the bounds by which they find their next event."""

    def plan(self, p: Particle, rng: Rng) -> None:
        """Set when a particle's next event is proposed, from where it is: z, v and g."""
        self.look_ahead(p, rng)
        if self.bound == AFFINE:
            wait = self.affine(p.index, rng)
        elif self.bound == CONSTANT:
            wait = self.constant(p.index, rng)
        elif self.bound == ROOT:
            wait = self.root(p.index, rng)
        else:
            wait = self.along_grid(p.index, rng)
        length = self.longest()
        if p.at + length < p.until:
            p.until = p.at + length
            p.meets = NOTHING
        p.rings = p.at + wait

    def is_exact(self) -> bool:
        """Say whether events come at their own times, without thinning."""
        return self.bound == ROOT or (self.bound == AFFINE and self.is_quadratic == 1)

    def longest(self) -> float:
        """Return how long bounds hold, or are relied on without a check."""
        if self.bound == GRID:
            return self.horizon
        return NEVER if self.is_quadratic == 1 or self.bound == ROOT else LONGEST

    def affine(self, row: int, rng: Rng) -> float:
        """Return a wait by affine bounds on a line: a is the rate now, b its slope or a bound on that."""
        d = len(self.tilt)
        first, slope = 0.0, 0.0
        wait = NEVER
        for i in range(d):
            v = self.v[row, i]
            a, b = v * self.g[row, i], 0.0
            for j in range(d):
                if self.is_quadratic == 1:
                    b += v * self.curvature[i, j] * self.v[row, j]
                else:
                    b += math.fabs(v) * self.curvature[i, j] * math.fabs(self.v[row, j])
            first += a
            slope += b
            if self.is_flip == 1:
                self.a[row, i] = a
                self.b[row, i] = b
                wait = min(wait, affine_wait(a, b, rng.exponential(1.0)))
        if self.is_flip == 0:
            self.a[row, 0] = first
            self.b[row, 0] = slope
            wait = affine_wait(first, slope, rng.exponential(1.0))
        return wait

    def constant(self, row: int, rng: Rng) -> float:
        """Return a wait by the constant bound on a circle: sum of r_i (|tilt_i| + sum of curvature_ij r_j)."""
        d = len(self.tilt)
        total = 0.0
        for i in range(d):
            if self.v[row, i] != 0.0:
                most = math.fabs(self.tilt[i])
                for j in range(d):
                    most += math.fabs(self.curvature[i, j]) * radius(self.z[row, j], self.v[row, j])
                total += radius(self.z[row, i], self.v[row, i]) * most
        self.ceilings[row, 0] = total
        return rng.exponential(total) if total > 0.0 else NEVER

    def bounded_by(self, p: Particle, now: float) -> float:
        """Return the bound on the rate at `now`."""
        row, s = p.index, now - p.at
        if self.bound == AFFINE:
            total = 0.0
            for i in range(len(self.tilt) if self.is_flip == 1 else 1):
                total += max(self.a[row, i] + self.b[row, i] * s, 0.0)
            return total
        if self.bound == CONSTANT:
            return self.ceilings[row, 0]
        return self.ceilings[row, min(int(s / self.horizon * N_GRID), N_GRID - 1)]

    def probe(self, row: int, s: float) -> float:
        """Take value and gradient at a distance of time ahead; return the value."""
        sine, cosine = 0.0, 1.0
        if self.is_circle == 1:
            sine, cosine = sin(s), cos(s)
        for k in range(len(self.tilt)):
            self.probes[row, k] = moved(self.is_circle, self.z[row, k], self.v[row, k], s, sine, cosine)
        return self.ask(row)

    def slope_ahead(self, row: int, s: float) -> float:
        """Return v . g at the point probed, `s` ahead."""
        total = 0.0
        for k in range(len(self.tilt)):
            total += self.ahead(row, k, s) * self.probe_g[row, k]
        return total

    def ahead(self, row: int, k: int, s: float) -> float:
        """Return a velocity `s` ahead."""
        if self.is_circle == 1:
            return turned(1, self.z[row, k], self.v[row, k], sin(s), cos(s))
        return self.v[row, k]

    def along_grid(self, row: int, rng: Rng) -> float:
        """Return a wait by bounds on intervals ahead, from the rates at their ends and how they bend."""
        d = len(self.tilt)
        first = row * (N_GRID + 1)
        step = self.horizon / N_GRID
        width = d if self.is_flip == 1 else 1
        for n in range(N_GRID + 1):
            if n > 0:
                self.probe(row, n * step)
            for k in range(width):
                self.grid[first + n, k] = 0.0
            for k in range(d):
                g = self.g[row, k] if n == 0 else self.probe_g[row, k]
                self.grid[first + n, k if self.is_flip == 1 else 0] += self.ahead(row, k, n * step) * g
        for n in range(N_GRID):
            total = 0.0
            for k in range(width):
                total += max(self.highest(first, n, k), 0.0)
            self.ceilings[row, n] = (1.0 + self.safety) * total
        left = rng.exponential(1.0)
        for n in range(N_GRID):
            ceiling = self.ceilings[row, n]
            if left < ceiling * step:
                return n * step + left / ceiling
            left -= ceiling * step
        return NEVER

    def highest(self, first: int, n: int, k: int) -> float:
        """Return a guess of the largest rate in interval n: the larger end, and a quarter of the second difference."""
        here, there = self.grid[first + n, k], self.grid[first + n + 1, k]
        left = n - 1 if n > 0 else 0
        bend = self.grid[first + left, k] - 2.0 * self.grid[first + left + 1, k] + self.grid[first + left + 2, k]
        right = min(n, N_GRID - 2)
        other = self.grid[first + right, k] - 2.0 * self.grid[first + right + 1, k] + self.grid[first + right + 2, k]
        return max(here, there) + 0.25 * max(math.fabs(bend), math.fabs(other))

    def root(self, row: int, rng: Rng) -> float:
        """Return how far ahead a convex potential has risen by an exponential number above its least value."""
        low, value = 0.0, self.probe(row, 0.0)
        if self.slope_ahead(row, 0.0) < 0.0:
            low = self.lowest(row)
            value = self.probe(row, low)
        goal = value + rng.exponential(1.0)
        step = 1.0
        value = self.probe(row, low + step)
        while value < goal and step < 1e12:
            step *= 2.0
            value = self.probe(row, low + step)
        if value < goal:
            return NEVER
        s = low + step
        for _ in range(100):  # Newton from above on a convex function: no step goes too far
            change = (value - goal) / self.slope_ahead(row, s)
            if not change > 1e-13 * s:
                break
            s -= change
            value = self.probe(row, s)
        return max(s, low)

    def lowest(self, row: int) -> float:
        """Return where ahead a convex potential is least; 1e12 if it falls for ever."""
        low, high = 0.0, 1.0
        self.probe(row, high)
        while self.slope_ahead(row, high) < 0.0 and high < 1e12:
            low, high = high, 2.0 * high
            self.probe(row, high)
        for _ in range(200):
            middle = 0.5 * (low + high)
            if not high - low > 1e-12 * high:
                break
            self.probe(row, middle)
            if self.slope_ahead(row, middle) < 0.0:
                low = middle
            else:
                high = middle
        return low


class Bounce(Action):
    """A particle's event is proposed, it meets a wall, or its bounds are taken anew."""

    particle: Particle

    def schedule(self, world: Flight, now: float, rng: Rng) -> float:
        return max(min(self.particle.rings, self.particle.until), now)

    def fire(self, world: Flight, now: float, rng: Rng, touched: Touched) -> None:
        p = self.particle
        if p.until <= p.rings:
            if p.meets == NOTHING:
                world.n_renewals += 1
                if now > p.at:
                    reach(world, p, now)
                else:  # it was put here: there are no bounds yet
                    world.look(p)
            else:
                world.move(p, now)
                world.meet(p, rng)
                world.keep(p)
                world.look(p)
        elif passes(world, p, now, rng):
            world.n_bounces += 1
            world.jump(p, rng)
            world.keep(p)
        world.plan(p, rng)


def reach(world: Flight, p: Particle, now: float) -> float:
    """Bring a particle to `now` and return the bound on its rate there. Raises ValueError for a certified bound that is broken."""
    bound = 0.0 if world.is_exact() else world.bounded_by(p, now)
    world.move(p, now)
    world.look(p)
    if not world.is_exact() and world.rate(p.index) > bound * (1.0 + 1e-9) + 1e-12:
        if world.bound != GRID:
            raise ValueError("a rate exceeds its certified bound")
        world.n_violations += 1
    return bound


def passes(world: Flight, p: Particle, now: float, rng: Rng) -> bool:
    """Bring a particle to its proposed event, and say whether it is one. Raises ValueError for a broken bound."""
    world.n_proposals += 1
    bound = reach(world, p, now)
    if world.is_exact():
        return True
    return rng.random() * bound < world.rate(p.index)


class Refresh(Action):
    """A particle takes a new velocity."""

    particle: Particle

    def rate(self, world: Flight) -> float:
        return world.refresh

    def fire(self, world: Flight, now: float, rng: Rng, touched: Touched) -> None:
        p = self.particle
        world.n_refreshments += 1
        reach(world, p, now)
        world.draw_velocity(p, rng)
        world.plan(p, rng)
        world.keep(p)
        touched.add(p)


MODEL = Model(Flight, [Bounce, Refresh, Draw], name="particle")
