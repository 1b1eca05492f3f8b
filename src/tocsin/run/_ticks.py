"""Synchronous systems: freeze what they see, let threads share the rows, then apply what waited for the end.

The event loop calls `Ticks.run` when such a system's clock rings. Rows are divided into lanes of
neighbouring rows; what a lane spawns is kept apart and applied lane by lane, so in order of the row
that asked, then of asking. No draw and no result depends on how many lanes or threads there are.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tocsin.errors import CompileError
from tocsin.kernel import Clockwork
from tocsin.kernel._sweep import AT_ONCE, MOST_LANES, UPDATE, work
from tocsin.run._apply import Changes, touch_rows
from tocsin.run._compiled import access_of, compiled
from tocsin.schema import Message, Model, World
from tocsin.schema._flags import Flags
from tocsin.schema._layout import ACROSS, FIRST, GROW, TICK
from tocsin.schema._system import TickPlan, takes_touched
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


_LANE = ("task", "part", "action", "is_listed", "start", "stop", "tick", "frozen", "flags")


@dataclass(frozen=True)
class _Plan:
    """What is known of a system before it runs."""

    name: str
    table: Any
    spaces: tuple[str, ...]
    """Spaces that it looks at, which are indexed first."""
    copied: frozenset[str]
    """Entities of which it needs a copy: its own, if it looks at what it writes."""
    is_flagged: bool
    may_spawn: bool
    may_remove: bool
    gives: tuple[str, ...]
    """Reductions to which it gives."""
    sends_first: tuple[Any, ...]
    """Pools of messages that are emptied as it begins."""
    by_place: str
    """The space by which its rows may be visited in any order, or ''."""


def _known_access(model: Model, jit: bool) -> Mapping[str, Access]:
    """Return the read and write sets; of a model that does not compile nothing is known, and all is assumed."""
    has_parts = any(p.cls.staged for p in model.schema.parts.values()) or bool(model.indexed)
    if not jit and not has_parts and not any(issubclass(e.cls, Message) for e in model.schema.entities):
        return {}
    try:
        return access_of(model)
    except CompileError:
        if jit:
            raise
        return {}


def _spawns(access: Access | None, entity: str) -> bool:
    return access is None or f"{entity} (spawn)" in access.writes


class Ticks:
    """Runs the synchronous systems of one simulation."""

    def __init__(self, model: Model, world: World, kernel: Clockwork, jit: bool) -> None:
        self.model, self.world, self.kernel, self.jit = model, world, kernel, jit
        self.threads = default_threads()
        self.error: BaseException | None = None
        self.lane_in_trouble = -1
        self._work = compiled(model, kernel.schema(), work) if jit else None
        self._access = _known_access(model, jit)
        self._frozen = frozen_view(world, "")
        self._newborn: list[Any] = []
        self._callbacks: list[Any] = []
        self._headers: list[NDArray[Any]] = [self._frozen._header]
        self._addresses: list[int] = []
        self._at = int(world._header.ctypes.data), int(kernel._header.ctypes.data)
        self._flags = Flags(flags=[], first=[])
        self._flags_at = int(self._flags._header.ctypes.data)
        self._plans: dict[int, _Plan] = {}
        self._parts = list(model.indexed)
        self._changes = Changes(world, kernel)
        self._arranged = itemgetter(*((*_LANE, "row").index(name) for name in kernel.lanes.rows.dtype.names or ()))
        world._seen, world._flags = self._frozen, self._flags
        world._header[ACROSS] = self._frozen._header.ctypes.data
        self._callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self.run)
        world._header[TICK] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        world._on_tick = self.run

    def run(self, action: int) -> int:
        """Run one tick of a system; return 0, or 1 after an error, which `error` then holds."""
        try:
            self._run(action)
        except BaseException as error:
            self.error = error
            return 1
        return 0

    def _run(self, action: int) -> None:
        plan = self._plans.get(action) or self._plan(action)
        n_rows = len(plan.table) if plan.table is not None else 1
        for pool in plan.sends_first:
            self._changes.clear(pool)
        for space in plan.spaces:
            self._index(space)
        if not self.jit:
            self._frozen._frozen = f"{plan.name}.update, at another row or the world,"
        refresh(self.world, self._frozen, plan.copied, not self.jit)
        if plan.is_flagged:
            self._make_flags()
        n_visited = self._list(plan, n_rows)
        tick, flags = int(self.kernel.actions.rows["n_fired"][action]), self._flags_at
        edges = self._edges(n_visited or n_rows, LANES_A_THREAD)
        self._ready(len(edges) - 1)
        for k, (start, stop) in enumerate(pairwise(edges)):
            frozen = self._addresses[k]
            self._set_lane(k, UPDATE, 0, action, int(n_visited > 0), start, stop, tick, frozen, flags)
        self._share(len(edges) - 1)
        if plan.table is not None and plan.may_remove:
            self._changes.remove(plan.table)
        if plan.may_spawn:
            for lane in range(len(edges) - 1):
                self._changes.spawn(self._newborn[lane])
        for name in plan.gives:
            self.world.__dict__[name].gather()
        if plan.is_flagged:
            self._touch()

    def _plan(self, action: int) -> _Plan:
        """Return what is known of a system beforehand: what it sees, and what it may leave for the tick's end."""
        member = self.model.actions[action]
        access = self._access.get(f"{member.name}.update")
        table = self.world._tables[self.model.schema.by_code(member.rows).name] if member.rows else None
        spaces = tuple(n for n in self.model.indexed if access is None or f"{n}.first[]" in access.reads)
        writes = [] if access is None else list(access.writes)
        may_spawn = access is None or any("(spawn)" in label for label in writes)
        is_copied = table is not None and (access is None or any(label in access.seen for label in writes))
        by_place = [n for n in spaces if table is not None and self.model.schema.parts[n].entity == table.schema.name]
        gives = tuple(n for n, p in self.model.schema.parts.items()
                      if p.cls.staged and (access is None or any(f"{n}.{a}[]" in writes for a in p.cls.staged)))  # fmt: skip
        self._plans[action] = plan = _Plan(
            name=member.name, table=table, spaces=spaces, is_flagged=takes_touched(member.cls), may_spawn=may_spawn,
            copied=frozenset({table.schema.name} if is_copied and table is not None else ()),
            may_remove=access is None or any("(remove)" in label for label in writes),
            by_place=by_place[0] if by_place and access is not None and not may_spawn and not gives else "",
            gives=gives, sends_first=self._mailboxes(action),
        )  # fmt: skip
        return plan

    def flags(self) -> Flags:
        """Return where rows are marked, with room for all."""
        self._make_flags()
        return self._flags

    def plans_alone(self) -> dict[int, TickPlan]:
        """Return what each system needs where its tick is part of the event loop, by number."""
        found: dict[int, TickPlan] = {}
        for number, member in enumerate(self.model.actions):
            if member.is_synchronous:
                plan = self._plans.get(number) or self._plan(number)
                own = plan.table.schema if plan.table is not None else None
                found[number] = TickPlan(
                    ordinal=len(found), emptied=tuple(p.schema.name for p in plan.sends_first), spaces=plan.spaces,
                    copied=next(iter(plan.copied), ""), by_place=plan.by_place,
                    leaving=own.name if own is not None and own.pooled and plan.may_remove else "",
                    spawned=tuple(
                        e.name for e in self.model.schema.entities
                        if e.pooled and _spawns(self._access.get(f"{member.name}.update"), e.name)
                    ),
                    gives=plan.gives, is_flagged=plan.is_flagged,
                )  # fmt: skip
        return found

    def _mailboxes(self, action: int) -> tuple[Any, ...]:
        """Return the pools of messages that this system is the first to send: they are emptied as its tick begins."""
        access, found = self._access, []
        for entity in self.model.schema.entities:
            if issubclass(entity.cls, Message) and entity.pooled:
                senders = [
                    n
                    for n, m in enumerate(self.model.actions)
                    if _spawns(access.get(f"{m.name}.{m.method}"), entity.name)
                ]
                if senders[:1] == [action]:
                    found.append(self.world._tables[entity.name])
        return tuple(found)

    def _set_lane(self, k: int, *values: int) -> None:
        """Write all of a lane but the row that it is at: in the order of `_LANE`."""
        self.kernel.lanes.rows[k] = self._arranged((*values, 0))

    def _edges(self, n_items: int, a_thread: int) -> list[int]:
        """Return where the lanes begin that rows (or cells) are dealt to, `a_thread` to each thread; and the end."""
        if not self.jit or self.threads == 1 or n_items <= BLOCK:
            return [0, n_items]
        n_blocks = (n_items + BLOCK - 1) // BLOCK
        n = min(n_blocks, self.threads * a_thread, MOST_LANES)
        return [min(k * n_blocks // n * BLOCK, n_items) for k in range(n + 1)]

    def _index(self, name: str) -> None:
        """Index a space as it is now: at once, or in steps that threads share."""
        space, part = self.world.__dict__[name], self._parts.index(name)
        try:
            if not self.jit or self.threads == 1 or len(space.rows) <= BLOCK:
                self._set_lane(0, AT_ONCE, part, 0, 0, 0, 1, 0, 0, 0)
                self._one_lane(0)
            else:
                self._index_together(space, part)
        except BaseException:
            self.kernel.visited, self.lane_in_trouble = getattr(space, "bad_row", -1), -1
            raise

    def _index_together(self, space: Any, part: int) -> None:
        n_rows, n_cells = len(space.rows), space.n_cells()
        for step, n_items in ((2, n_rows), (3, n_cells), (4, 1), (5, n_cells)):
            edges = self._edges(n_items, 1)
            for k, (start, stop) in enumerate(pairwise(edges)):
                self._set_lane(k, step, part, 0, 0, start, stop, 0, 0, 0)
            self._share(len(edges) - 1)

    def _list(self, plan: _Plan, n_rows: int) -> int:
        """List rows by place, so that neighbours are near in memory; return how many, 0 if by number.

        Only for many rows, and where nothing is spawned: then the order in which they are visited is not seen.
        """
        if not plan.by_place or n_rows < MANY:
            return 0
        space = self.world.__dict__[plan.by_place]
        n = int(space.n_indexed)
        self.kernel.order.values[:n] = space.keys.values[:n]
        return n

    def _ready(self, n_lanes: int) -> None:
        """Give each lane a header of the frozen world, and a world for what it spawns."""
        while len(self._newborn) < n_lanes:
            if self._newborn:
                self._headers.append(self._frozen._header.copy())
            self._add_newborns()
            header = self._headers[-1]
            header[ACROSS] = self._newborn[-1]._header.ctypes.data
            self._addresses.append(header.ctypes.data)
        for header in self._headers[1:n_lanes]:
            header[FIRST:] = self._headers[0][FIRST:]

    def _add_newborns(self) -> None:
        made = newborn_world(self.world, self._frozen)
        callback = ctypes.CFUNCTYPE(None, ctypes.c_int64)(made._grow)
        made._header[GROW] = ctypes.cast(callback, ctypes.c_void_p).value or 0
        self._callbacks.append(callback)
        self._newborn.append(made)
        self._frozen._newborn = self._newborn[0]

    def _share(self, n_lanes: int) -> None:
        """Let threads take lanes, the calling one among them, until all are done."""
        if n_lanes == 1:
            try:
                self._one_lane(0)
            except BaseException:
                self.kernel.visited, self.lane_in_trouble = int(self.kernel.lanes.rows["row"][0]), -1
                raise
            return
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
                self._work(*self._at, self.kernel.now, lane)
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
