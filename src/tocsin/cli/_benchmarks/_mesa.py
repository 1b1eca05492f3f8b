"""Schelling, wolves and sheep, and boids at the large sizes of ABMFrameworksComparison, against Mesa.

The populations are compared before any figure is given: how many are content, how many animals live on
average, how well birds are aligned.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from tocsin.cli._benchmarks._comparison import Comparison, alternated, check_close, faster, require
from tocsin.models.agents import flocking, schelling, wolf_sheep
from tocsin.run import Simulation

ROUNDS = 3
BIRDS_ALIKE = 0.25
"""Relative difference of the mean alignment of two flocks that a run of 100 ticks may have by chance."""


def mesa() -> Iterator[Comparison]:
    """Schelling, Wolf-Sheep and Flocking, large: against Mesa 3.3, with grass that grows again."""
    require("mesa", "'mesa>=3.3,<3.4' scipy")
    yield _one("Schelling-large, Mesa", _our_schelling, _their_schelling, 350.0, 0.01, "who is content")
    yield _one("Flocking-large, Mesa", _our_flock, _their_flock, 300.0, BIRDS_ALIKE, "alignments")
    yield _one("Wolf-Sheep-large, Mesa", _our_meadow, _their_meadow, 250.0, 0.1, "populations")


Program = Callable[[int], tuple[float, float]]
"""From a seed to runs per CPU second, and what is to agree."""


def _one(name: str, ours: Program, peer: Program, goal: float, tolerance: float, what: str) -> Comparison:
    answers: tuple[list[float], list[float]] = [], []
    seeds = [iter(range(1, ROUNDS + 1)) for _ in range(2)]

    def program(k: int, run: Program) -> float:
        speed, answer = run(next(seeds[k]))
        answers[k].append(answer)
        return speed

    ours(0)  # compiles
    figures = alternated(lambda: program(0, ours), lambda: program(1, peer), ROUNDS)
    check_close(statistics.mean(answers[0]), statistics.mean(answers[1]), tolerance, what)
    return faster(name, *figures, goal, unit="runs/CPU s")


def _timed(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return 1.0 / (time.process_time() - begun)


def _our_schelling(seed: int) -> tuple[float, float]:
    world = schelling.make_world(100, 100, 8000, seed=seed, wishes=schelling.Wishes(radius=2, wanted=8))
    simulation = Simulation(schelling.MODEL, world, seed=seed)
    speed = _timed(lambda: simulation.run(until=20.0))
    return speed, simulation.observe()["Happy"].value


def _their_schelling(seed: int) -> tuple[float, float]:
    from tocsin.cli._benchmarks._mesa_models import Schelling

    model = Schelling(100, 8000, 2, 8, seed)
    speed = _timed(lambda: _steps(model, 20))
    return speed, sum(agent.is_happy for agent in model.agents)


def _our_flock(seed: int) -> tuple[float, float]:
    world = flocking.make_world(150.0, 150.0, 400, seed=seed, steering=flocking.Steering(sight=15.0))
    simulation = Simulation(flocking.MODEL, world, seed=seed, threads=1)
    speed = _timed(lambda: simulation.run(until=100.0))
    birds = simulation.world.birds
    return speed, float((birds["dx"].mean() ** 2 + birds["dy"].mean() ** 2) ** 0.5)


def _their_flock(seed: int) -> tuple[float, float]:
    import numpy as np

    from tocsin.cli._benchmarks._mesa_models import Flock

    model = Flock(150.0, 400, 15.0, seed)
    speed = _timed(lambda: _steps(model, 100))
    return speed, float(np.linalg.norm(np.mean([bird.direction for bird in model.agents], axis=0)))


def _our_meadow(seed: int) -> tuple[float, float]:
    rules = wolf_sheep.Rules(sheep_birth=0.4, wolf_birth=0.2, regrowth=10)
    world = wolf_sheep.make_world(100, 100, 1000, 500, seed=seed, rules=rules)
    simulation = Simulation(wolf_sheep.MODEL, world, seed=seed)
    speed = _timed(lambda: simulation.run(until=100.0))
    seen = simulation.observe()
    return speed, seen["SheepAlive"].mean + seen["WolvesAlive"].mean


def _their_meadow(seed: int) -> tuple[float, float]:
    from tocsin.cli._benchmarks._mesa_models import Sheep, Wolf, meadow

    model, simulator = meadow(100, 1000, 500, 10, seed)
    counts: list[int] = []

    def run() -> None:
        for _ in range(100):
            counts.append(sum(len(model.agents_by_type[kind]) for kind in (Sheep, Wolf)))
            simulator.run_for(1)

    return _timed(run), statistics.mean(counts)


def _steps(model: Any, n: int) -> None:
    for _ in range(n):
        model.step()
