"""Local Bouncy Particle Sampler: every factor of the density has a clock, and turns only what it depends on.

The potential is the sum over factors f of (a_f . x - b_f)^2 / 2 with few non-zero entries in each a_f. Factor f
rings at rate (u w)^+, u = a_f . x - b_f and w = a_f . v its speed, which is affine in time; it then reflects the velocities of its
own coordinates at a_f. Each coordinate's velocity is refreshed by a clock of its own, from N(0, 1).
Bouchard-Cote, Vollmer and Doucet 2018, doi:10.1080/01621459.2017.1294075, section 3.
"""

from __future__ import annotations

from tocsin import Action, Arena, Array, Entity, Model, Ref, Rng, Touched, float64, int32, int64
from tocsin.models.sampling._recorded import Draw, Recorded
from tocsin.models.sampling._waits import affine_wait


class Site(Entity):
    """One coordinate."""

    x: float64  # position at `since`
    v: float64
    since: float64
    area: float64  # integral of x over time, up to `since`
    area_squared: float64
    first: int32  # the factors that it is in: shares[first : first + n_shares]
    n_shares: int32


class Factor(Entity):
    """One factor: a squared linear form."""

    u: float64  # a . x - b at `at`
    w: float64  # a . v
    at: float64
    size: float64  # a . a
    first: int32  # its coordinates: terms[first : first + n_terms]
    n_terms: int32


class Term(Entity):
    """One entry of the matrix of factors, by rows."""

    value: float64
    site: Ref[Site]


class Share(Entity):
    """The same entry, by columns."""

    value: float64
    factor: Ref[Factor]


class Factors(Recorded):
    """Coordinates and the factors between them."""

    sites: Arena[Site]
    factors: Arena[Factor]
    terms: Arena[Term]
    shares: Arena[Share]
    knot_times: Array[float64]
    knot_sites: Array[int64]
    knot_x: Array[float64]
    knot_v: Array[float64]
    refresh: float64 = 0.1  # refreshments of one coordinate a unit of time
    n_bounces: int64 = 0
    n_refreshments: int64 = 0

    def turn(self, site: Site, v: float, now: float, touched: Touched) -> None:
        """Bring a coordinate to `now`, give it a new velocity, and tell its factors."""
        step = site.v * (now - site.since)
        site.area += (now - site.since) * (site.x + 0.5 * step)
        site.area_squared += (now - site.since) * (site.x * (site.x + step) + step * step / 3.0)
        site.x += step
        site.since = now
        change = v - site.v
        site.v = v
        for k in range(site.first, site.first + site.n_shares):
            share = self.shares[k]
            factor = share.factor
            factor.u += factor.w * (now - factor.at)
            factor.at = now
            factor.w += share.value * change
            touched.add(factor)
        n = self.n_knots
        if n < len(self.knot_times):
            self.knot_times[n] = now
            self.knot_sites[n] = site.index
            self.knot_x[n] = site.x
            self.knot_v[n] = v
            self.n_knots = n + 1

    def draw(self, now: float) -> None:
        """Write down where the kept coordinates are, and what they passed."""
        n = self.n_draws
        for k in range(len(self.kept)):
            site = self.sites[self.kept[k]]
            dt = now - site.since
            step = site.v * dt
            self.draws[n, k] = site.x + step
            self.areas[n, k] = site.area + dt * (site.x + 0.5 * step)
            self.squares[n, k] = site.area_squared + dt * (site.x * (site.x + step) + step * step / 3.0)
        self.counts[n, 0] = self.n_bounces
        self.counts[n, 1] = self.n_refreshments


class Bounce(Action):
    """A factor reflects the velocities of its coordinates."""

    factor: Factor

    def schedule(self, world: Factors, now: float, rng: Rng) -> float:
        f = self.factor
        return now + affine_wait((f.u + f.w * (now - f.at)) * f.w, f.w * f.w, rng.exponential(1.0))

    def fire(self, world: Factors, now: float, rng: Rng, touched: Touched) -> None:
        f = self.factor
        world.n_bounces += 1
        change = -2.0 * f.w / f.size
        for k in range(f.first, f.first + f.n_terms):
            term = world.terms[k]
            world.turn(term.site, term.site.v + change * term.value, now, touched)


class Refresh(Action):
    """A coordinate takes a new velocity."""

    site: Site

    def rate(self, world: Factors) -> float:
        return world.refresh

    def fire(self, world: Factors, now: float, rng: Rng, touched: Touched) -> None:
        world.n_refreshments += 1
        world.turn(self.site, rng.normal(), now, touched)


MODEL = Model(Factors, [Bounce, Refresh, Draw], name="bouncy-local")
