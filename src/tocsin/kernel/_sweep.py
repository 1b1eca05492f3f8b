"""A tick of a system: its `update` on every row that is live when the tick begins."""

from __future__ import annotations

from typing import Any

from tocsin.kernel._philox import philox_fill, philox_rows
from tocsin.kernel._samplers import is_less, least_unbiased, product_128
from tocsin.kernel._state import N_DRAWS
from tocsin.schema._system import KEYS, SHUFFLED, SYNCHRONOUS

MASK32 = 0xFFFFFFFF
MOST_LANES = 64
"""Parts into which the rows of a synchronous system are divided, at most."""
UPDATE, AT_ONCE = 0, 1
"""Tasks of a lane: to update rows, to index a space; others are steps of indexing, which threads share."""


def sweep(model: Any, world: Any, kernel: Any, action: int, now: float) -> bool:
    """Let a system update its rows; False if a synchronous one failed."""
    if model.way(action) == SYNCHRONOUS:
        return bool(model.update_all(action, world) == 0)
    model.each(action, world, kernel, now, sweep_rows)
    kernel.rngs[0].block = 0
    return True


def sweep_rows(model: Any, world: Any, kernel: Any, action: int, now: float) -> None:
    """Let a sequential system update its rows, one after another; made anew for each system, so there is nothing to ask.

    The streams are keyed by system, row and tick: 2 a + 1 is the purpose of the rows' draws, 2 a that of the
    shuffle. A row that was removed since the tick began has another key, also if it was used again.
    """
    way, purpose = model.way(action), 2 * action
    rng = kernel.rngs[0]
    tick = kernel.actions[action].n_fired
    n = model.n_rows(action, world)
    if way >= KEYS:
        n = list_keys(model, world, kernel, action, n)
        if way == SHUFFLED:
            rng.open(purpose, 0, tick)
            if rng.DRAWS_AHEAD:
                shuffle(kernel, rng, n)
            else:
                rng.shuffle(kernel.order, n)
    n_ahead = 0
    for k in range(n):
        index, place = k, k % N_DRAWS
        if way >= KEYS:
            if rng.DRAWS_AHEAD and place == 0:
                rng.open(purpose + 1, 0, tick)
                n_ahead = rows_ahead(kernel, rng, k, n)
            key = kernel.order[k]
            index = key & MASK32
            if model.live_key(action, world, index) != key:
                continue
        kernel.visited = index
        rng.open(purpose + 1, index, tick)
        if rng.DRAWS_AHEAD and place < n_ahead:
            rng._take(kernel.raw[place], kernel.raw[n_ahead + place])
        model.update(action, world, index, now, rng, kernel)


def rows_ahead(kernel: Any, rng: Any, start: int, n: int) -> int:
    """Draw the first blocks of the next rows in `order`, many at once; return of how many."""
    n_blocks = min(N_DRAWS, n - start) // 4 * 4
    words = rng.epoch & MASK32, rng._upper_word()
    philox_rows(kernel.raw, n_blocks, kernel.order, start, words[0], words[1], rng.key_low, rng.key_high)
    return n_blocks


def shuffle(kernel: Any, rng: Any, n: int) -> None:
    """Do what `rng.shuffle(kernel.order, n)` does, with draws that are made many at a time."""
    place = width = block = 0
    for i in range(n - 1, 0, -1):
        least = -1
        while True:
            if place == 2 * width:
                block += width
                width = min(N_DRAWS, (i // 2 + 4) // 4 * 4)
                words = rng.epoch & MASK32, rng._upper_word()
                philox_fill(kernel.raw, width, block, rng.row, words[0], words[1], rng.key_low, rng.key_high)
                place = 0
            j, rest = product_128(kernel.raw[(place >> 1) + width * (place & 1)], i + 1)
            place += 1
            if not is_less(rest, i + 1):
                break
            if least < 0:
                least = least_unbiased(i + 1)
            if not is_less(rest, least):
                break
        held = kernel.order[i]
        kernel.order[i] = kernel.order[j]
        kernel.order[j] = held


def list_keys(model: Any, world: Any, kernel: Any, action: int, n_rows: int) -> int:
    """Write the keys of a system's live rows to `kernel.order`, by row number; return how many."""
    n = 0
    for index in range(n_rows):
        key = model.live_key(action, world, index)
        kernel.order[n] = key  # written over if its row is not live: a branch would often be foreseen wrongly
        n += 1 if key >= 0 else 0
    return n


def work(model: Any, world: Any, kernel: Any, now: float, number: int) -> int:
    """Do the task of one lane: update rows, each with draws of its own, or a step of indexing a space."""
    lane = kernel.lanes[number]
    if lane.task != UPDATE:
        model.index(lane.part, lane.task, world, lane.start, lane.stop, now)
        return 0
    rng = kernel.rngs[1 + 2 * number]  # which no other lane is near to in memory
    action, tick = lane.action, lane.tick
    for k in range(lane.start, lane.stop):
        index = k
        if lane.is_listed != 0:
            index = kernel.order[k] & MASK32
        lane.row = index
        rng.open(2 * action + 1, index, tick)
        model.update_own(action, world, index, now, rng, lane)
    return 0
