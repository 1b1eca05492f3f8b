"""Loads that are hard for a calendar of days: rates and waits of all lengths, ties, growth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tocsin.cli._benchmarks._against_heap import Load, growing, steady
from tocsin.cli._benchmarks._clocks import (
    BIMODAL_WAITS, GROWING, N_ACTIVE, N_FIRST, NEVERS, NINE_DECADES, RATES, TIES, WAITS, Born, Clocks,
    Relays, TimedClocks,
)  # fmt: skip
from tocsin.cli._benchmarks._comparison import Comparison
from tocsin.cli._benchmarks._heap import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOAL = 0.7
N, EVENTS, WARM_UP = 100_000, 1_000_000, 1_000_000
N_LARGE = 1_000_000


def hard() -> Iterator[Comparison]:
    """Loads that are hard for a calendar queue: against an indexed 4-ary heap in C."""
    with compiled() as program:
        for load in _loads():
            yield growing(program, load) if load.model is GROWING else steady(program, load)


def _loads() -> tuple[Load, ...]:
    steady_size = (N, GOAL)
    run = (WARM_UP, EVENTS)
    return (
        Load("rates", "rates over nine orders", *steady_size, RATES, _timed_nine_decades, *run),
        Load("waits", "waits over nine orders", *steady_size, WAITS, _clocks, *run),
        Load("bimodal-rates", "mean waits 1 and 1e6", *steady_size, RATES, _timed_bimodal, *run),
        Load("bimodal-waits", "waits 1e-3 or 1e3", *steady_size, BIMODAL_WAITS, _clocks, *run),
        Load("ties", "all at equal times", *steady_size, TIES, _clocks, *run, span_tolerance=0.0),
        Load("never", "1,000 active of", N_LARGE, GOAL, NEVERS, _relays, *run, span_tolerance=0.02),
        Load("growing", "growing from 10 to", N_LARGE, GOAL, GROWING, _born, 0, N_LARGE - N_FIRST),
    )


def _clocks(n: int) -> Clocks:
    return Clocks(clocks=n)


def _timed_nine_decades(n: int) -> TimedClocks:
    import numpy as np

    exponents = np.random.default_rng(1).random(n) - 0.5
    return _timed(np.exp(NINE_DECADES * exponents))


def _timed_bimodal(n: int) -> TimedClocks:
    import numpy as np

    return _timed(np.where(np.arange(n) % 2, 1e-6, 1.0))


def _timed(rates: NDArray) -> TimedClocks:
    return TimedClocks(clocks={"rate": rates})


def _relays(n: int) -> Relays:
    import numpy as np

    return Relays(clocks={"is_active": np.arange(n) < N_ACTIVE})


def _born(n: int) -> Born:
    return Born(clocks=N_FIRST, most=n)
