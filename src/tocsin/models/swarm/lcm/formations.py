"""Circle formation, spreading and pattern formation as the original computes them.

Each returns (target x, target y, whether the robot terminates). Sums are compensated where
CPython's `sum` is, from 3.12 on.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.lcm.algorithms import Decision, keep_circle, live_seen
from tocsin.models.swarm.lcm.arithmetic import distance, length, total
from tocsin.models.swarm.lcm.circles import onto_circle
from tocsin.models.swarm.robot import Robot
from tocsin.models.swarm.world import SwarmWorld

TWO_PI = 2.0 * math.pi
GRID = 32
N_SPIKES = 5
INNER = 0.382


def seen_x(world: SwarmWorld, k: int) -> float:
    """Return x of the k-th robot that is seen and has not crashed."""
    return world.at_x[world.order[k]]


def seen_y(world: SwarmWorld, k: int) -> float:
    """Return y of the k-th robot that is seen and has not crashed."""
    return world.at_y[world.order[k]]


def centroid(world: SwarmWorld, n: int) -> tuple[float, float]:
    """Return the mean position of those seen that have not crashed."""
    for k in range(n):
        world.scratch[k] = seen_x(world, k)
    x = total(world.scratch, n, world.is_compensated) / n
    for k in range(n):
        world.scratch[k] = seen_y(world, k)
    return x, total(world.scratch, n, world.is_compensated) / n


def circle_formation(world: SwarmWorld, robot: Robot) -> Decision:
    """Onto the circle of mean radius around the centroid, then half way between one's two neighbours."""
    n = live_seen(world)
    if n <= 1:
        return robot.x, robot.y, True
    ox, oy = centroid(world, n)
    for k in range(n):
        world.scratch[k] = length(seen_x(world, k) - ox, seen_y(world, k) - oy)
    radius = total(world.scratch, n, world.is_compensated) / n
    if radius <= world.rules.tolerance:
        return robot.x, robot.y, True
    keep_circle(robot, ox, oy, radius)
    done = is_even_circle(world, n, ox, oy, radius)
    if abs(distance(robot.x, robot.y, ox, oy) - radius) > radius * 1e-2:
        x, y = onto_circle(ox, oy, radius, robot.x, robot.y)
        return x, y, done
    mine = math.atan2(robot.y - oy, robot.x - ox)
    least, most = math.inf, -math.inf
    for k in range(n):
        if distance(seen_x(world, k), seen_y(world, k), robot.x, robot.y) > 1e-9:
            gap = (math.atan2(seen_y(world, k) - oy, seen_x(world, k) - ox) - mine) % TWO_PI
            least, most = min(least, gap), max(most, gap)
    if least == math.inf:
        return robot.x, robot.y, done
    angle = mine + (least - (TWO_PI - most)) / 2.0
    return ox + radius * math.cos(angle), oy + radius * math.sin(angle), done


def is_even_circle(world: SwarmWorld, n: int, ox: float, oy: float, radius: float) -> bool:
    """Say whether all are within 2 % of the circle, and all gaps within 6 % of 2 pi / n."""
    for k in range(n):
        if abs(distance(seen_x(world, k), seen_y(world, k), ox, oy) - radius) > radius * 2e-2:
            return False
        world.scratch[k] = math.atan2(seen_y(world, k) - oy, seen_x(world, k) - ox) % TWO_PI
    for k in range(1, n):
        angle, i = world.scratch[k], k
        while i > 0 and world.scratch[i - 1] > angle:
            world.scratch[i] = world.scratch[i - 1]
            i -= 1
        world.scratch[i] = angle
    wanted, worst = TWO_PI / n, 0.0
    for k in range(n):
        gap = (world.scratch[(k + 1) % n] - world.scratch[k]) % TWO_PI
        worst = max(worst, abs(gap - wanted))
    return worst < wanted * 0.06


def region(world: SwarmWorld, n: int) -> tuple[float, float, float, float]:
    """Return (x0, x1, y0, y1): the world's box, or the swarm's and 15 % around it."""
    if world.box_x > 0.0 and world.box_y > 0.0:
        return -world.box_x / 2.0, world.box_x / 2.0, -world.box_y / 2.0, world.box_y / 2.0
    x0, x1, y0, y1 = math.inf, -math.inf, math.inf, -math.inf
    for k in range(n):
        x0, x1 = min(x0, seen_x(world, k)), max(x1, seen_x(world, k))
        y0, y1 = min(y0, seen_y(world, k)), max(y1, seen_y(world, k))
    pad = 0.15 * max(max(x1 - x0, y1 - y0), 1.0)
    return x0 - pad, x1 + pad, y0 - pad, y1 + pad


def place_of(world: SwarmWorld, robot: Robot, n: int) -> int:
    """Return which of those seen is the robot itself."""
    for k in range(n):
        if world.seen[world.order[k]] == robot.index:
            return k
    return -1


def spreading(world: SwarmWorld, robot: Robot) -> Decision:
    """To the centroid of one's Voronoi cell, on a grid of 32 x 32 points; done when it is near."""
    n = live_seen(world)
    mine = place_of(world, robot, n)
    if n <= 1 or mine < 0:
        return robot.x, robot.y, False
    x0, x1, y0, y1 = region(world, n)
    sx, sy = (x1 - x0) / GRID, (y1 - y0) / GRID
    near = 0.004 * length(x1 - x0, y1 - y0)
    sum_x, sum_y, count = 0.0, 0.0, 0
    for i in range(GRID):
        px = x0 + (i + 0.5) * sx
        for j in range(GRID):
            py = y0 + (j + 0.5) * sy
            if nearest_to(world, n, px, py, -1) == mine:
                sum_x += px
                sum_y += py
                count += 1
    x, y = sum_x / max(count, 1), sum_y / max(count, 1)
    if count == 0:
        x, y = step_away(world, robot, n, mine, max(sx, sy))
    return x, y, distance(x, y, robot.x, robot.y) < near


def nearest_to(world: SwarmWorld, n: int, px: float, py: float, but: int) -> int:
    """Return who of those seen is nearest to a point, without one of them; the first of equals."""
    best, least = -1, math.inf
    for k in range(n):
        dx, dy = seen_x(world, k) - px, seen_y(world, k) - py
        if k != but and dx * dx + dy * dy < least:
            best, least = k, dx * dx + dy * dy
    return best


def step_away(world: SwarmWorld, robot: Robot, n: int, mine: int, step: float) -> tuple[float, float]:
    """Return a point away from the nearest other; from one at the same point, by the robot's number."""
    near = nearest_to(world, n, robot.x, robot.y, mine)
    dx, dy = robot.x - seen_x(world, near), robot.y - seen_y(world, near)
    d = length(dx, dy)
    if d < 1e-9:
        angle = (robot.index % 12) * (math.pi / 6.0)
        dx, dy, d = math.cos(angle), math.sin(angle), 1.0
    return robot.x + dx / d * step, robot.y + dy / d * step
