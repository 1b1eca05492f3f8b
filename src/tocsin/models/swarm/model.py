"""Look, Arrive, Crash, Begin and Tick: what happens in a swarm, with any algorithm.

Clocks with equal times ring in order of (robot, kind), those of the world first. Robots that look at
one instant see one another where they were, with the lights that they had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tocsin.kernel import Rng, Touched
from tocsin.kernel._elementary import cos, sin
from tocsin.models.swarm import motion
from tocsin.models.swarm.robot import (
    ASYNC,
    BYZANTINE,
    CONSTANT,
    CRASHED,
    EXPONENTIAL,
    HAS_CRASHED,
    IGNORED,
    MOVE,
    MOVED,
    OMISSION,
    QUIET,
    ROUNDS,
    RUNNING,
    SEQUENTIAL,
    STAYED,
    STOP_DELTA,
    STOP_UNIFORM,
    TICKED,
    UNIFORM,
    WAIT,
    Robot,
)  # fmt: skip
from tocsin.models.swarm.rounds import begin_round
from tocsin.models.swarm.turns import end_turn, finish, first_turn, note_look
from tocsin.models.swarm.view import View
from tocsin.models.swarm.watch import watch
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import NEVER, Action, Model, Observable

Algorithm = Callable[[View], tuple[float, float]]
TWO_PI = 6.283185307179586


def draw_gap(world: SwarmWorld, rng: Rng) -> float:
    """Draw the time from the end of a cycle to the next Look."""
    mean, spread = world.rules.gap, world.rules.gap_spread
    if world.law == EXPONENTIAL:
        return rng.exponential(1.0 / mean)
    if world.law == CONSTANT or spread == 0.0:
        return mean
    if world.law == UNIFORM:
        return rng.uniform(mean * (1.0 - spread), mean * (1.0 + spread))
    return rng.gamma(1.0 / (spread * spread), mean * spread * spread)


def next_gap(world: SwarmWorld, robot: Robot, rng: Rng) -> float:
    """Return a robot's next wait: that of its next entry in the schedule, if there is one, or a draw."""
    entry = robot.entry
    if entry < 0:
        return draw_gap(world, rng)
    robot.entry = world.plan_after[entry]
    robot.stop = world.plan_stop[entry]
    wait = world.plan_when[entry]
    return wait if wait >= 0.0 else draw_gap(world, rng)


def wait_for(world: SwarmWorld, robot: Robot, now: float) -> float:
    """Return when a robot may look that has looked k times in another's cycle; `now` if it may now.

    Asynchrony bounded by k: Katreniak 2011, doi:10.1007/978-3-642-22212-2_13. Cost: those that move.
    """
    k = world.rules.k
    if k == 0 or robot.n_looks < k:
        return now
    then, until = world.last_looks[robot.index, robot.n_looks % k], now
    for i in range(world.n_active):
        other = world.robots[world.active[i]]
        if other.left_at <= then and other.due > until:
            until = other.due
    return until


def wander(world: SwarmWorld, robot: Robot, view: View, rng: Rng) -> tuple[float, float]:
    """Return a random point, half as far as the farthest robot in sight."""
    reach = 0.0
    for k in range(view.n):
        reach = max(reach, robot.way(world.at_x[k], world.at_y[k]))
    reach = 0.5 * reach if reach > 0.0 else 1e6 * world.rules.tolerance
    angle = rng.uniform(0.0, TWO_PI)
    return robot.x + reach * cos(angle), robot.y + reach * sin(angle)


def cut_short(world: SwarmWorld, robot: Robot, rng: Rng) -> tuple[float, float]:
    """Return where a move to the target ends: there, or before, if moves are not rigid."""
    x, y, named = robot.target_x, robot.target_y, robot.stop
    robot.stop = 0.0
    way, least = robot.way(x, y), world.rules.delta
    if world.is_rigid or way <= least:
        return x, y
    if named > 0.0:
        wanted = named * way
    elif world.stop_policy == STOP_DELTA:
        wanted = least
    elif world.stop_policy == STOP_UNIFORM:
        wanted = way - (way - least) * rng.random()
    else:
        wanted = world.rules.stop_share * way
    wanted = max(least, wanted)
    if wanted >= way:
        return x, y
    share = wanted / way
    return robot.x + share * (x - robot.x), robot.y + share * (y - robot.y)


def act(world: SwarmWorld, robot: Robot, x: float, y: float, now: float, rng: Rng, touched: Touched) -> None:
    """Set off to a target in the plane, or stay."""
    if not (x - x == 0.0 and y - y == 0.0):
        raise ValueError("the algorithm returned a target that is not finite")
    robot.target_x = x
    robot.target_y = y
    omits = robot.fault == OMISSION and rng.random() < world.rules.omission
    robot.frozen = omits or robot.way(x, y) < world.rules.tolerance
    if robot.frozen:
        world.code = STAYED
        if not omits:
            settle(world, robot, now, touched)
        end_cycle(world, robot, now, rng, touched)
        return
    goal_x, goal_y = cut_short(world, robot, rng)
    world.code = MOVED
    touched.add(robot)
    if not motion.set_off(world, robot, goal_x, goal_y, now):
        end_cycle(world, robot, now, rng, touched)


def settle(world: SwarmWorld, robot: Robot, now: float, touched: Touched) -> None:
    """Count a robot that stays; if all have since the last change, none will ever move: the run is over."""
    if robot.fault != BYZANTINE and robot.settled != world.changes:
        robot.settled = world.changes
        world.n_settled += 1
        if world.n_settled >= world.n_counted and world.n_active == 0:
            finish(world, QUIET, now, touched)


def end_cycle(world: SwarmWorld, robot: Robot, now: float, rng: Rng, touched: Touched) -> None:
    """Say when a robot looks again, or whose turn it is."""
    end_turn(world, robot)
    touched.add(robot)
    if world.outcome != RUNNING:
        return
    if world.scheduler == ASYNC:
        robot.due = now + next_gap(world, robot, rng)
    elif world.scheduler == SEQUENTIAL:
        give_turn(world, now, rng, touched)
    else:
        end_round(world, touched)


def give_turn(world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
    """Let the next robot look, now or after a gap."""
    who = first_turn(world, now, rng, touched)
    if who >= 0:
        wait = world.next_wait
        if wait < 0.0:
            wait = draw_gap(world, rng) if world.has_gaps else 0.0
        world.robots[who].due = now + wait
        touched.add(world.robots[who])


def end_round(world: SwarmWorld, touched: Touched) -> None:
    """Count a robot whose part in the round is over; after the last, the next round may begin."""
    world.n_busy -= 1
    if world.n_busy == 0:
        touched.add(world)


class Tick(Action):
    """Nothing; a place to take pictures at."""

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        return NEVER if world.outcome != RUNNING or world.rules.tick == 0.0 else now + world.rules.tick

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        world.code = TICKED


class Begin(Action):
    """At the start, robots get their first waits or the first turn; with rounds, a round begins."""

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        if world.outcome != RUNNING or world.n_busy > 0:
            return NEVER
        return max(now, world.next_round)

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        world.code = IGNORED
        world.n_rounds += 1
        if world.scheduler == ROUNDS:
            world.next_round = now + world.rules.period
            begin_round(world, now, rng, touched)
            return
        world.n_busy = 1  # for good: from here on cycles or turns follow one another
        if world.scheduler == SEQUENTIAL:
            give_turn(world, now, rng, touched)
            return
        for robot in world.robots:
            robot.due = now + next_gap(world, robot, rng)
            touched.add(robot)


class Crash(Action):
    """A robot crashes where it is."""

    robot: Robot

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        robot = self.robot
        return max(now, robot.crash_at) if robot.state != CRASHED and world.outcome == RUNNING else NEVER

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        robot = self.robot
        world.code = HAS_CRASHED
        is_busy = robot.state == MOVE or robot.due < NEVER
        if robot.state == MOVE:
            motion.halt(world, robot, now)
        robot.state = CRASHED
        robot.due = NEVER
        touched.add(robot)
        if robot.fault != BYZANTINE:
            world.n_counted -= 1
            world.n_settled -= robot.settled == world.changes
        if world.n_counted == 0:
            finish(world, QUIET, now, touched)
        end_turn(world, robot)
        if is_busy and world.scheduler == SEQUENTIAL and world.outcome == RUNNING:
            give_turn(world, now, rng, touched)
        elif is_busy and world.scheduler == ROUNDS:
            end_round(world, touched)


class Arrive(Action):
    """A robot ends its move."""

    robot: Robot

    def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
        return self.robot.due if self.robot.state == MOVE and world.outcome == RUNNING else NEVER

    def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
        world.code = STAYED
        motion.land(world, self.robot, now)
        end_cycle(world, self.robot, now, rng, touched)
        watch(world, now)


def look_with(algorithm: Algorithm) -> type[Action]:
    """Return the action of a robot that looks and computes with an algorithm."""

    class Look(Action):
        """A robot looks, computes, and sets off or stays."""

        robot: Robot

        def schedule(self, world: SwarmWorld, now: float, rng: Rng) -> float:
            return self.robot.due if self.robot.state == WAIT and world.outcome == RUNNING else NEVER

        def fire(self, world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> None:
            robot = self.robot
            if world.scheduler == ASYNC:
                until = wait_for(world, robot, now)
                if until > now:
                    world.code = IGNORED
                    robot.due = until
                    return
            begin_look(world, robot, now)
            view = world.views[0]
            if robot.fault == BYZANTINE:
                x, y = wander(world, robot, view, rng)
            else:
                own_x, own_y = algorithm(view)
                x, y = view.plane(own_x, own_y)
                end_look(world, robot, view, now)
            act(world, robot, x, y, now, rng, touched)
            watch(world, now)

    return Look


def begin_look(world: SwarmWorld, robot: Robot, now: float) -> None:
    """Open the robot's eyes."""
    world.n_turns += 1
    note_look(world, robot, now if world.scheduler == ASYNC else 1.0 * world.n_turns)
    robot.due = NEVER
    world.views[0].open(robot.index, now)


def end_look(world: SwarmWorld, robot: Robot, view: View, now: float) -> None:
    """Show the light that the algorithm has set, and keep the circle that it has found."""
    if view.lit != robot.light:
        robot.light_before = robot.light
        robot.light = view.lit
        robot.light_at = now
        motion.note_change(world, robot)
    if view.has_circle:
        robot.circle_x = view.centre_x
        robot.circle_y = view.centre_y
        robot.circle_r = view.radius


def swarm_model(algorithm: Algorithm, *, observables: tuple[type[Observable], ...] = (), name: str = "") -> Model:
    """Return the model of a swarm whose robots run an algorithm.

    Parameters
    ----------
    algorithm : a plain function from a `View` to a target (x, y) in the robot's own frame, whose
        origin is the robot; it is compiled with the model
    observables : what to follow, such as those in `invariants`
    name : the algorithm's own by default

    Returns a model whose worlds `make_swarm` makes.
    """
    actions: list[Any] = [Tick, Begin, Crash, look_with(algorithm), Arrive]
    return Model(SwarmWorld, actions, observables=observables, tie="entity", name=name or algorithm.__name__)
