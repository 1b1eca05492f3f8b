"""The audit: after each event, ask again every clock that was not asked.

Draws are keyed by clock and count, so a pending time can be computed again with its own old draw.
If any bit differs, what the clock depends on has changed and its row was not touched. Rates and
observed values are compared as they are. Cost: all clocks and observed rows at every event.
"""

from __future__ import annotations

from typing import Any

from tocsin.errors import Stop
from tocsin.kernel._loop import REACHED_EVENTS, advance, answer
from tocsin.kernel._state import BY_SCHEDULE, IN_SCHEDULE, IN_VALUE, OUTSIDE, RATED, TICK

STALE = int(Stop.STALE)
STALE_CLOCK, STALE_RATE, STALE_VALUE = 1, 2, 3
"""What `kernel.stale` says was found."""


def advance_audited(model: Any, world: Any, kernel: Any, until: float, max_events: int) -> int:
    """Do what `advance` does and look at everything before the first and after each event."""
    is_fresh = kernel.started == 0
    stop = advance(model, world, kernel, until, 0)
    if stop != REACHED_EVENTS:
        return stop
    if is_fresh:
        for slot in range(kernel.n_clocks):
            kernel.asked_at[slot] = kernel.now
    was_stale = kernel.stale != 0
    if not is_sound(model, world, kernel, -1):
        if not was_stale:
            kernel.fired_slot = -1  # no event did it
        return STALE
    for _ in range(max_events):
        n_before = kernel.n_events
        stop = advance(model, world, kernel, until, 1)
        if kernel.n_events == n_before or stop != REACHED_EVENTS:
            return stop
        if not is_sound(model, world, kernel, kernel.fired_slot):
            return STALE
    return REACHED_EVENTS


def is_sound(model: Any, world: Any, kernel: Any, fired: int) -> bool:
    """Say whether no clock and no observed row would answer otherwise than it did."""
    if fired >= 0:
        kernel.asked_at[fired] = kernel.now
    for m in range(kernel.n_touched):
        mark = kernel.marks[m]
        kind = kernel.kinds[mark.kind]
        for k in range(kind.first, kind.first + kind.n_actions):
            state = kernel.actions[kernel.kind_actions[k]]
            kernel.asked_at[state.base + mark.row * state.stride] = kernel.now
    kernel.n_touched = 0
    kernel.stale = 0
    for slot in range(kernel.n_clocks):
        if kernel.owners[slot].action >= 0 and is_stale(model, world, kernel, slot):
            kernel.stop_slot = slot
            kernel.phase = OUTSIDE
            return False
    for code in range(1, len(kernel.kinds)):
        for index in range(kernel.kinds[code].n_rows):
            if is_unseen(model, world, kernel, code, index):
                kernel.phase = OUTSIDE
                return False
    kernel.phase = OUTSIDE
    return True


def is_stale(model: Any, world: Any, kernel: Any, slot: int) -> bool:
    """Say whether a clock would give another time or rate than it gave."""
    owner = kernel.owners[slot]
    action, index, then = owner.action, owner.row, kernel.asked_at[slot]
    kernel.stop_slot = slot
    kernel.phase = IN_SCHEDULE
    asked = kernel.actions[action].asked
    rate = 0.0
    if asked == TICK:
        return False
    if asked != BY_SCHEDULE:
        rate = model.rate(action, world, index)
        if asked == RATED:
            return differs(kernel, STALE_RATE, rate, kernel.rated[slot].rate)
    time = answer(model, world, kernel, action, index, owner.epoch - 1, then, rate)  # if it drew, that was its draw
    return differs(kernel, STALE_CLOCK, time, kernel.clocks[slot].time)


def differs(kernel: Any, kind: int, found: float, known: float) -> bool:
    """Say whether what was found is not what is known, and if so note what was found."""
    if found == known:
        return False
    kernel.stop_time = found
    kernel.stale = kind
    return True


def is_unseen(model: Any, world: Any, kernel: Any, code: int, index: int) -> bool:
    """Say whether an observable has another value on a row than the one that was read."""
    kind = kernel.kinds[code]
    for k in range(kind.first_observable, kind.first_observable + kind.n_observables):
        number = kernel.kind_observables[k]
        place = kernel.series[number].base + index
        kernel.stop_slot = place
        kernel.phase = IN_VALUE
        value = model.observe(number, world, index)
        if differs(kernel, STALE_VALUE, value, kernel.observed[place]):
            return True
    return False
