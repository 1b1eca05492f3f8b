"""Boltzmann wealth: whoever has a coin gives one to somebody, and most end up poor.

At each tick every agent who has a coin, in a fresh random order, gives one to another, each equally likely.
Wealth comes to be distributed as energy is in a gas: exponentially. Dragulescu and Yakovenko 2000,
doi:10.1007/s100510070114.
"""

from __future__ import annotations

from tocsin import Arena, Entity, InputError, Model, Observable, Rng, System, Touched, World, int64
from tocsin.export.marks import Histogram, View


class Agent(Entity):
    """Somebody with coins."""

    wealth: int64


class Market(World):
    """Everybody may meet everybody."""

    agents: Arena[Agent]


class Give(System):
    """An agent gives a coin away."""

    agent: Agent

    def update(self, world: Market, now: float, rng: Rng, touched: Touched) -> None:
        n = len(world.agents)
        if self.agent.wealth > 0 and n > 1:
            k = rng.integers(0, n - 1)
            other = world.agents[k + 1 if k >= self.agent.index else k]
            self.agent.wealth -= 1
            other.wealth += 1
            touched.add(self.agent)
            touched.add(other)


class Poor(Observable):
    """Number of agents without a coin."""

    agent: Agent

    def value(self, world: Market) -> float:
        return self.agent.wealth == 0


def make_world(n_agents: int = 500, wealth: int = 1) -> Market:
    """Return agents with `wealth` coins each. Raises InputError for numbers below 0."""
    if n_agents < 0 or wealth < 0:
        raise InputError(f"n_agents and wealth must be >= 0, got {n_agents} and {wealth}")
    return Market(agents={"wealth": [wealth] * n_agents})


MODEL = Model(Market, systems=[Give], observables=[Poor], name="wealth")

VIEW = View((Histogram("agents", "wealth", "wealth of an agent"),), speed=20.0)
