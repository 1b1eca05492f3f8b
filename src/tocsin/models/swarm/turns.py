"""Whose turn it is, when robots act one at a time, and when an epoch is over.

An epoch ends when every robot that was live at its start has had a turn. The orders are those
of sequential schedulers in Feletti, Flocchini and Santoro 2025, arXiv:2412.10733: an explicit list
(SEQ), a permutation each epoch (PERM), the same one each epoch (RROBIN).
"""

from __future__ import annotations

from tocsin.kernel import Rng, Touched
from tocsin.models.swarm.robot import CRASHED, FAIR, MAX_TURNS, RUNNING, SHUFFLED, STALLED, Robot
from tocsin.models.swarm.world import SwarmWorld


def is_live(robot: Robot) -> bool:
    """Say whether a robot may still have a turn."""
    return robot.state != CRASHED and not robot.terminated


def finish(world: SwarmWorld, outcome: int, now: float, touched: Touched) -> None:
    """End the run: no clock rings again."""
    world.outcome = outcome
    world.ended_at = now
    touched.all(world.robots)
    touched.add(world)


def end_turn(world: SwarmWorld, robot: Robot) -> bool:
    """Count a turn that is over; say whether that ended an epoch. Cost O(1), O(n) an epoch."""
    if robot.epoch == world.n_epochs:
        return False
    robot.epoch = world.n_epochs
    world.n_unseen -= 1
    if world.n_unseen > 0:
        return False
    world.n_epochs += 1
    world.n_unseen = 0
    for i in range(len(world.robots)):
        if is_live(world.robots[i]):
            world.n_unseen += 1
    return True


def is_stalled(world: SwarmWorld) -> bool:
    """Say, at the end of an epoch, whether nothing can ever happen again; begin the next one."""
    silent = not world.has_progress and world.is_faultless
    world.has_progress = False
    return silent


def next_robot(world: SwarmWorld, rng: Rng) -> int:
    """Return who has the next turn, -1 if nobody is left. Cost O(1), O(n) if fair."""
    n, n_plan = len(world.robots), len(world.plan_robot)
    for _ in range(2 * (n + n_plan) + 2):
        k = world.cursor
        world.cursor += 1
        stop = 0.0
        world.next_wait = -1.0
        if n_plan > 0 and (k < n_plan or world.is_repeating):
            who = world.plan_robot[k % n_plan]
            stop = world.plan_stop[k % n_plan]
            world.next_wait = world.plan_when[k % n_plan]
        elif world.turn_order == FAIR:
            return fair_robot(world, rng)
        else:
            who = (k - n_plan) % n
            if world.turn_order == SHUFFLED:
                if who == 0:
                    shuffle_order(world, rng)
                who = world.order[who]
        if is_live(world.robots[who]):
            world.robots[who].stop = stop
            return who
    return -1


def shuffle_order(world: SwarmWorld, rng: Rng) -> None:
    """Draw an order of all robots."""
    n = len(world.robots)
    for i in range(n):
        world.order[i] = i
    rng.shuffle(world.order, n)


def fair_robot(world: SwarmWorld, rng: Rng) -> int:
    """Draw a live robot that has had less than k turns since the turn of any other live robot.

    The one who has waited longest always qualifies. With k = 0 any live robot does.
    """
    n_fit = count_fit(world)
    if n_fit == 0:
        return -1
    place = rng.integers(0, n_fit)
    oldest = longest_waiting(world)
    for i in range(len(world.robots)):
        if is_live(world.robots[i]) and is_fit(world, i, oldest):
            if place == 0:
                return i
            place -= 1
    return -1


def count_fit(world: SwarmWorld) -> int:
    """Return how many robots may have the next turn."""
    oldest, n_fit = longest_waiting(world), 0
    for i in range(len(world.robots)):
        if is_live(world.robots[i]) and is_fit(world, i, oldest):
            n_fit += 1
    return n_fit


def longest_waiting(world: SwarmWorld) -> int:
    """Return the live robot whose last turn is longest ago, -1 if there is none."""
    found = -1
    for i in range(len(world.robots)):
        if is_live(world.robots[i]) and (found < 0 or last_turn(world, i) < last_turn(world, found)):
            found = i
    return found


def last_turn(world: SwarmWorld, i: int) -> float:
    """Return the number of a robot's last turn; before the first, a negative one in order of rows."""
    robot = world.robots[i]
    k = max(1, world.rules.k)
    return -1.0 - i if robot.n_looks == 0 else world.last_looks[i, (robot.n_looks - 1) % k]


def is_fit(world: SwarmWorld, i: int, oldest: int) -> bool:
    """Say whether a robot has had less than k turns since the last turn of robot `oldest`."""
    k = world.rules.k
    robot = world.robots[i]
    if k == 0 or i == oldest or robot.n_looks < k:
        return True
    return world.last_looks[i, robot.n_looks % k] < last_turn(world, oldest)


def note_look(world: SwarmWorld, robot: Robot, when: float) -> None:
    """Remember a look for the bound on how often a robot looks: its time, or its number."""
    k = max(1, world.rules.k)
    world.last_looks[robot.index, robot.n_looks % k] = when
    robot.n_looks += 1


def pass_turn(world: SwarmWorld, robot: Robot, now: float, rng: Rng, touched: Touched) -> int:
    """End a robot's turn and return who is next; -1 if the run is over, which is then said."""
    if end_turn(world, robot) and is_stalled(world):
        finish(world, STALLED, now, touched)
        return -1
    return first_turn(world, now, rng, touched)


def first_turn(world: SwarmWorld, now: float, rng: Rng, touched: Touched) -> int:
    """Return who is next; -1 if nobody is left, or no turn."""
    who = next_robot(world, rng)
    if who >= 0 and 0 < world.max_turns <= world.n_turns:
        finish(world, MAX_TURNS, now, touched)
        return -1
    return who if world.outcome == RUNNING else -1
