"""PHOLD against SimPy: one generator a clock there, one row here."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tocsin.cli._benchmarks._clocks import PHOLD, Clocks
from tocsin.cli._benchmarks._comparison import Comparison, alternated, check_events, faster, require, speed
from tocsin.run import Simulation

SIZES = ((1_000, 50.0), (100_000, None))
"""Clocks, goal."""
OUR_EVENTS, PEER_EVENTS, WARM_UP = 1_000_000, 100_000, 300_000


def simpy() -> Iterator[Comparison]:
    """PHOLD, exponential waits of mean 1: against SimPy, one process a clock."""
    peer = require("simpy", "simpy")
    for n, goal in SIZES:
        figures = alternated(_of(_ours(n)), _of(_theirs(peer, n)))
        yield faster(f"PHOLD, {n:,} clocks, SimPy", *figures, goal)


def _of(program: Callable[[], int]) -> Callable[[], float]:
    return lambda: speed(program)


def _ours(n: int) -> Callable[[], int]:
    """Return a program that goes on with one warm simulation."""
    simulation = Simulation(PHOLD, Clocks(clocks=n), seed=1)
    simulation.run(events=WARM_UP)

    def program() -> int:
        simulation.run(events=OUR_EVENTS)
        check_events(int(simulation.world.clocks["n_fired"].sum()), simulation.n_events, "our side")
        return OUR_EVENTS

    return program


def _theirs(module: ModuleType, n: int) -> Callable[[], int]:
    """Return a program that goes on with one warm environment."""
    env, rng, n_fired = module.Environment(), random.Random(1), [0] * n  # noqa: S311

    def clock(number: int) -> Iterator[Any]:
        while True:
            yield env.timeout(rng.expovariate(1.0))
            n_fired[number] += 1

    for number in range(n):
        env.process(clock(number))
    for _ in range(n):  # these steps start the processes
        env.step()

    def program() -> int:
        before = sum(n_fired)
        for _ in range(PEER_EVENTS):
            env.step()
        return check_events(sum(n_fired) - before, PEER_EVENTS, "SimPy")

    return program
