"""Apply what a synchronous tick left for its end: rows that leave, rows that are born, rows that are touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.kernel import Clockwork
from tocsin.schema import Pool, World
from tocsin.schema._layout import GENERATION, NEXT
from tocsin.schema._views import LEAVING

if TYPE_CHECKING:
    from numpy.typing import NDArray


def touch_rows(kernel: Clockwork, kind: int, rows: NDArray[Any]) -> None:
    """Mark rows of one kind, in order: what `touched.add` does, for many. Cost O(rows)."""
    head, stride = int(kernel.kinds["head"][kind]), int(kernel.kinds["stride"][kind])
    if head < 0 or not len(rows):
        return
    slots = head + rows.astype("i8") * stride
    fresh = kernel.owners["mark"][slots] == 0
    rows, slots = rows[fresh], slots[fresh]
    n = kernel.n_marks
    marks = kernel.marks.rows[n : n + len(rows)]
    marks["kind"], marks["row"] = kind, rows
    kernel.owners["mark"][slots] = 1
    kernel.n_marks = n + len(rows)


class Changes:
    """Removes and spawns rows of a world's pools, as `Pool.remove` and `Pool.spawn` do, for many at once."""

    def __init__(self, world: World, kernel: Clockwork) -> None:
        self.world, self.kernel = world, kernel

    def remove(self, pool: Any) -> None:
        """Remove the rows that said so, in order of their numbers."""
        import numpy as np

        if not isinstance(pool, Pool):
            return
        following, generation = pool._columns[NEXT], pool._columns[GENERATION]
        rows = np.flatnonzero((following[: len(pool)] == LEAVING) & (generation[: len(pool)] & 1 == 1))
        if not len(rows):
            return
        generation[rows] += 1
        following[rows] = np.append(pool._free, rows[:-1])
        pool._free = int(rows[-1])
        pool._n_live = pool._n_live - len(rows)
        touch_rows(self.kernel, pool.schema.code, rows)

    def clear(self, pool: Any) -> None:
        """Remove all rows; those that come next take row 0 and so on."""
        import numpy as np

        n, generation = len(pool), pool._columns[GENERATION]
        live = np.flatnonzero(generation[:n] & 1 == 1)
        generation[live] += 1
        pool._columns[NEXT][:n] = np.append(np.arange(1, n), -1)[:n]
        pool._free, pool._n_live = (0 if n else -1), 0
        touch_rows(self.kernel, pool.schema.code, live)

    def spawn(self, newborns: Any) -> None:
        """Let all rows of a world of newborns join the pools, in order, and empty it."""
        for name, born in newborns._tables.items():
            n = len(born)
            if n:
                self._join(self.world._tables[name], born.rows[:n])
                born.rows[:n] = 0
                born._counts[1:4] = 0, 0, -1

    def _join(self, pool: Any, rows: NDArray[Any]) -> None:
        import numpy as np

        places: list[int] = []
        free, following = pool._free, pool._columns[NEXT]
        n_run = min(len(rows), len(pool) - free) if free >= 0 else 0
        if n_run > 1 and np.array_equal(following[free : free + n_run - 1], np.arange(free + 1, free + n_run)):
            places = list(range(free, free + n_run))
            pool._free = int(following[free + n_run - 1])
        while len(places) < len(rows) and pool._free >= 0:
            places.append(pool._free)
            pool._free = int(pool._columns[NEXT][pool._free])
        n_more = len(rows) - len(places)
        start = pool._n_rows
        while start + n_more > pool._capacity:
            pool._grow()
        pool._n_rows = start + n_more
        into = np.append(np.array(places, np.int64), np.arange(start, start + n_more))
        generation = pool._columns[GENERATION][into] + 1
        pool.rows[into] = rows
        pool._columns[GENERATION][into], pool._columns[NEXT][into] = generation, 0
        pool._n_live = pool._n_live + len(rows)
        touch_rows(self.kernel, pool.schema.code, into)
