"""Progress of a run on stderr: simulated time, events, events a second."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tocsin.run import Simulation

SECONDS_BETWEEN = 0.1


@contextmanager
def shown(
    is_asked: bool | None, until: float | None, events: int | None
) -> Iterator[Callable[[Simulation[Any]], None] | None]:
    """Give a function that shows the progress of a simulation, or None if none is wanted.

    By default (None) it is shown where stderr is a terminal.
    """
    if not (sys.stderr.isatty() if is_asked is None else is_asked):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    console = Console(stderr=True)
    with Progress(*columns, console=console, auto_refresh=False, transient=console.is_terminal) as bar:
        task = bar.add_task("starting", total=1.0)
        bar.refresh()
        yield _Shower(bar, task, until, events)


@contextmanager
def telling(is_asked: bool | None) -> Iterator[None]:
    """Say on stderr what the library reports (that it compiles, which takes seconds), unless no progress is wanted."""
    if is_asked is False:
        yield
        return
    log, handler = logging.getLogger("tocsin"), logging.StreamHandler(sys.stderr)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


class _Shower:
    """Called some times a second; draws at most every `SECONDS_BETWEEN`."""

    def __init__(self, bar: Any, task: Any, until: float | None, events: int | None) -> None:
        self._bar, self._task, self._until, self._events = bar, task, until, events
        self._drawn = 0.0
        self._first: tuple[float, int] | None = None

    def __call__(self, simulation: Simulation[Any]) -> None:
        now = time.perf_counter()
        if now - self._drawn < SECONDS_BETWEEN:
            return
        self._drawn = now
        begun, n_before = self._first = self._first or (now, simulation.n_events)
        rate = (simulation.n_events - n_before) / max(now - begun, 1e-9)
        text = f"t = {simulation.now:,.6g}  {simulation.n_events:,} events  {rate:,.0f}/s"
        self._bar.update(self._task, description=text, completed=self._done(simulation), refresh=True)

    def _done(self, simulation: Simulation[Any]) -> float:
        shares = [simulation.now / self._until] if self._until else []
        if self._events:
            shares.append(simulation.n_events / self._events)
        return min(1.0, max(shares, default=0.0))
