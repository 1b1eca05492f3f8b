"""Sugarscape: agents who see, move, eat and die on a landscape of sugar, and become unequal.

At each tick every agent, who sees up to `vision` sites along the four directions, claims the free site with most
sugar there, the nearest of equals; all choose at once. Where several claim one site, a keyed draw says who wins, and
the others look again, until all have moved or stay: no agent has an advantage by its number. Then
each gathers the sugar of its site, pays its metabolism, and dies without sugar or of age, replaced by a new one at a
random free site (rule R). Then sugar grows by one unit (rule G). Epstein and Axtell 1996,
Growing Artificial Societies, chapter II, rules G, M and R.
"""

from __future__ import annotations

import numpy as np

from tocsin import (
    Arena,
    Entity,
    InputError,
    Model,
    Observable,
    Params,
    Pool,
    Rng,
    System,
    World,
    float64,
    int32,
    int64,
    param,
)
from tocsin.export.marks import Cells, Histogram, Points, View
from tocsin.kernel import uniforms
from tocsin.models.agents._start import random_order, whole_numbers
from tocsin.space import Claims, Grid


class Rules(Params):
    """How sugar grows, and how agents are made."""

    growth: float64 = param(1.0, unit="sugar/tick", ge=0, doc="sugar that grows on a site, up to its capacity")
    most_vision: int64 = param(6, unit="sites", ge=1, doc="an agent sees 1 .. this many sites far")
    most_metabolism: int64 = param(4, unit="sugar/tick", ge=1, doc="an agent needs 1 .. this much sugar a tick")
    least_sugar: int64 = param(5, unit="sugar", ge=0, doc="an agent starts with this much sugar at least,")
    most_sugar: int64 = param(25, unit="sugar", ge=0, doc="and with this much at most")
    least_age: int64 = param(60, unit="ticks", ge=1, doc="an agent dies of age after this many ticks at least,")
    most_age: int64 = param(100, unit="ticks", ge=1, doc="and after this many at most")


class Site(Entity):
    """A cell of the landscape, numbered as in the grid."""

    sugar: float64
    capacity: float64


class Agent(Entity):
    """Somebody who lives on sugar."""

    cell: int32
    sugar: float64
    vision: int32
    metabolism: int32
    age: int32
    most_age: int32
    target: int32  # the site that it claims


class Landscape(World):
    """Sites, and agents on a grid with room for one on each."""

    sites: Arena[Site]
    agents: Pool[Agent]
    grid: Grid[Agent]
    claims: Claims[Agent]
    rules: Rules

    def best_site(self, agent: Agent) -> int:
        """Return the free site in sight, or its own, with most sugar: its own, then the nearest, then east first."""
        grid = self.grid
        best, most = agent.cell, self.sites[agent.cell].sugar
        x, y = grid.column(agent.cell), grid.line(agent.cell)
        for far in range(1, agent.vision + 1):
            for side in range(4):
                by = far if side < 2 else -far
                dx, dy = (by, 0) if side % 2 == 0 else (0, by)
                cell = grid.cell_at((x + dx) % grid.width, (y + dy) % grid.height)
                if self.sites[cell].sugar > most and grid.is_empty(cell):
                    best, most = cell, self.sites[cell].sugar
        return best

    def endow(self, agent: Agent, rng: Rng) -> None:
        """Give an agent its random properties."""
        rules = self.rules
        agent.vision = rng.integers(1, rules.most_vision + 1)
        agent.metabolism = rng.integers(1, rules.most_metabolism + 1)
        agent.sugar = float(rng.integers(rules.least_sugar, rules.most_sugar + 1))
        agent.most_age = rng.integers(rules.least_age, rules.most_age + 1)


class Look(System):
    """An agent chooses a site."""

    agent: Agent
    mode = "synchronous"

    def update(self, world: Landscape, now: float, rng: Rng) -> None:
        self.agent.target = world.best_site(self.agent)


class Settle(System):
    """Claims are granted in rounds: winners move, losers look again at what is free now."""

    def update(self, world: Landscape, now: float, rng: Rng) -> None:
        claims = world.claims
        for agent in world.agents:
            if agent.target != agent.cell:
                claims.claim(agent, agent.target)
        while claims.grant(world.grid, rng) > 0:
            for agent in world.agents:
                if claims.has_claim(agent):
                    agent.target = world.best_site(agent)
                    if agent.target == agent.cell:
                        claims.withdraw(agent)
                    else:
                        claims.claim(agent, agent.target)


class Eat(System):
    """An agent gathers, pays, grows older, and may die and be replaced."""

    agent: Agent
    order = "key"

    def update(self, world: Landscape, now: float, rng: Rng) -> None:
        agent, site = self.agent, world.sites[self.agent.cell]
        agent.sugar += site.sugar - agent.metabolism
        site.sugar = 0.0
        agent.age += 1
        if agent.sugar < 0.0 or agent.age >= agent.most_age:
            world.grid.remove(agent)
            world.agents.remove(agent)
            heir = world.agents.spawn()
            world.endow(heir, rng)
            world.grid.move_to_empty(heir, rng)


class Grow(System):
    """Sugar grows."""

    site: Site
    mode = "synchronous"

    def update(self, world: Landscape, now: float, rng: Rng) -> None:
        self.site.sugar = min(self.site.sugar + world.rules.growth, self.site.capacity)


class Wealth(Observable):
    """Sugar that all agents hold."""

    def value(self, world: Landscape) -> float:
        total = 0.0
        for agent in world.agents:
            total += agent.sugar
        return total


def make_world(
    width: int = 50, height: int = 50, n_agents: int = 250, seed: int = 0, rules: Rules | None = None
) -> Landscape:
    """Return a torus with two peaks of sugar, 4 units at the tops and 1 less with each tenth of the width away.

    Raises InputError for more agents than sites, or ranges that are empty.
    """
    rules, n_sites = rules or Rules(), width * height
    if width < 1 or height < 1 or not 0 <= n_agents <= n_sites:
        raise InputError(f"n_agents must be in 0..{max(n_sites, 0)} on {width} x {height} sites, got {n_agents}")
    if rules.least_sugar > rules.most_sugar or rules.least_age > rules.most_age:
        raise InputError("least_sugar and least_age must not be above most_sugar and most_age")
    x, y = np.arange(n_sites) % width / width, np.arange(n_sites) // width / height
    far = np.minimum((x - 0.3) ** 2 + (y - 0.7) ** 2, (x - 0.7) ** 2 + (y - 0.3) ** 2)
    capacity = np.maximum(0.0, 4.0 - np.floor(10.0 * np.sqrt(far)))

    def between(stream: int, least: int, most: int) -> np.ndarray:
        return least + whole_numbers(seed, n_agents, most - least + 1, stream)

    agents = {
        "cell": random_order(seed, n_sites)[:n_agents], "vision": between(1, 1, rules.most_vision),
        "metabolism": between(2, 1, rules.most_metabolism), "sugar": between(3, rules.least_sugar, rules.most_sugar),
        "most_age": between(4, rules.least_age, rules.most_age),
        "age": np.floor(uniforms(seed, n_agents, 5) * 10.0),
    }  # fmt: skip
    return Landscape(
        sites={"sugar": capacity, "capacity": capacity}, agents=agents, rules=rules,
        grid=Grid(width, height, torus=True, capacity=1), claims=Claims(n_sites),
    )  # fmt: skip


MODEL = Model(Landscape, systems=[Look, Settle, Eat, Grow], observables=[Wealth], name="sugarscape")

VIEW = View(
    (Cells(table="sites", value="sugar", shades=True), Points("agents", cell="cell", shade=6, size=8.0), Histogram("agents", "sugar", "sugar of an agent")),
    box=("grid.width", "grid.height"), note="The darker a site, the more sugar it has; dots are agents.", speed=4.0,
)  # fmt: skip
