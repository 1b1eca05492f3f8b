"""Look, Arrive, Crash and Tick with the original's rules, draws and codes, in their order.

Equal times ring in order of (time, robot, kind), ticks first.
"""

from __future__ import annotations

import math

from tocsin.kernel import Rng, Touched
from tocsin.models.swarm.lcm.algorithms import gathering, go_to_center, sec, sq_gathering
from tocsin.models.swarm.lcm.arithmetic import distance, draw_gap
from tocsin.models.swarm.lcm.formations import circle_formation, spreading
from tocsin.models.swarm.lcm.pattern import pattern_formation
from tocsin.models.swarm.motion import mark
from tocsin.models.swarm.robot import (
    ALL_TERMINATED,
    BLUE,
    BYZANTINE,
    CRASH,
    CRASHED,
    ENDED,
    GREEN,
    HAS_CRASHED,
    LOOK,
    MOVE,
    MOVED,
    OMISSION,
    RED,
    RUNNING,
    SEQUENTIAL,
    STAYED,
    STOP_DELTA,
    STOP_UNIFORM,
    TERMINATED,
    TICKED,
    WAIT,
    Robot,
)
from tocsin.models.swarm.turns import finish, first_turn, pass_turn
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import NEVER, Action, Model

GATHERING, SEC, GO_TO_CENTER, CIRCLE_FORMATION, SPREADING, PATTERN_FORMATION, SQ_GATHERING = range(7)
LAMP_REST = 0.5
"""Least time between two changes of a lamp."""


def position(world: SwarmWorld, robot: Robot, now: float) -> tuple[float, float]:
    """Return where a robot is; within a tolerance of its goal it counts as there."""
    if robot.state != MOVE:
        return robot.x, robot.y
    way = distance(robot.x, robot.y, robot.goal_x, robot.goal_y)
    gone = robot.speed * (now - robot.left_at)
    if way < 1e-9 or gone >= way - world.rules.tolerance:
        return robot.goal_x, robot.goal_y
    share = max(0.0, min(1.0, gone / way))
    return robot.x + share * (robot.goal_x - robot.x), robot.y + share * (robot.goal_y - robot.y)


def set_lamp(robot: Robot, colour: int, now: float) -> None:
    """Change the lamp, unless it has changed a short while ago."""
    if robot.lamp != colour and now - robot.lamp_at >= LAMP_REST:
        robot.lamp = colour
        robot.lamp_at = now


def look_around(world: SwarmWorld, robot: Robot, now: float) -> None:
    """Put all robots in sight, in order of their numbers, into `seen`, `at_x` and `at_y`."""
    reach = world.rules.visibility
    n = 0
    for j in range(len(world.robots)):
        x, y = position(world, world.robots[j], now)
        if reach == 0.0 or distance(robot.x, robot.y, x, y) <= reach:
            world.seen[n] = j
            world.at_x[n] = x
            world.at_y[n] = y
            n += 1
    world.views[0].n_seen = n


def arrive(world: SwarmWorld, robot: Robot, now: float) -> None:
    """End a cycle: a robot that moves is where it is now, or exactly at its goal."""
    if robot.state == MOVE:
        is_there = world.is_rigid or world.rules.delta > 0.0 or now <= robot.left_at + 1e-12
        x, y = (robot.goal_x, robot.goal_y) if is_there else position(world, robot, now)
        robot.travelled += distance(robot.x, robot.y, x, y)
        robot.x = x
        robot.y = y
        mark(world, robot)
    robot.state = WAIT
    robot.due = NEVER
    set_lamp(robot, GREEN, now)


def wander(world: SwarmWorld, robot: Robot, rng: Rng) -> None:
    """Send a Byzantine robot to a random point, half as far as the farthest robot in sight."""
    reach = -1.0
    for k in range(world.views[0].n_seen):
        if world.seen[k] != robot.index:
            reach = max(reach, distance(robot.x, robot.y, world.at_x[k], world.at_y[k]))
    reach = 10.0 if reach < 0.0 else reach * 0.5
    angle = rng.uniform(0.0, 2.0 * math.pi)
    robot.target_x = robot.x + reach * math.cos(angle)
    robot.target_y = robot.y + reach * math.sin(angle)
    robot.frozen = False


def compute(world: SwarmWorld, robot: Robot, rng: Rng) -> tuple[float, float, bool]:
    """Run a robot's algorithm: (target x, target y, whether it terminates)."""
    if robot.task == GATHERING:
        return gathering(world, robot)
    if robot.task == SEC:
        return sec(world, robot, rng)
    if robot.task == GO_TO_CENTER:
        return go_to_center(world, robot, rng)
    if robot.task == CIRCLE_FORMATION:
        return circle_formation(world, robot)
    if robot.task == SPREADING:
        return spreading(world, robot)
    if robot.task == PATTERN_FORMATION:
        return pattern_formation(world, robot)
    return sq_gathering(world, robot)


def n_active_seen(world: SwarmWorld) -> int:
    """Return how many robots in sight are neither terminated nor crashed."""
    n = 0
    for k in range(world.views[0].n_seen):
        other = world.robots[world.seen[k]]
        if not other.terminated and other.state != CRASHED:
            n += 1
    return n


def decide(world: SwarmWorld, robot: Robot, now: float, rng: Rng) -> None:
    """Compute a target, and whether to stay or to terminate."""
    if robot.task != SQ_GATHERING and n_active_seen(world) <= 1:
        robot.frozen = True
        robot.terminated = True
        return
    x, y, robot.terminated = compute(world, robot, rng)
    robot.target_x = x
    robot.target_y = y
    if robot.terminated:
        robot.frozen = robot.frozen and robot.task != SQ_GATHERING
    else:
        omits = robot.fault == OMISSION and rng.random() < world.rules.omission
        robot.frozen = omits or distance(x, y, robot.x, robot.y) < world.rules.tolerance


def set_goal(world: SwarmWorld, robot: Robot, rng: Rng) -> None:
    """Say where the move to the target ends: there, or where it is cut short."""
    robot.goal_x = robot.target_x
    robot.goal_y = robot.target_y
    delta, named = world.rules.delta, robot.stop
    robot.stop = 0.0
    way = distance(robot.x, robot.y, robot.target_x, robot.target_y)
    if world.is_rigid or delta == 0.0 or way <= delta:
        return
    if named > 0.0:
        wanted = named * way
    elif world.stop_policy == STOP_DELTA:
        wanted = delta
    elif world.stop_policy == STOP_UNIFORM:
        wanted = rng.uniform(delta, way)
    else:
        wanted = world.rules.stop_share * way
    wanted = max(delta, min(way, wanted))
    if wanted < way:
        robot.goal_x = robot.x + wanted / way * (robot.target_x - robot.x)
        robot.goal_y = robot.y + wanted / way * (robot.target_y - robot.y)


def wake(world: SwarmWorld, robot: Robot, now: float, rng: Rng, touched: Touched) -> None:
    """Draw when a robot that has ended its cycle looks again, or let the next one have its turn."""
    if world.scheduler == SEQUENTIAL:
        start_turn(world, pass_turn(world, robot, now, rng, touched), now, rng, touched)
    else:
        robot.due = now + draw_gap(world, rng)


def start_turn(world: SwarmWorld, who: int, now: float, rng: Rng, touched: Touched) -> None:
    """Let a robot look, now or after a gap."""
    if who >= 0:
        world.robots[who].due = now + draw_gap(world, rng) if world.has_gaps else now
        touched.add(world.robots[who])


def settle(world: SwarmWorld, now: float, touched: Touched) -> None:
    """End the run when every robot that is neither crashed nor Byzantine has terminated."""
    for robot in world.robots:
        if robot.state != CRASHED and robot.fault != BYZANTINE and not robot.terminated:
            return
    world.code = ENDED
    finish(world, ALL_TERMINATED, now, touched)


class Tick(Action):
    """A picture is taken; nothing changes."""

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        return NEVER if world.outcome != RUNNING or world.rules.tick == 0.0 else now + world.rules.tick

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        world.code = TICKED


class Begin(Action):
    """The sequential scheduler picks who is first."""

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        return now if world.scheduler == SEQUENTIAL and world.n_rounds == 0 else NEVER

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        world.n_rounds = 1
        start_turn(world, first_turn(world, now, rng, touched), now, rng, touched)


class Crash(Action):
    """A robot is found crashed."""

    robot: Robot

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        return self.robot.due if self.robot.state == CRASHED and world.outcome == RUNNING else NEVER

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        self.robot.fault = CRASH
        self.robot.due = NEVER
        world.code = HAS_CRASHED
        settle(world, now, touched)


class Look(Action):
    """A robot looks, computes, and sets off or stays."""

    robot: Robot

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        robot = self.robot
        return robot.due if robot.state == WAIT and not robot.terminated and world.outcome == RUNNING else NEVER

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        robot = self.robot
        robot.due = NEVER
        world.n_turns += 1
        look_around(world, robot, now)
        robot.state = LOOK
        set_lamp(robot, BLUE, now)
        if robot.fault == BYZANTINE:
            wander(world, robot, rng)
        else:
            decide(world, robot, now, rng)
        if robot.terminated:
            arrive(world, robot, now)
            world.code = TERMINATED
            world.has_progress = True
            if world.scheduler == SEQUENTIAL:
                wake(world, robot, now, rng, touched)
        elif robot.frozen:
            arrive(world, robot, now)
            world.code = STAYED
            wake(world, robot, now, rng, touched)
        else:
            set_off(world, robot, now, rng, touched)
        touched.add(robot)
        settle(world, now, touched)


def set_off(world: SwarmWorld, robot: Robot, now: float, rng: Rng, touched: Touched) -> None:
    """Begin a move; one too short for the clock to advance is over at once."""
    set_goal(world, robot, rng)
    robot.state = MOVE
    set_lamp(robot, RED, now)
    robot.left_at = now
    way = distance(robot.x, robot.y, robot.goal_x, robot.goal_y)
    robot.due = now + (way / robot.speed if robot.speed > 1e-9 else 0.0)
    world.code = MOVED
    if robot.due <= now:
        arrive(world, robot, now)
        world.code = STAYED
        wake(world, robot, now, rng, touched)
    else:
        world.has_progress = True


class Arrive(Action):
    """A move ends."""

    robot: Robot

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        return self.robot.due if self.robot.state == MOVE and world.outcome == RUNNING else NEVER

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        arrive(world, self.robot, now)
        world.code = STAYED
        wake(world, self.robot, now, rng, touched)
        touched.add(self.robot)
        settle(world, now, touched)


LCM_MODEL = Model(SwarmWorld, [Begin, Tick, Crash, Look, Arrive], tie="entity", name="swarm-lcm")
