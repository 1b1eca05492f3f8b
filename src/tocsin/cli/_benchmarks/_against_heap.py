"""One load on both sides: a model of ours, and the same case of the C heap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tocsin.cli._benchmarks._comparison import Comparison, alternated, check_close, check_events, faster, speed
from tocsin.cli._benchmarks._heap import started
from tocsin.errors import SimulationError
from tocsin.run import Simulation
from tocsin.schema import Model


@dataclass(frozen=True)
class Load:
    """A case of heap.c, and the model of ours that does the same."""

    case: str
    """Its name in heap.c."""
    says: str
    """Its name in what is printed."""
    n: int
    goal: float
    model: Model
    make_world: Callable[[int], Any]
    warm_up: int
    """Events before the first figure."""
    events: int
    """Events of a round."""
    span_tolerance: float | None = None
    """How closely the simulated times of both must agree, where chance lets them."""


def steady(program: Path, load: Load) -> Comparison:
    """Compare on two simulations that go on: warmed up, then timed in turn."""
    simulation = Simulation(load.model, load.make_world(load.n), seed=1)
    with started(program, load.case, load.n) as heap:
        simulation.run(events=load.warm_up)
        begun = simulation.now, heap.run(load.warm_up).now
        ours, peer = alternated(lambda: _speed(simulation, load.events), lambda: heap.speed(load.events))
        if load.span_tolerance is not None:
            spans = simulation.now - begun[0], heap.run(0).now - begun[1]
            check_close(*spans, load.span_tolerance, "simulated times")
    return faster(f"{load.says}, C heap", ours, peer, load.goal)


def growing(program: Path, load: Load) -> Comparison:
    """Compare on simulations that begin anew in each round."""

    def ours() -> float:
        simulation = Simulation(load.model, load.make_world(load.n), seed=1)
        simulation.run(events=0)
        figure = _speed(simulation, load.events)
        _check_rows(len(simulation.world.clocks), load.n)
        return figure

    def peer() -> float:
        with started(program, load.case, load.n) as heap:
            fired = heap.run(load.events)
            _check_rows(fired.n_queued, load.n)
            return load.events / fired.cpu_seconds

    ours()  # the first one compiles
    figures = alternated(ours, peer)
    return faster(f"{load.says}, C heap", *figures, load.goal)


def _speed(simulation: Simulation[Any], n_events: int) -> float:
    figure = speed(lambda: simulation.run(events=n_events).n_events)
    rows = simulation.world.clocks["n_fired"]
    check_events(int(rows.sum()), simulation.n_events, "our side")
    return figure


def _check_rows(n_rows: int, wanted: int) -> None:
    if n_rows != wanted:
        raise SimulationError(f"the population grew to {n_rows}, expected {wanted}")
