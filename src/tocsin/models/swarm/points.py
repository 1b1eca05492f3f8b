"""Robots on one point, as one entry: what a robot sees that cannot tell them apart.

An entry joins the first earlier one within `same_place`. Of a few entries all earlier ones are tried; of many, those that are
filed under the cells around, hashed into buckets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.models.swarm.view import View
    from tocsin.models.swarm.world import SwarmWorld

FEW = 24
"""Entries up to which trying all is faster."""


def merge(world: SwarmWorld, view: View) -> None:
    """Make one entry of all robots on one point, and count them in `many`. Cost: the robots in sight."""
    own, n, cell = view.own, 0, cell_of(world, view.n_seen)
    for k in range(view.n_seen):
        x, y = world.at_x[k], world.at_y[k]
        place = first_near(world, n, x, y) if view.n_seen <= FEW else first_filed(world, x, y, cell)
        if place < 0:
            place = n
            world.many[place] = 0
            world.seen[place] = world.seen[k]
            world.at_x[place] = x
            world.at_y[place] = y
            if view.n_seen > FEW:
                file(world, place, cell)
            n += 1
        world.many[place] += 1
        if k == own:
            view.own = place
    if view.n_seen > FEW:
        for p in range(n):
            world.point_heads[head(world, math.floor(world.at_x[p] / cell), math.floor(world.at_y[p] / cell))] = -1
    view.n_seen = n


def is_near(world: SwarmWorld, x: float, y: float, p: int) -> bool:
    """Say whether entry p is on the point (x, y)."""
    dx, dy = x - world.at_x[p], y - world.at_y[p]
    return bool(dx * dx + dy * dy <= world.rules.same_place * world.rules.same_place)


def first_near(world: SwarmWorld, n: int, x: float, y: float) -> int:
    """Return the first of n entries that is on a point, -1 if none is."""
    for p in range(n):
        if is_near(world, x, y, p):
            return p
    return -1


def cell_of(world: SwarmWorld, n: int) -> float:
    """Return the width of a cell: four times `same_place`, and such that columns are exact as numbers."""
    most = 0.0
    for k in range(n):
        most = max(most, abs(world.at_x[k]), abs(world.at_y[k]))
    cell = max(4.0 * world.rules.same_place, 1e-12 * most)
    return cell if cell > 1e-300 else 1.0


def head(world: SwarmWorld, column: int, row: int) -> int:
    """Return the bucket of a cell."""
    return ((column * 73856093) ^ (row * 19349663)) & (len(world.point_heads) - 1)


def file(world: SwarmWorld, p: int, cell: float) -> None:
    """File entry p under its cell."""
    place = head(world, math.floor(world.at_x[p] / cell), math.floor(world.at_y[p] / cell))
    world.point_after[p] = world.point_heads[place]
    world.point_heads[place] = p


def first_filed(world: SwarmWorld, x: float, y: float, cell: float) -> int:
    """Return the first filed entry that is on a point, -1 if none is: it is in one of the four cells around."""
    found = -1
    column, row = math.floor(x / cell - 0.5), math.floor(y / cell - 0.5)
    for i in range(4):
        p = world.point_heads[head(world, column + i % 2, row + i // 2)]
        while p >= 0:
            if (found < 0 or p < found) and is_near(world, x, y, p):
                found = p
            p = world.point_after[p]
    return found
