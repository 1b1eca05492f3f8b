"""Columns and scratch space of a swarm of n robots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.models.swarm.robot import Rules
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import NEVER

if TYPE_CHECKING:
    from numpy.typing import NDArray


def blank_robots(positions: NDArray[np.float64], speeds: Any) -> dict[str, Any]:
    """Return the columns of robots that stand at positions (n x 2, float64) and have done nothing."""
    n = len(positions)
    x, y = positions[:, 0].copy(), positions[:, 1].copy()
    nans = np.full(n, np.nan)
    return {
        "x": x, "y": y, "goal_x": x, "goal_y": y, "speed": np.broadcast_to(np.asarray(speeds, float), (n,)),
        "due": np.full(n, NEVER), "crash_at": np.full(n, NEVER), "target_x": nans, "target_y": nans,
        "circle_x": nans, "circle_y": nans, "circle_r": nans, "frame_cos": np.ones(n), "frame_sin": np.zeros(n),
        "frame_scale": np.ones(n), "frame_mirror": np.ones(n), "lamp_at": np.full(n, -1.0), "light_at": np.full(n, -1.0),
        "settled": np.full(n, -1), "epoch": np.full(n, -1), "n_active": np.full(n, -1),
        "after": np.full(n, -1), "before": np.full(n, -1), "task": np.zeros(n, int), "fault": np.zeros(n, int),
        "state": np.zeros(n, int), "light": np.zeros(n, int), "light_before": np.zeros(n, int),
    }  # fmt: skip


Turn = tuple[int, float, float]


def chain(turns: list[Turn], n: int) -> tuple[list[int], list[int]]:
    """Return for each turn the same robot's next one, and for each robot its first; -1 for none."""
    after, following = [-1] * len(turns), [-1] * n
    for k in range(len(turns) - 1, -1, -1):
        who = turns[k][0]
        after[k], following[who] = following[who], k
    return after, following


def swarm_of(
    robots: dict[str, Any],
    rules: Rules,
    *,
    plan: list[Turn] | None = None,
    kind: type[SwarmWorld] = SwarmWorld,
    **choices: Any,
) -> SwarmWorld:
    """Return a world of these robots with room for all that a look needs.

    Parameters
    ----------
    robots : columns, as `blank_robots` gives them
    rules : numbers
    plan : an explicit schedule: for each turn the robot, the share of the way at which it stops (0: by
        policy), and when: the wait before (negative: by law), or the round
    kind : class of the world
    choices : scalars of `SwarmWorld`
    """
    n = len(robots["x"])
    n_buckets = 1
    while n_buckets < 2 * n:
        n_buckets *= 2
    turns = plan or []
    after, robots["entry"] = chain(turns, n)
    return kind(
        robots=robots, views={"who": [0], "n_seen": [-1], "named": [-1]}, rules=rules,
        seen=np.zeros(n), at_x=np.zeros(n), at_y=np.zeros(n), many=np.zeros(n), order=np.arange(n),
        scratch=np.zeros(4 * n), stack=np.zeros((n + 1, 5)),
        plan_robot=[who for who, _, _ in turns], plan_stop=[stop for _, stop, _ in turns],
        plan_when=[when for _, _, when in turns], plan_after=after, lost_at=NEVER, least_diameter=np.inf,
        last_looks=np.full((n, max(1, rules.k)), -np.inf), active=np.zeros(n), far=np.zeros(n),
        buckets=np.full(n_buckets, -1), point_heads=np.full(n_buckets, -1), point_after=np.zeros(n),
        rim=np.zeros(n), rim_share=1.0 / 64.0,
        fastest=float(np.max(robots["speed"])), **choices,
    )  # fmt: skip
