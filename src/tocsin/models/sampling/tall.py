"""Zig-Zag for regressions on many data: each event looks at one data point or at none, and is exact.

Around the mode the potential is (x - m)' H (x - m) / 2 plus a remainder, a sum over data points.
Coordinate i has rate E_j (v_i (g_i + r_ij / p_ij))^+ with g affine in time (the quadratic part), j a data point drawn
with probability p_ij, and r_ij its remainder: the gradient of data point j less its expansion of first order at the
mode. That differs from the rate for the reversed velocity by v_i times the true derivative, so the target is left
invariant (Bierkens, Fearnhead and Roberts 2019, doi:10.1214/18-AOS1715, section 4).

|r_ij| / p_ij is bounded by `bound_i` r^2 exp(`growth` r), r the distance to the mode in the chosen scale. The
coordinate's clock therefore rings at rate (v_i g_i)^+ + that bound, taken at the farthest point that a horizon
allows; a ring is an event with probability rate / bound. Often the uniform number of that decision
lies outside what any data point could change: then none is read.
"""

from __future__ import annotations

import math

from tocsin import Action, Arena, Array, Array2, Entity, Model, Rng, Touched, float64, int32, int64
from tocsin.kernel._elementary import exp
from tocsin.models.sampling._recorded import Draw
from tocsin.models.sampling._waits import affine_wait
from tocsin.models.sampling.zigzag import Coordinate, Field

LOGISTIC, POISSON = 0, 1


class Share(Entity):
    """One place of an alias table (Walker 1977, doi:10.1145/355744.355749): it or its alias is drawn."""

    keeps: float64  # probability that the place itself is drawn
    alias: int32


class Bound(Entity):
    """What the clock of the coordinate of the same number assumed when it was set."""

    factor: float64  # bound on the remainder / (r^2 exp(growth r)), for speed 1
    ceiling: float64  # bound on its remainder up to `until`, for its present speed
    until: float64  # horizon: from then on it has to be set anew


class TallField(Field):
    """Coordinates of a Zig-Zag, and the data of a regression in the same scale."""

    bounds: Arena[Bound]
    shares: Arena[Share]  # of coordinate i: shares[i * n : (i + 1) * n]
    rows: Array2[float64]  # design in the sampler's scale, (n, d)
    etas: Array[float64]  # linear predictor at the mode
    weights: Array[float64]  # p_ij = |rows[j, i]| weights[j] / totals[i]
    totals: Array[float64]
    modes: Array[float64]
    scales: Array[float64]  # lengths in which the distance to the mode is measured
    family: int64 = LOGISTIC
    growth: float64 = 0.0
    speed: float64 = 0.0  # how fast that distance may grow
    horizon: float64 = 0.5
    n_proposals: int64 = 0
    n_data: int64 = 0  # data points read
    n_renewals: int64 = 0

    def count(self, n: int) -> None:
        """Write down how many events of each kind there were."""
        self.counts[n, 0] = self.n_flips
        self.counts[n, 1] = self.n_reflections
        self.counts[n, 2] = self.n_halts
        self.counts[n, 3] = self.n_thaws
        self.counts[n, 4] = self.n_proposals
        self.counts[n, 5] = self.n_data

    def radius(self, now: float) -> float:
        """Return the distance to the mode."""
        total = 0.0
        for k in range(len(self.coordinates)):
            c = self.coordinates[k]
            x = (c.x + c.v * (now - c.since) - self.modes[k]) / self.scales[k]
            total += x * x
        return math.sqrt(total)

    def renew(self, c: Coordinate, now: float) -> None:
        """Bound the remainder for the next horizon."""
        bound = self.bounds[c.index]
        r = self.radius(now) + self.horizon * self.speed
        bound.until = now + self.horizon
        bound.ceiling = math.fabs(c.v) * bound.factor * r * r
        if self.growth > 0.0:
            bound.ceiling *= exp(self.growth * r)

    def remainder(self, i: int, now: float, rng: Rng) -> float:
        """Return r_ij / p_ij of a data point j that is drawn with probability p_ij."""
        n = len(self.etas)
        j = rng.integers(0, n)
        share = self.shares[i * n + j]
        if rng.random() >= share.keeps:
            j = share.alias
        u = 0.0
        for k in range(len(self.coordinates)):
            c = self.coordinates[k]
            u += self.rows[j, k] * (c.x + c.v * (now - c.since) - self.modes[k])
        own = 1.0 if self.rows[j, i] > 0.0 else -1.0
        return own * beyond_first_order(self.family, self.etas[j], u) / self.weights[j] * self.totals[i]


def beyond_first_order(family: int, eta: float, u: float) -> float:
    """Return m(eta + u) - m(eta) - m'(eta) u, m the mean of an observation with linear predictor eta."""
    if family == POISSON:
        return exp(eta) * (exp(u) - 1.0 - u)
    here = sigmoid(eta)
    return sigmoid(eta + u) - here - here * (1.0 - here) * u


def sigmoid(eta: float) -> float:
    """Return 1 / (1 + exp(-eta))."""
    return 1.0 / (1.0 + exp(-eta))


class TallTurn(Action):
    """A coordinate reverses, halts, goes on, is reflected; or it only looks whether it should."""

    coordinate: Coordinate

    def schedule(self, world: TallField, now: float, rng: Rng) -> float:
        c = self.coordinate
        if c.v == 0.0:
            return c.meets
        bound = world.bounds[c.index]
        slope = c.v * c.h
        rate = c.v * c.g + slope * (now - c.at)
        wait = affine_wait(rate, slope, rng.exponential(1.0))
        if bound.ceiling > 0.0:
            wait = min(wait, rng.exponential(bound.ceiling))
        return min(now + wait, c.meets, bound.until)

    def fire(self, world: TallField, now: float, rng: Rng, touched: Touched) -> None:
        c = self.coordinate
        bound = world.bounds[c.index]
        if c.v == 0.0 or now == c.meets:
            world.meet(c, now, rng, touched)
            world.renew(c, now)
        elif now == bound.until:
            world.n_renewals += 1
            world.renew(c, now)
        else:
            world.n_proposals += 1
            if reverses(world, c, bound.ceiling, now, rng):
                world.reverse(c, now, touched)
            world.renew(c, now)


def reverses(world: TallField, c: Coordinate, ceiling: float, now: float, rng: Rng) -> bool:
    """Say whether a proposal is an event; reads a data point only if one could change the answer."""
    rate = c.v * (c.g + c.h * (now - c.at))
    level = rng.random() * (max(rate, 0.0) + ceiling)
    if level < rate - ceiling:
        return True
    if level >= rate + ceiling:
        return False
    world.n_data += 1
    change = c.v * world.remainder(c.index, now, rng)
    if not math.fabs(change) <= ceiling * (1.0 + 1e-9):
        raise ValueError("the remainder of a data point exceeds its certified bound")
    return level < rate + change


MODEL = Model(TallField, [TallTurn, Draw], name="zigzag-tall")
