"""Gathering, SEC and Go-To-Center as the original computes them, in its order of operations.

Each returns (target x, target y, whether the robot terminates).
"""

from __future__ import annotations

import math

from tocsin.kernel import Rng
from tocsin.models.swarm.lcm.arithmetic import distance, length
from tocsin.models.swarm.lcm.circles import from_two, of_three, onto_circle, welzl
from tocsin.models.swarm.robot import CRASHED, Robot
from tocsin.models.swarm.world import SwarmWorld

Decision = tuple[float, float, bool]


def live_seen(world: SwarmWorld) -> int:
    """Put the numbers of what is seen and has not crashed into `order`; return how many."""
    n = 0
    for k in range(world.views[0].n_seen):
        if world.robots[world.seen[k]].state != CRASHED:
            world.order[n] = k
            n += 1
    return n


def keep_circle(robot: Robot, x: float, y: float, r: float) -> None:
    """Remember the circle that a robot computed."""
    robot.circle_x = x
    robot.circle_y = y
    robot.circle_r = r


def gathering(world: SwarmWorld, robot: Robot) -> Decision:
    """Centre of gravity of all that is seen, crashed robots included; done when the others are there."""
    n = world.views[0].n_seen
    x, y = 0.0, 0.0
    for k in range(n):
        x += world.at_x[k]
        y += world.at_y[k]
    x /= n
    y /= n
    for k in range(n):
        is_crashed = world.robots[world.seen[k]].state == CRASHED
        if not is_crashed and distance(world.at_x[k], world.at_y[k], x, y) > world.rules.tolerance:
            return x, y, False
    return x, y, True


def sec(world: SwarmWorld, robot: Robot, rng: Rng) -> Decision:
    """Nearest point of the smallest enclosing circle; done when all are on it."""
    n = live_seen(world)
    if n == 0:
        return robot.x, robot.y, False
    x, y, r = world.at_x[world.order[0]], world.at_y[world.order[0]], 0.0
    if n == 2:
        x, y, r = from_two(world, world.order[0], world.order[1])
    elif n == 3:
        x, y, r = of_three(world, world.order[0], world.order[1], world.order[2])
    elif n > 3:
        x, y, r = welzl(world, n, rng)
        if r < 0.0:
            return robot.x, robot.y, False
    keep_circle(robot, x, y, r)
    target_x, target_y = (x, y) if n == 1 else onto_circle(x, y, r, robot.x, robot.y)
    for k in range(n):
        place = world.order[k]
        if not abs(distance(world.at_x[place], world.at_y[place], x, y) - r) < world.rules.tolerance:
            return target_x, target_y, False
    return target_x, target_y, True


def go_to_center(world: SwarmWorld, robot: Robot, rng: Rng) -> Decision:
    """Towards the centre of the smallest circle, as far as no robot in sight is lost."""
    n = live_seen(world)
    if n <= 1:
        return robot.x, robot.y, True
    x, y, r = welzl(world, n, rng)
    if r < 0.0:
        return robot.x, robot.y, False
    keep_circle(robot, x, y, r)
    done = r < world.rules.tolerance
    gx, gy = x - robot.x, y - robot.y
    goal = length(gx, gy)
    if goal < world.rules.tolerance:
        return robot.x, robot.y, done
    ux, uy = gx / goal, gy / goal
    step = goal
    if world.rules.visibility > 0.0:
        for k in range(world.views[0].n_seen):
            if world.robots[world.seen[k]].state != CRASHED:
                step = min(step, limit(world, robot, ux, uy, k))
    step = max(0.0, min(goal, step))
    return robot.x + ux * step, robot.y + uy * step, done


def limit(world: SwarmWorld, robot: Robot, ux: float, uy: float, k: int) -> float:
    """Return how far a robot may go along (ux, uy) without losing robot k; inf if k does not matter."""
    jx, jy = world.at_x[k] - robot.x, world.at_y[k] - robot.y
    d = length(jx, jy)
    if d <= 1e-12 or d > world.rules.visibility:
        return math.inf
    radius = world.rules.visibility / 2.0
    cosine = max(-1.0, min(1.0, (ux * jx + uy * jy) / d))
    sine = math.sqrt(max(0.0, 1.0 - cosine * cosine))
    half = d / 2.0
    off = half * sine
    return half * cosine + math.sqrt(max(0.0, radius * radius - off * off))


def sq_gathering(world: SwarmWorld, robot: Robot) -> Decision:
    """Algorithm 8 of arXiv:2412.10733 on points that are grouped within the tolerance, first seen first."""
    n_points, mine, n_many, first_many = group(world, robot)
    if n_points == 1:
        return robot.x, robot.y, True
    if n_many == 1:
        if mine == first_many:
            return robot.x, robot.y, False
        return world.scratch[2 * first_many], world.scratch[2 * first_many + 1], False
    if n_many > 1 and world.many[mine] < 2:
        return robot.x, robot.y, False
    near = closest_point(world, n_points, mine)
    x, y = world.scratch[2 * near], world.scratch[2 * near + 1]
    if n_many == 0:
        return x, y, False
    return 0.5 * (world.scratch[2 * mine] + x), 0.5 * (world.scratch[2 * mine + 1] + y), False


def group(world: SwarmWorld, robot: Robot) -> tuple[int, int, int, int]:
    """Group what is seen into points: (points, my point, points with many, the first of those).

    Point p is at (scratch[2 p], scratch[2 p + 1]) with many[p] robots. Cost: robots times points.
    """
    n_points, mine = 0, -1
    for k in range(world.views[0].n_seen):
        found = -1
        for p in range(n_points):
            d = distance(world.at_x[k], world.at_y[k], world.scratch[2 * p], world.scratch[2 * p + 1])
            if found < 0 and d <= world.rules.tolerance:
                found = p
        if found < 0:
            found = n_points
            world.scratch[2 * found] = world.at_x[k]
            world.scratch[2 * found + 1] = world.at_y[k]
            world.many[found] = 0
            n_points += 1
        world.many[found] += 1
        if world.seen[k] == robot.index:
            mine = found
    n_many, first_many = 0, -1
    for p in range(n_points):
        if world.many[p] > 1:
            first_many = p if n_many == 0 else first_many
            n_many += 1
    return n_points, mine, n_many, first_many


def closest_point(world: SwarmWorld, n_points: int, mine: int) -> int:
    """Return the occupied point nearest to point `mine`; of equally near ones the lower in (x, y)."""
    spots, best, least = world.scratch, -1, 0.0
    for p in range(n_points):
        if p == mine:
            continue
        d = distance(spots[2 * mine], spots[2 * mine + 1], spots[2 * p], spots[2 * p + 1])
        is_tie = best >= 0 and abs(d - least) <= 1e-12 * max(least, 1e-300)
        if best < 0 or (not is_tie and d < least) or (is_tie and is_lower(world, p, best)):
            best, least = p, d
    return best


def is_lower(world: SwarmWorld, p: int, q: int) -> bool:
    """Say whether point p comes before point q in (x, y)."""
    spots = world.scratch
    if spots[2 * p] != spots[2 * q]:
        return spots[2 * p] < spots[2 * q]
    return spots[2 * p + 1] < spots[2 * q + 1]
