"""Schelling's segregation: who has too few of his own kind around him moves to an empty cell.

Two kinds of agents on a bounded grid. At each tick each agent, in a fresh random order, counts those of
its kind within `radius` (Chebyshev), and moves to a cell drawn from all empty ones if they are
fewer than `wanted`. The cell it leaves is not among those. Schelling 1971,
doi:10.1080/0022250X.1971.9989794.
"""

from __future__ import annotations

import numpy as np

from tocsin import (
    Arena,
    Array,
    Array2,
    Entity,
    InputError,
    Model,
    Observable,
    Params,
    Rng,
    System,
    Touched,
    World,
    boolean,
    int8,
    int32,
    int64,
    param,
)
from tocsin.export.marks import Cells, View
from tocsin.models.agents._start import random_order

NOBODY, BLUE, RED = 0, 1, 2


class Wishes(Params):
    """What contents an agent."""

    radius: int64 = param(1, unit="cells", ge=1, doc="how far it looks, diagonally too")
    wanted: int64 = param(3, ge=0, doc="neighbours of its own kind that it wants at least")


class Agent(Entity):
    """Somebody who lives in a cell."""

    x: int32
    y: int32
    kind: int8  # BLUE or RED
    is_happy: boolean  # when it last looked around


class Town(World):
    """Who lives where: `kinds[x, y]`, and the empty cells (x * height + y) in any order."""

    agents: Arena[Agent]
    kinds: Array2[int8]
    empty: Array[int32]
    width: int64
    height: int64
    wishes: Wishes

    def n_alike(self, agent: Agent) -> int:
        """Return how many of its kind live around an agent."""
        x, y, r = agent.x, agent.y, self.wishes.radius
        width, height = self.width, self.height
        n = -1  # the agent itself
        for i in range(max(x - r, 0), min(x + r + 1, width)):
            for j in range(max(y - r, 0), min(y + r + 1, height)):
                if self.kinds[i, j] == agent.kind:
                    n += 1
        return n

    def move(self, agent: Agent, k: int) -> None:
        """Move an agent to the empty cell number k; the cell that it leaves takes that number."""
        height = self.height
        cell = self.empty[k]
        self.empty[k] = agent.x * height + agent.y
        self.kinds[agent.x, agent.y] = NOBODY
        agent.x, agent.y = cell // height, cell % height
        self.kinds[agent.x, agent.y] = agent.kind


class Settle(System):
    """An agent looks around, and moves if it is not content."""

    agent: Agent

    def update(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        agent = self.agent
        is_happy = world.n_alike(agent) >= world.wishes.wanted
        if is_happy != agent.is_happy:
            agent.is_happy = is_happy
            touched.add(agent)
        if not is_happy and len(world.empty) > 0:
            world.move(agent, rng.integers(0, len(world.empty)))


class Happy(Observable):
    """Number of agents who were content when they last looked around."""

    agent: Agent

    def value(self, world: Town) -> float:
        return self.agent.is_happy


def make_world(
    width: int = 40,
    height: int = 40,
    n_agents: int = 1000,
    blue: float = 0.5,
    seed: int = 0,
    wishes: Wishes | None = None,
) -> Town:
    """Return a town with exactly `n_agents` agents in random cells, the share `blue` of them (rounded) blue.

    Raises InputError for more agents than cells, or a share outside 0..1.
    """
    n_cells = width * height
    if width < 1 or height < 1 or not 0 <= n_agents <= n_cells:
        raise InputError(f"n_agents must be in 0..{max(n_cells, 0)} on {width} x {height} cells, got {n_agents}")
    if not 0.0 <= blue <= 1.0:
        raise InputError(f"blue must be in 0..1, got {blue!r}")
    cells = random_order(seed, n_cells)
    home, empty = cells[:n_agents], np.sort(cells[n_agents:])
    kind = np.where(np.arange(n_agents) < round(blue * n_agents), BLUE, RED)
    kinds = np.zeros(n_cells, np.int8)
    kinds[home] = kind
    return Town(
        agents={"x": home // height, "y": home % height, "kind": kind, "is_happy": False},
        kinds=kinds.reshape(width, height), empty=empty, width=width, height=height, wishes=wishes or Wishes(),
    )  # fmt: skip


MODEL = Model(Town, systems=[Settle], observables=[Happy], name="schelling")

VIEW = View(
    (Cells(array="kinds", by_column=True),), box=("width", "height"), labels=("blue", "red"), blank="nobody",
    colours=("#3b6fb6", "#c23b3b"), speed=3.0,
)  # fmt: skip
