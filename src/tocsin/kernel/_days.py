"""The calendar's lists: which day a time falls on, hanging a clock there, taking it off."""

from __future__ import annotations

from typing import Any

from tocsin.kernel._state import LIST_HEAD, N_YEARS

FAR = 4_000_000_000_000_000_000


def day_of(queue: Any, time: float) -> int:
    """Return the day of a time: any non-decreasing map will do for exactness."""
    day = (time - queue.origin) * queue.days_per_time
    if day >= 4.0e18:
        return FAR
    if day <= -4.0e18:
        return -FAR
    return int(day)


def link(queue: Any, day: int, slot: int) -> None:
    """Hang a clock in the list of a day after today, or of its year if that is far off."""
    if day - queue.today < queue.n_days:
        number = day & (queue.n_days - 1)
    else:
        number = queue.n_days + ((day >> queue.log_days) & (N_YEARS - 1))
    bucket = queue.days[number]
    clock = queue.clocks[slot]
    after = bucket.first
    clock.next = after
    clock.prev = LIST_HEAD - number
    if after >= 0:
        queue.clocks[after].prev = slot
    bucket.first = slot


def unlink(queue: Any, clock: Any) -> None:
    """Take a clock out of its list; the first of a list knows which list it is."""
    after, before = clock.next, clock.prev
    if after >= 0:
        queue.clocks[after].prev = before
    if before >= 0:
        queue.clocks[before].next = after
    else:
        queue.days[LIST_HEAD - before].first = after
