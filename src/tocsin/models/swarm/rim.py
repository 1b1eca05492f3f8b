"""The smallest circle around all robots, without a look at most of them.

Only robots near the rim of the last circle can carry the next one. They are kept in a list, with a bound on how far from the
old centre all others are. Nobody is faster than the fastest robot, so the bound grows by what that one can
have gone since; as long as it stays within the new circle, that circle is the one around all. Else all robots are looked at,
and the list is made anew. It never changes what the circle is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tocsin.models.swarm.circle import Carried, enclosing_circle

if TYPE_CHECKING:
    from tocsin.models.swarm.view import View
    from tocsin.models.swarm.world import SwarmWorld

LEAST = 48
"""Robots from which on a list pays."""

NARROW, WIDE = 1.0 / 1024.0, 0.5
"""Width of the rim, as a share of the radius. A list that serves few looks is followed by one twice as wide."""

ROUNDING = 1e-14
"""Share of its coordinates by which a robot may seem to be elsewhere."""


def circle_of_all(world: SwarmWorld, view: View) -> tuple[float, float, float]:
    """Return (x, y, radius) of the smallest circle around all robots. Cost: the robots near its rim, now and then all."""
    if view.n_seen < 0 and world.n_rim > 0:
        x, y, radius, a, b, c = circle_of_rim(world, view.now)
        if is_around_all(world, x, y, radius, view.now):
            world.carrier_a = a
            world.carrier_b = b
            world.carrier_c = c
            world.rim_looks += 1
            return x, y, radius
    a, b, c = carrier(world, world.carrier_a), carrier(world, world.carrier_b), carrier(world, world.carrier_c)
    x, y, radius, a, b, c = enclosing_circle(world.at_x, world.at_y, view.n, a, b, c)
    make_rim(world, view.now, x, y, radius, a, b, c)
    return x, y, radius


def carrier(world: SwarmWorld, place: int) -> int:
    """Return the robot at a place of the list; if there is no list, places are robots."""
    return int(world.rim[place]) if 0 <= place < world.n_rim else place


def circle_of_rim(world: SwarmWorld, now: float) -> Carried:
    """Return the circle of the robots in the list; its carriers are places in it."""
    for k in range(world.n_rim):
        x, y = world.robots[world.rim[k]].where(now)
        world.at_x[k] = x
        world.at_y[k] = y
    return enclosing_circle(world.at_x, world.at_y, world.n_rim, world.carrier_a, world.carrier_b, world.carrier_c)


def is_around_all(world: SwarmWorld, x: float, y: float, radius: float, now: float) -> bool:
    """Say whether a circle is sure to hold the robots that are not in the list."""
    dx, dy = x - world.rim_x, y - world.rim_y
    reach = world.rim_inner + world.fastest * (now - world.rim_at) + math.sqrt(dx * dx + dy * dy)
    return bool(reach * (1.0 + 1e-9) + ROUNDING * (abs(x) + abs(y)) < radius)


def make_rim(world: SwarmWorld, now: float, x: float, y: float, radius: float, a: int, b: int, c: int) -> None:
    """List the robots near the rim, who are at (at_x, at_y), robot 0 and the carriers first of all in order of rows."""
    n = len(world.robots)
    world.n_rim = 0
    world.carrier_a = a
    world.carrier_b = b
    world.carrier_c = c
    if n < LEAST:
        return
    wider = 2.0 if world.rim_looks < 8 else (0.5 if world.rim_looks > 64 else 1.0)
    world.rim_share = max(NARROW, min(WIDE, wider * world.rim_share))
    least, inner, size = (radius * (1.0 - world.rim_share)) ** 2, 0.0, 0
    for k in range(n):
        dx, dy = world.at_x[k] - x, world.at_y[k] - y
        square = dx * dx + dy * dy
        if square < least and k not in (0, a, b, c):
            inner = max(inner, square)
            continue
        world.rim[size] = k
        if k == a:
            world.carrier_a = size
        if k == b:
            world.carrier_b = size
        if k == c:
            world.carrier_c = size
        size += 1
    world.n_rim = size
    world.rim_looks = 0
    world.rim_x = x
    world.rim_y = y
    world.rim_at = now
    world.rim_inner = math.sqrt(inner)
