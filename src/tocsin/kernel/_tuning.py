"""Fit the length of a day to the events, now and then, at a cost that is small against them."""

from __future__ import annotations

from typing import Any

from tocsin.kernel._days import day_of, link
from tocsin.kernel._heap import DEAD, start_run
from tocsin.kernel._state import IDLE, MIN_DAYS, N_YEARS
from tocsin.schema import NEVER

LOAD = 2.0
"""Events a day that a new length aims at."""
CROWDED = 8.0
"""Clocks on the day of the mean event above which days are too long."""
EMPTY = 4.0
"""Days an event above which days are too short."""
FEW = 48
"""Up to this many clocks one endless day will do: a plain heap."""
PATIENCE = 2048
"""Steps (events and days) between two looks at the statistics, at least."""


def tune(queue: Any) -> None:
    """Look at the statistics since the last time; rebuild if days are too long or too short."""
    queue.credit = max(PATIENCE, 2 * queue.n_queued)
    if queue.n_queued == 0 or (queue.days_per_time == 0.0 and queue.n_queued <= FEW):
        return
    factor = 1.0
    if queue.days_per_time > 0.0:
        factor = wanted_factor(queue)
        n, n_days = queue.n_queued, queue.n_days
        fits = n > FEW // 2 and n <= n_days and (4 * n > n_days or n_days == MIN_DAYS)
        if factor == 1.0 and fits:
            return
    queue.credit *= 2
    n = collect(queue)
    if queue.days_per_time == 0.0:
        queue.width = first_width(queue, n)
        forget(queue)
    rebuild(queue, n, factor)


def wanted_factor(queue: Any) -> float:
    """Return by what the length of a day should change, from decayed sums; 1 for nothing."""
    now = near_time(queue)
    queue.gap_sum = 0.5 * queue.gap_sum + (now - queue.looked_at)
    queue.event_sum = 0.5 * queue.event_sum + queue.n_seen
    queue.crowd_sum = 0.5 * queue.crowd_sum + queue.crowd
    queue.looked_at = now
    queue.n_seen = 0
    queue.crowd = 0
    days = queue.gap_sum / queue.width / (queue.event_sum + 1.0)
    clocks = queue.crowd_sum / (queue.event_sum + 1.0)
    if clocks > CROWDED and days < 0.5:
        return float(max(LOAD / clocks, days, 1e-6))
    if days > EMPTY:
        return float(days if clocks > CROWDED else days * LOAD)
    return 1.0


def near_time(queue: Any) -> float:
    """Return a time about now: of a clock of today, or of the day itself."""
    if queue.n_run > 0:
        return float(queue.run[queue.n_run - 1].time)
    if queue.n_heap > 0:
        return float(queue.heap[0].time)
    return float(queue.origin + queue.today * queue.width)


def forget(queue: Any) -> None:
    """Start the statistics anew."""
    queue.looked_at = queue.now
    queue.gap_sum = queue.event_sum = queue.crowd_sum = 0.0
    queue.n_seen = 0
    queue.crowd = 0


def collect(queue: Any) -> int:
    """Copy all queued clocks into the run, in any order; return how many."""
    if 4 * queue.n_queued > queue.n_clocks:
        return collect_by_slot(queue)
    n = 0
    for place in range(queue.n_run):
        if queue.run[place].slot != DEAD:
            n = put(queue, n, queue.run[place].time, queue.run[place].slot)
    for place in range(queue.n_heap):
        n = put(queue, n, queue.heap[place].time, queue.heap[place].slot)
    for number in range(queue.n_days + N_YEARS):
        slot = queue.days[number].first
        while slot >= 0:
            n = put(queue, n, queue.clocks[slot].time, slot)
            slot = queue.clocks[slot].next
    return n


def collect_by_slot(queue: Any) -> int:
    """Copy all clocks with a pending time into the run, whatever the lists say."""
    n = 0
    for slot in range(queue.n_clocks):
        time = queue.clocks[slot].time
        if time < NEVER:
            n = put(queue, n, time, slot)
        else:
            queue.clocks[slot].prev = IDLE
    return n


def put(queue: Any, place: int, time: float, slot: int) -> int:
    """Write one node of the run; return the next place."""
    node = queue.run[place]
    node.time = time
    node.slot = slot
    return place + 1


def earliest(queue: Any, n: int) -> float:
    """Return the least time of run[0 .. n-1]."""
    least = NEVER
    for place in range(n):
        least = min(least, queue.run[place].time)
    return least


def first_width(queue: Any, n: int) -> float:
    """Guess a length of day from the pending times alone: LOAD mean gaps at the near end.

    Keeps the clocks below the mean, again and again, down to a sixteenth of them or 256.
    """
    least = earliest(queue, n)
    kept = n
    gap = 0.0
    for turn in range(64):
        total = 0.0
        for place in range(kept):
            total += queue.run[place].time - least
        if not total > 0.0:
            break
        mean = total / kept
        gap = mean / kept if turn == 0 else 2.0 * mean / kept
        if 16 * kept < n or kept < 256:
            break
        kept = keep_below(queue, kept, least + mean)
    if gap == 0.0:
        gap = (abs(least) if least != 0.0 else 1.0) / n
    return LOAD * gap


def keep_below(queue: Any, n: int, limit: float) -> int:
    """Bring the nodes of run[0 .. n-1] before `limit` to the front; return how many they are."""
    kept = 0
    for place in range(n):
        node, front = queue.run[place], queue.run[kept]
        if node.time < limit:
            time, slot = node.time, node.slot
            node.time = front.time
            node.slot = front.slot
            front.time = time
            front.slot = slot
            kept += 1
    return kept


def rebuild(queue: Any, n: int, factor: float) -> None:
    """Make a new calendar of the n clocks in the run, with days `factor` times as long."""
    least = earliest(queue, n) if n > 0 else queue.now
    width = max(queue.width * factor, 1e-15 * abs(least), 1e-200)
    queue.width = min(width, 1e200)
    queue.days_per_time = 1.0 / queue.width if n > FEW else 0.0
    queue.origin = least
    queue.today = 0
    queue.n_queued = n
    queue.n_days = MIN_DAYS
    while queue.n_days < n:
        queue.n_days *= 2
    queue.log_days = 0
    while (1 << queue.log_days) < queue.n_days:
        queue.log_days += 1
    for number in range(queue.n_days + N_YEARS):
        queue.days[number].first = -1
    queue.n_run = 0
    queue.n_heap = 0
    n_today = 0
    for place in range(n):
        time, slot = queue.run[place].time, queue.run[place].slot
        day = day_of(queue, time)
        if day <= 0:
            n_today = put(queue, n_today, time, slot)
        else:
            link(queue, day, slot)
    start_run(queue, n_today)


def renew(queue: Any) -> None:
    """Make a new calendar from the clocks alone: after pools grew."""
    rebuild(queue, collect_by_slot(queue), 1.0)
