"""Drive the event loop slice by slice, compiled or as plain Python, and explain its stops."""

from __future__ import annotations

import ctypes
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tocsin.errors import FireError, ScheduleError, SimulationError, Stop, TocsinError, ZenoError
from tocsin.kernel import Clockwork, advance
from tocsin.kernel._audit import advance_audited
from tocsin.kernel._grow import grow
from tocsin.kernel._rates import LEAST_RATE, MOST_RATE
from tocsin.kernel._state import IN_FIRE, IN_VALUE, RATED
from tocsin.run._audit import audit_error
from tocsin.run._compiled import compiled
from tocsin.run._names import clock_in, named, observed_in
from tocsin.run._ticks import Ticks, attach
from tocsin.schema import Model, World
from tocsin.schema._layout import GROW, KERNEL

SLICE_SECONDS = 0.05
UNLIMITED = 1 << 62


class Driver:
    """One event loop on one world: `advance` until a time or a number of events."""

    def __init__(self, model: Model, world: World, kernel: Clockwork, jit: bool, audit: bool = False) -> None:
        self._entry = advance_audited if audit else advance
        self.model, self.world, self.kernel, self.jit = model, world, kernel, jit
        world._kernel = kernel
        world._header[KERNEL] = kernel._header.ctypes.data
        world._on_grow = lambda: grow(model, world, kernel)
        self.ticks = attach(model, world, kernel, jit)
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_int64)(world._grow)
        world._header[GROW] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        self._loop = self._compiled() if jit else self._interpreted
        self._slice = 10_000 if jit else 200

    def _compiled(self) -> Callable[[float, int], int]:
        loop = compiled(self.model, self.kernel.schema(), self._entry)
        world, kernel = self.world._header.ctypes.data, self.kernel._header.ctypes.data
        return lambda until, events: loop(world, kernel, until, events)

    def _interpreted(self, until: float, events: int) -> int:
        return self._entry(self.model, self.world, self.kernel, until, events)

    def advance(self, until: float, events: int, after_slice: Callable[[], None] | None = None) -> Stop:
        """Run until one of the limits, calling `after_slice` between slices.

        Raises SimulationError (ScheduleError, ZenoError, FireError) with the clock, the
        entity and the time; KeyboardInterrupt between two events.
        """
        self._refuse_broken()
        end = self.kernel.n_events + events
        while True:
            left = end - self.kernel.n_events
            stop = self._one_slice(until, min(left, self._slice))
            if stop is Stop.REACHED_EVENTS and left > self._slice_done:
                if after_slice is not None:
                    after_slice()
                continue
            return stop

    def _one_slice(self, until: float, events: int) -> Stop:
        before, started = self.kernel.n_events, time.perf_counter()
        with interrupts_deferred():
            try:
                stop = Stop(self._loop(until, events))
            except TocsinError:
                raise
            except Exception as error:
                if self.jit:
                    raise self._fire_error(str(error)) from None
                raise self._fire_error(f"{type(error).__name__}: {error}") from error
        if self.ticks is not None and self.ticks.error is not None:
            raise self._tick_error(self.ticks)
        self._slice_done = self.kernel.n_events - before
        if self._slice_done == events and events == self._slice:
            spent = time.perf_counter() - started
            factor = SLICE_SECONDS / max(spent, 1e-9)
            self._slice = max(100, int(self._slice * min(2.0, max(0.5, factor))))
        if stop is Stop.BAD_TIME:
            raise self._schedule_error()
        if stop is Stop.ZENO:
            raise self._zeno_error()
        if stop is Stop.STALE:
            raise audit_error(self.model, self.kernel)
        return stop

    def _tick_error(self, ticks: Ticks) -> BaseException:
        error, ticks.error = ticks.error, None
        if isinstance(error, TocsinError) or not isinstance(error, Exception):
            return error or KeyboardInterrupt()
        return self._fire_error(str(error) if self.jit else f"{type(error).__name__}: {error}")

    def _refuse_broken(self) -> None:
        if self.kernel.phase != 0:
            raise SimulationError(
                "this simulation stopped in the middle of an event and cannot go on; its world "
                "can still be read. Make a new Simulation."
            )

    def _schedule_error(self) -> ScheduleError:
        got, now = self.kernel.stop_time, self.kernel.now
        member, row = clock_in(self.model, self.kernel, self.kernel.stop_slot)
        name, asked = named(member, row), member.asked
        rule = "It must return a time >= now, or NEVER."
        if asked == "rate":
            what = f"{name}.rate returned " + ("NaN or a negative or infinite rate" if math.isnan(got) else repr(got))
            rule = "A rate must be >= 0 events per unit time, and finite."
            if self.kernel.actions[self.model.actions.index(member)].asked == RATED:
                rule = f"By composition-rejection, a rate must be 0 or within {LEAST_RATE:.3g} .. {MOST_RATE:.3g}."
        elif math.isnan(got):
            what = f"{name}.schedule returned NaN"
        else:
            what = f"{name}.schedule returned {got!r}, which is before now"
        return ScheduleError(f"{what}, at t={now!r} (event {self.kernel.n_events}). {rule}")

    def _zeno_error(self) -> ZenoError:
        return ZenoError(
            f"{self.kernel.n_still} events fired at t={self.kernel.now!r} without time advancing; "
            f"the next would be {named(*clock_in(self.model, self.kernel, self.kernel.stop_slot))}. Some action reschedules "
            f"itself or another for 'now' without end: let its schedule return a later time or NEVER."
        )

    def _fire_error(self, text: str) -> FireError:
        slot = self.kernel.stop_slot
        if self.kernel.phase == IN_VALUE:
            (member, row), asked = observed_in(self.model, self.kernel, slot), "value"
        else:
            member, row = clock_in(self.model, self.kernel, slot)
            asked = member.method if self.kernel.phase == IN_FIRE else member.asked
        return FireError(
            f"{named(member, row)}.{asked} at t={self.kernel.now!r} (event {self.kernel.n_events}) raised {text}"
        )


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, so that it never cuts an event in two."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pending.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
        if pending and callable(before):
            before(*pending[0])


def memory_of(world: World) -> dict[str, Any]:
    """Return the columns of a world's tables, arrays and scalars, by name, in a fixed order."""
    found: dict[str, Any] = {}
    for entity in world.schema().entities:
        table = world._tables[entity.name]
        for name in sorted(table.rows.dtype.names):
            found[f"{entity.table}.{name}"] = table.rows[name][: len(table)]
    for name in sorted(world.schema().arrays):
        found[name] = world.__dict__[name].values
    for name in world._globals.dtype.names:
        found[f"={name}"] = world._globals[name]
    return found
