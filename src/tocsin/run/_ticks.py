"""Synchronous systems: freeze what they see, let threads share the rows, then apply what waited for the end.

The event loop calls `Ticks.run` when such a system's clock rings. Rows are divided into lanes of
neighbouring rows; what a lane spawns is kept apart and applied lane by lane, so in order of the row
that asked, then of asking. No draw and no result depends on how many lanes or threads there are.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tocsin.kernel import Clockwork
from tocsin.kernel._sweep import MOST_LANES, UPDATE, work
from tocsin.run._apply import Changes, touch_rows
from tocsin.run._compiled import access_of, compiled
from tocsin.schema import Model, World
from tocsin.schema._flags import Flags
from tocsin.schema._layout import ACROSS, GROW, TICK
from tocsin.schema._model import Member
from tocsin.schema._system import takes_touched
from tocsin.schema._views import frozen_view, newborn_world, refresh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.compile import Access

BLOCK = 1024
"""Rows that one thread takes at least."""
LANES_A_THREAD = 4
MANY = 50_000
"""Rows from which it pays to visit them by place."""
_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def default_threads() -> int:
    """Return the number of processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def workers() -> ThreadPoolExecutor:
    """Return the threads of this process, which all simulations share; a forked child makes its own."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(MOST_LANES, thread_name_prefix="tocsin")
        return _pool


def _forget_workers() -> None:
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


class Ticks:
    """Runs the synchronous systems of one simulation."""

    def __init__(self, model: Model, world: World, kernel: Clockwork, jit: bool) -> None:
        self.model, self.world, self.kernel, self.jit = model, world, kernel, jit
        self.threads = default_threads()
        self.error: BaseException | None = None
        self.lane_in_trouble = -1
        self._work = compiled(model, kernel.schema(), work) if jit else None
        self._access = access_of(model) if jit else {}
        self._frozen = frozen_view(world, "")
        self._newborn: list[Any] = []
        self._callbacks: list[Any] = []
        self._headers: list[NDArray[Any]] = [self._frozen._header]
        self._flags = Flags(flags=[], first=[])
        world._seen, world._flags = self._frozen, self._flags
        world._header[ACROSS] = self._frozen._header.ctypes.data
        self._callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self.run)
        world._header[TICK] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        world._on_tick = self.run

    def run(self, action: int) -> int:
        """Run one tick of a system; return 0, or 1 after an error, which `error` then holds."""
        try:
            self._run(self.model.actions[action], action)
        except BaseException as error:
            self.error = error
            return 1
        return 0

    def _run(self, member: Member, action: int) -> None:
        n_rows = self.model.n_rows(action, self.world)
        access = self._access.get(f"{member.name}.update")
        spaces = [n for n in self.model.indexed if access is None or f"{n}.first[]" in access.reads]
        for space in spaces:
            self._index(space, n_rows)
        copied = self._copied(member, access)
        self._frozen._frozen = f"{member.name}.update, at another row or the world,"
        refresh(self.world, self._frozen, copied, not self.jit)
        flagged = takes_touched(member.cls)
        if flagged:
            self._make_flags()
        n_visited = self._list(member, access, spaces, n_rows)
        n_lanes = self._divide(max(n_visited, 0) or n_rows, LANES_A_THREAD)
        lanes = self.kernel.lanes.rows[:n_lanes]
        lanes["task"], lanes["action"], lanes["is_listed"] = UPDATE, action, n_visited > 0
        lanes["tick"] = self.kernel.actions["n_fired"][action]
        lanes["flags"] = self._flags._header.ctypes.data
        self._ready(n_lanes)
        self._share(n_lanes)
        changes = Changes(self.world, self.kernel)
        if member.rows:
            changes.remove(self.world._tables[self.model.schema.by_code(member.rows).name])
        for lane in range(min(n_lanes, len(self._newborn))):
            changes.spawn(self._newborn[lane])
        if flagged:
            self._touch()

    def _copied(self, member: Member, access: Access | None) -> frozenset[str]:
        """Return the entities of which a frozen copy is needed: the system's own, if it looks at what it writes."""
        if not member.rows:
            return frozenset()
        entity = self.model.schema.by_code(member.rows)
        if access is not None and not any(label in access.seen for label in access.writes):
            return frozenset()
        return frozenset({entity.name})

    def _divide(self, n_items: int, a_thread: int) -> int:
        """Deal rows (or cells) to lanes, `a_thread` to each thread; return how many lanes there are."""
        import numpy as np

        n_blocks = (n_items + BLOCK - 1) // BLOCK
        n = 1
        if self.jit and self.threads > 1 and n_blocks > 1:
            n = min(n_blocks, self.threads * a_thread, MOST_LANES)
        lanes = self.kernel.lanes.rows[:n]
        edges = np.minimum(np.arange(n + 1) * n_blocks // n * BLOCK, n_items)
        lanes["start"], lanes["stop"] = edges[:-1], edges[1:]
        return n

    def _index(self, name: str, n_rows: int) -> None:
        """Index a space as it is now: at once, or in steps that threads share."""
        space, lanes = self.world.__dict__[name], self.kernel.lanes.rows
        lanes["part"] = self.model.indexed.index(name)
        n_cells = space.n_cells()
        steps = ((2, n_rows), (3, n_cells), (4, 1), (5, n_cells))
        if not self.jit or self.threads == 1 or n_rows <= BLOCK:
            steps = ((1, 1),)
        try:
            for step, n_items in steps:
                n_lanes = self._divide(n_items, 1)
                lanes["task"] = step
                self._share(n_lanes)
        except BaseException:
            self.kernel.visited = getattr(space, "bad_row", -1)
            raise

    def _list(self, member: Member, access: Access | None, spaces: list[str], n_rows: int) -> int:
        """List rows by place, so that neighbours are near in memory; return how many, 0 if by number.

        Only for many rows, and where nothing is spawned: then the order in which they are visited is not seen.
        """
        if access is None or n_rows < MANY or any("(spawn)" in label for label in access.writes):
            return 0
        for name in spaces:
            if self.model.schema.parts[name].entity == self.model.schema.by_code(member.rows).name:
                n = int(self.world.__dict__[name].n_indexed)
                self.kernel.order.values[:n] = self.world.__dict__[name].keys.values[:n]
                return n
        return 0

    def _ready(self, n_lanes: int) -> None:
        """Give each lane a header of the frozen world, and a world for what it spawns."""
        while len(self._newborn) < n_lanes:
            if len(self._headers) <= len(self._newborn):
                self._headers.append(self._frozen._header.copy())
            self._add_newborns()
        first = self._headers[0]
        for k, header in enumerate(self._headers[:n_lanes]):
            if k > 0:
                header[:] = first
            header[ACROSS] = self._newborn[k]._header.ctypes.data
            self.kernel.lanes.rows["frozen"][k] = header.ctypes.data
        self._frozen._newborn = self._newborn[0]

    def _add_newborns(self) -> None:
        made = newborn_world(self.world, self._frozen)
        callback = ctypes.CFUNCTYPE(None, ctypes.c_int64)(made._grow)
        made._header[GROW] = ctypes.cast(callback, ctypes.c_void_p).value or 0
        self._callbacks.append(callback)
        self._newborn.append(made)

    def _share(self, n_lanes: int) -> None:
        """Let threads take lanes, the calling one among them, until all are done."""
        waiting, lock = iter(range(n_lanes)), threading.Lock()

        def take() -> None:
            while True:
                with lock:
                    lane = next(waiting, -1)
                if lane < 0 or self.lane_in_trouble >= 0:
                    return
                self._one_lane(lane)

        n_threads = min(self.threads, n_lanes)
        others = [workers().submit(take) for _ in range(n_threads - 1)]
        errors: list[BaseException] = []
        for wait in (take, *(other.result for other in others)):
            try:
                wait()
            except BaseException as error:
                errors.append(error)
        if errors:
            self.kernel.visited = int(self.kernel.lanes["row"][max(self.lane_in_trouble, 0)])
            self.lane_in_trouble = -1
            raise errors[0]

    def _one_lane(self, lane: int) -> None:
        try:
            if self._work is not None:
                self._work(self.world._header.ctypes.data, self.kernel._header.ctypes.data, self.kernel.now, lane)
            else:
                work(self.model, self.world, self.kernel, self.kernel.now, lane)
        except BaseException:
            self.lane_in_trouble = lane
            raise

    def _make_flags(self) -> None:
        """Make room for one flag for each row that has clocks or is observed."""
        import numpy as np

        heads, n_rows = self.kernel.kinds["head"], self.kernel.kinds["n_rows"]
        counts = np.where(heads >= 0, n_rows, 0)
        first = np.where(heads >= 0, np.cumsum(counts) - counts, -1)
        if len(self._flags.flags) != counts.sum() or len(self._flags.first) != len(first):
            self._flags._set_array(self._flags.schema().arrays["flags"], np.zeros(counts.sum(), np.int8))
        self._flags._set_array(self._flags.schema().arrays["first"], first)

    def _touch(self) -> None:
        import numpy as np

        flags, first = self._flags.flags.values, self._flags.first.values
        marked = np.flatnonzero(flags)
        flags[marked] = 0
        starts = np.where(first >= 0, first, len(flags) + 1)
        for kind in np.flatnonzero(first >= 0):
            stop = first[kind] + self.kernel.kinds["n_rows"][kind]
            rows = marked[(marked >= starts[kind]) & (marked < stop)] - first[kind]
            touch_rows(self.kernel, int(kind), rows)


def attach(model: Model, world: World, kernel: Clockwork, jit: bool) -> Ticks | None:
    """Return what runs a model's synchronous systems, None for a model without."""
    return Ticks(model, world, kernel, jit) if model.is_synchronous else None


Work = Callable[[int, int, float, int], int]
