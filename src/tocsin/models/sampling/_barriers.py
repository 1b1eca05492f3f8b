"""What stands in a particle's way: walls that reflect it, and zeros at which single coordinates halt.

Walls are half-spaces normals . z <= offsets, met at times known exactly. The velocity is reflected at the normal, which keeps
N(0, I). Signs would not stay signs, so a Zig-Zag goes back (v becomes -v), and then each coordinate may reverse,
accepted by Metropolis' rule for the weight |normal . v| among velocities that lead inside: the law of velocities on the
way out is kept (Bierkens et al. 2018, doi:10.1016/j.spl.2018.02.021), and at a wall across one coordinate only that one turns.

A coordinate that halts has velocity 0 and goes on at rate thaw |v| with the velocity v that it came with; the target then has an
atom at zero (Bierkens, Grazzi, van der Meulen and Schauer 2023, doi:10.1007/s11222-022-10180-5).
"""

from __future__ import annotations

import math

from tocsin import NEVER, Rng
from tocsin.kernel._elementary import atan2
from tocsin.models.sampling._motion import Motion, Particle, radius

NOTHING, THAW = -1, -2
"""What a particle meets, beside wall k (k) and the zero of coordinate k (number of walls + k)."""
TIGHT = 1e-9
"""A zero this much (relatively) behind a wall is on the wall; a wall this near is touched."""


class Barriers(Motion):
    """Particles, walls and zeros."""

    def look_ahead(self, p: Particle, rng: Rng) -> None:
        """Find what a particle meets first, and when."""
        p.until = NEVER
        p.meets = NOTHING
        row = p.index
        for wall in range(len(self.offsets)):
            held = self.place(row, wall, 1)
            place = self.place(row, wall, 0)
            wait = meets(self.is_circle, place, self.speed(row, wall), self.offsets[wall] - held)
            if p.at + wait < p.until:
                p.until = p.at + wait
                p.meets = wall
        if self.has_spikes == 1:
            self.find_zero(p, rng)

    def find_zero(self, p: Particle, rng: Rng) -> None:
        """Find the first zero ahead, and the end of a halt."""
        row, rate = p.index, 0.0
        for k in range(len(self.tilt)):
            if self.thaw[k] < NEVER:
                if self.v[row, k] == 0.0:
                    rate += self.thaw[k] * math.fabs(self.speeds[row, k])
                else:
                    wait = crosses(self.is_circle, self.z[row, k], self.v[row, k], self.zeros[k])
                    if wait < NEVER and p.at + wait * (1.0 - TIGHT) < p.until:  # a wall there as well comes second
                        p.until = p.at + wait
                        p.meets = len(self.offsets) + k
        if rate > 0.0:
            end = p.at + rng.exponential(rate)
            if end < p.until:
                p.until = end
                p.meets = THAW

    def place(self, row: int, wall: int, is_halted: int) -> float:
        """Return normal . z of a wall, over the coordinates that are halted, or those that are not."""
        total = 0.0
        for k in range(len(self.tilt)):
            if (self.v[row, k] == 0.0) == (is_halted == 1):
                total += self.normals[wall, k] * self.z[row, k]
        return total

    def gap(self, row: int, wall: int) -> float:
        """Return how far a particle is from a wall, in units of its normal."""
        return self.offsets[wall] - self.place(row, wall, 1) - self.place(row, wall, 0)

    def speed(self, row: int, wall: int) -> float:
        """Return normal . v of a wall."""
        total = 0.0
        for k in range(len(self.tilt)):
            total += self.normals[wall, k] * self.v[row, k]
        return total

    def meet(self, p: Particle, rng: Rng) -> None:
        """Reflect a particle at the wall that it meets, halt a coordinate at its zero, or end a halt."""
        n_walls = len(self.offsets)
        if p.meets == THAW:
            self.end_halt(p.index, rng)
        elif p.meets >= n_walls:
            k = p.meets - n_walls
            self.n_halts += 1
            self.z[p.index, k] = self.zeros[k]
            self.speeds[p.index, k] = self.v[p.index, k]
            self.v[p.index, k] = 0.0
        else:
            self.n_reflections += 1
            if self.is_flip == 1 and self.is_circle == 0:
                self.go_back(p.index, p.meets, rng)
            else:
                self.reflect(p.index, p.meets)
            self.put_on(p.index, p.meets)

    def end_halt(self, row: int, rng: Rng) -> None:
        """Let one halted coordinate go on, chosen by its rate; back, or not at all, where a touched wall bars its way."""
        d = len(self.tilt)
        total = 0.0
        for k in range(d):
            if self.v[row, k] == 0.0 and self.thaw[k] < NEVER:
                total += self.thaw[k] * math.fabs(self.speeds[row, k])
        left = rng.random() * total
        chosen = -1
        for k in range(d):
            if self.v[row, k] == 0.0 and self.thaw[k] < NEVER and left >= 0.0:
                chosen = k
                left -= self.thaw[k] * math.fabs(self.speeds[row, k])
        v = self.speeds[row, chosen]
        if self.is_barred(row, chosen, v):
            v = -v
        if not self.is_barred(row, chosen, v):
            self.n_thaws += 1
            self.v[row, chosen] = v

    def is_barred(self, row: int, k: int, v: float) -> bool:
        """Say whether a halted coordinate with velocity v would leave through a wall that it touches."""
        for wall in range(len(self.offsets)):
            near = TIGHT * (1.0 + math.fabs(self.offsets[wall]))
            if self.normals[wall, k] * v > 0.0 and self.gap(row, wall) < near:
                return True
        return False

    def reflect(self, row: int, wall: int) -> None:
        """Reflect the velocity at a wall; halted coordinates stay out of it."""
        size = 0.0
        for k in range(len(self.tilt)):
            if self.v[row, k] != 0.0:
                size += self.normals[wall, k] * self.normals[wall, k]
        along = self.speed(row, wall)
        for k in range(len(self.tilt)):
            if self.v[row, k] != 0.0:
                self.v[row, k] -= 2.0 * along / size * self.normals[wall, k]

    def go_back(self, row: int, wall: int, rng: Rng) -> None:
        """Reverse all coordinates, then single ones, so that signs stay signs."""
        for k in range(len(self.tilt)):
            self.v[row, k] = -self.v[row, k]
        along = self.speed(row, wall)
        for k in range(len(self.tilt)):
            other = along - 2.0 * self.normals[wall, k] * self.v[row, k]
            if other < 0.0 and (other <= along or rng.random() * along > other):
                self.v[row, k] = -self.v[row, k]
                along = other

    def put_on(self, row: int, wall: int) -> None:
        """Put a particle on its wall exactly, as rounding may have left it beside."""
        size = 0.0
        for k in range(len(self.tilt)):
            if self.v[row, k] != 0.0:
                size += self.normals[wall, k] * self.normals[wall, k]
        share = self.gap(row, wall) / size
        for k in range(len(self.tilt)):
            if self.v[row, k] != 0.0:
                self.z[row, k] += share * self.normals[wall, k]


def meets(is_circle: int, place: float, speed: float, offset: float) -> float:
    """Return when a wall is met, NEVER if it is not; `place` and `speed` are along its normal."""
    if is_circle == 0:
        return max((offset - place) / speed, 0.0) if speed > 0.0 else NEVER
    most = radius(place, speed)
    if most <= math.fabs(offset):
        return NEVER
    turn = atan2(speed, place) - aside(offset, most)
    if math.fabs(turn) < 1e-9 and speed > 0.0:
        return 0.0
    return turn if turn > 1e-9 else turn + 2.0 * math.pi


def crosses(is_circle: int, z: float, v: float, zero: float) -> float:
    """Return when a coordinate next reaches `zero` from either side, NEVER if it does not; from there, when it comes back."""
    if is_circle == 0:
        return (zero - z) / v if (zero - z) * v > 0.0 else NEVER
    if z == zero:
        return positive(2.0 * atan2(v, z))
    most = radius(z, v)
    if most <= math.fabs(zero):
        return NEVER
    turn, half = atan2(v, z), aside(zero, most)
    return min(positive(turn - half), positive(turn + half))


def positive(turn: float) -> float:
    """Return an angle in (-2 pi, 4 pi] as one in (0, 2 pi]."""
    if turn <= 0.0:
        turn += 2.0 * math.pi
    return turn - 2.0 * math.pi if turn > 2.0 * math.pi else turn


def aside(offset: float, most: float) -> float:
    """Return the angle at which a circle of radius `most` is at `offset` from its centre, 0 to pi; |offset| < most."""
    return atan2(math.sqrt((most - offset) * (most + offset)), offset)
