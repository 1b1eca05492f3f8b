"""PHOLD: n messages that hop between n places, each after an exponential wait of mean 1.

The standard load of event queues: Fujimoto 1990, Performance of Time Warp under synthetic
workloads. Nothing is computed but the wait and the next place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tocsin.cli._benchmarks._comparison import Comparison, alternated, require
from tocsin.errors import SimulationError
from tocsin.kernel import Rng, Touched
from tocsin.run import Simulation
from tocsin.schema import Action, Arena, Entity, Model, World, int32, int64

SIZES = (100, 10_000)
OUR_EVENTS, PEER_EVENTS, GOAL = 2_000_000, 100_000, 20.0


class Message(Entity):
    """A message, and where it is."""

    place: int32


class Places(World):
    """All messages, and how many hops there were."""

    messages: Arena[Message]
    n_hops: int64


class Hop(Action):
    """A message arrives at another place."""

    message: Message

    def rate(self, world: Places) -> float:
        """Mean wait 1."""
        return 1.0

    def fire(self, world: Places, now: float, rng: Rng, touched: Touched) -> None:
        """Draw the next place."""
        self.message.place = rng.integers(0, len(world.messages))
        world.n_hops += 1


MODEL = Model(Places, [Hop], name="phold")


def phold() -> Iterator[Comparison]:
    """Event queue under load, against SimPy: events per CPU second."""
    simpy = require("simpy", "simpy")
    for n in SIZES:
        ours, peer = alternated(_ours(n), _simpy(simpy, n))
        yield Comparison(f"phold, {n:,} messages, SimPy", ours, peer, "events/CPU s", GOAL)


def _ours(n: int) -> Callable[[], int]:
    """Return a program that goes on with one warm simulation."""
    simulation = Simulation(MODEL, Places(messages=n, n_hops=0), seed=1)
    simulation.run(events=10_000)

    def program() -> int:
        before = simulation.world.n_hops
        simulation.run(events=OUR_EVENTS)
        return _checked(simulation.world.n_hops - before, OUR_EVENTS)

    return program


def _simpy(simpy: ModuleType, n: int) -> Callable[[], int]:
    """Return a program that runs SimPy from the start: one process for each message."""

    def program() -> int:
        env, rng, places, n_hops = simpy.Environment(), random.Random(1), [0] * n, [0]  # noqa: S311

        def message(number: int) -> Iterator[Any]:
            while True:
                yield env.timeout(rng.expovariate(1.0))
                places[number] = rng.randrange(n)
                n_hops[0] += 1

        for number in range(n):
            env.process(message(number))
        for _ in range(PEER_EVENTS + n):  # n steps start the processes
            env.step()
        return _checked(n_hops[0], PEER_EVENTS)

    return program


def _checked(n_events: int, wanted: int) -> int:
    if n_events != wanted:
        raise SimulationError(f"the benchmark fired {n_events} events, expected {wanted}")
    return n_events
