"""The kernel's own state, declared like any world: clocks, queue, streams, marks, log.

Because it is a world, the same row proxies compile the kernel and its models, and all of it
is plain memory that can be saved, hashed and moved.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._rng import Rng
from tocsin.schema import Arena, Array, Entity, World, float64, int16, int32, int64

IN_HEAP, IDLE, LIST_HEAD = -2, -3, -1


class Clock(Entity):
    """One (action, row) pair. 32 bytes: half a cache line."""

    time: float64  # pending time, inf for never
    epoch: int64  # how often this clock has drawn
    row: int32  # row number of its entity
    next: int32  # next clock of its day, or its place in the heap
    prev: int32  # previous clock of its day, or LIST_HEAD, IN_HEAP, IDLE
    action: int16
    mark: int16  # 1 while its row is in the list of touched rows


class Node(Entity):
    """One place of the heap that holds the clocks of today."""

    time: float64
    slot: int64


class Day(Entity):
    """One day of the cyclic calendar: the list of clocks that ring on it."""

    first: int32


class Kind(Entity):
    """A kind of thing that clocks belong to: the world, or an entity type."""

    first: int32  # its actions are kind_actions[first : first + n_actions]
    n_actions: int32
    n_rows: int32
    head: int32  # slot of row r's first clock: head + r * stride; -1 if it has none
    stride: int32
    first_observable: int32
    n_observables: int32


class ActionState(Entity):
    """Where the clocks of an action lie, and how often it has fired."""

    base: int64  # slot of row r: base + r * stride
    stride: int64
    kind: int64
    n_fired: int64


class Mark(Entity):
    """One touched row."""

    kind: int32
    row: int32


class Record(Entity):
    """One event in the log."""

    time: float64
    action: int32
    row: int32


class Series(Entity):
    """An observable and its exact time integrals since `since`."""

    total: float64  # current value, summed over rows: sum + error
    sum: float64
    error: float64  # what rounding took from sum
    area: float64  # integral of total over time
    area_squared: float64
    low: float64
    high: float64
    last: float64  # time up to which the integrals are taken
    since: float64
    base: int64  # values of its rows start here in `observed`


class Touched(World):
    """What `fire` is handed to say which rows it disturbed."""

    def add(self, row: Any) -> None:
        """Mark a row (or the world): all its clocks are scheduled again, each once."""
        self._touch(row._code, row.index)

    def all(self, table: Any) -> None:
        """Mark every row of a table: for an event that changes what all clocks depend on."""
        for index in range(len(table)):
            self._touch(table._code, index)

    def _touch(self, code: int, index: int) -> None:
        raise NotImplementedError


class Clockwork(Touched):
    """The state of the event loop."""

    clocks: Arena[Clock]
    heap: Arena[Node]
    days: Arena[Day]
    kinds: Arena[Kind]
    actions: Arena[ActionState]
    marks: Arena[Mark]
    log: Arena[Record]
    series: Arena[Series]
    rngs: Arena[Rng]
    kind_actions: Array[int32]
    kind_observables: Array[int32]
    observed: Array[float64]  # value of each observed row
    row_area: Array[float64]  # its integral over time, up to row_since
    row_since: Array[float64]

    now: float64
    n_events: int64
    n_clocks: int64
    is_stale: int64  # 1 after a pool grew: the queue has to be rebuilt
    n_queued: int64  # clocks with a finite pending time
    n_heap: int64
    n_marks: int64
    today: int64  # the heap holds all clocks of this day and before
    day_mask: int64  # number of days in the calendar - 1
    days_per_time: float64
    looked_at: float64  # time of the last look at the rate of events
    looked_events: int64  # n_events then
    next_look: int64  # n_events at the next one
    n_skipped: int64  # days walked over since then
    started: int64
    is_logging: int64
    n_log: int64
    n_still: int64  # events at this very instant
    still_limit: int64
    stop_slot: int64  # the clock that the loop stopped on, or the place in `observed`
    stop_time: float64
    phase: int64  # 0 outside, 1 in fire, 2 in schedule, 3 in an observable

    def _touch(self, code: int, index: int) -> None:
        kind = self.kinds[code]
        if kind.head < 0:
            return
        clock = self.clocks[kind.head + index * kind.stride]
        if clock.mark != 0:
            return
        clock.mark = 1
        mark = self.marks[self.n_marks]
        mark.kind = code
        mark.row = index
        self.n_marks += 1
