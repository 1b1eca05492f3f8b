"""Parts: pieces of a world with arrays, scalars and methods of their own, such as spaces.

A part's arrays and scalars are those of the world, under the name `part.field`: saved, hashed and
copied with it. Its methods are plain functions that compile like any other.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args, get_origin

from tocsin.errors import InputError, ModelError
from tocsin.schema._annotations import as_scalar, defining_locals, hints, own_annotations, unknown_annotation, where
from tocsin.schema._array import Array, Array2, Array3

if TYPE_CHECKING:
    from typing import Self

    from tocsin.schema._fields import FieldSpec
    from tocsin.schema._table import Table

E = TypeVar("E")
ARRAY_DIMENSIONS = {Array: 1, Array2: 2, Array3: 3}


class _PartField:
    """Read or write one scalar, or read one array, of a part."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        if part is None:
            return self
        full = part._full(self.name)
        array = part._world.__dict__.get(full)
        return part._world._globals[full].item() if array is None else array

    def __set__(self, part: Any, value: Any) -> None:
        full = part._full(self.name)
        if part._world._frozen:
            part._world._refuse(full)
        if full in part._world.__dict__:
            raise AttributeError(f"{full} cannot be replaced; set its entries")
        if isinstance(value, float) and part._world._globals.dtype[full].kind != "f":
            raise TypeError(f"{full} holds whole numbers, got {value!r}; write int(...)")
        part._world._globals[full] = value


class Part(Generic[E]):
    """Base of what a world is declared to contain beside tables, arrays, scalars and params.

    Annotate arrays and scalars. `space: Plane[Boid]` ties a part to the rows of `Boid`, its `rows`.
    An instance that a user makes describes the part (`contents`); the world makes another that is
    bound to its memory.
    """

    _own_names: ClassVar[list[str]] = []
    _locals: ClassVar[dict[str, Any] | None] = None
    _world: ClassVar[Any] = None
    staged: ClassVar[tuple[str, ...]] = ()
    """Arrays that a synchronous system may write; the part has `gather`, which is called as its tick ends."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Fields that an entity must have for its rows to be in this part."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_names = own_annotations(cls)
        cls._locals = defining_locals(sys._getframe(1))
        for name in cls._own_names:
            if name == "rows" or name.startswith("_"):
                raise ModelError(f"{where(cls)}.{name}: this name is taken by every part.")
            setattr(cls, name, _PartField(name))

    @classmethod
    def _on(cls, world: Any, name: str, table: Table[E] | None) -> Self:
        """Return the part called `name` of a world."""
        made = cls.__new__(cls)
        made.__dict__.update(_world=world, _name=name, rows=table)
        return made

    def _full(self, field: str) -> str:
        if self._world is None:
            raise AttributeError(f"this {type(self).__name__} is in no world yet; it has no {field}")
        return f"{self.__dict__['_name']}.{field}"

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return the initial arrays and scalars by name, for a table with room for `n_rows` rows."""
        raise NotImplementedError

    def begin(self) -> None:
        """Do what is left once the world is filled; on the bound part."""

    def resize(self, n_rows: int) -> None:
        """Make room for more rows, after a pool has grown; on the bound part."""

    def _enlarge(self, field: str, length: int, fill: Any = 0) -> None:
        """Lengthen a one-dimensional array, keep its entries."""
        import numpy as np

        full = self._full(field)
        old = self._world.__dict__[full].values
        new = np.full(length, fill, old.dtype)
        new[: len(old)] = old
        self._world._set_array(self._world.schema().arrays[full], new)

    if TYPE_CHECKING:
        rows: Table[Any]

    def __repr__(self) -> str:
        return f"{type(self).__name__}()" if self._world is None else f"<{self.__dict__['_name']}>"


@dataclass(frozen=True, eq=False)
class PartSchema:
    """One part of one world: its class, the entity whose rows are in it, its arrays and scalars."""

    name: str
    cls: type[Part[Any]]
    entity: str | None
    arrays: dict[str, tuple[FieldSpec, int]]
    """Type of an entry and number of dimensions, by field."""
    scalars: dict[str, FieldSpec]


def is_part(hint: Any) -> bool:
    """Say whether an annotation of a world declares a part."""
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Part)


def resolve_part(world: type, name: str, hint: Any, fields: dict[str, dict[str, FieldSpec]]) -> PartSchema:
    """Read the annotations of a part. `fields`: those of each entity of the world, by its name.

    Raises ModelError for a type that is no array or scalar, or an entity that does not fit.
    """
    from tocsin.schema._fields import FieldSpec

    cls: Any = get_origin(hint) or hint
    entity = getattr(get_args(hint)[0], "__name__", str(get_args(hint)[0])) if get_args(hint) else None
    _check_entity(world, name, cls, entity, fields)
    arrays: dict[str, tuple[FieldSpec, int]] = {}
    scalars: dict[str, FieldSpec] = {}
    for field, own in hints(cls, {}).items():
        ndim = ARRAY_DIMENSIONS.get(get_origin(own) or own, 0)
        scalar = as_scalar(get_args(own)[0] if ndim else own)
        if scalar is None:
            raise unknown_annotation(cls, field, own, "Array[float64] or a scalar type")
        spec = FieldSpec(f"{name}.{field}", scalar.dtype, scalar.kind)
        if ndim:
            arrays[field] = spec, ndim
        else:
            scalars[field] = spec
    return PartSchema(name, cls, entity, arrays, scalars)


def _check_entity(world: type, name: str, cls: Any, entity: str | None, fields: dict[str, Any]) -> None:
    label = f"{where(world)}.{name}"
    if entity is None:
        if cls.needs:
            raise ModelError(f"{label}: say whose rows are in it: {name}: {cls.__name__}[Entity]")
        return
    if entity not in fields:
        raise ModelError(f"{label}: {world.__name__} does not hold {entity}. Add a table: rows: Arena[{entity}].")
    for field, kind in (need.split(": ") for need in cls.needs):
        own = fields[entity].get(field)
        if own is None or own.dtype not in _DTYPES[kind]:
            raise ModelError(f"{label}: {entity} needs a field {field}: {kind} to be in a {cls.__name__}.")


_DTYPES = {"float64": ("f8",), "int32": ("i4", "i8")}


def checked_part(schema: PartSchema, given: Any) -> Part[Any]:
    """Return the description of a part. Raises InputError if it is none or is missing."""
    made = f"{schema.name}={schema.cls.__name__}(...)"
    if given is None:
        raise InputError(f"the world needs {made}")
    if type(given) is not schema.cls:
        raise InputError(f"{schema.name} must be a {schema.cls.__name__}, got {given!r}")
    if given._world is not None:
        raise InputError(f"{schema.name} belongs to another world already; make a new one: {made}")
    return given
