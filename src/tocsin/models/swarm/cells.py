"""Who is near: robots by square cells as wide as they see far, kept up as they move.

A robot that moves is filed under the middle of its way, so it is within half its way of where it is
filed. Ways longer than the range are kept in a list that every look goes through. The plane is
unbounded: cells are hashed into buckets, which are linked lists through the robots.
"""

from __future__ import annotations

import math

from tocsin.models.swarm.robot import MOVE, Robot
from tocsin.models.swarm.world import SwarmWorld

NOWHERE = -2


def bucket(world: SwarmWorld, column: int, row: int) -> int:
    """Return the bucket of a cell."""
    return ((column * 73856093) ^ (row * 19349663)) & (len(world.buckets) - 1)


def move_in(world: SwarmWorld, robot: Robot) -> None:
    """File a robot where it stands, or under the middle of its way; nothing if robots see without limit."""
    reach = world.rules.visibility
    if reach == 0.0:
        return
    x, y = robot.x, robot.y
    is_far = False
    if robot.state == MOVE:
        dx, dy = robot.goal_x - x, robot.goal_y - y
        is_far = dx * dx + dy * dy > reach * reach
        x, y = x + 0.5 * dx, y + 0.5 * dy
    column, row = math.floor(x / reach), math.floor(y / reach)
    if not is_far and not robot.is_far and robot.before != NOWHERE and column == robot.column and row == robot.row:
        return
    move_out(world, robot)
    if is_far:
        robot.is_far = True
        robot.before = world.n_far
        world.far[world.n_far] = robot.index
        world.n_far += 1
        return
    robot.column = column
    robot.row = row
    place = bucket(world, column, row)
    first = world.buckets[place]
    robot.after = first
    robot.before = -1
    if first >= 0:
        world.robots[first].before = robot.index
    world.buckets[place] = robot.index


def move_out(world: SwarmWorld, robot: Robot) -> None:
    """Take a robot out of its cell, or of the list of long ways."""
    if robot.is_far:
        world.n_far -= 1
        last = world.far[world.n_far]
        world.far[robot.before] = last
        world.robots[last].before = robot.before
        robot.is_far = False
    elif robot.before != NOWHERE:
        if robot.before >= 0:
            world.robots[robot.before].after = robot.after
        else:
            world.buckets[bucket(world, robot.column, robot.row)] = robot.after
        if robot.after >= 0:
            world.robots[robot.after].before = robot.before
    robot.before = NOWHERE
