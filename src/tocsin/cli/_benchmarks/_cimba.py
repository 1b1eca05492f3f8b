"""PHOLD against Cimba, a C engine whose Python package compiles its models.

Cimba's events are bound to a model, not to a row, so all n share one counter, which spares it
the memory of n rows. A trial cannot go on from where another ended: its speed is taken from
the difference of two trials, one of them longer, so that neither its start nor its warm-up
count. A trial runs on one thread. Cimba compiles nothing if Numba did before it was imported.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from tocsin.cli._benchmarks._clocks import PHOLD, Clocks
from tocsin.cli._benchmarks._comparison import (
    Comparison,
    alternated,
    check_close,
    check_events,
    faster,
    require,
    speed,
)
from tocsin.errors import SimulationError
from tocsin.run import Simulation

SIZES, GOAL = (1_000, 100_000, 1_000_000), 2.0
EVENTS, ROUNDS = 2_000_000, 5


def cimba() -> Iterator[Comparison]:
    """PHOLD, exponential waits of mean 1: against Cimba, n pending events."""
    peer = require("cimba", "cimba")
    for n in SIZES:
        figures = alternated(_ours(n), _theirs(peer, n), ROUNDS)
        yield faster(f"PHOLD, {n:,} clocks, Cimba", *figures, GOAL)


def _ours(n: int) -> Callable[[], float]:
    simulation = Simulation(PHOLD, Clocks(clocks=n), seed=1)
    simulation.run(events=_warm_up(n))

    def program() -> float:
        begun = simulation.now
        figure = speed(lambda: simulation.run(events=EVENTS).n_events)
        check_events(int(simulation.world.clocks["n_fired"].sum()), simulation.n_events, "our side")
        check_close(simulation.now - begun, EVENTS / n, 0.03, "simulated times")
        return figure

    return program


def _theirs(cimba: Any, n: int) -> Callable[[], float]:
    model = importlib.import_module("tocsin.cli._benchmarks._cimba_model").Phold()
    model.n = n

    def spent(most: int) -> float:
        model.most = most
        experiment = cimba.Experiment(model, seed=1)
        begun = time.process_time()
        results = experiment.run(workers=1)
        seconds = time.process_time() - begun
        if results.failed.any():
            raise SimulationError(f"Cimba failed: {results.failure_reasons}")
        check_events(int(results[model].total.values.item()), most, "Cimba")
        check_close(results[model].time.values.item(), most / n, 0.03, "simulated times")
        return seconds

    spent(_warm_up(n))  # the first one compiles

    def program() -> float:
        short = spent(_warm_up(n))
        return EVENTS / max(spent(_warm_up(n) + EVENTS) - short, 1e-9)

    return program


def _warm_up(n: int) -> int:
    return max(100_000, n)
