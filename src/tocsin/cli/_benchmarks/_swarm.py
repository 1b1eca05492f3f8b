"""Robot swarms against published figures of the LCM simulator: its Python rules, and its Rust port.

The original is not run here: its figures were taken on a machine of two cores, those of the port are from its report, on a
faster one. Each of our figures is that of robots which did arrive where the algorithm sends them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tocsin.cli._benchmarks._comparison import Comparison, faster
from tocsin.errors import SimulationError
from tocsin.models.swarm.build import make_swarm
from tocsin.models.swarm.preset import MODEL
from tocsin.models.swarm.robot import QUIET
from tocsin.models.swarm.summary import diameter, positions
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation

PYTHON = {
    "Gathering": {10: 11_556.0, 100: 365.0, 1000: 2.6},
    "SEC": {10: 2_505.0, 100: 124.0, 1000: 3.1},
    "GoToCenter": {10: 3_930.0, 100: 254.0, 1000: 3.0},
}
"""Events per CPU second of the original, by algorithm and number of robots."""

GOALS = {10: None, 100: 500.0, 1000: 10_000.0}
PORT_TEN_THOUSAND = 17_500.0
"""Events a second of the port with 10,000 robots."""
PORT_FULL_RUN = 1_889_642 / 7.3
"""Events a second of the port's run of 1,000 robots from start to end."""

ROUNDS = 3
EVENTS = 60_000
FULL = {"tick": 0.1}
"""The original's ticks are events too."""


def swarm() -> Iterator[Comparison]:
    """Robot swarms at 10 to 10,000 robots: against the LCM simulator's published figures."""
    for algorithm, figures in PYTHON.items():
        for n, peer in figures.items():
            yield _compared(f"{algorithm}, {n} robots, LCM in Python", algorithm, n, peer, GOALS[n])
    for algorithm in PYTHON:
        yield _compared(f"{algorithm}, 10000 robots, LCM in Rust", algorithm, 10_000, PORT_TEN_THOUSAND, 1.0)
    yield faster("Gathering, 1000 robots to the end, LCM in Rust", *_paired(_full_run, PORT_FULL_RUN), 1.0)


def _compared(name: str, algorithm: str, n: int, peer: float, goal: float | None) -> Comparison:
    return faster(name, *_paired(lambda seed: _speed(algorithm, n, seed), peer), goal)


def _paired(run: Any, peer: float) -> tuple[list[float], list[float]]:
    return [run(seed) for seed in range(ROUNDS)], [peer] * ROUNDS


def _start(algorithm: str, n: int, seed: int, **rules: float) -> Simulation[SwarmWorld]:
    places = np.random.default_rng(seed).uniform(-300.0, 300.0, (n, 2))
    return Simulation(MODEL, make_swarm(places, algorithm, rules=rules, seed=seed), seed=seed)


def _speed(algorithm: str, n: int, seed: int) -> float:
    """Return events per CPU second, of several runs if they are short."""
    n_events, spent = 0, 0.0
    while n_events < EVENTS:
        simulation = _start(algorithm, n, seed + ROUNDS * n_events)
        begun = time.process_time()
        simulation.run(events=EVENTS)
        spent += time.process_time() - begun
        n_events += simulation.n_events
        _check(algorithm, simulation)
    return n_events / spent


def _full_run(seed: int) -> float:
    simulation = _start("Gathering", 1000, seed, **FULL)
    begun = time.process_time()
    simulation.run(until=1e9)
    spent = time.process_time() - begun
    if diameter(positions(simulation.world, simulation.now)) > 2e-5:
        raise SimulationError("a thousand robots did not gather; no figure is given")
    return simulation.n_events / spent


def _check(algorithm: str, simulation: Simulation[SwarmWorld]) -> None:
    """Raise SimulationError for robots that are at rest, but not where their algorithm ends."""
    if simulation.world.outcome != QUIET:
        return
    here = positions(simulation.world, simulation.now)
    if algorithm == "SEC":
        robot = simulation.world.robots[0]
        off = abs(np.hypot(here[:, 0] - robot.circle_x, here[:, 1] - robot.circle_y) - robot.circle_r).max()
    else:
        off = diameter(here)
    if not off <= 1e-4:
        raise SimulationError(f"robots at rest are {off:g} off the end of {algorithm}; no figure is given")
