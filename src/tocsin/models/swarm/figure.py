"""A picture of a swarm: where its robots started, their paths, links, circle and end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.swarm.robot import CRASHED
from tocsin.models.swarm.summary import positions
from tocsin.models.swarm.world import SwarmWorld

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_LINKS = 300
"""Robots beyond which links are not drawn."""


def draw_swarm(path: Path, world: SwarmWorld, start: NDArray[np.float64], now: float) -> None:
    """Draw a swarm to a file.

    Parameters
    ----------
    path : .png, .svg or .pdf
    world : as it is now; its `trail` gives the paths
    start : where the robots stood, n x 2
    now : the time

    Raises InputError if Matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("a picture needs Matplotlib; run: pip install 'tocsin[plot]'") from None
    figure = Figure(figsize=(7, 7), layout="constrained")
    axes = figure.add_subplot()
    here = positions(world, now)
    _paths(axes, world, start, here)
    _links(axes, world, here)
    _circle(axes, world)
    is_crashed = world.robots["state"] == CRASHED
    axes.plot(*start.T, "o", color="0.7", markersize=4, label="start")
    axes.plot(*here[~is_crashed].T, "o", color="#0b5fa5", markersize=5, label="now")
    if is_crashed.any():
        axes.plot(*here[is_crashed].T, "x", color="#b3261e", markersize=7, label="crashed")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(f"{len(here)} robots, t = {world.ended_at if world.outcome else now:g}")
    axes.legend(loc="upper right", frameon=False)
    figure.savefig(path, dpi=150)


def _paths(axes: Any, world: SwarmWorld, start: NDArray[np.float64], here: NDArray[np.float64]) -> None:
    trail = world.trail.values[: world.n_trail]
    is_whole = world.n_trail < len(world.trail)
    for i, first in enumerate(start):
        own = trail[trail[:, 0] == i, 1:]
        last = here[i : i + 1] if is_whole else np.zeros((0, 2))
        axes.plot(*np.vstack([first[None], own, last]).T, "-", color="0.82", linewidth=0.8, zorder=0)


def _links(axes: Any, world: SwarmWorld, here: NDArray[np.float64]) -> None:
    reach = world.rules.visibility
    if reach == 0.0 or len(here) > MOST_LINKS:
        return
    for i, point in enumerate(here):
        for j in np.flatnonzero(np.hypot(*(here - point).T) <= reach).tolist():
            if j > i:
                axes.plot(*np.stack([point, here[j]]).T, "-", color="#9ecae1", linewidth=0.6, zorder=0)


def _circle(axes: Any, world: SwarmWorld) -> None:
    from matplotlib.patches import Circle

    radii = world.robots["circle_r"]
    if np.isfinite(radii).any():
        i = int(np.flatnonzero(np.isfinite(radii))[-1])
        robot = world.robots[i]
        axes.add_patch(Circle((robot.circle_x, robot.circle_y), robot.circle_r, fill=False, color="#2a9d5c"))
