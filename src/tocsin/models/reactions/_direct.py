"""The direct method, and whole ensembles in one compiled loop.

Gillespie 1976, doi:10.1016/0021-9991(76)90041-3: one exponential wait at the sum of all propensities, one
uniform number that picks a channel by its share. The sum is taken afresh at every event, so no
rounding builds up; cost per event: O(channels), small enough for some dozens. The smallest networks go without a branch on what was drawn.
"""

from __future__ import annotations

from typing import Any

from tocsin.errors import Stop
from tocsin.formula import LOAD, run_formula
from tocsin.kernel._rates import draw_ahead
from tocsin.kernel._rng import MASK32
from tocsin.kernel._state import IN_FIRE, N_DRAWS, OUTSIDE
from tocsin.models.reactions.model import Reactor
from tocsin.schema import NEVER

REACHED_TIME = int(Stop.REACHED_TIME)
REACHED_EVENTS = int(Stop.REACHED_EVENTS)
BAD_TIME = int(Stop.BAD_TIME)
ZENO = int(Stop.ZENO)
MOST_AT_ONCE = 100_000
"""Events (of triggers) at one instant after which a run is stopped."""


def ensemble(model: Any, world: Reactor, kernel: Any, until: float, max_events: int) -> int:
    """Run trajectories one after the other and record each at all times; return a Stop code.

    Stops after `max_events` events and goes on where it stopped when it is called again. `until` is
    not used: a trajectory ends at its last time.
    """
    end = world.n_total + max_events
    while world.trajectory < world.n_trajectories:
        if world.at < 0:
            begin(world, kernel)
        while world.at < len(world.times):
            before = kernel.n_events
            code = go_on(world, kernel, world.times[world.at], end - world.n_total)
            world.n_total += kernel.n_events - before
            if code != REACHED_TIME:
                return code
            record(world, kernel)
        world.trajectory += 1
        world.at = -1
    return REACHED_TIME


def begin(world: Reactor, kernel: Any) -> None:
    """Set the world to its start, and the streams to the seed of the present trajectory."""
    rng = kernel.rngs[0]
    low = world.seed_low + world.trajectory
    rng.key_low = low & MASK32
    rng.key_high = (world.seed_high + (low >> 32)) & MASK32
    kernel.now = 0.0
    kernel.n_still = 0
    kernel.rated_epoch = 0
    kernel.n_drawn = N_DRAWS
    for k in range(len(world.values)):
        world.values[k] = world.initial[k]
    for k in range(len(world.triggers)):
        trigger = world.triggers[k]
        trigger.due = 0.0
        trigger.is_pending = 0
        trigger.n_fired = 0
        trigger.n_tries = 0
        trigger.was_true = world.was_true[k]
    world.renew_all(0.0, rng)
    world.at = 0


def go_on(world: Reactor, kernel: Any, until: float, max_events: int) -> int:
    """Fire all events up to and including a time, at most `max_events`; return a Stop code."""
    if len(world.triggers) == 0:
        return react(world, kernel, until, max_events)
    for _ in range(max_events):
        first = first_due(world)
        due = world.triggers[first].due
        code = react(world, kernel, min(until, due), 1, due)
        if code == REACHED_EVENTS:
            world.look_all(kernel.now, kernel.rngs[0])
        elif code != REACHED_TIME or due > until:
            return code
        elif not set_off(world, kernel, first, due):
            return ZENO
    return REACHED_EVENTS


def react(world: Reactor, kernel: Any, until: float, max_events: int, before: float = NEVER) -> int:
    """Fire all reactions up to and including `until` and earlier than `before`, at most `max_events`.

    The draw of an event that comes later stays: it gives that event again, if nothing changes till then.
    """
    if world.is_dense == 1:
        return react_densely(world, kernel, until, max_events, before)
    now = kernel.now
    for _ in range(max_events):
        total = sum_up(world)
        if total < 0.0:
            return BAD_TIME
        if total == 0.0:
            return REACHED_TIME
        if kernel.n_drawn >= N_DRAWS:
            draw_ahead(kernel)
        draw = kernel.draws[kernel.n_drawn]
        time = now + draw.wait / total
        if time > until or time >= before:
            return REACHED_TIME
        kernel.n_drawn += 1
        kernel.n_events += 1
        kernel.now = time
        now = time
        world.change(chosen(world, draw.place * total), time, kernel.rngs[0])
    return REACHED_EVENTS


def react_densely(world: Reactor, kernel: Any, until: float, max_events: int, before: float) -> int:
    """As `react`, same bits, for a small network of products alone: no branch depends on what was drawn.

    All propensities are worked out at every event, and all amounts changed. In one piece, as calls cost 10 %.
    """
    n, n_species = len(world.sums), world.n_species
    now = kernel.now
    for _ in range(max_events):
        total = low = 0.0
        for k in range(n):
            channel = world.channels[k]
            p = channel.constant * world.values[channel.x] * (world.values[channel.y] - channel.shift)
            total += p
            low = min(low, p)
            world.sums[k] = total
        if not (low >= 0.0 and total < NEVER):
            return BAD_TIME
        if total == 0.0:
            return REACHED_TIME
        if kernel.n_drawn >= N_DRAWS:
            draw_ahead(kernel)
        draw = kernel.draws[kernel.n_drawn]
        time = now + draw.wait / total
        if time > until or time >= before:
            return REACHED_TIME
        kernel.n_drawn += 1
        kernel.n_events += 1
        kernel.now = time
        now = time
        place = draw.place * total
        chosen = 0
        for k in range(n - 1):
            chosen += 1 if place >= world.sums[k] else 0
        chosen = not_idle(world, chosen)
        for k in range(n_species):
            world.values[k] = world.values[k] + world.jumps[chosen, k]
    return REACHED_EVENTS


def sum_up(world: Reactor) -> float:
    """Return the sum of all propensities, and note the sums up to each; -1 if one cannot be."""
    total = 0.0
    for k in range(len(world.propensities)):
        total += world.propensities[k]
        world.sums[k] = total
    return total if world.bad == 0 else -1.0


def chosen(world: Reactor, place: float) -> int:
    """Return the channel in whose share of the sum a place lies."""
    last = len(world.sums) - 1
    k = 0
    while k < last and place >= world.sums[k]:
        k += 1
    return not_idle(world, k)


def not_idle(world: Reactor, k: int) -> int:
    """Return a channel, or the last before it with a propensity: rounding may lead one step too far."""
    while k > 0 and world.sums[k] == world.sums[k - 1]:
        k -= 1
    return k


def first_due(world: Reactor) -> int:
    """Return the number of the trigger that is due first, the first of several."""
    best = 0
    for k in range(1, len(world.triggers)):
        if world.triggers[k].due < world.triggers[best].due:
            best = k
    return best


def set_off(world: Reactor, kernel: Any, number: int, due: float) -> bool:
    """Fire a trigger; False after too many at one instant."""
    kernel.n_still = kernel.n_still + 1 if due <= kernel.now else 0
    kernel.now = max(kernel.now, due)
    kernel.n_events += 1
    kernel.phase = IN_FIRE
    rng = kernel.rngs[0]
    rng.open(1, number, kernel.n_events)
    world.assign(world.triggers[number], kernel.now, rng)
    kernel.phase = OUTSIDE
    kernel.n_drawn = min(kernel.n_drawn + 1, N_DRAWS)  # that event did not come first, which says something of its draw
    return bool(kernel.n_still < MOST_AT_ONCE)


def record(world: Reactor, kernel: Any) -> None:
    """Write what is asked for at the present one of the times."""
    n = len(world.outputs)
    start = (world.trajectory * len(world.times) + world.at) * n
    rng = kernel.rngs[0]
    for k in range(n):
        now = world.times[world.at]
        from_code, to_code = world.outputs[k, 0], world.outputs[k, 1]
        if to_code == from_code + 1 and world.ops[from_code] == LOAD:
            world.recorded[start + k] = world.values[world.args[from_code]]
        else:
            world.recorded[start + k] = run_formula(world, from_code, to_code, now, rng)
    world.at += 1
