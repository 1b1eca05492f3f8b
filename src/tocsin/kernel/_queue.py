"""The queue of all clocks: a calendar whose current day is a heap.

Time is cut into days. The clocks of today and before stand in a 4-ary heap ordered by
(time, slot); those of later days hang in doubly linked lists, day modulo year. Moving a clock
costs O(1) or a step in a heap of a few. The length of a day follows the measured rate of
events. Where that cannot help (many equal times) the heap takes over, so the worst case is
O(log n). Calendar queue: Brown 1988, doi:10.1145/63039.63045.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._state import IDLE, IN_HEAP, LIST_HEAD
from tocsin.schema import NEVER

FAR = 1 << 62
LOAD = 2.0
"""Events a day that tuning aims at."""


def day_of(queue: Any, time: float) -> int:
    """Return the day of a time: any non-decreasing map will do for exactness."""
    day = time * queue.days_per_time
    if day >= 4.0e18:
        return FAR
    if day <= -4.0e18:
        return -FAR
    return int(day)


def sift_up(queue: Any, place: int, time: float, slot: int) -> None:
    """Put a clock into the heap at `place` or above."""
    while place > 0:
        above = (place - 1) >> 2
        node = queue.heap[above]
        if node.time < time or (node.time == time and node.slot < slot):
            break
        set_node(queue, place, node.time, node.slot)
        place = above
    set_node(queue, place, time, slot)


def sift_down(queue: Any, place: int, time: float, slot: int) -> None:
    """Put a clock into the heap at `place` or below."""
    n = queue.n_heap
    while True:
        child = 4 * place + 1
        if child >= n:
            break
        best = child
        best_time = queue.heap[child].time
        best_slot = queue.heap[child].slot
        for other in range(child + 1, min(child + 4, n)):
            node = queue.heap[other]
            if node.time < best_time or (node.time == best_time and node.slot < best_slot):
                best = other
                best_time = node.time
                best_slot = node.slot
        if time < best_time or (time == best_time and slot < best_slot):
            break
        set_node(queue, place, best_time, best_slot)
        place = best
    set_node(queue, place, time, slot)


def set_node(queue: Any, place: int, time: float, slot: int) -> None:
    """Write one place of the heap, and tell the clock where it stands."""
    node = queue.heap[place]
    node.time = time
    node.slot = slot
    queue.clocks[slot].next = place


def push(queue: Any, time: float, slot: int) -> None:
    """Add a clock to the heap."""
    place = queue.n_heap
    queue.n_heap = place + 1
    queue.clocks[slot].prev = IN_HEAP
    sift_up(queue, place, time, slot)


def pull(queue: Any, place: int) -> None:
    """Take the clock at `place` out of the heap."""
    last = queue.n_heap - 1
    queue.n_heap = last
    if place == last:
        return
    node = queue.heap[last]
    time = node.time
    slot = node.slot
    if place > 0:
        above = queue.heap[(place - 1) >> 2]
        if time < above.time or (time == above.time and slot < above.slot):
            sift_up(queue, place, time, slot)
            return
    sift_down(queue, place, time, slot)


def link(queue: Any, day: int, slot: int) -> None:
    """Hang a clock in the list of a day."""
    bucket = queue.days[day & queue.day_mask]
    clock = queue.clocks[slot]
    first = bucket.first
    clock.next = first
    clock.prev = LIST_HEAD
    if first >= 0:
        queue.clocks[first].prev = slot
    bucket.first = slot


def unlink(queue: Any, slot: int) -> None:
    """Take a clock out of the list of its day."""
    clock = queue.clocks[slot]
    after = clock.next
    before = clock.prev
    if after >= 0:
        queue.clocks[after].prev = before
    if before >= 0:
        queue.clocks[before].next = after
    else:
        queue.days[day_of(queue, clock.time) & queue.day_mask].first = after


def place(queue: Any, slot: int, time: float) -> None:
    """Give a clock its new pending time (NEVER takes it out of the queue)."""
    clock = queue.clocks[slot]
    where = clock.prev
    if where == IDLE:
        if time == NEVER:
            return
        queue.n_queued += 1
    elif where == IN_HEAP:
        before = clock.time
        if time < NEVER and day_of(queue, time) <= queue.today:
            clock.time = time
            if time > before:
                sift_down(queue, clock.next, time, slot)
            else:
                sift_up(queue, clock.next, time, slot)
            return
        pull(queue, clock.next)
    else:
        unlink(queue, slot)
    clock.time = time
    if time == NEVER:
        clock.prev = IDLE
        queue.n_queued -= 1
        return
    day = day_of(queue, time)
    if day <= queue.today:
        push(queue, time, slot)
    else:
        link(queue, day, slot)


def first(queue: Any) -> int:
    """Return the slot of the clock that rings first, or -1 if none ever will."""
    if queue.n_heap == 0:
        if queue.n_queued == 0:
            return -1
        next_day(queue)
    return queue.heap[0].slot  # type: ignore[no-any-return]


def next_day(queue: Any) -> None:
    """Walk to the next day on which a clock rings; tune if the walks grow long."""
    walk(queue)
    if queue.n_skipped > 4 * patience(queue):
        consider_tuning(queue)


def walk(queue: Any) -> None:
    """Go day by day until the heap holds a clock. Needs a queued clock."""
    walked = 0
    while queue.n_heap == 0:
        if walked > queue.day_mask:
            jump(queue)
            break
        queue.today += 1
        walked += 1
        fetch_day(queue)
    queue.n_skipped += walked


def fetch_day(queue: Any) -> None:
    """Move the clocks of today from the calendar into the (empty) heap."""
    today = queue.today
    slot = queue.days[today & queue.day_mask].first
    while slot >= 0:
        clock = queue.clocks[slot]
        after = clock.next
        if day_of(queue, clock.time) <= today:
            unlink(queue, slot)
            push(queue, clock.time, slot)
        slot = after


def jump(queue: Any) -> None:
    """After a whole empty year: go straight to the earliest clock's day."""
    best = NEVER
    for day in range(queue.day_mask + 1):
        slot = queue.days[day].first
        while slot >= 0:
            best = min(best, queue.clocks[slot].time)
            slot = queue.clocks[slot].next
    queue.today = day_of(queue, best)
    fetch_day(queue)


def patience(queue: Any) -> int:
    """Return after how many events a rebuild costs little against them."""
    return max(64, queue.n_queued, queue.n_clocks >> 3)  # type: ignore[no-any-return]


def consider_tuning(queue: Any) -> None:
    """Fit the length of a day to the rate of events since the last look. Needs a full heap."""
    time = queue.heap[0].time
    span = time - queue.looked_at
    events = queue.n_events - queue.looked_events
    if span > 0.0 and events > 0:
        wanted = events / (span * LOAD)
        few_days = 2 * queue.day_mask < queue.n_queued
        if wanted > 2.0 * queue.days_per_time or 2.0 * wanted < queue.days_per_time or few_days:
            tune(queue, wanted)
    queue.looked_at = time
    queue.looked_events = queue.n_events
    queue.next_look = queue.n_events + patience(queue)
    queue.n_skipped = 0


def tune(queue: Any, days_per_time: float) -> None:
    """Rebuild the calendar with another length of day. Cost O(clocks)."""
    queue.days_per_time = min(days_per_time, 1.0e300)
    n_days = 16
    while n_days < queue.n_queued and 2 * n_days <= len(queue.days):
        n_days *= 2
    rebuild(queue, n_days)
    walk(queue)


def rebuild(queue: Any, n_days: int) -> None:
    """Hang every pending clock anew. Cost O(clocks)."""
    queue.day_mask = n_days - 1
    for day in range(n_days):
        queue.days[day].first = -1
    queue.n_heap = 0
    queue.n_queued = 0
    queue.today = day_of(queue, queue.now)
    for slot in range(queue.n_clocks):
        clock = queue.clocks[slot]
        clock.prev = IDLE
        time = clock.time
        if time < NEVER:
            queue.n_queued += 1
            day = day_of(queue, time)
            if day <= queue.today:
                push(queue, time, slot)
            else:
                link(queue, day, slot)
