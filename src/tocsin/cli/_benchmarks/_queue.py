"""The queue of clocks under its standard load."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.cli._benchmarks._against_heap import Load, steady
from tocsin.cli._benchmarks._clocks import PHOLD, Clocks
from tocsin.cli._benchmarks._comparison import Comparison
from tocsin.cli._benchmarks._heap import compiled

WARM_UP, EVENTS = 1_000_000, 500_000
SIZES = ((1_000, 1.0), (100_000, 1.5), (1_000_000, 1.2))
"""Clocks, goal."""


def queue() -> Iterator[Comparison]:
    """PHOLD, exponential waits of mean 1: against an indexed 4-ary heap in C."""
    with compiled() as program:
        for n, goal in SIZES:
            warm_up = max(WARM_UP, 3 * n)
            load = Load("phold", f"PHOLD, {n:,} clocks", n, goal, PHOLD, _clocks, warm_up, EVENTS, span_tolerance=0.02)
            yield steady(program, load)


def _clocks(n: int) -> Clocks:
    return Clocks(clocks=n)
