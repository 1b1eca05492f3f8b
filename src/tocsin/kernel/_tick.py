"""A tick of a synchronous system inside the event loop, for one thread: what a browser runs.

On this machine `run/_ticks.py` does the same with many threads and NumPy; both give the same bits, as no draw
and no result depends on how rows are shared out. `compile/_alone.py` puts these pieces in order.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._sweep import UPDATE, work
from tocsin.schema._views import LEAVING


def empty(pool: Any) -> None:
    """Remove all rows of a pool of messages; those that come next take row 0 and so on."""
    n = len(pool)
    for k in range(n):
        row = pool._at(k)
        if row._generation % 2 == 1:
            row._generation = row._generation + 1
            pool._touch(row)
        row._next = k + 1
    if n > 0:
        pool._at(n - 1)._next = -1
    pool._free = 0 if n > 0 else -1
    pool._n_live = 0


def make_index(space: Any, kernel: Any) -> None:
    """Index a space as it is now."""
    space.index(kernel.now)


def list_by_place(space: Any, kernel: Any) -> int:
    """List the rows of a space so that neighbours are near in memory; return how many."""
    n = space.n_indexed
    for k in range(n):
        kernel.order[k] = space.keys[k]
    return int(n)


def visit(
    model: Any, world: Any, kernel: Any, action: int, n_rows: int, n_listed: int, frozen: int, flags: int
) -> None:
    """Update every row, or those that are listed."""
    lane = kernel.lanes[0]
    lane.task = UPDATE
    lane.part = 0
    lane.action = action
    lane.is_listed = 1 if n_listed > 0 else 0
    lane.start = 0
    lane.stop = n_listed if n_listed > 0 else n_rows
    lane.tick = kernel.actions[action].n_fired
    lane.row = 0
    lane.frozen = frozen
    lane.flags = flags
    work(model, world, kernel, kernel.now, 0)


def take_leave(pool: Any) -> None:
    """Remove the rows that asked for it, in order of their numbers."""
    for k in range(len(pool)):
        row = pool._at(k)
        if row._next == LEAVING and row._generation % 2 == 1:
            row._generation = row._generation + 1
            row._next = pool._free
            pool._free = k
            pool._n_live = pool._n_live - 1
            pool._touch(row)


def join(pool: Any, born: Any) -> None:
    """Let the rows of a table of newborns join their pool, in order, and empty the table."""
    n = len(born)
    for k in range(n):
        row = pool.spawn()
        generation = row._generation
        copy_row(pool, row.index, born, k)
        row._generation = generation
        row._next = 0
        born._at(k)._generation = 0
    born._n_rows = 0
    born._n_live = 0
    born._free = -1


def copy_row(pool: Any, place: int, born: Any, k: int) -> None:
    """Copy all columns of row k of one table to another; compiled only."""
    raise NotImplementedError


def put_together(reduction: Any) -> None:
    """Put the blocks of a reduction together, in order, and make them blank: as `Reduction.gather` does."""
    total = reduction.blank
    for k in range(len(reduction.blocks)):
        total = reduction._both(total, reduction.blocks[k])
        reduction.blocks[k] = reduction.blank
    reduction.value = total


def touch_flagged(flags: Any, kernel: Any) -> None:
    """Touch the rows that were marked while a system ran, in order of kind, then of number."""
    for kind in range(len(flags.first)):
        start = flags.first[kind]
        if start >= 0:
            for row in range(kernel.kinds[kind].n_rows):
                if flags.flags[start + row] != 0:
                    flags.flags[start + row] = 0
                    kernel._touch(kind, row)
