"""Smallest circles by Welzl's algorithm as the original runs it: rounded tests, a draw at every frame.

Welzl 1991, doi:10.1007/BFb0038202. The recursion is unrolled; the draws and their order are the
original's. Points are numbers k of what is seen, at (at_x[k], at_y[k]).
"""

from __future__ import annotations

import math

from tocsin.kernel import Rng
from tocsin.models.swarm.lcm.arithmetic import decimals, distance
from tocsin.models.swarm.world import SwarmWorld

TOO_DEEP = -2.0
"""Radius that stands for Python's RecursionError."""


def power_of(world: SwarmWorld) -> float:
    """Return 10**precision."""
    power = 1.0
    for _ in range(world.precision):
        power = power * 10.0
    return power


def is_inside(world: SwarmWorld, x: float, y: float, r: float, k: int) -> bool:
    """Say whether a point is in a circle, both sides rounded to `precision` decimals."""
    power = power_of(world)
    return decimals(distance(x, y, world.at_x[k], world.at_y[k]), power) <= decimals(r, power)


def from_two(world: SwarmWorld, a: int, b: int) -> tuple[float, float, float]:
    """Return (x, y, radius) of the circle over a diameter."""
    ax, ay, bx, by = world.at_x[a], world.at_y[a], world.at_x[b], world.at_y[b]
    return (ax + bx) / 2.0, (ay + by) / 2.0, distance(ax, ay, bx, by) / 2.0


def farthest_pair(world: SwarmWorld, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the circle over the longest side of three points on a line."""
    ab, ac, bc = square_of(world, a, b), square_of(world, a, c), square_of(world, b, c)
    if ab >= ac and ab >= bc:
        return from_two(world, a, b)
    return from_two(world, a, c) if ac >= bc else from_two(world, b, c)


def square_of(world: SwarmWorld, a: int, b: int) -> float:
    """Return the square of a distance."""
    dx, dy = world.at_x[a] - world.at_x[b], world.at_y[a] - world.at_y[b]
    return dx * dx + dy * dy


def from_three(world: SwarmWorld, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the circle through three points; over the longest side if they are on a line."""
    ax, ay, bx, by = world.at_x[a], world.at_y[a], world.at_x[b], world.at_y[b]
    cx, cy = world.at_x[c], world.at_y[c]
    if abs(ax * (by - cy) + bx * (cy - ay) + cx * (ay - by)) < 1e-9:
        return farthest_pair(world, a, b, c)
    p, q, r, s = bx - ax, by - ay, cx - ax, cy - ay
    e = p * (ax + bx) + q * (ay + by)
    f = r * (ax + cx) + s * (ay + cy)
    g = 2.0 * (p * (cy - by) - q * (cx - bx))
    if abs(g) < 1e-9:
        return farthest_pair(world, a, b, c)
    x, y = (s * e - q * f) / g, (p * f - r * e) / g
    return x, y, distance(x, y, ax, ay)


def of_border(world: SwarmWorld, n: int, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the smallest circle of at most three points."""
    if n == 0:
        return 0.0, 0.0, 0.0
    if n == 1:
        return world.at_x[a], world.at_y[a], 0.0
    if n == 2:
        return from_two(world, a, b)
    for first, second, third in ((a, b, c), (b, c, a), (c, a, b)):
        x, y, r = from_two(world, first, second)
        if is_inside(world, x, y, r, third):
            return x, y, r
    return from_three(world, a, b, c)


def of_three(world: SwarmWorld, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the circle of exactly three robots, which the original finds without Welzl."""
    for first, second, third in ((a, b, c), (a, c, b), (b, c, a)):
        x, y, r = from_two(world, first, second)
        if is_inside(world, x, y, r, third) and is_inside(world, x, y, r, first) and is_inside(world, x, y, r, second):
            return x, y, r
    return from_three(world, a, b, c)


def is_outside(world: SwarmWorld, x: float, y: float, r: float, k: int) -> bool:
    """Say whether a point's distance from the centre, rounded, is more than the radius, which is not."""
    power = power_of(world)
    return decimals(distance(x, y, world.at_x[k], world.at_y[k]), power) / power > r


def fork_three(world: SwarmWorld, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the circle through three points, the fork's way. Raises ValueError if they are on a line."""
    ax, ay, bx, by = world.at_x[a], world.at_y[a], world.at_x[b], world.at_y[b]
    cx, cy = world.at_x[c], world.at_y[c]
    d = 2.0 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by))
    if d == 0.0:
        raise ValueError("three points on a line have no circle")
    aa, bb, cc = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    x = (aa * (by - cy) + bb * (cy - ay) + cc * (ay - by)) / d
    y = (aa * (cx - bx) + bb * (ax - cx) + cc * (bx - ax)) / d
    return x, y, math.sqrt((x - ax) * (x - ax) + (y - ay) * (y - ay))


def fork_border(world: SwarmWorld, n: int, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Return the smallest circle of at most three points, the fork's way."""
    if n < 3:
        return of_border(world, n, a, b, c)
    for first, second in ((a, b), (a, c), (b, c)):
        x, y, r = from_two(world, first, second)
        if not (is_outside(world, x, y, r, a) or is_outside(world, x, y, r, b) or is_outside(world, x, y, r, c)):
            return x, y, r
    return fork_three(world, a, b, c)


def welzl(world: SwarmWorld, n: int, rng: Rng, is_fork: bool = False) -> tuple[float, float, float]:
    """Return the circle of points order[0..n-1], which are permuted; radius TOO_DEEP beyond `depth`.

    Draws: a shuffle, then one whole number for each frame of the recursion. The fork's draws never take the last point,
    and it rounds and finds circles of three in a way of its own.
    """
    order, stack = world.order, world.stack
    rng.shuffle(order, n)
    level, left, size = 0, n, 0
    a, b, c = -1, -1, -1
    while True:
        while left > 0 and size < 3:
            if n - left >= world.depth:
                return 0.0, 0.0, TOO_DEEP
            place = rng.integers(0, left - 1 if is_fork and left > 1 else left)
            p = order[place]
            order[place] = order[left - 1]
            order[left - 1] = p
            stack[level, 0], stack[level, 1], stack[level, 2] = p, left, size
            stack[level, 3], stack[level, 4] = a, b
            level += 1
            left -= 1
        x, y, r = fork_border(world, size, a, b, c) if is_fork else of_border(world, size, a, b, c)
        done = True
        while level > 0 and done:
            level -= 1
            p = stack[level, 0]
            if is_outside(world, x, y, r, p) if is_fork else not is_inside(world, x, y, r, p):
                left, size, a, b = stack[level, 1] - 1, stack[level, 2], stack[level, 3], stack[level, 4]
                if size == 0:
                    a = p
                elif size == 1:
                    b = p
                else:
                    c = p
                size += 1
                done = False
        if done:
            return x, y, r


def onto_circle(x: float, y: float, r: float, px: float, py: float) -> tuple[float, float]:
    """Return the point of a circle that is nearest to (px, py)."""
    if r < 0.0:
        return px, py
    if distance(x, y, px, py) < 1e-9:
        return x + r, y
    vx, vy = px - x, py - y
    scale = r / math.sqrt(vx * vx + vy * vy)
    return x + vx * scale, y + vy * scale
