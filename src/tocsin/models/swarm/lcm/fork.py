"""The rules of the LCM simulator's older fork (shereenetemad/LCMmodel, main at 64ad927).

Looks, departures and arrivals are events of their own, with an exponential wait before a Look and
before a departure; sight ends short of its range; moves that are not rigid end after a random share of
the way; robots know Gathering and SEC. The last tick, with nothing else due, sets the last robot going once more.
"""

from __future__ import annotations

import math

from tocsin.kernel import Rng, Touched
from tocsin.models.swarm.lcm.algorithms import gathering, keep_circle
from tocsin.models.swarm.lcm.arithmetic import distance
from tocsin.models.swarm.lcm.circles import fork_three, from_two, is_outside, welzl
from tocsin.models.swarm.lcm.events import GATHERING
from tocsin.models.swarm.robot import ENDED, LOOK, MOVE, RUNNING, WAIT, Robot
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import NEVER, Action, Arena, Model, float64

TICKED, LOOKED, LEFT, ARRIVED, DONE = 0, 1, 2, 3, 4
"""What an event did, in the fork's numbers."""


class ForkRobot(Robot):
    """A robot that remembers where it last set off."""

    from_x: float64
    from_y: float64


class ForkWorld(SwarmWorld):
    """Robots of the fork."""

    robots: Arena[ForkRobot]  # type: ignore[assignment]


def position(world: ForkWorld, robot: ForkRobot, now: float) -> tuple[float, float]:
    """Return where a robot is; within a tolerance of its target it counts as there."""
    if robot.state != MOVE:
        return robot.x, robot.y
    way = distance(robot.from_x, robot.from_y, robot.target_x, robot.target_y)
    gone = robot.speed * (now - robot.left_at)
    if gone > way or abs(gone - way) < world.rules.tolerance:
        return robot.target_x, robot.target_y
    share = gone / way
    return robot.from_x + share * (robot.target_x - robot.from_x), robot.from_y + share * (
        robot.target_y - robot.from_y
    )


def take_position(world: ForkWorld, robot: ForkRobot, now: float) -> tuple[float, float]:
    """Return where a robot is, and let it know: in a snapshot a robot that moves is put there."""
    x, y = position(world, robot, now)
    robot.x = x
    robot.y = y
    return x, y


def look_around(world: ForkWorld, robot: ForkRobot, now: float) -> int:
    """Put all robots that are nearer than the range into `seen`, `at_x` and `at_y`; return how many."""
    n = 0
    for j in range(len(world.robots)):
        x, y = take_position(world, world.robots[j], now)
        if world.rules.visibility > distance(robot.x, robot.y, x, y):
            world.seen[n] = j
            world.at_x[n] = x
            world.at_y[n] = y
            n += 1
    world.views[0].n_seen = n
    return n


def rest(world: ForkWorld, robot: ForkRobot, now: float) -> None:
    """End a cycle; also a robot that stays adds the way from where it last set off."""
    robot.x, robot.y = position(world, robot, now)
    robot.state = WAIT
    robot.travelled += distance(robot.from_x, robot.from_y, robot.x, robot.y)


def sec(world: ForkWorld, robot: ForkRobot, n: int, rng: Rng) -> tuple[float, float, bool]:
    """Nearest point of the circle; with three in sight an earlier circle may stand."""
    if n == 2:
        x, y, r = from_two(world, 0, 1)
        keep_circle(robot, x, y, r)
    elif n == 3:
        for first, second in ((0, 1), (0, 2), (1, 2)):
            x, y, r = from_two(world, first, second)
            if not (is_outside(world, x, y, r, 0) or is_outside(world, x, y, r, 1) or is_outside(world, x, y, r, 2)):
                keep_circle(robot, x, y, r)
        if robot.circle_r != robot.circle_r:
            x, y, r = fork_three(world, 0, 1, 2)
            keep_circle(robot, x, y, r)
    else:
        for k in range(n):
            world.order[k] = k
        x, y, r = welzl(world, n, rng, True)
        keep_circle(robot, x, y, r)
    x, y, r = robot.circle_x, robot.circle_y, robot.circle_r
    vx, vy = robot.x - x, robot.y - y
    scale = r / distance(x, y, robot.x, robot.y)
    for k in range(n):
        dx, dy = world.at_x[k] - x, world.at_y[k] - y
        if not abs(math.sqrt(dx * dx + dy * dy) - r) < world.rules.tolerance:
            return x + vx * scale, y + vy * scale, False
    return x + vx * scale, y + vy * scale, True


def look(world: ForkWorld, robot: ForkRobot, now: float, rng: Rng) -> None:
    """Look, compute, and stay if the target is near."""
    robot.state = LOOK
    n = look_around(world, robot, now)
    if n == 1:
        robot.frozen = True
        robot.terminated = True
        rest(world, robot, now)
        return
    x, y, done = gathering(world, robot) if robot.task == GATHERING else sec(world, robot, n, rng)
    robot.target_x = x
    robot.target_y = y
    robot.terminated = robot.terminated or done
    robot.frozen = distance(x, y, robot.x, robot.y) < world.rules.tolerance
    if robot.frozen:
        rest(world, robot, now)


def act(world: ForkWorld, robot: ForkRobot, now: float, rng: Rng) -> None:
    """Do what is due, and say when the next thing is."""
    robot.due = NEVER
    if robot.state == WAIT:
        look(world, robot, now, rng)
        world.code = DONE if robot.terminated else LOOKED
        if robot.terminated:
            world.n_busy -= 1
            return
    elif robot.state == LOOK:
        robot.state = MOVE
        robot.left_at = now
        robot.from_x = robot.x
        robot.from_y = robot.y
        share = 1.0 if world.is_rigid else 1.0 - rng.random()
        world.code = LEFT
        robot.due = now + share * distance(robot.target_x, robot.target_y, robot.x, robot.y) / robot.speed
        return
    else:
        rest(world, robot, now)
        world.code = ARRIVED
    robot.due = now + world.rules.gap * rng.exponential(1.0)


class Tick(Action):
    """A picture is taken; the last one, when no robot has anything due, sets the last robot going."""

    def schedule(self, world: ForkWorld, now: float, rng: Rng) -> float:
        return world.next_round if world.outcome == RUNNING else NEVER

    def fire(self, world: ForkWorld, now: float, rng: Rng, touched: Touched) -> None:
        world.code = TICKED
        for robot in world.robots:
            take_position(world, robot, now)
        if world.n_busy > 0:
            world.next_round = now + world.rules.tick
            return
        world.next_round = NEVER
        world.n_busy = 1
        world.outcome = ENDED
        last = world.robots[len(world.robots) - 1]
        last.due = now + world.rules.gap * rng.exponential(1.0)
        touched.add(last)


class Look(Action):
    """A robot looks."""

    robot: ForkRobot

    def schedule(self, world: ForkWorld, now: float, rng: Rng) -> float:
        return self.robot.due if self.robot.state == WAIT else NEVER

    def fire(self, world: ForkWorld, now: float, rng: Rng, touched: Touched) -> None:
        act(world, self.robot, now, rng)
        touched.add(self.robot)


class Leave(Action):
    """A robot sets off."""

    robot: ForkRobot

    def schedule(self, world: ForkWorld, now: float, rng: Rng) -> float:
        return self.robot.due if self.robot.state == LOOK else NEVER

    def fire(self, world: ForkWorld, now: float, rng: Rng, touched: Touched) -> None:
        act(world, self.robot, now, rng)
        touched.add(self.robot)


class Arrive(Action):
    """A robot ends its move."""

    robot: ForkRobot

    def schedule(self, world: ForkWorld, now: float, rng: Rng) -> float:
        return self.robot.due if self.robot.state == MOVE else NEVER

    def fire(self, world: ForkWorld, now: float, rng: Rng, touched: Touched) -> None:
        act(world, self.robot, now, rng)
        touched.add(self.robot)


FORK_MODEL = Model(ForkWorld, [Tick, Look, Leave, Arrive], tie="entity", name="swarm-lcm-fork")
