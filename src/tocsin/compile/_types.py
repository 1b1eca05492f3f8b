"""The Numba types of a model: worlds, rows, tables, arrays, params, actions.

A world is the address of its header (see `schema/_layout.py`). A row is that address and a row
number; a table, an array and a params block are just the address, as the type says the rest.
"""

from __future__ import annotations

from typing import Any, ClassVar

from llvmlite import ir
from numba import types
from numba.core import datamodel
from numba.core.typeconv import Conversion
from numba.extending import models, register_model

from tocsin.schema import EntitySchema, FieldSpec, Model, WorldSchema


class Stamp:
    """Which build types belong to. The kernel's are shared by all builds of a process."""

    number = 0
    shared: ClassVar[set[int]] = set()


class _Described(types.Type):
    """A type that is told apart by what it describes, and by the build that made it.

    Numba remembers what it compiled for a type; a rule edited in a notebook must not meet what
    was compiled for the old one.
    """

    def __init__(self, label: str, *parts: Any) -> None:
        self.parts = parts
        marks = ",".join(p if isinstance(p, str) else f"{id(p):x}" for p in parts)
        stamp = "" if id(parts[0]) in Stamp.shared else f"#{Stamp.number}"
        super().__init__(f"{label}[{marks}]{stamp}")


class WorldType(_Described):
    """The address of a world's header."""

    def __init__(self, schema: WorldSchema) -> None:
        self.schema = schema
        super().__init__("World", schema)


class TableType(_Described, types.IterableType):
    """An arena or a pool of a world."""

    def __init__(self, schema: WorldSchema, entity: EntitySchema) -> None:
        self.schema, self.entity = schema, entity
        super().__init__("Table", schema, entity)

    @property
    def iterator_type(self) -> types.Type:
        """What `for row in world.rows` goes by."""
        return RowsType(self)


class RowsType(types.SimpleIteratorType):
    """The (live) rows of a table that it had when the loop began, in order."""

    def __init__(self, table: TableType) -> None:
        self.table = table
        super().__init__(f"Rows[{table.name}]", RowType(table.schema, table.entity))


class RowType(_Described):
    """A row proxy, or none (a row number below 0), as an optional reference gives it."""

    bitwidth = -(1 << 62)  # Numba unifies types in this order: a row comes before None

    def __init__(self, schema: WorldSchema, entity: EntitySchema) -> None:
        self.schema, self.entity = schema, entity
        super().__init__("Row", schema, entity)

    def unify(self, typing_context: Any, other: types.Type) -> types.Type | None:
        """A row or None is a row."""
        return self if isinstance(other, types.NoneType) else None

    def can_convert_from(self, typing_context: Any, other: types.Type) -> Any:
        """None converts to a row."""
        return Conversion.promote if isinstance(other, types.NoneType) else None


class ArrayType(_Described):
    """A typed array of a world."""

    def __init__(self, schema: WorldSchema, name: str) -> None:
        self.schema, self.array = schema, schema.arrays[name]
        super().__init__("Array", schema, name)


class ParamsType(_Described):
    """A params block of a world."""

    def __init__(self, schema: WorldSchema, name: str) -> None:
        self.schema, self.name_ = schema, name
        self.cls = schema.params[name]
        super().__init__("Params", schema, name)


class PartType(_Described):
    """A part of a world, such as a space."""

    def __init__(self, schema: WorldSchema, name: str) -> None:
        self.schema, self.part = schema, schema.parts[name]
        super().__init__("Part", schema, name)


class CarrierType(_Described):
    """An action or observable, bound to a row: `self` in its methods."""

    def __init__(self, model: Model, kind: str, number: int) -> None:
        self.model = model
        self.member = getattr(model, kind)[number]
        self.schema = model.views.own if kind == "actions" and self.member.is_synchronous else model.schema
        super().__init__("Carrier", model, kind, str(number))


class ModelType(_Described):
    """A model: all is known when compiling, nothing is left at run time.

    `only`: the number of the one action that is asked about; code for no other is made.
    """

    def __init__(self, model: Model, only: int | None = None) -> None:
        self.model, self.only = model, only
        super().__init__(f"Model {only}", model)


class _Word(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.IntType(64))


class _WordAndIndex(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, [("world", types.int64), ("index", types.int64)])


class _Rows(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        index = types.EphemeralPointer(types.int64)
        super().__init__(manager, fe_type, [("world", types.int64), ("n_rows", types.int64), ("index", index)])


register_model(RowsType)(_Rows)
for _word in (WorldType, TableType, ArrayType, ParamsType, PartType):
    register_model(_word)(_Word)
for _pair in (RowType, CarrierType):
    register_model(_pair)(_WordAndIndex)
register_model(ModelType)(datamodel.models.OpaqueModel)

PYTHON_TYPES = {"int": types.int64, "float": types.float64, "bool": types.boolean}


def row_of(schema: WorldSchema, field: FieldSpec) -> RowType:
    """Return the type of the row that a reference field points to."""
    assert field.target is not None
    return RowType(schema, schema.entity(field.target))


def seen_from(schema: WorldSchema) -> WorldSchema:
    """Return the schema of the rows that references lead to: what is not one's own is seen frozen."""
    return schema.across if schema.role in ("own", "newborn") and schema.across else schema


def read_type(schema: WorldSchema, field: FieldSpec) -> types.Type:
    """Return the type that reading a field gives: int64, float64, boolean or a row."""
    return row_of(seen_from(schema), field) if field.kind == "ref" else PYTHON_TYPES[field.kind]
