"""How a synchronous system sees a world when it runs as plain Python; compiled code has types for it.

`frozen` is another World on the same memory, but for the tables that the system writes, of which it has a
copy; nothing of it can be written. A system's own row is read and written in the world itself; a row that
it refers to is seen frozen. A row that it spawns is in a world of newborns, until the tick ends.
"""

from __future__ import annotations

import ctypes
from typing import Any

from tocsin.errors import PurityError
from tocsin.schema._layout import ACROSS, FIRST, GLOBALS, NEXT
from tocsin.schema._memory import zeros
from tocsin.schema._table import Arena, Pool, Table
from tocsin.schema._world import World

LEAVING = -2
"""What `_next` of a live row says when it is removed as the tick ends."""


class _Frozen(Table[Any]):
    """A table as it was when the tick began; `base` is the address of its rows."""

    base = 0

    def _adopt(self, rows: Any) -> None:
        super()._adopt(rows)
        self.base = self._counts.item(0)


class FrozenArena(_Frozen, Arena[Any]):
    """An arena as it was when the tick began."""


class FrozenPool(_Frozen, Pool[Any]):
    """A pool as it was when the tick began: what is spawned and removed waits for its end."""

    def spawn(self) -> Any:
        """Return a fresh row that joins the pool when the tick ends."""
        return self.world._newborn._tables[self.schema.name].spawn()

    def remove(self, row: Any) -> None:
        """Let the system's own row leave the pool when the tick ends."""
        if not isinstance(row._table, _Own):
            raise PurityError(f"a synchronous system may remove its own row only, got {row!r}")
        row._table._columns[NEXT][row._index] = LEAVING


class _Own(Table[Any]):
    """A table through which a system reaches its own row; what that refers to is seen frozen."""

    frozen: Any

    def read(self, name: str, index: int) -> Any:
        """Return a field; a reference leads to the frozen world."""
        found = super().read(name, index)
        spec = self.schema.fields.get(name)
        if spec is not None and spec.kind == "ref" and found is not None:
            return self.frozen._tables[spec.target]._at(found._index)
        return found


class OwnArena(_Own, Arena[Any]):
    """Own rows of an arena."""


class OwnPool(_Own, Pool[Any]):
    """Own rows of a pool."""


class NewbornPool(Pool[Any]):
    """Rows that were spawned in this tick; what they refer to is seen frozen."""

    is_unborn = True
    frozen: Any

    def read(self, name: str, index: int) -> Any:
        """Return a field; a reference leads to the frozen world."""
        spec = self.schema.fields.get(name)
        if spec is None or spec.kind != "ref":
            return super().read(name, index)
        value, target = self._columns[name].item(index), self.frozen._tables[spec.target]
        if value >= 0 and target.holds(value):
            return target._at(value & 0xFFFFFFFF)
        if spec.nullable:
            return None
        raise IndexError(f"{self.schema.name}[{index}].{name} points to no {'live ' * spec.keyed}row")


def frozen_view(world: World, what: str) -> Any:
    """Return a view of a world in which nothing can be written; `refresh` it at each tick."""
    cls, schema = type(world), world.schema()
    frozen: Any = cls.__new__(cls)
    frozen._allocate(schema)
    frozen._globals = world._globals
    frozen._header[GLOBALS] = world._globals.ctypes.data
    frozen._own = {}
    for entity in schema.entities:
        table: Any = (FrozenPool if entity.pooled else FrozenArena)(frozen, entity, 0)
        own: Any = (OwnPool if entity.pooled else OwnArena).__new__(OwnPool if entity.pooled else OwnArena)
        origin = world._tables[entity.name]
        own.__dict__.update(origin.__dict__)
        own.frozen = frozen
        table.origin = own.origin = origin
        frozen._tables[entity.name] = frozen.__dict__[entity.table] = table
        frozen._own[entity.name] = own
    for name, params in schema.params.items():
        frozen.__dict__[name] = params.bound(frozen._globals, f"{name}.", frozen)
    for part in schema.parts.values():
        frozen._bind_part(part)
    frozen._frozen = what
    return frozen


def newborn_world(world: World, frozen: Any) -> Any:
    """Return an empty world of the same kind, for the rows that synchronous systems spawn."""
    cls = type(world)
    state = {
        "globals": world._globals,
        "tables": {t: (zeros(1, e.dtype()), (0, 0, -1)) for t, e in world.schema().tables().items()},
        "arrays": {n: zeros((0,) * a.ndim, a.field.dtype) for n, a in world.schema().arrays.items()},
    }
    newborns = cls._restore(state)
    newborns._header[ACROSS] = frozen._header.ctypes.data
    for name, table in newborns._tables.items():
        table.origin = world._tables[name]
        if isinstance(table, Pool):
            table.__class__ = NewbornPool
            table.__dict__["frozen"] = frozen
    return newborns


def refresh(world: Any, frozen: Any, copied: frozenset[str], is_python: bool) -> None:
    """Bring a frozen view up to date: `copied` names the entities of which it has rows of its own."""
    frozen._header[FIRST:] = world._header[FIRST:]
    for name in copied:
        origin, table = world._tables[name], frozen._tables[name]
        if len(table.rows) != len(origin.rows) or table.rows is origin.rows:
            table._adopt(zeros(len(origin.rows), origin.rows.dtype))
        ctypes.memmove(table.base, origin._counts.item(0), len(origin) * origin.rows.dtype.itemsize)
        table._counts[0] = table.base
    if is_python:
        _refresh_python(world, frozen, copied)


def _refresh_python(world: Any, frozen: Any, copied: frozenset[str]) -> None:
    for name in world.schema().arrays:
        _see_array(world, frozen, name)
    for entity in world.schema().entities:
        own, origin, table = frozen._own[entity.name], world._tables[entity.name], frozen._tables[entity.name]
        own.rows, own._columns = origin.rows, origin._columns
        if entity.name not in copied and table.rows is not origin.rows:
            table._adopt(origin.rows)


def _see_array(world: Any, frozen: Any, name: str) -> None:
    array = world.__dict__[name]
    seen = frozen.__dict__.get(name)
    if seen is None or seen.values is not array.values:
        part, _, field = name.partition(".")
        is_staged = bool(field) and field in world.schema().parts[part].cls.staged
        frozen.__dict__[name] = type(array)(array.values, world if is_staged else frozen, array._name)


__all__ = ["ACROSS", "LEAVING", "frozen_view", "newborn_world", "refresh"]
