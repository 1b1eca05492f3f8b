"""Systems that are shuffled: whose turn it is, at each tick in a fresh order."""

from __future__ import annotations

from typing import Any


def in_turn(model: Any, kernel: Any, slot: int) -> int:
    """Return the clock whose turn it is, where `slot` is that of the first of them that is to ring.

    The systems of a shuffle ring at the same time, each once, so nothing needs to be remembered: who has had
    its turn has one tick more. Each stage gets a number, keyed by (seed, shuffle, tick, stage), and the
    least comes first; a stage that began goes on. The key is that of the shuffle of the first system's
    rows, with 1 + stage instead of row 0. Cost: a draw for each stage that is left.
    """
    action = kernel.owners[slot].action
    first, size = model.turn_first(action), model.turn_size(action)
    if size == 0:
        return slot
    tick = kernel.actions[first].n_fired
    for number in range(first + 1, first + size):
        tick = min(tick, kernel.actions[number].n_fired)
    rng, chosen, least = kernel.rngs[0], first, 2.0
    for number in range(first, first + size):
        if kernel.actions[number].n_fired > tick:
            continue
        stage = model.turn_stage(number)
        if number > first and model.turn_stage(number - 1) == stage:
            if kernel.actions[number - 1].n_fired > tick:
                return int(kernel.actions[number].base)
            continue
        rng.open(2 * first, 1 + stage, tick)
        drawn = rng.random()
        if drawn < least:
            chosen, least = number, drawn
    return int(kernel.actions[chosen].base)
