"""Invariants, checked at every event: are initial links kept, does the diameter never grow?

Between two events all robots go straight at constant speed, so the distance of two is a convex
function of time, and so is the largest of them: what they are at events bounds what they are between.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.robot import Robot
from tocsin.models.swarm.world import SwarmWorld

LOST = 1e-9
"""A link is lost when it is longer than the range of visibility by this share of it."""


def watch(world: SwarmWorld, now: float) -> None:
    """Look at all watched pairs and at the diameter, if asked to. Cost: pairs, and n squared."""
    if not world.is_watched:
        return
    reach = world.rules.visibility * (1.0 + LOST)
    for k in range(len(world.links)):
        one, other = world.robots[world.links[k, 0]], world.robots[world.links[k, 1]]
        d, dx, dy = apart(one, other, now), one.goal_x - other.goal_x, one.goal_y - other.goal_y
        world.longest_link = max(world.longest_link, d)
        world.longest_aim = max(world.longest_aim, math.sqrt(dx * dx + dy * dy))
        if d > reach and now < world.lost_at:
            world.lost_at = now
    world.diameter = diameter(world, now)
    world.least_diameter = min(world.least_diameter, world.diameter)
    world.growth = max(world.growth, world.diameter - world.least_diameter)


def apart(one: Robot, other: Robot, now: float) -> float:
    """Return the distance of two robots."""
    x, y = one.where(now)
    u, v = other.where(now)
    return math.sqrt((x - u) * (x - u) + (y - v) * (y - v))


def diameter(world: SwarmWorld, now: float) -> float:
    """Return the largest distance of two robots."""
    found = 0.0
    for i in range(len(world.robots)):
        for j in range(i):
            found = max(found, apart(world.robots[i], world.robots[j], now))
    return found
