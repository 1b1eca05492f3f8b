"""Rounds: who is active in them, in the semi-synchronous and the fully synchronous model."""

from __future__ import annotations

from tocsin.kernel import Rng, Touched
from tocsin.models.swarm.robot import CRASHED, Robot
from tocsin.models.swarm.world import SwarmWorld


def begin_round(world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
    """Wake each robot with probability `chance`, at least one, and all that have slept k rounds.

    So between two looks of a robot any other looks at most k times, if k > 0. Cost O(n).
    """
    for i in range(len(world.robots)):
        robot, k = world.robots[i], world.rules.k
        if robot.state != CRASHED:
            is_late = 0 < k < world.n_rounds - robot.last_round
            is_drawn = rng.random() < world.rules.chance or is_late
            if is_planned(world, robot) or (is_drawn and world.n_rounds > world.last_planned):
                wake(world, i, now, touched)
    if world.n_busy == 0:
        wake(world, draw_live(world, rng), now, touched)


def is_planned(world: SwarmWorld, robot: Robot) -> bool:
    """Say whether the explicit schedule wakes a robot in this round; that entry is then used up."""
    entry = robot.entry
    if entry < 0 or world.plan_when[entry] > world.n_rounds:
        return False
    robot.stop = world.plan_stop[entry]
    robot.entry = world.plan_after[entry]
    return True


def wake(world: SwarmWorld, i: int, now: float, touched: Touched) -> None:
    """Let a robot look in this round."""
    robot = world.robots[i]
    robot.last_round = world.n_rounds
    robot.due = now
    world.n_busy += 1
    touched.add(robot)


def draw_live(world: SwarmWorld, rng: Rng) -> int:
    """Draw a robot that has not crashed; there is one, or the run would be over."""
    while True:
        i = rng.integers(0, len(world.robots))
        if world.robots[i].state != CRASHED:
            return i
