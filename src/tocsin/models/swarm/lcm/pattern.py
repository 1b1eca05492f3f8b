"""Pattern formation as the original computes it: a five-pointed star around the swarm's centroid.

Suzuki and Yamashita 1999, doi:10.1137/S009753979628292X, with shared axes.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.lcm.algorithms import Decision, live_seen
from tocsin.models.swarm.lcm.arithmetic import distance, length, total
from tocsin.models.swarm.lcm.formations import INNER, N_SPIKES, centroid, place_of, seen_x, seen_y
from tocsin.models.swarm.robot import Robot
from tocsin.models.swarm.world import SwarmWorld


def corner(i: int) -> tuple[float, float]:
    """Return corner i of the star, 0 to 9."""
    angle = math.pi / 2.0 + i * math.pi / N_SPIKES
    radius = 1.0 if i % 2 == 0 else INNER
    return radius * math.cos(angle), radius * math.sin(angle)


def side(i: int) -> float:
    """Return the length of side i."""
    ax, ay = corner(i)
    bx, by = corner((i + 1) % (2 * N_SPIKES))
    return length(bx - ax, by - ay)


def outline_point(d: float) -> tuple[float, float]:
    """Return the point at distance d along the outline."""
    gone, m = 0.0, 2 * N_SPIKES
    for i in range(m):
        long = side(i)
        if gone + long >= d or i == m - 1:
            t = (d - gone) / long if long > 1e-12 else 0.0
            ax, ay = corner(i)
            bx, by = corner((i + 1) % m)
            return ax + t * (bx - ax), ay + t * (by - ay)
        gone += long
    return 0.0, 0.0


def star(world: SwarmWorld, n: int) -> None:
    """Put n points, evenly along the star, centred and of unit root mean square, into scratch[2n:4n]."""
    s, around = world.scratch, 0.0
    for i in range(2 * N_SPIKES):
        around += side(i)
    for k in range(n):
        s[2 * n + k], s[3 * n + k] = outline_point((k / n) * around)
    for start in (2 * n, 3 * n):
        for k in range(n):
            s[k] = s[start + k]
        middle = total(s, n, world.is_compensated) / n
        for k in range(n):
            s[start + k] -= middle
    for k in range(n):
        s[k] = s[2 * n + k] * s[2 * n + k] + s[3 * n + k] * s[3 * n + k]
    size = math.sqrt(total(s, n, world.is_compensated) / n)
    if size == 0.0:
        size = 1.0
    for k in range(2 * n, 4 * n):
        s[k] = s[k] / size


def sort_around(world: SwarmWorld, n: int, which: int) -> None:
    """Sort column `which` of `stack` (0 robots, 1 points) by angle scratch[k], then radius scratch[n + k]."""
    s, stack = world.scratch, world.stack
    for k in range(n):
        stack[k, which] = k
    for k in range(1, n):
        one, i = stack[k, which], k
        while i > 0 and (
            s[stack[i - 1, which]] > s[one]
            or (s[stack[i - 1, which]] == s[one] and s[n + stack[i - 1, which]] > s[n + one])
        ):
            stack[i, which] = stack[i - 1, which]
            i -= 1
        stack[i, which] = one


def mismatch(world: SwarmWorld, n: int, i: int, shift: int) -> float:
    """Return the squared distance of the i-th robot around to the point `shift` places on."""
    s, stack = world.scratch, world.stack
    k, p = stack[i, 0], stack[(i + shift) % n, 1]
    dx, dy = seen_x(world, k) - s[2 * n + p], seen_y(world, k) - s[3 * n + p]
    return dx * dx + dy * dy


def best_shift(world: SwarmWorld, n: int) -> int:
    """Return by how many places to turn the points so that they fit the robots best."""
    best, least = 0, math.inf
    for shift in range(n):
        for i in range(n):
            world.scratch[i] = mismatch(world, n, i, shift)
        cost = total(world.scratch, n, world.is_compensated)
        if cost < least - 1e-9 or least == math.inf:
            best, least = shift, cost
    return best


def pattern_formation(world: SwarmWorld, robot: Robot) -> Decision:
    """To one's own point of the star; done when the worst error is below 3 % of its size."""
    n = live_seen(world)
    mine = place_of(world, robot, n)
    if n <= 1 or mine < 0:
        return robot.x, robot.y, True
    ox, oy = centroid(world, n)
    s, stack = world.scratch, world.stack
    for k in range(n):
        dx, dy = seen_x(world, k) - ox, seen_y(world, k) - oy
        s[k] = dx * dx + dy * dy
    size = math.sqrt(total(s, n, world.is_compensated) / n)
    if size < world.rules.tolerance:
        return robot.x, robot.y, True
    star(world, n)
    for k in range(n):
        s[2 * n + k] = ox + size * s[2 * n + k]
        s[3 * n + k] = oy + size * s[3 * n + k]
        s[k] = math.atan2(seen_y(world, k) - oy, seen_x(world, k) - ox)
        s[n + k] = length(seen_x(world, k) - ox, seen_y(world, k) - oy)
    sort_around(world, n, 0)
    for k in range(n):
        s[k] = math.atan2(s[3 * n + k] - oy, s[2 * n + k] - ox)
        s[n + k] = length(s[2 * n + k] - ox, s[3 * n + k] - oy)
    sort_around(world, n, 1)
    shift = best_shift(world, n)
    x, y, worst = robot.x, robot.y, 0.0
    for i in range(n):
        k, p = stack[i, 0], stack[(i + shift) % n, 1]
        worst = max(worst, distance(seen_x(world, k), seen_y(world, k), s[2 * n + p], s[3 * n + p]))
        if k == mine:
            x, y = s[2 * n + p], s[3 * n + p]
    return x, y, worst < max(size * 0.03, world.rules.tolerance)
