"""A tick of a system: its `update` on every row that is live when the tick begins."""

from __future__ import annotations

from typing import Any

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
    way = model.way(action)
    rng = kernel.rngs[0]
    tick = kernel.actions[action].n_fired
    n = model.n_rows(action, world)
    if way >= KEYS:
        n = list_keys(model, world, kernel, action, n)
        if way == SHUFFLED:
            rng.open(2 * action, 0, tick)
            rng.shuffle(kernel.order, n)
    for k in range(n):
        index = k
        if way >= KEYS:
            key = kernel.order[k]
            index = key & MASK32
            if model.live_key(action, world, index) != key:
                continue
        kernel.visited = index
        rng.open(2 * action + 1, index, tick)
        model.update(action, world, index, now, rng, kernel)


def list_keys(model: Any, world: Any, kernel: Any, action: int, n_rows: int) -> int:
    """Write the keys of a system's live rows to `kernel.order`, by row number; return how many."""
    n = 0
    for index in range(n_rows):
        key = model.live_key(action, world, index)
        if key >= 0:
            kernel.order[n] = key
            n += 1
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
