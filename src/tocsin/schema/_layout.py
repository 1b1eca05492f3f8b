"""Where everything of a world lies in memory: one header of 64-bit words, then plain tables.

The header is all that compiled code is given. Words: the kernel's header (0 while no
simulation runs), the record of scalars and params, the function that grows a pool, the one that
runs a synchronous system, the header of another view of this world (`_views.py`), a function of the user's
(`World.attach`); then for each table its base address, rows in use, live rows, first free row and capacity;
then for each array its base address and its shape.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args, get_origin

from tocsin.errors import ModelError
from tocsin.schema._annotations import as_scalar, hints, unknown_annotation, where
from tocsin.schema._entity import Entity
from tocsin.schema._fields import FieldSpec, OptionalRef, Ref
from tocsin.schema._params import Params
from tocsin.schema._part import ARRAY_DIMENSIONS, PartSchema, is_part, resolve_part
from tocsin.schema._table import Arena, Pool

KERNEL, GLOBALS, GROW, TICK, ACROSS, OUTSIDE, FIRST = 0, 1, 2, 3, 4, 5, 6
BASE, N_ROWS, N_LIVE, FREE, CAPACITY, TABLE_WORDS = 0, 1, 2, 3, 4, 5
GENERATION, NEXT = "_generation", "_next"
WORLD_CODE = 0
"""Code of the world itself among the kinds of things that clocks belong to."""


@dataclass(frozen=True, eq=False)
class EntitySchema:
    """One entity type in one world: its fields, its table, its code (1, 2, ...)."""

    cls: type[Entity]
    name: str
    table: str
    code: int
    pooled: bool
    slot: int
    fields: dict[str, FieldSpec]
    hidden: tuple[FieldSpec, ...]

    def dtype(self) -> Any:
        """Return the NumPy structured dtype of a row: C-aligned, widest fields first."""
        return self._dtype

    @cached_property
    def text(self) -> str:
        """All of it as text, but for the class's functions."""
        return f"{self.name} {self.table} {self.pooled} {self._dtype} {[*map(str, self.fields.values())]}"

    @cached_property
    def _dtype(self) -> Any:
        import numpy as np

        specs = [*self.fields.values(), *self.hidden]
        order = sorted(specs, key=lambda f: -np.dtype(f.dtype).itemsize)
        return np.dtype([(f.name, f.dtype) for f in order], align=True)


@dataclass(frozen=True, eq=False)
class ArraySchema:
    """One typed array of a world."""

    name: str
    field: FieldSpec
    ndim: int
    slot: int


@dataclass(frozen=True, eq=False)
class WorldSchema:
    """A world class, resolved: tables, arrays, scalars, params and parts, and their slots.

    `arrays` has those of parts too, as 'part.name'; `scalars` has the world's own.
    """

    cls: type
    name: str
    entities: tuple[EntitySchema, ...]
    arrays: dict[str, ArraySchema]
    scalars: dict[str, FieldSpec]
    params: dict[str, type[Params]]
    n_words: int
    parts: dict[str, PartSchema]
    role: str = ""
    """'' for the world itself; 'frozen', 'own' or 'newborn' for a view of it in a synchronous system."""
    across: WorldSchema | None = None
    """The view whose header stands in this view's header: frozen to newborn, the others to frozen."""

    def entity(self, name: str) -> EntitySchema:
        """Return the entity called `name`."""
        return next(e for e in self.entities if e.name == name)

    def by_code(self, code: int) -> EntitySchema:
        """Return the entity with this code (1, 2, ...)."""
        return self.entities[code - 1]

    def tables(self) -> dict[str, EntitySchema]:
        """Return the entities by the name of their table."""
        return {e.table: e for e in self.entities}

    def own_arrays(self) -> dict[str, ArraySchema]:
        """Return the arrays that the world itself declares."""
        return {name: array for name, array in self.arrays.items() if "." not in name}

    def names(self) -> list[str]:
        """Return what the world declares, by name: tables, arrays, scalars, params, parts."""
        return [*self.tables(), *self.own_arrays(), *self.scalars, *self.params, *self.parts]

    def globals_fields(self) -> dict[str, FieldSpec]:
        """Return all scalars, and all params and scalars of parts as 'attribute.name'."""
        found = dict(self.scalars)
        for attribute, cls in self.params.items():
            for name, field in cls.fields().items():
                full = f"{attribute}.{name}"
                found[full] = FieldSpec(full, field.dtype, field.kind)
        for part in self.parts.values():
            found.update({spec.name: spec for spec in part.scalars.values()})
        return found

    def globals_dtype(self) -> Any:
        """Return the NumPy structured dtype of the record of scalars and params."""
        return self._globals_dtype

    @cached_property
    def text(self) -> str:
        """The scalars and arrays as text."""
        arrays = [f"{array.name} {array.field} {array.ndim}" for array in self.arrays.values()]
        return f"{self.name} {self.n_words} {self._globals_dtype} {arrays}"

    @cached_property
    def _globals_dtype(self) -> Any:
        import numpy as np

        return np.dtype([(n, f.dtype) for n, f in self.globals_fields().items()], align=True)


@dataclass(frozen=True, eq=False)
class Views:
    """How a synchronous system sees a world: all of it as it was, its own row as it is, and rows it spawns."""

    frozen: WorldSchema
    own: WorldSchema
    newborn: WorldSchema


def views_of(schema: WorldSchema) -> Views:
    """Return schemas of the same layout, so that compiled code tells the views apart by their types."""
    frozen = replace(schema, role="frozen")
    newborn = replace(schema, role="newborn", across=frozen)
    object.__setattr__(frozen, "across", newborn)
    return Views(frozen, replace(schema, role="own", across=frozen), newborn)


def frozen_bytes(schema: WorldSchema) -> int:
    """Return how far apart two headers of frozen views lie where there are several: whole cache lines."""
    return -(-8 * schema.n_words // 64) * 64


def resolve_world(cls: type) -> WorldSchema:
    """Read the annotations of a world class. Raises ModelError for what does not fit."""
    found = hints(cls, {})
    tables = {n: h for n, h in found.items() if get_origin(h) in (Arena, Pool)}
    _check_names(cls, found, tables)
    names = {get_args(h)[0].__name__: get_args(h)[0] for h in tables.values() if _is_entity(h)}
    pooled = {get_args(h)[0].__name__ for h in tables.values() if get_origin(h) is Pool}
    entities: list[EntitySchema] = []
    slot = FIRST
    for name, hint in tables.items():
        entities.append(_entity(cls, name, hint, len(entities) + 1, slot, names, pooled))
        slot += TABLE_WORDS
    arrays: dict[str, ArraySchema] = {}
    scalars: dict[str, FieldSpec] = {}
    params: dict[str, type[Params]] = {}
    parts = {
        name: resolve_part(cls, name, hint, {e.name: e.fields for e in entities})
        for name, hint in found.items() if is_part(hint)
    }  # fmt: skip
    for name, hint in found.items():
        if name in tables or name in parts:
            continue
        if get_origin(hint) in ARRAY_DIMENSIONS:
            ndim = ARRAY_DIMENSIONS[get_origin(hint)]
            arrays[name] = ArraySchema(name, _scalar(cls, name, get_args(hint)[0]), ndim, slot)
            slot += 1 + ndim
        elif isinstance(hint, type) and issubclass(hint, Params):
            params[name] = hint
        else:
            scalars[name] = _scalar(cls, name, hint)
    for part in parts.values():
        for field, ndim in part.arrays.values():
            arrays[field.name] = ArraySchema(field.name, field, ndim, slot)
            slot += 1 + ndim
    for name in cls._defaults():  # type: ignore[attr-defined]
        if name not in scalars:
            raise ModelError(
                f"{where(cls)}.{name}: only scalars of a world have defaults. Set it when you make the world."
            )
    return WorldSchema(cls, cls.__name__, tuple(entities), arrays, scalars, params, slot, parts)


def _check_names(cls: type, found: dict[str, Any], tables: dict[str, Any]) -> None:
    from tocsin.schema._world import World

    for name in found:
        if name.startswith("_") or hasattr(World, name):
            raise ModelError(f"{where(cls)}.{name}: this name is taken by every world.")
    seen: dict[str, str] = {}
    for table, hint in tables.items():
        entity = getattr(get_args(hint)[0], "__name__", "")
        if entity in seen:
            raise ModelError(
                f"{where(cls)}: {seen[entity]} and {table} both hold {entity}; a world has one "
                f"table for each entity. Subclass {entity} for the other."
            )
        seen[entity] = table


def _is_entity(hint: Any) -> bool:
    inner = get_args(hint)[0]
    return isinstance(inner, type) and issubclass(inner, Entity)


def _entity(
    world: type, table: str, hint: Any, code: int, slot: int, names: dict[str, Any], pooled: set[str]
) -> EntitySchema:
    if not _is_entity(hint):
        raise unknown_annotation(world, table, hint, "Arena[X] or Pool[X] with X an Entity class")
    cls = get_args(hint)[0]
    fields = {n: _field(cls, n, h, names, pooled, world) for n, h in hints(cls, names).items()}
    is_pool = get_origin(hint) is Pool
    hidden: tuple[FieldSpec, ...] = (
        (FieldSpec(GENERATION, "i4", "int"), FieldSpec(NEXT, "i4", "int")) if is_pool else ()
    )
    if not fields and not hidden:
        hidden = (FieldSpec("_blank", "u1", "int"),)
    return EntitySchema(cls, cls.__name__, table, code, is_pool, slot, fields, hidden)


def _field(cls: type, name: str, hint: Any, names: dict[str, Any], pooled: set[str], world: type) -> FieldSpec:
    if get_origin(hint) not in (Ref, OptionalRef):
        scalar = as_scalar(hint)
        if scalar is None:
            raise unknown_annotation(
                cls, name, hint, "int8 ... int64, uint8 ... uint32, float32, float64, boolean, "
                "Ref[Entity] or OptionalRef[Entity]"
            )  # fmt: skip
        return FieldSpec(name, scalar.dtype, scalar.kind)
    target = get_args(hint)[0]
    target_name = getattr(target, "__name__", str(target))
    if target_name not in names:
        raise ModelError(
            f"{where(cls)}.{name}: it refers to {target_name}, which {world.__name__} does not "
            f"hold. Add a table to the world: rows: Arena[{target_name}]."
        )
    keyed = target_name in pooled
    nullable = get_origin(hint) is OptionalRef
    return FieldSpec(name, "i8" if keyed else "i4", "ref", target_name, nullable, keyed)


def _scalar(cls: type, name: str, hint: Any) -> FieldSpec:
    scalar = as_scalar(hint)
    if scalar is None:
        raise unknown_annotation(cls, name, hint, "Arena[X], Pool[X], Array[float64], a Params class or a scalar type")
    return FieldSpec(name, scalar.dtype, scalar.kind)
