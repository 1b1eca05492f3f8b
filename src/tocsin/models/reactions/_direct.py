"""The direct method, in a loop of its own.

Gillespie 1976, doi:10.1016/0021-9991(76)90041-3: one exponential wait at the sum of all propensities, one
uniform number that picks a channel by its share. Small networks are picked from by the sums up to each
channel, and may have machine code of their own (see `_unrolled`); for others the sums are a binary
tree (Wong and Easton 1980, doi:10.1137/0209009): O(log channels) an event. Every sum is
taken afresh from what it adds, so no rounding builds up.

What is drawn is a share in [0, 1) of the sum. A double below 1 times a sum is below the sum in
doubles too, so a channel with a propensity is found among the sums up to each.
"""

from __future__ import annotations

from typing import Any

from tocsin.errors import Stop
from tocsin.kernel import call_at
from tocsin.kernel._rates import draw_ahead
from tocsin.kernel._state import IN_FIRE, N_DRAWS, OUTSIDE
from tocsin.models.reactions._later import deliver, deliver_all
from tocsin.models.reactions._thinning import open_window, turns_down
from tocsin.models.reactions.model import Reactor
from tocsin.schema import NEVER

REACHED_TIME = int(Stop.REACHED_TIME)
REACHED_EVENTS = int(Stop.REACHED_EVENTS)
BAD_TIME = int(Stop.BAD_TIME)
ZENO = int(Stop.ZENO)
REACTING, DELIVERING = 1, 2
"""Numbers of actions in the model: purposes of their random streams."""
MOST_AT_ONCE = 100_000
"""Events (of triggers) at one instant after which a run is stopped."""


def by_direct(model: Any, world: Reactor, kernel: Any, until: float, max_events: int) -> int:
    """Fire all events up to and including a time, at most `max_events`; return a Stop code."""
    if len(world.triggers) == 0 and world.is_special == 0:
        return react(world, kernel, until, max_events, NEVER)
    end = kernel.n_events + max_events
    while kernel.n_events < end:
        if world.bad != 0:
            return BAD_TIME
        due = next_due(world)
        code = react(world, kernel, min(until, due), 1 if world.looks == 1 else end - kernel.n_events, due)
        if code == REACHED_EVENTS:
            world.look_all(kernel.now, kernel.rngs[0])
            continue
        due = next_due(world)  # a reaction may have sent something on its way
        if code != REACHED_TIME or due > until:
            return code
        if not set_off(world, kernel, due):
            return ZENO
    return REACHED_EVENTS


def next_due(world: Reactor) -> float:
    """Return when something is due that is no reaction: an event, an arrival, a renewal of bounds."""
    due = world.next_due
    if world.is_timed == 1:
        due = min(due, world.window_end)
    if len(world.triggers) > 0:
        due = min(due, world.triggers[first_due(world)].due)
    return due


def react(world: Reactor, kernel: Any, until: float, max_events: int, before: float) -> int:
    """Fire all reactions up to and including `until` and earlier than `before`, at most `max_events`.

    The draw of an event that comes later stays: it gives that event again, if nothing changes till then.
    """
    if len(world.channels) == 0:
        return REACHED_TIME  # nor are there draws
    left = max_events
    while left > 0:
        if kernel.n_drawn >= N_DRAWS:
            draw_ahead(kernel)
        n = min(left, N_DRAWS - kernel.n_drawn)
        fired = burst(world, kernel, until, before, n)
        is_bad = fired < 0
        if is_bad:
            fired = -1 - fired
        kernel.n_drawn += fired
        kernel.n_events += fired
        left -= fired
        if is_bad:
            return BAD_TIME
        if fired < n:
            return REACHED_TIME
    return REACHED_EVENTS


def burst(world: Reactor, kernel: Any, until: float, before: float, n: int) -> int:
    """Fire at most n reactions with the draws at hand; return how many, or -1 - that if a propensity cannot be."""
    if world.burst_at == 0:
        return (
            burst_flat(world, kernel, until, before, n)
            if world.is_flat == 1
            else burst_tree(world, kernel, until, before, n)
        )
    world.limits[0] = kernel.now
    world.limits[1] = until
    world.limits[2] = before
    fired = call_at(world.burst_at, world.values_at, world.draws_at + 16 * kernel.n_drawn, world.limits_at, n)
    kernel.now = world.limits[0]
    return fired


def burst_flat(world: Reactor, kernel: Any, until: float, before: float, n: int) -> int:
    """As `burst`, for a small network."""
    last = len(world.propensities) - 1
    for fired in range(n):
        total = 0.0
        for k in range(last + 1):
            total += world.propensities[k]
            world.sums[k] = total
        if world.bad != 0 or not total < NEVER:
            return -1 - fired
        if total == 0.0:
            return fired
        draw = kernel.draws[kernel.n_drawn + fired]
        time = kernel.now + draw.wait / total
        if not (time <= until and time < before):
            return fired
        kernel.now = time
        place = draw.place * total
        chosen = 0
        for k in range(last):
            chosen += 1 if place >= world.sums[k] else 0
        world.change(chosen, time, kernel.rngs[0])
    return n


def burst_tree(world: Reactor, kernel: Any, until: float, before: float, n: int) -> int:
    """As `burst`, for a network of any size."""
    rng = kernel.rngs[0]
    for fired in range(n):
        total = world.sums[1]
        if world.bad != 0 or not total < NEVER:
            return -1 - fired
        if total == 0.0:
            return fired
        draw = kernel.draws[kernel.n_drawn + fired]
        time = kernel.now + draw.wait / total
        if not (time <= until and time < before and time < world.next_due):
            return fired
        kernel.now = time
        channel = world.channels[chosen(world, draw.place * total)]
        if world.is_special == 1:
            rng.open(2 * REACTING + 1, channel.index, kernel.n_events + fired + 1)
            place = world.propensities[channel.index] * rng.random()
            if turns_down(world, channel.index, place, time, rng):
                continue
        world.change(channel.index, time, rng)
        for k in range(channel.first_dependent, channel.last_dependent):
            lift(world, world.dependents[k])
    return n


def chosen(world: Reactor, place: float) -> int:
    """Return the channel in whose share of the sum a place lies: down the tree, without a branch on what was drawn."""
    node, left_over = 1, place
    for _ in range(world.n_levels):
        left = world.sums[2 * node]
        is_right = left_over >= left
        left_over -= left if is_right else 0.0
        node = 2 * node + (1 if is_right else 0)
    if world.sums[node] > 0.0:
        return node - world.n_leaves
    return chosen_with_care(world, place)


def chosen_with_care(world: Reactor, place: float) -> int:
    """As `chosen`, never into a part of the tree whose sum is 0: rounding may lead one step too far."""
    node = 1
    for _ in range(world.n_levels):
        left, right = world.sums[2 * node], world.sums[2 * node + 1]
        node = 2 * node
        if place >= left and right > 0.0:
            place -= left
            node += 1
    return node - world.n_leaves


def lift(world: Reactor, index: int) -> None:
    """Write a propensity into the tree, and the sums above it."""
    node = world.n_leaves + index
    world.sums[node] = world.propensities[index]
    for _ in range(world.n_levels):
        node >>= 1
        world.sums[node] = world.sums[2 * node] + world.sums[2 * node + 1]


def add_up(world: Reactor) -> None:
    """Write all propensities into the tree, and all sums."""
    if world.is_flat == 1:
        return
    for k in range(len(world.propensities)):
        world.sums[world.n_leaves + k] = world.propensities[k]
    for node in range(world.n_leaves - 1, 0, -1):
        world.sums[node] = world.sums[2 * node] + world.sums[2 * node + 1]


def first_due(world: Reactor) -> int:
    """Return the number of the trigger that is due first, the first of several."""
    best = 0
    for k in range(1, len(world.triggers)):
        if world.triggers[k].due < world.triggers[best].due:
            best = k
    return best


def set_off(world: Reactor, kernel: Any, due: float) -> bool:
    """Do what is due and no reaction; False after too many at one instant."""
    kernel.n_still = kernel.n_still + 1 if due <= kernel.now else 0
    kernel.now = max(kernel.now, due)
    now, rng = kernel.now, kernel.rngs[0]
    kernel.n_drawn = min(kernel.n_drawn + 1, N_DRAWS)  # that event did not come first, which says something of its draw
    number = first_due(world) if len(world.triggers) > 0 else -1
    if number >= 0 and world.triggers[number].due <= due:
        kernel.n_events += 1
        kernel.phase = IN_FIRE
        rng.open(1, number, kernel.n_events)
        world.assign(world.triggers[number], now, rng)
        kernel.phase = OUTSIDE
        add_up(world)
    elif world.next_due <= due:
        kernel.n_events += 1
        rng.open(2 * DELIVERING + 1, 0, kernel.n_events)
        if len(world.triggers) > 0:
            deliver_all(world, now, rng)
            add_up(world)
        else:
            channel = world.channels[deliver(world, now, rng)]
            for k in range(channel.first_dependent, channel.last_dependent):
                lift(world, world.dependents[k])
    else:
        open_window(world, now, rng)
        add_up(world)
    return bool(kernel.n_still < MOST_AT_ONCE)
