"""Entities: rows of a typed table, read and written through row proxies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from tocsin.errors import ModelError
from tocsin.schema._annotations import RESERVED, defining_locals, own_annotations, where

if TYPE_CHECKING:
    from tocsin.schema._table import Table


class _Field:
    """Read or write one field of the row that a proxy stands for."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, row: Any, owner: type | None = None) -> Any:
        return self if row is None else row._table.read(self.name, row._index)

    def __set__(self, row: Any, value: Any) -> None:
        row._table.write(self.name, row._index, value)


class Entity:
    """Base of all entities. Annotate fields; add methods that actions share.

    An instance is a proxy: (table, row number). `row.index` is the row number and
    `row.key` the key, which for rows of a `Pool` changes when the row is used again.
    """

    _own_names: ClassVar[list[str]] = []
    _locals: ClassVar[dict[str, Any] | None] = None
    _generation = _Field("_generation")
    _next = _Field("_next")

    def __init__(self, table: Table[Any], index: int) -> None:
        object.__setattr__(self, "_table", table)
        object.__setattr__(self, "_index", index)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_names = own_annotations(cls)
        cls._locals = defining_locals(sys._getframe(1))
        for name in cls._own_names:
            if name in cls.__dict__:
                raise ModelError(
                    f"{where(cls)}.{name}: a field of an entity has no default (rows start "
                    f"as zeros). Set it when you make the world or after spawn."
                )
            if name in RESERVED or name.startswith("_"):
                raise ModelError(f"{where(cls)}.{name}: this name is taken by every row.")
            setattr(cls, name, _Field(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), _Field):
            fields = ", ".join(self._table.schema.fields)
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {fields}")
        object.__setattr__(self, name, value)

    @property
    def index(self) -> int:
        """Row number in its table."""
        return int(self._index)

    @property
    def key(self) -> int:
        """Row number, with the generation above bit 32 for rows of a pool."""
        return int(self._table.key_of(self._index))

    @property
    def _code(self) -> int:
        return self._table.schema.code

    @property
    def _world(self) -> Any:
        return self._table.world

    if TYPE_CHECKING:
        _table: Table[Any]
        _index: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entity) or self._index != other._index:
            return False
        return self._table.origin is other._table.origin

    def __hash__(self) -> int:
        return hash((id(self._table.origin), self._index))

    def __repr__(self) -> str:
        if not self._table.is_live(self._index):
            return f"{type(self).__name__}[{self._index}](removed)"
        fields = ", ".join(
            f"{n}={getattr(self, n)!r}" if f.kind != "ref" else f"{n}->{self._table.target(n, self._index)}"
            for n, f in self._table.schema.fields.items()
        )
        return f"{type(self).__name__}[{self._index}]({fields})"


class Message(Entity):
    """Base of messages: rows of a pool that live for one tick.

    What synchronous systems spawn of them is there as the tick of the sender ends, in order of sender, then of
    sending, until the first of the systems that send them begins its next tick.
    """
