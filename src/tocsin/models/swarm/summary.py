"""What came of a run of robots, in a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.models.swarm.robot import ALL_TERMINATED, BYZANTINE, CRASHED, MAX_TURNS, QUIET, RUNNING, STALLED
from tocsin.models.swarm.watch import LOST
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import NEVER

if TYPE_CHECKING:
    from numpy.typing import NDArray

OUTCOMES = {
    RUNNING: "running", ALL_TERMINATED: "all terminated", STALLED: "stalled", MAX_TURNS: "turn limit", QUIET: "at rest",
}  # fmt: skip


def positions(world: SwarmWorld, now: float) -> NDArray[np.float64]:
    """Return where the robots are, n x 2."""
    return np.array([robot.where(now) for robot in world.robots])


def diameter(points: NDArray[np.float64]) -> float:
    """Return the largest distance of two points, 0 of none. Cost: points times those that are far out."""
    away = np.hypot(*(points - points.mean(axis=0)).T) if len(points) else np.zeros(0)
    found = 0.0
    for i in np.argsort(-away, kind="stable"):
        if away[i] + away.max() < found:
            break  # no point is so far from this one, nor from any that is nearer to the middle
        found = max(found, float(np.hypot(*(points - points[i]).T).max()))
    return found


def clusters(points: NDArray[np.float64], reach: float) -> int:
    """Return into how many parts points fall that are linked within `reach`. Cost O(n squared)."""
    left, found = np.ones(len(points), bool), 0
    while left.any():
        found += 1
        edge = [int(np.flatnonzero(left)[0])]
        left[edge] = False
        while edge:
            point = points[edge.pop()]
            near = np.flatnonzero(left & (np.hypot(*(points - point).T) <= reach))
            left[near] = False
            edge += near.tolist()
    return found


def lost_links(world: SwarmWorld, points: NDArray[np.float64]) -> int:
    """Return how many of the links of the start are longer now than robots see."""
    ends = points[world.links.values]
    return int((np.hypot(*(ends[:, 0] - ends[:, 1]).T) > world.rules.visibility * (1.0 + LOST)).sum())


def summarise(world: SwarmWorld, now: float) -> dict[str, Any]:
    """Return how a run ended and what it took. Crashed robots count in all but `diameter of the live`.

    Gathered: all robots, up to twice the tolerance; Byzantine ones are left out of that, as nobody waits for them.
    """
    points = positions(world, now)
    rules, travelled = world.rules, world.robots["travelled"]
    live = points[world.robots["state"] != CRASHED]
    found: dict[str, Any] = {
        "robots": len(points),
        "outcome": OUTCOMES[world.outcome],
        "ended at": world.ended_at if world.outcome != RUNNING else now,
        "looks": world.n_turns,
        "epochs": world.n_epochs,
        "travelled, mean": float(travelled.mean()),
        "travelled, most": float(travelled.max()),
        "diameter": diameter(points),
        "diameter of the live": diameter(live),
        "clusters": clusters(points, max(rules.visibility, 2.0 * rules.tolerance)),
        "gathered": bool(diameter(points[world.robots["fault"] != BYZANTINE]) <= 2.0 * rules.tolerance),
    }
    if world.is_watched:
        found["longest initial link"] = world.longest_link
        found["links at the start"] = len(world.links)
        found["links too long now"] = lost_links(world, points)
        found["a link was lost"] = world.lost_at < NEVER
        found["link lost at"] = world.lost_at if world.lost_at < NEVER else None
        found["growth of the diameter"] = world.growth
    return found
