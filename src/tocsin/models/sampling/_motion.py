"""Particles on lines and circles: where they are, what they passed, the gradient there, and how velocities turn."""

from __future__ import annotations

import math

from tocsin import NEVER, Arena, Array, Array2, Entity, Rng, float64, int32, int64
from tocsin.kernel._elementary import cos, sin
from tocsin.kernel._outside import outside
from tocsin.models.sampling._recorded import Recorded

AFFINE, CONSTANT, ROOT, GRID = 0, 1, 2, 3
N_GRID = 4
"""Intervals into which GRID cuts the path ahead."""


class Particle(Entity):
    """One particle; its position, velocity and gradient are row `index` of the world's arrays."""

    at: float64  # time of its position and velocity
    rings: float64  # when its next event is proposed
    until: float64  # when it meets a wall, or its bounds end
    meets: int32  # what it then meets: a wall, a coordinate's zero, the end of a halt, or NOTHING


class Motion(Recorded):
    """Particles, and what they move in."""

    particles: Arena[Particle]
    z: Array2[float64]  # positions, (particles, d)
    v: Array2[float64]  # velocities
    g: Array2[float64]  # gradients at z, on the circle less z
    a: Array2[float64]  # bounds (a + b s)^+ of each coordinate, or of the particle in column 0
    b: Array2[float64]
    area: Array2[float64]  # integrals of z over time
    area_squared: Array2[float64]
    probes: Array2[float64]  # points ahead, and the gradients there
    probe_g: Array2[float64]
    centre: Array[float64]  # the target's own positions are x = centre + scale z
    scale: Array2[float64]
    x: Array2[float64]  # where the target's function is asked, and what it answers
    x_slope: Array2[float64]
    grid: Array2[float64]  # rates at the points ahead, (particles * (N_GRID + 1), d)
    ceilings: Array2[float64]  # bounds of the intervals ahead, (particles, N_GRID)
    curvature: Array2[float64]  # second derivatives, or bounds on their sizes; (d, d)
    tilt: Array[float64]  # gradient at z = 0
    normals: Array2[float64]  # walls: normals . z <= offsets
    offsets: Array[float64]
    zeros: Array[float64]  # z at which the target's own coordinate is 0
    thaw: Array[float64]  # a halt there ends at rate thaw |v|; inf: the coordinate does not halt
    speeds: Array2[float64]  # velocities with which halted coordinates go on; their v is 0
    knot_times: Array[float64]
    knot_z: Array2[float64]
    knot_v: Array2[float64]
    is_circle: int64 = 0
    is_flip: int64 = 0
    is_quadratic: int64 = 0  # the gradient is curvature @ z + tilt
    has_spikes: int64 = 0  # some coordinate halts at zero
    is_mixed: int64 = 0  # scale is a full matrix, not a diagonal
    bound: int64 = GRID
    refresh: float64 = 0.0  # refreshments a unit of time
    persistence: float64 = 0.0  # share of the velocity that a refreshment leaves, 0 .. 1
    horizon: float64 = 1.0  # length of the path that GRID looks ahead
    safety: float64 = 0.1  # share by which GRID raises its bounds
    n_bounces: int64 = 0
    n_refreshments: int64 = 0
    n_reflections: int64 = 0
    n_proposals: int64 = 0
    n_renewals: int64 = 0
    n_violations: int64 = 0
    n_halts: int64 = 0
    n_thaws: int64 = 0
    n_gradients: int64 = 0

    def move(self, p: Particle, now: float) -> None:
        """Bring a particle to `now`, and add what it passed to the integrals."""
        row = p.index
        t = now - p.at
        s, c = 0.0, 1.0
        if self.is_circle == 1:
            s, c = sin(t), cos(t)
        for k in range(len(self.tilt)):
            z, v = self.z[row, k], self.v[row, k]
            self.area[row, k] += passed(self.is_circle, z, v, t, s, c)
            self.area_squared[row, k] += passed_squared(self.is_circle, z, v, t, s, c)
            self.z[row, k] = moved(self.is_circle, z, v, t, s, c)
            self.v[row, k] = turned(self.is_circle, z, v, s, c)
        p.at = now

    def look(self, p: Particle) -> None:
        """Take the gradient where a particle is. Raises ValueError if it is not finite."""
        row = p.index
        if self.is_quadratic == 1:
            self.n_gradients += 1
            for k in range(len(self.tilt)):
                self.g[row, k] = self.quadratic_slope(k, row)
        else:
            for k in range(len(self.tilt)):
                self.probes[row, k] = self.z[row, k]
            self.ask(row)
            for k in range(len(self.tilt)):
                self.g[row, k] = self.probe_g[row, k]

    def quadratic_slope(self, k: int, row: int) -> float:
        """Return entry k of the gradient of a quadratic potential, on the circle less z."""
        total = self.tilt[k]
        for j in range(len(self.tilt)):
            total += self.curvature[k, j] * self.z[row, j]
        return total

    def ask(self, row: int) -> float:
        """Take value and gradient at row `row` of `probes`. Raises ValueError if the gradient is not finite."""
        self.n_gradients += 1
        d = len(self.tilt)
        for i in range(d):
            x = self.centre[i]
            for j in range(0 if self.is_mixed == 1 else i, d if self.is_mixed == 1 else i + 1):
                x += self.scale[i, j] * self.probes[row, j]
            self.x[row, i] = x
        value = outside(self.x, self.x_slope, row)
        total = 0.0
        for j in range(d):
            slope = 0.0
            for i in range(0 if self.is_mixed == 1 else j, d if self.is_mixed == 1 else j + 1):
                slope += self.scale[i, j] * self.x_slope[row, i]
            total += math.fabs(slope)
            self.probe_g[row, j] = slope - self.probes[row, j] if self.is_circle == 1 else slope
        if not (total < NEVER and value == value):
            raise ValueError("the gradient is not finite")
        return value

    def rate(self, row: int) -> float:
        """Return the rate of events where a particle is."""
        total = 0.0
        for k in range(len(self.tilt)):
            one = self.v[row, k] * self.g[row, k]
            total += max(one, 0.0) if self.is_flip == 1 else one
        return max(total, 0.0)

    def jump(self, p: Particle, rng: Rng) -> None:
        """Let an event happen: reverse a coordinate, chosen by its rate, or reflect the velocity."""
        row = p.index
        d = len(self.tilt)
        if self.is_flip == 1:
            left = rng.random() * self.rate(row)
            chosen = -1
            for k in range(d):
                one = self.v[row, k] * self.g[row, k]
                if one > 0.0 and left >= 0.0:
                    chosen = k
                    left -= one
            if chosen >= 0:
                self.v[row, chosen] = -self.v[row, chosen]
            return
        along, size = 0.0, 0.0
        for k in range(d):
            if self.v[row, k] != 0.0:
                along += self.v[row, k] * self.g[row, k]
                size += self.g[row, k] * self.g[row, k]
        if size > 0.0:
            for k in range(d):
                if self.v[row, k] != 0.0:
                    self.v[row, k] -= 2.0 * along / size * self.g[row, k]

    def draw_velocity(self, p: Particle, rng: Rng) -> None:
        """Refresh the velocity, also those with which halted coordinates go on: signs, or a normal vector of which a share is kept."""
        row = p.index
        rest = math.sqrt(1.0 - self.persistence * self.persistence)
        for k in range(len(self.tilt)):
            is_halted = self.v[row, k] == 0.0
            v = self.speeds[row, k] if is_halted else self.v[row, k]
            if self.is_flip == 1 and self.is_circle == 0:
                if rng.random() < 0.5:
                    v = -v
            else:
                v = self.persistence * v + rest * rng.normal()
            if is_halted:
                self.speeds[row, k] = v
            else:
                self.v[row, k] = v

    def keep(self, p: Particle) -> None:
        """Write down a turn, if there is room for it."""
        n = self.n_knots
        if n < len(self.knot_times):
            self.knot_times[n] = p.at
            for k in range(len(self.tilt)):
                self.knot_z[n, k] = self.z[p.index, k]
                self.knot_v[n, k] = self.v[p.index, k]
            self.n_knots = n + 1

    def draw(self, now: float) -> None:
        """Write down where the first particle is, and what it passed."""
        n = self.n_draws
        t = now - self.particles[0].at
        s, c = sin(t), cos(t)
        for k in range(len(self.kept)):
            i = self.kept[k]
            z, v = self.z[0, i], self.v[0, i]
            self.draws[n, k] = moved(self.is_circle, z, v, t, s, c)
            self.areas[n, k] = self.area[0, i] + passed(self.is_circle, z, v, t, s, c)
            self.squares[n, k] = self.area_squared[0, i] + passed_squared(self.is_circle, z, v, t, s, c)
        self.counts[n, 0] = self.n_bounces
        self.counts[n, 1] = self.n_reflections
        self.counts[n, 2] = self.n_refreshments
        self.counts[n, 3] = self.n_proposals
        self.counts[n, 4] = self.n_gradients
        self.counts[n, 5] = self.n_violations
        self.counts[n, 6] = self.n_halts
        self.counts[n, 7] = self.n_thaws


def radius(z: float, v: float) -> float:
    """Return the radius of a circle in one coordinate."""
    return math.sqrt(z * z + v * v)


def moved(is_circle: int, z: float, v: float, t: float, s: float, c: float) -> float:
    """Return where a coordinate is after `t`; s and c are sine and cosine of t. With v = 0 it stands still, on circles too."""
    return z * c + v * s if is_circle == 1 and v != 0.0 else z + v * t


def turned(is_circle: int, z: float, v: float, s: float, c: float) -> float:
    """Return a coordinate's velocity after a time with sine s and cosine c."""
    return v * c - z * s if is_circle == 1 and v != 0.0 else v


def passed(is_circle: int, z: float, v: float, t: float, s: float, c: float) -> float:
    """Return the integral of a coordinate over `t`."""
    return z * s + v * (1.0 - c) if is_circle == 1 and v != 0.0 else t * (z + 0.5 * v * t)


def passed_squared(is_circle: int, z: float, v: float, t: float, s: float, c: float) -> float:
    """Return the integral of a coordinate's square over `t`."""
    if is_circle == 1 and v != 0.0:
        return 0.5 * (z * z + v * v) * t + 0.5 * (z * z - v * v) * s * c + z * v * s * s
    step = v * t
    return t * (z * (z + step) + step * step / 3.0)
