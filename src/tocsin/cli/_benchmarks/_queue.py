"""The queue of clocks under its standard load."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.cli._benchmarks._against_heap import Load, steady
from tocsin.cli._benchmarks._clocks import PHOLD, Clocks
from tocsin.cli._benchmarks._comparison import Comparison
from tocsin.cli._benchmarks._heap import compiled

SIZES = ((1_000, 1.0, 1_000_000), (100_000, 1.5, 1_000_000), (1_000_000, 1.2, 1_000_000))
"""Clocks, goal, events of a round."""


def queue() -> Iterator[Comparison]:
    """PHOLD, exponential waits of mean 1: against an indexed 4-ary heap in C."""
    with compiled() as program:
        for n, goal, events in SIZES:
            yield steady(program, _load(n, goal, events))


def _load(n: int, goal: float, events: int) -> Load:
    return Load(
        "phold", "PHOLD", n, goal, PHOLD, lambda n: Clocks(clocks=n), 3 * max(n, events // 3), events, span_tolerance=0.02
    )
