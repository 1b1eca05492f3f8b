"""The kernel's own state, declared like any world: clocks, queue, streams, marks, log.

Because it is a world, the same row proxies compile the kernel and its models, and all of it
is plain memory that can be saved, hashed and moved.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._bits import prefetch
from tocsin.kernel._rng import Rng
from tocsin.schema import Arena, Array, Array2, Entity, World, float64, int16, int32, int64

IDLE, IN_RUN, IN_HEAP, LIST_HEAD = -1, -2, -3, -4
MIN_DAYS, N_YEARS = 64, 64
N_LEVELS, PAGE_BITS, IN_PAGE = 256, 7, 127
"""Levels of rates (powers of two from 2**-128 on); clocks a page of a level's list, less 1."""
N_DRAWS = 64
"""Candidate events whose random numbers are drawn at a time."""
RATES_PURPOSE = 0xFFFF
"""Purpose of the stream that draws the next event of all clocks with a rate."""
BY_SCHEDULE, BY_RATE, RATED, TICK = 0, 1, 2, 3
"""A clock states its time; its rate, for which a wait is drawn; its rate, with no wait of its own; it rings at a
multiple of `every`."""
OUTSIDE, IN_FIRE, IN_SCHEDULE, IN_VALUE = 0, 1, 2, 3
"""Where the loop is: between events, or in a function of the model."""


class Clock(Entity):
    """When a clock rings, and where it stands in the queue. 16 bytes: the queue's footprint."""

    time: float64  # pending time, inf for never
    next: int32  # next clock of its list, or its place in the run or the heap
    prev: int32  # previous clock of its list, LIST_HEAD - list number, IN_RUN, IN_HEAP or IDLE


class Owner(Entity):
    """Whose clock it is: the (action, row) pair, and what belongs to it."""

    epoch: int64  # how often this clock has drawn
    row: int32
    action: int16
    mark: int16  # 1 while its row is in the list of touched rows


class Node(Entity):
    """One place of the heap."""

    time: float64
    slot: int64


class Served(Entity):
    """One place of the run."""

    time: float64
    slot: int64


class Day(Entity):
    """One list of the calendar: a day's clocks, or a far year's."""

    first: int32


class Rated(Entity):
    """What belongs to a clock whose rate is known: for composition-rejection."""

    rate: float64
    level: int32  # -1 if the rate is 0
    place: int32  # in its level's list


class Level(Entity):
    """The clocks whose rates have one binary exponent."""

    bound: float64  # the largest rate since the level was last empty
    inverse: float64  # 1 / bound
    weight: float64  # n * bound
    n: int32
    rank: int32  # its place in `used`


class Draw(Entity):
    """Random numbers of one candidate event, drawn ahead."""

    wait: float64  # exponential, mean 1
    place: float64  # uniform in [0, 1)


class Kind(Entity):
    """A kind of thing that clocks belong to: the world, or an entity type."""

    first: int32  # its actions are kind_actions[first : first + n_actions]
    n_actions: int32
    n_rows: int32
    head: int32  # slot of row r's first clock: head + r * stride; -1 if it has none
    stride: int32
    first_observable: int32
    n_observables: int32
    unused: int32  # makes it 32 bytes


class ActionState(Entity):
    """Where the clocks of an action lie, and how often it has fired."""

    base: int64  # slot of row r: base + r * stride
    stride: int64
    rows_at: int64  # address and size of its entity's rows, for prefetching
    row_bytes: int64
    kind: int64
    n_fired: int64
    every: float64  # time between two ticks of a system
    asked: int64  # what its clocks are asked: BY_SCHEDULE, BY_RATE, RATED or TICK


class Mark(Entity):
    """One touched row."""

    kind: int32
    row: int32


class Lane(Entity):
    """What one thread is to do of a tick: rows start .. stop - 1, in a view of the world of its own."""

    task: int32  # UPDATE, or a step of indexing a space
    part: int32  # which space
    action: int32
    is_listed: int32  # whether it goes through `order`, not by row number
    start: int64
    stop: int64
    tick: int64
    row: int64  # the one that it is at
    frozen: int64  # header of what it sees
    flags: int64  # header of where it marks rows


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
    owners: Arena[Owner]
    run: Arena[Served]  # the clocks of today as it began, latest first
    heap: Arena[Node]  # the clocks set to today since
    days: Arena[Day]
    kinds: Arena[Kind]
    actions: Arena[ActionState]
    marks: Arena[Mark]
    log: Arena[Record]
    series: Arena[Series]
    rngs: Arena[Rng]
    lanes: Arena[Lane]  # of synchronous systems
    rated: Arena[Rated]  # by slot; empty unless some action is rated
    levels: Arena[Level]
    draws: Arena[Draw]
    raw: Array[int64]  # random bits on their way to `draws`
    members: Array[int32]  # slots, in pages
    pages: Array2[int32]  # the pages of each level
    free_pages: Array[int32]
    used: Array[int32]  # levels that are not empty
    kind_actions: Array[int32]
    kind_observables: Array[int32]
    observed: Array[float64]  # value of each observed row
    row_area: Array[float64]  # its integral over time, up to row_since
    row_since: Array[float64]
    asked_at: Array[float64]  # when each clock was last asked; for the audit
    order: Array[int64]  # keys of the rows that a system visits, in the order in which it does

    now: float64
    n_events: int64
    n_clocks: int64
    is_stale: int64  # 1 after a pool grew: the queue has to be rebuilt
    n_queued: int64  # clocks with a finite pending time
    n_run: int64
    n_heap: int64
    n_marks: int64
    today: int64
    n_days: int64  # days in a year, a power of two
    log_days: int64
    origin: float64  # time at which day 0 begins
    width: float64  # length of a day
    days_per_time: float64  # 1 / width, or 0 for one endless day
    credit: int64  # steps until the length of a day is looked at
    n_seen: int64  # events since the last look
    crowd: int64  # clocks of today, summed over those events
    looked_at: float64
    gap_sum: float64  # decayed sums over the looks: time, events, crowd
    event_sum: float64
    crowd_sum: float64
    n_free_pages: int64
    n_used: int64
    rated_time: float64  # the next event of the clocks with rates: when, which
    rated_slot: int64
    rated_epoch: int64  # how often draws were made ahead
    n_drawn: int64  # of the draws made ahead, how many are used
    is_unsettled: int64  # 1 if some rate has changed
    chosen_wait: float64  # the event after it, found under the present rates: after which wait,
    chosen_slot: int64  # which clock,
    n_chosen: int64  # and how many draws are used then
    total: float64  # sum of all bounds
    mean_wait: float64  # 1 / total
    started: int64
    begun_at: float64  # time at which the simulation started: ticks count from here
    is_logging: int64
    n_log: int64
    n_still: int64  # events at this very instant
    still_limit: int64
    stop_slot: int64  # the clock that the loop stopped on, or the place in `observed`
    stop_time: float64
    next_time: float64  # when the next clock rings
    fired_slot: int64  # the clock that rang last
    visited: int64  # the row that a system updates
    n_touched: int64  # rows that were touched last: marks[0 : n_touched]
    stale: int64  # what the audit found: STALE_CLOCK, STALE_RATE or STALE_VALUE
    phase: int64  # 0 outside, 1 in fire, 2 in schedule, 3 in an observable

    def _touch(self, code: int, index: int) -> None:
        kind = self.kinds[code]
        if kind.head < 0:
            return
        slot = kind.head + index * kind.stride
        prefetch(self.clocks[slot])  # needed soon; the mark is a cache line of its own
        owner = self.owners[slot]
        if owner.mark != 0:
            return
        owner.mark = 1
        mark = self.marks[self.n_marks]
        mark.kind = code
        mark.row = index
        self.n_marks += 1
