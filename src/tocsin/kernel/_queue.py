"""The queue of all clocks: a calendar with a sorted current day.

Time is cut into days, days into years. The clocks of the current day stand in a sorted *run*;
clocks set to today after it began go to a small *heap*. Later days of this year and the next
have a doubly linked list each, and what is further off hangs in a list for each year, dealt to
its days when the year begins. Moving a clock from day to day is a few stores; a clock of
today moves within the heap. The length of a day follows the events (`_tuning.py`). In the worst
case (all at one instant) everything stands in the run or the heap, and costs what a heap costs.

Calendar queue: Brown 1988, doi:10.1145/63039.63045. Sorting only what is near: the ladder queue
of Tang, Goh and Thng 2005, doi:10.1145/1103323.1103324.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._bits import prefetch, prefetch_address
from tocsin.kernel._days import day_of, link, unlink
from tocsin.kernel._heap import drop, is_before, pull, push, sift, start_run
from tocsin.kernel._state import IDLE, IN_HEAP, IN_RUN, N_YEARS
from tocsin.kernel._tuning import tune
from tocsin.schema import NEVER

AHEAD = 3
"""Days ahead at which a clock's row is fetched from memory; the clock itself, twice that."""


def place(queue: Any, slot: int, time: float) -> None:
    """Give a clock its new pending time (NEVER takes it out of the queue)."""
    clock = queue.clocks[slot]
    where = clock.prev
    day = 0 if time == NEVER else day_of(queue, time)
    if where == IN_HEAP:
        if time < NEVER and day <= queue.today:
            clock.time = time
            sift(queue, clock.next, time, slot)
            return
        pull(queue, clock.next)
    elif where == IN_RUN:
        drop(queue, clock.next)
    elif where == IDLE:
        if time == NEVER:
            return
        queue.n_queued += 1
    else:
        unlink(queue, clock)
    clock.time = time
    if time == NEVER:
        clock.prev = IDLE
        queue.n_queued -= 1
    elif day <= queue.today:
        push(queue, time, slot)
    else:
        link(queue, day, slot)


def first(queue: Any) -> int:
    """Return the slot of the clock that rings first, or -1 if none ever will. It stays queued."""
    queue.credit -= 1
    if queue.credit < 0:
        tune(queue)
    while queue.n_run == 0 and queue.n_heap == 0:
        if queue.n_queued == 0:
            return -1
        queue.credit -= 1
        if queue.credit < 0:
            tune(queue)
        else:
            next_day(queue)
    queue.n_seen += 1
    queue.crowd += queue.n_run + queue.n_heap
    if queue.n_run == 0:
        return int(queue.heap[0].slot)
    last = queue.run[queue.n_run - 1]
    if queue.n_heap > 0:
        top = queue.heap[0]
        if is_before(top.time, top.slot, last.time, last.slot):
            return int(top.slot)
    return int(last.slot)


def next_day(queue: Any) -> None:
    """Begin the next day: its clocks become the run."""
    queue.today += 1
    mask = queue.n_days - 1
    number = queue.today & mask
    if number == 0:
        next_year(queue)
    look_ahead(queue, number, mask)
    slot = queue.days[number].first
    if slot < 0:
        return
    queue.days[number].first = -1
    n = 0
    while slot >= 0:
        clock = queue.clocks[slot]
        node = queue.run[n]
        node.time = clock.time
        node.slot = slot
        prefetch_row(queue, slot)
        n += 1
        slot = clock.next
    start_run(queue, n)


def look_ahead(queue: Any, number: int, mask: int) -> None:
    """Fetch from memory, step by step, what the next days' first clocks will need."""
    later = queue.days[(number + 2 * AHEAD) & mask].first
    if later >= 0:
        prefetch(queue.clocks[later])
        prefetch(queue.owners[later])
    sooner = queue.days[(number + AHEAD) & mask].first
    if sooner >= 0:
        prefetch_row(queue, sooner)
        second = queue.clocks[sooner].next
        if second >= 0:
            prefetch(queue.clocks[second])
            prefetch(queue.owners[second])


def prefetch_row(queue: Any, slot: int) -> None:
    """Fetch the row that a clock's action will work on."""
    owner = queue.owners[slot]
    action = queue.actions[owner.action]
    prefetch_address(action.rows_at + owner.row * action.row_bytes)


def next_year(queue: Any) -> None:
    """Deal the clocks of the year that begins to its days."""
    year = queue.today >> queue.log_days
    slot = queue.days[queue.n_days + (year & (N_YEARS - 1))].first
    while slot >= 0:
        clock = queue.clocks[slot]
        after = clock.next
        day = day_of(queue, clock.time)
        if day >> queue.log_days == year:
            unlink(queue, clock)
            link(queue, day, slot)
        slot = after
