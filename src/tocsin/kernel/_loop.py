"""The event loop: ring the first clock, fire its action, set again what it touched."""

from __future__ import annotations

from typing import Any

from tocsin.errors import Stop
from tocsin.kernel._observe import observe_all, observe_event, observe_row
from tocsin.kernel._queue import first, place
from tocsin.kernel._rates import choose, set_rate, settle
from tocsin.kernel._state import BY_SCHEDULE, IN_FIRE, IN_SCHEDULE, OUTSIDE, RATED, TICK
from tocsin.kernel._sweep import sweep
from tocsin.kernel._tuning import renew
from tocsin.kernel._turns import in_turn
from tocsin.schema import NEVER
from tocsin.schema._action import memoryless

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
        slot = coming(kernel)
        if slot < 0:
            return EXHAUSTED
        time = kernel.next_time
        if time > until:
            return REACHED_TIME
        if time > kernel.now:
            kernel.n_still = 0
        elif kernel.n_still >= kernel.still_limit:
            kernel.stop_slot = slot
            return ZENO
        if not ring(model, world, kernel, model.turn(kernel, slot, in_turn), time):
            return BAD_TIME
    return REACHED_EVENTS


def coming(kernel: Any) -> int:
    """Return the slot of the clock that rings next, or -1; its time is in `kernel.next_time`."""
    slot = first(kernel) if kernel.n_queued > 0 else -1
    time = kernel.rated_time
    if slot >= 0:
        own = kernel.clocks[slot].time
        if own < time or (own == time and slot < kernel.rated_slot):
            kernel.next_time = own
            return slot
    kernel.next_time = time
    return int(kernel.rated_slot) if time < NEVER else -1


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
    state = kernel.actions[action]
    if state.asked == RATED:
        choose(kernel, False)
    if state.asked == TICK:
        if not sweep(model, world, kernel, action, time):
            return False
    else:
        model.fire(action, world, index, time, rng, kernel)
    state.n_fired += 1
    if kernel.is_stale != 0:
        renew(kernel)
        kernel.is_stale = 0
    slot = state.base + index * state.stride  # a pool that grew has moved it
    kernel.fired_slot = slot
    if rng.block > 0:
        kernel.owners[slot].epoch += 1
    if kernel.is_logging != 0:
        write_log(kernel, time, action, index)
    if not reschedule(model, world, kernel, action, index, slot, time):
        return False
    if not set_again(model, world, kernel, slot, time):
        return False
    if kernel.is_unsettled != 0 or state.asked == RATED:
        settle(kernel, time)
    observe_event(model, world, kernel, state.kind, index, time)
    kernel.phase = OUTSIDE
    return True


def reschedule(model: Any, world: Any, kernel: Any, action: int, index: int, slot: int, now: float) -> bool:
    """Ask a clock when it rings next; False if the answer is NaN or in the past."""
    kernel.stop_slot = slot
    kernel.phase = IN_SCHEDULE
    asked = kernel.actions[action].asked
    rate = 0.0
    if asked != BY_SCHEDULE:
        if asked == TICK:
            place(kernel, slot, next_tick(kernel, action))
            return True
        rate = model.rate(action, world, index)
        if asked == RATED:
            if rate == kernel.rated[slot].rate:
                return True
            return set_rate(kernel, slot, rate)
    return redraw(model, world, kernel, action, index, slot, now, rate)


def next_tick(kernel: Any, action: int) -> float:
    """Return when a system ticks next: the same sum whatever happened before, so nothing drifts."""
    state = kernel.actions[action]
    return float(kernel.begun_at + (state.n_fired + 1) * state.every)


def redraw(model: Any, world: Any, kernel: Any, action: int, index: int, slot: int, now: float, rate: float) -> bool:
    """Draw a clock's next time; False if that is NaN or in the past."""
    owner = kernel.owners[slot]
    time = answer(model, world, kernel, action, index, owner.epoch, now, rate)
    if kernel.rngs[0].block > 0:
        owner.epoch += 1
    if time >= now:
        place(kernel, slot, time)
        return True
    kernel.stop_time = time
    return False


def answer(model: Any, world: Any, kernel: Any, action: int, index: int, epoch: int, now: float, rate: float) -> float:
    """Return what a clock with a time of its own answers at `now`, drawing its draws number `epoch`."""
    rng = kernel.rngs[0]
    rng.open(2 * action, index, epoch)
    if kernel.actions[action].asked == BY_SCHEDULE:
        return float(model.schedule(action, world, index, now, rng))
    return memoryless(rate, now, rng)


def set_again(model: Any, world: Any, kernel: Any, fired: int, now: float) -> bool:
    """Schedule the clocks of all touched rows, in touched order, except the fired one."""
    for m in range(kernel.n_marks):
        mark = kernel.marks[m]
        index = mark.row
        kind = kernel.kinds[mark.kind]
        kernel.owners[kind.head + index * kind.stride].mark = 0
        for k in range(kind.first, kind.first + kind.n_actions):
            action = kernel.kind_actions[k]
            state = kernel.actions[action]
            slot = state.base + index * state.stride
            if slot != fired and not reschedule(model, world, kernel, action, index, slot, now):
                return False
        if kind.n_observables > 0:
            observe_row(model, world, kernel, mark.kind, index, now)
    kernel.n_touched = kernel.n_marks
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
        if kernel.is_unsettled != 0:
            settle(kernel, kernel.now)
        observe_event(model, world, kernel, 0, 0, kernel.now)
        kernel.phase = OUTSIDE
    return True


def start(model: Any, world: Any, kernel: Any) -> bool:
    """Schedule every clock, in slot order, and read every observable."""
    for slot in range(kernel.n_clocks):
        owner = kernel.owners[slot]
        owner.mark = 0
        if owner.action >= 0 and not reschedule(model, world, kernel, owner.action, owner.row, slot, kernel.now):
            return False
    kernel.n_marks = 0
    settle(kernel, kernel.now)
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
