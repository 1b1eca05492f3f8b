"""Drive a simulation to its end: burn-in, snapshots at equal times, every event if asked."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from tocsin.errors import Stop
from tocsin.run import Simulation
from tocsin.scenario._recorder import Sampled
from tocsin.scenario._tables import RunTable

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_SECONDS = 0.2
_FIRST_CHUNK = 10_000
Watch = Callable[[Simulation[Any]], None]


@dataclass
class Drive:
    """One simulation and its limits.

    `watch` is called some times a second; it may raise KeyboardInterrupt, which leaves the
    simulation between two events and nothing unrecorded.
    """

    simulation: Simulation[Any]
    limits: RunTable
    watch: Watch
    on_events: Callable[[pa.RecordBatch], None] | None = None
    is_burnt_in: bool = False
    sampled: Sequence[Sampled] = ()
    """Recordings at burn_in, burn_in + every, ..., each after all events until then."""
    _chunk: int = field(default=_FIRST_CHUNK, init=False)

    def burn_in(self) -> Stop:
        """Run to the time from which is observed and recorded."""
        if self.is_burnt_in or self.limits.burn_in == 0.0:
            return Stop.REACHED_TIME
        stop = self.to(self.limits.burn_in)
        self.simulation.reset_observables()
        self.is_burnt_in = True
        return stop

    def to(self, until: float | None) -> Stop:
        """Run until a time, or until the limit of events (None: until that only)."""
        left = None if self.limits.events is None else self.limits.events - self.simulation.n_events
        if left is not None and left <= 0:
            return Stop.REACHED_EVENTS
        if self.on_events is not None:
            stop = self._logged(until, left)
        else:
            stop = self.simulation.run(until, left, progress=self.watch).stopped
        self.watch(self.simulation)
        return stop

    def to_end(self) -> Stop:
        """Run to the end, taking what is recorded at equal times."""
        while True:
            due = [(at, one) for one in self.sampled if (at := self._next_time(one)) is not None]
            if not due:
                return self.to(self.limits.until)
            first = min(at for at, _ in due)
            stop = self.to(first)
            if stop is Stop.REACHED_EVENTS:
                return stop
            for at, one in due:
                if at == first:
                    one.take()
                    one.n_taken += 1
            if stop is Stop.EXHAUSTED and self.limits.until is None:
                return stop

    def _next_time(self, one: Sampled) -> float | None:
        """Return when a recording is taken next; None if not before the end."""
        start, end = self.limits.burn_in, self.limits.until
        if end is not None and one.n_taken > int((end - start) / one.every + 1e-9):
            return None
        at = start + one.n_taken * one.every
        return at if end is None else min(at, end)

    def _logged(self, until: float | None, left: int | None) -> Stop:
        """Run in chunks of about `CHUNK_SECONDS`, handing on every event."""
        while left is None or left > 0:
            n = self._chunk if left is None else min(left, self._chunk)
            fired = self._one_chunk(until, n)
            if fired < n:  # no event is left before `until`: this fires none, and says why
                return self.simulation.run(until, 1).stopped
            left = None if left is None else left - fired
            self.watch(self.simulation)
        return Stop.REACHED_EVENTS

    def _one_chunk(self, until: float | None, n: int) -> int:
        assert self.on_events is not None
        before, started = self.simulation.n_events, time.perf_counter()
        for batch in self.simulation.record_events(until, n):
            self.on_events(batch)
        fired = self.simulation.n_events - before
        if fired == self._chunk:
            factor = CHUNK_SECONDS / max(time.perf_counter() - started, 1e-9)
            self._chunk = max(100, int(self._chunk * min(2.0, max(0.5, factor))))
        return fired


@dataclass
class Interrupt:
    """Whether Ctrl-C was pressed."""

    is_asked: bool = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was."""
        if self.is_asked:
            raise KeyboardInterrupt


@contextmanager
def interrupts_noted() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a note, so that no file or event is cut in two.

    A second one raises KeyboardInterrupt at once.
    """
    asked = Interrupt()

    def note(number: int, frame: FrameType | None) -> None:
        asked.check()
        asked.is_asked = True

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
