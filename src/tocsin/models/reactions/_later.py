"""Products that come later: a heap of what is on its way, as state of the world."""

from __future__ import annotations

import math
from typing import Any

from tocsin.formula import run_formula
from tocsin.kernel import Rng
from tocsin.models.reactions._kinds import BAD_DELAY, TOO_MANY_DUE
from tocsin.models.reactions._thinning import refuse
from tocsin.schema import NEVER


def send(world: Any, index: int, now: float, rng: Rng) -> None:
    """Put what a delayed channel produces on its way."""
    delay = run_formula(world, world.delays[index, 0], world.delays[index, 1], now, rng)
    if not 0.0 <= delay < math.inf:
        refuse(world, index, BAD_DELAY, delay)
    elif world.n_due >= len(world.due):
        refuse(world, index, TOO_MANY_DUE, delay)
    else:
        push(world, now + delay, index)


def postpone(world: Any, number: int, now: float, rng: Rng) -> None:
    """Put what a delayed trigger does on its way; a delay that cannot be, or no room, makes the world bad."""
    trigger = world.triggers[number]
    trigger.is_pending = 0
    delay = run_formula(world, trigger.first_delay, trigger.last_delay, now, rng)
    if not 0.0 <= delay < math.inf:
        refuse_trigger(world, number, BAD_DELAY, delay)
    elif world.n_due >= len(world.due):
        refuse_trigger(world, number, TOO_MANY_DUE, delay)
    else:
        push(world, now + delay, -1 - number)


def refuse_trigger(world: Any, number: int, wrong: int, value: float) -> None:
    """Stop the run: the clock of a trigger that is bad rings at no time."""
    world.bad = -1 - number
    world.wrong = wrong
    world.wrong_value = value
    world.triggers[number].due = math.nan


def push(world: Any, time: float, index: int) -> None:
    """Put something into the heap."""
    place = world.n_due
    world.n_due = place + 1
    while place > 0 and time < world.due[(place - 1) // 2]:
        world.due[place] = world.due[(place - 1) // 2]
        world.due_index[place] = world.due_index[(place - 1) // 2]
        place = (place - 1) // 2
    world.due[place] = time
    world.due_index[place] = index
    world.next_due = world.due[0]


def pop(world: Any) -> int:
    """Take the first out of the heap; return which it is."""
    index = world.due_index[0]
    n = world.n_due - 1
    world.n_due = n
    time, moved = world.due[n], world.due_index[n]
    place = 0
    while 2 * place + 1 < n:
        child = 2 * place + 1
        if child + 1 < n and world.due[child + 1] < world.due[child]:
            child += 1
        if not world.due[child] < time:
            break
        world.due[place] = world.due[child]
        world.due_index[place] = world.due_index[child]
        place = child
    world.due[place] = time
    world.due_index[place] = moved
    world.next_due = world.due[0] if n > 0 else NEVER
    return int(index)


def deliver(world: Any, now: float, rng: Rng) -> int:
    """Let the first of what is on its way arrive; return the channel that it came from, or -1 - the trigger.

    A trigger only gets ready: of all that happens at an instant, that of the highest priority is the first.
    """
    index = pop(world)
    if index < 0:
        trigger = world.triggers[-1 - index]
        trigger.n_ready += 1
        trigger.due = now
        return index
    world.move(world.delays[index, 2], world.delays[index, 3])
    world.renew_dependents(index, now, rng)
    return index


def deliver_all(world: Any, now: float, rng: Rng) -> None:
    """Let all arrive that is due by now, and look at the conditions again if there was any."""
    if world.n_due > 0 and world.next_due <= now:
        while world.n_due > 0 and world.next_due <= now:
            deliver(world, now, rng)
        world.look_all(now, rng)
