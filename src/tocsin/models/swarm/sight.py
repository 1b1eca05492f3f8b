"""What a robot that looks can see: by range, by what stands in the way, by how it tells robots apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tocsin.models.swarm import points

if TYPE_CHECKING:
    from tocsin.models.swarm.view import View
    from tocsin.models.swarm.world import SwarmWorld

STRONG, WEAK, NO_DETECTION = 0, 1, 2
"""Multiplicity detection: sees each robot; sees points and whether there are several; sees points."""

RANGE_SLACK = 1e-12
"""Share of the range by which rounding may take a robot that stands exactly on it."""

LINE_SLACK = 1e-9
"""Sine of the angle up to which a robot stands in the way of one behind it."""


def sees_all(world: SwarmWorld) -> bool:
    """Say whether every robot sees every other one."""
    return bool(world.rules.visibility == 0.0 and not world.is_opaque and world.multiplicity == STRONG)


def gather(world: SwarmWorld, view: View) -> None:
    """Put what the robot of a view sees into `seen`, `at_x` and `at_y`.

    Cost: O(n) without limit of visibility; else the robots in the 16 cells around, and those on long ways.
    Opaque robots cost the square of those in sight; points no more than robots.
    """
    view.n_seen = 0
    view.own = -1
    if world.rules.visibility == 0.0:
        for j in range(len(world.robots)):
            enter(world, view, j)
    else:
        gather_near(world, view)
    if world.is_opaque:
        hide(world, view)
    if world.multiplicity != STRONG:
        points.merge(world, view)


def enter(world: SwarmWorld, view: View, j: int) -> None:
    """Add robot j where it is now."""
    x, y = world.robots[j].where(view.now)
    k = view.n_seen
    world.seen[k] = j
    world.at_x[k] = x
    world.at_y[k] = y
    view.n_seen = k + 1
    if j == view.who:
        view.own = k


def gather_near(world: SwarmWorld, view: View) -> None:
    """Add the robots within the range of visibility."""
    me, reach = world.robots[view.who], world.rules.visibility
    around = 1.5 * reach
    first_row, last_row = math.floor((me.y - around) / reach), math.floor((me.y + around) / reach)
    for column in range(math.floor((me.x - around) / reach), math.floor((me.x + around) / reach) + 1):
        for row in range(first_row, last_row + 1):
            place = ((column * 73856093) ^ (row * 19349663)) & (len(world.buckets) - 1)
            j = world.buckets[place]
            while j >= 0:
                robot = world.robots[j]
                if robot.column == column and robot.row == row:
                    enter_if_near(world, view, j)
                j = robot.after
    for i in range(world.n_far):
        enter_if_near(world, view, world.far[i])


def enter_if_near(world: SwarmWorld, view: View, j: int) -> None:
    """Add robot j if it is within the range, its border included."""
    x, y = world.robots[j].where(view.now)
    me, reach = world.robots[view.who], world.rules.visibility
    dx, dy = x - me.x, y - me.y
    if dx * dx + dy * dy <= reach * reach * (1.0 + 2.0 * RANGE_SLACK):
        enter(world, view, j)


def hide(world: SwarmWorld, view: View) -> None:
    """Take out robots that another hides: one nearer and in the same direction."""
    for k in range(view.n_seen):
        world.many[k] = 1 if is_hidden(world, view, k) else 0
    n = 0
    for k in range(view.n_seen):
        if world.many[k] == 0:
            keep(world, view, k, n)
            n += 1
    view.n_seen = n


def is_hidden(world: SwarmWorld, view: View, k: int) -> bool:
    """Say whether some robot stands between the one that looks and robot k."""
    me = world.robots[view.who]
    kx, ky = world.at_x[k] - me.x, world.at_y[k] - me.y
    kk = kx * kx + ky * ky
    for j in range(view.n_seen):
        jx, jy = world.at_x[j] - me.x, world.at_y[j] - me.y
        jj = jx * jx + jy * jy
        if 0.0 < jj < kk * (1.0 - LINE_SLACK) and jx * kx + jy * ky > 0.0:
            cross = jx * ky - jy * kx
            if cross * cross <= LINE_SLACK * LINE_SLACK * jj * kk:
                return True
    return False


def keep(world: SwarmWorld, view: View, k: int, place: int) -> None:
    """Move entry k to an earlier place."""
    world.seen[place] = world.seen[k]
    world.at_x[place] = world.at_x[k]
    world.at_y[place] = world.at_y[k]
    if view.own == k:
        view.own = place


def count_at(world: SwarmWorld, n: int, k: int) -> int:
    """Return how many of n robots in sight stand where robot k does. Cost O(n)."""
    near, found = world.rules.same_place * world.rules.same_place, 0
    for j in range(n):
        dx, dy = world.at_x[j] - world.at_x[k], world.at_y[j] - world.at_y[k]
        if dx * dx + dy * dy <= near:
            found += 1
    return found


def mean_of_all(world: SwarmWorld, now: float) -> tuple[float, float]:
    """Return the mean position of all robots, from the sums that are kept. Cost O(1)."""
    n, since = len(world.robots), now - world.sum_at
    return (world.sum_x + world.drift_x * since) / n, (world.sum_y + world.drift_y * since) / n


def light_of(world: SwarmWorld, k: int, now: float) -> int:
    """Return the light of the robot at entry k; one changed at this very instant still shows what it was."""
    robot = world.robots[world.seen[k]]
    return robot.light_before if robot.light_at == now else robot.light
