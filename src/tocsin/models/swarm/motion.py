"""How robots move: straight, at constant speed, and where all of them are on average.

Whatever moves a robot goes through `set_off`, `land` and `halt`, which keep the list of those that
move, the sums of positions, the index of cells, and the count of those that have settled.
"""

from __future__ import annotations

import math

from tocsin.models.swarm import cells
from tocsin.models.swarm.robot import BYZANTINE, MOVE, WAIT, Robot
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import NEVER


def set_off(world: SwarmWorld, robot: Robot, x: float, y: float, now: float) -> bool:
    """Begin a move to a point; False if it is so short that it is over at once."""
    note_change(world, robot)
    duration = robot.way(x, y) / robot.speed
    robot.goal_x = x
    robot.goal_y = y
    robot.left_at = now
    robot.due = now + duration
    advance_sums(world, now)
    if robot.due <= now:
        leap(world, robot, x, y)
        return False
    robot.pace = 1.0 / duration
    robot.state = MOVE
    robot.n_active = world.n_active
    world.active[world.n_active] = robot.index
    world.n_active += 1
    world.drift_x += (x - robot.x) * robot.pace
    world.drift_y += (y - robot.y) * robot.pace
    cells.move_in(world, robot)
    return True


def land(world: SwarmWorld, robot: Robot, now: float) -> None:
    """End a move at its goal."""
    note_change(world, robot)
    stop_at(world, robot, robot.goal_x, robot.goal_y, now)
    robot.state = WAIT


def halt(world: SwarmWorld, robot: Robot, now: float) -> None:
    """Stop a robot where it is; the caller says what it does then."""
    x, y = robot.where(now)
    note_change(world, robot)
    stop_at(world, robot, x, y, now)


def stop_at(world: SwarmWorld, robot: Robot, x: float, y: float, now: float) -> None:
    """Take a robot out of those that move."""
    advance_sums(world, now)
    world.drift_x -= (robot.goal_x - robot.x) * robot.pace
    world.drift_y -= (robot.goal_y - robot.y) * robot.pace
    last = world.active[world.n_active - 1]
    world.active[robot.n_active] = last
    world.robots[last].n_active = robot.n_active
    robot.n_active = -1
    world.n_active -= 1
    if world.n_active == 0:
        world.drift_x = 0.0
        world.drift_y = 0.0
    robot.travelled += robot.way(x, y)
    robot.x = x
    robot.y = y
    robot.due = NEVER
    mark(world, robot)
    cells.move_in(world, robot)


def leap(world: SwarmWorld, robot: Robot, x: float, y: float) -> None:
    """Put a robot, which stands, at a point."""
    world.rim_inner = math.inf  # it was faster than it is
    world.sum_x += x - robot.x
    world.sum_y += y - robot.y
    robot.travelled += robot.way(x, y)
    robot.x = x
    robot.y = y
    robot.due = NEVER
    mark(world, robot)
    cells.move_in(world, robot)


def mark(world: SwarmWorld, robot: Robot) -> None:
    """Leave a trace of a move that has ended, if there is room."""
    k = world.n_trail
    if k < len(world.trail):
        world.trail[k, 0] = 1.0 * robot.index
        world.trail[k, 1] = robot.x
        world.trail[k, 2] = robot.y
        world.n_trail = k + 1


def note_change(world: SwarmWorld, robot: Robot) -> None:
    """Nobody's decision to stay holds any more; a Byzantine robot does not count."""
    if robot.fault != BYZANTINE:
        world.changes += 1
        world.n_settled = 0


def advance_sums(world: SwarmWorld, now: float) -> None:
    """Bring the sums of positions up to now; from time to time, against rounding, from the start.

    Cost O(1), O(n) every 64 n times.
    """
    world.sum_x += world.drift_x * (now - world.sum_at)
    world.sum_y += world.drift_y * (now - world.sum_at)
    world.sum_at = now
    world.n_sums += 1
    if world.n_sums >= 64 * len(world.robots):
        take_sums(world, now)


def take_sums(world: SwarmWorld, now: float) -> None:
    """Add up all positions, and how fast they change."""
    world.n_sums = 0
    world.sum_at = now
    world.sum_x, world.sum_y, world.drift_x, world.drift_y = 0.0, 0.0, 0.0, 0.0
    for robot in world.robots:
        x, y = robot.where(now)
        world.sum_x += x
        world.sum_y += y
        if robot.state == MOVE:
            world.drift_x += (robot.goal_x - robot.x) * robot.pace
            world.drift_y += (robot.goal_y - robot.y) * robot.pace
