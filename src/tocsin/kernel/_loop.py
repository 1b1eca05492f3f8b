"""The event loop: ring the first clock, fire its action, set again what it touched."""

from __future__ import annotations

from typing import Any

from tocsin.errors import Stop
from tocsin.kernel._observe import observe_all, observe_event, observe_row
from tocsin.kernel._queue import first, place
from tocsin.kernel._state import IN_FIRE, IN_SCHEDULE, OUTSIDE
from tocsin.kernel._tuning import renew

EXHAUSTED = int(Stop.EXHAUSTED)
REACHED_TIME = int(Stop.REACHED_TIME)
REACHED_EVENTS = int(Stop.REACHED_EVENTS)
BAD_TIME = int(Stop.BAD_TIME)
ZENO = int(Stop.ZENO)
LOG_FULL = int(Stop.LOG_FULL)


def advance(model: Any, world: Any, kernel: Any, until: float, max_events: int) -> int:
    """Fire events with time <= `until`, at most `max_events`; return a Stop code.

    Cost per event: one `fire`, one `schedule` for each clock of what it touched, and a move
    in the queue for each. Nothing is allocated.
    """
    if not resume(model, world, kernel):
        return BAD_TIME
    for _ in range(max_events):
        if kernel.is_logging != 0 and kernel.n_log >= len(kernel.log):
            return LOG_FULL
        slot = first(kernel)
        if slot < 0:
            return EXHAUSTED
        time = kernel.clocks[slot].time
        if time > until:
            return REACHED_TIME
        if time > kernel.now:
            kernel.n_still = 0
        elif kernel.n_still >= kernel.still_limit:
            kernel.stop_slot = slot
            return ZENO
        if not ring(model, world, kernel, slot, time):
            return BAD_TIME
    return REACHED_EVENTS


def ring(model: Any, world: Any, kernel: Any, slot: int, time: float) -> bool:
    """Fire one clock and set again the clocks of all that it touched, itself first."""
    owner = kernel.owners[slot]
    action = owner.action
    index = owner.row
    rng = kernel.rngs[0]
    kernel.now = time
    kernel.n_events += 1
    kernel.n_still += 1
    kernel.stop_slot = slot
    kernel.phase = IN_FIRE
    rng.open(2 * action + 1, index, owner.epoch)
    model.fire(action, world, index, time, rng, kernel)
    state = kernel.actions[action]
    state.n_fired += 1
    if kernel.is_stale != 0:
        renew(kernel)
        kernel.is_stale = 0
    slot = state.base + index * state.stride  # a pool that grew has moved it
    if rng.block > 0:
        kernel.owners[slot].epoch += 1
    if kernel.is_logging != 0:
        write_log(kernel, time, action, index)
    if not reschedule(model, world, kernel, slot, time):
        return False
    if not set_again(model, world, kernel, slot, time):
        return False
    observe_event(model, world, kernel, state.kind, index, time)
    kernel.phase = OUTSIDE
    return True


def reschedule(model: Any, world: Any, kernel: Any, slot: int, now: float) -> bool:
    """Ask a clock when it rings next; False if the answer is NaN or in the past."""
    owner = kernel.owners[slot]
    rng = kernel.rngs[0]
    kernel.stop_slot = slot
    kernel.phase = IN_SCHEDULE
    rng.open(2 * owner.action, owner.row, owner.epoch)
    time = model.schedule(owner.action, world, owner.row, now, rng)
    if rng.block > 0:
        owner.epoch += 1
    if time >= now:
        place(kernel, slot, time)
        return True
    kernel.stop_time = time
    return False


def set_again(model: Any, world: Any, kernel: Any, fired: int, now: float) -> bool:
    """Schedule the clocks of all touched rows, in touched order, except the fired one."""
    for m in range(kernel.n_marks):
        mark = kernel.marks[m]
        index = mark.row
        kind = kernel.kinds[mark.kind]
        kernel.owners[kind.head + index * kind.stride].mark = 0
        for k in range(kind.first, kind.first + kind.n_actions):
            state = kernel.actions[kernel.kind_actions[k]]
            slot = state.base + index * state.stride
            if slot != fired and not reschedule(model, world, kernel, slot, now):
                return False
        if kind.n_observables > 0:
            observe_row(model, world, kernel, mark.kind, index, now)
    kernel.n_marks = 0
    return True


def resume(model: Any, world: Any, kernel: Any) -> bool:
    """Take up what was done by hand since the last slice: rows touched, pools grown."""
    if kernel.is_stale != 0:
        renew(kernel)
        kernel.is_stale = 0
    if kernel.started == 0:
        return start(model, world, kernel)
    if kernel.n_marks > 0:
        if not set_again(model, world, kernel, -1, kernel.now):
            return False
        observe_event(model, world, kernel, 0, 0, kernel.now)
        kernel.phase = OUTSIDE
    return True


def start(model: Any, world: Any, kernel: Any) -> bool:
    """Schedule every clock, in slot order, and read every observable."""
    for slot in range(kernel.n_clocks):
        kernel.owners[slot].mark = 0
        if kernel.owners[slot].action >= 0 and not reschedule(model, world, kernel, slot, kernel.now):
            return False
    kernel.n_marks = 0
    observe_all(model, world, kernel)
    kernel.started = 1
    kernel.phase = OUTSIDE
    return True


def write_log(kernel: Any, time: float, action: int, index: int) -> None:
    """Add an event to the log."""
    record = kernel.log[kernel.n_log]
    record.time = time
    record.action = action
    record.row = index
    kernel.n_log += 1
