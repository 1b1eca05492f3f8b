"""Loads that are hard for a calendar of days: rates and waits of all lengths, ties, growth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tocsin.cli._benchmarks._against_heap import Load, growing, steady
from tocsin.cli._benchmarks._clocks import (
    BIMODAL_WAITS,
    GROWING,
    N_ACTIVE,
    N_FIRST,
    NINE_DECADES,
    RATES,
    RELAYS,
    TIES,
    WAITS,
    Born,
    Clocks,
    Relays,
    TimedClocks,
)
from tocsin.cli._benchmarks._comparison import Comparison
from tocsin.cli._benchmarks._heap import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOAL = 0.7
N, N_LARGE = 100_000, 1_000_000
EVENTS, WARM_UP = 500_000, 1_000_000


def hard() -> Iterator[Comparison]:
    """Loads that are hard for a calendar queue: against an indexed 4-ary heap in C."""
    with compiled() as program:
        for load in _loads():
            yield growing(program, load) if load.model is GROWING else steady(program, load)


def _loads() -> tuple[Load, ...]:
    usual, large = (N, GOAL), (N_LARGE, GOAL)
    run = (WARM_UP, EVENTS)
    return (
        Load("rates", f"rates over nine orders, {N:,} clocks", *usual, RATES, _timed_nine_decades, *run),
        Load("waits", f"waits over nine orders, {N:,} clocks", *usual, WAITS, _clocks, *run),
        Load("bimodal-rates", f"mean waits 1 and 1e6, {N:,} clocks", *usual, RATES, _timed_bimodal, *run),
        Load("bimodal-waits", f"waits 1e-3 or 1e3, {N:,} clocks", *usual, BIMODAL_WAITS, _clocks, *run),
        Load("ties", f"{N:,} equal times", *usual, TIES, _clocks, *run, span_tolerance=0.0),
        Load("never", f"{N_ACTIVE:,} of {N_LARGE:,} clocks active", *large, RELAYS, _relays, *run, span_tolerance=0.02),
        Load("growing", f"growing from {N_FIRST} to {N_LARGE:,} clocks", *large, GROWING, _born, 0, N_LARGE - N_FIRST),
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


def _timed(rates: NDArray[Any]) -> TimedClocks:
    return TimedClocks(clocks={"rate": rates})


def _relays(n: int) -> Relays:
    import numpy as np

    return Relays(clocks={"is_active": np.arange(n) < N_ACTIVE})


def _born(n: int) -> Born:
    return Born(clocks=N_FIRST, most=n)
