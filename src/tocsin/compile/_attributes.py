"""Typing and code of attributes of all but rows: `world.legs`, `world.rules.rate`, `self.leg`, `world.legs.n_live`."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, lower_setattr_generic

from tocsin.compile import _memory as memory
from tocsin.compile._functions import bound_method, call_function, dispatcher_type
from tocsin.compile._pools import POOL_METHODS, table_method, table_methods
from tocsin.compile._types import (
    PYTHON_TYPES,
    ArrayType,
    CarrierType,
    ParamsType,
    PartType,
    RowType,
    Stamp,
    TableType,
    WorldType,
)  # fmt: skip
from tocsin.schema import World
from tocsin.schema import _layout as layout

I64 = ir.IntType(64)
COUNTS = {"_n_rows": layout.N_ROWS, "_n_live": layout.N_LIVE, "_free": layout.FREE,
          "_capacity": layout.CAPACITY, "n_live": layout.N_LIVE}  # fmt: skip
COUNT_TAGS = {name: name if name.startswith("_") else f"_{name}" for name in COUNTS}
"""Alias tags: two names of one word share one, as LLVM takes words with different tags to be apart."""
kernel_schemas: dict[Any, Any] = {}
"""The kernel's world schema, by the schema of the model's world; set by a build."""


def kernel_type(model: Any) -> WorldType:
    """Return the type of the kernel of a model's simulations."""
    return WorldType(kernel_schemas[model.schema])


def class_of(owner: Any) -> type:
    """Return the user's class behind a type."""
    if isinstance(owner, WorldType):
        return owner.schema.cls
    if isinstance(owner, RowType):
        return owner.entity.cls
    if isinstance(owner, ParamsType):
        return owner.cls
    if isinstance(owner, PartType):
        return owner.part.cls
    return owner.member.cls


def class_attribute(owner: Any, name: str) -> Any:
    """Return what the user's class defines under `name`, unbound."""
    for base in class_of(owner).__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def resolve_class_attribute(owner: Any, name: str) -> types.Type | None:
    """Return the type of a method, a property or a constant of the user's class."""
    found = class_attribute(owner, name)
    if isinstance(found, FunctionType):
        return bound_method(owner, name, found)
    if isinstance(found, property):
        from numba.core.registry import cpu_target

        signature = dispatcher_type(found.fget).get_call_type(cpu_target.typing_context, (owner,), {})
        return signature.return_type
    if isinstance(found, (bool, int, float)):
        return PYTHON_TYPES[type(found).__name__]
    return None


def lower_class_attribute(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    """Emit a property's getter or a constant."""
    found = class_attribute(owner, name)
    if isinstance(found, property):
        return call_function(context, builder, found.fget, (owner,), (value,))[1]
    return context.get_constant(PYTHON_TYPES[type(found).__name__], found)


_INSIDE = ("open", "bits64")


def no_attribute(owner: Any, name: str, known: Any) -> TypingError:
    """Return the error for a name that is not declared."""
    from tocsin.schema._annotations import nearest

    cls = class_of(owner).__name__
    methods = [n for base in class_of(owner).__mro__ for n, v in vars(base).items()
               if isinstance(v, FunctionType) and n[0] != "_" and n not in _INSIDE]  # fmt: skip
    if id(owner.parts[0]) in Stamp.shared:  # rng or touched: its methods are what people know
        cls = "Touched" if isinstance(owner, WorldType) else cls
        known = [n for n in methods if not (cls == "Touched" and hasattr(World, n))]
        methods = []
    hint = nearest(name, [*known, *methods])
    return TypingError(f"{cls} has no field {name!r}.{hint} It has: {', '.join(known)}.")


@infer_getattr
class _WorldAttributes(AttributeTemplate):
    key = WorldType

    def generic_resolve(self, world: Any, name: str) -> Any:
        schema = world.schema
        tables = schema.tables()
        if name in tables:
            return TableType(schema, tables[name])
        if name in schema.arrays:
            return ArrayType(schema, name)
        if name in schema.parts:
            return PartType(schema, name)
        if name in schema.params:
            return ParamsType(schema, name)
        if name in schema.scalars:
            return PYTHON_TYPES[schema.scalars[name].kind]
        if name in ("_code", "index"):
            return types.int64
        found = resolve_class_attribute(world, name)
        if found is None:
            raise no_attribute(world, name, schema.names())
        return found


def _global_pointer(context: Any, builder: Any, schema: Any, header: Any, full: str) -> tuple[Any, Any]:
    base = memory.load_word(builder, header, layout.GLOBALS)
    return memory.field_pointer(context, builder, base, memory.globals_dtype(schema), full)


@lower_getattr_generic(WorldType)
def _get_world(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    schema = owner.schema
    if name in schema.scalars:
        storage, pointer = _global_pointer(context, builder, schema, value, name)
        wanted = PYTHON_TYPES[schema.scalars[name].kind]
        return memory.load(context, builder, storage, pointer, wanted, memory.alias_name(schema, "", name))
    if name in ("_code", "index"):
        return ir.Constant(I64, layout.WORLD_CODE)
    if name in schema.names():
        return value
    return lower_class_attribute(context, builder, owner, value, name)


@lower_setattr_generic(WorldType)
def _set_world(context: Any, builder: Any, signature: Any, args: Any, name: str) -> Any:
    owner, given = signature.args
    header, value = args
    schema = owner.schema
    if name not in schema.scalars:
        raise TypingError(f"{schema.name}.{name} cannot be replaced; set its rows or entries")
    storage, pointer = _global_pointer(context, builder, schema, header, name)
    memory.store(context, builder, storage, pointer, value, given, memory.alias_name(schema, "", name))


@infer_getattr
class _ParamsAttributes(AttributeTemplate):
    key = ParamsType

    def generic_resolve(self, params: Any, name: str) -> Any:
        fields = params.cls.fields()
        if name in fields:
            return PYTHON_TYPES[fields[name].kind]
        found = resolve_class_attribute(params, name)
        if found is None:
            raise no_attribute(params, name, fields)
        return found


@lower_getattr_generic(ParamsType)
def _get_params(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    fields = owner.cls.fields()
    if name not in fields:
        return lower_class_attribute(context, builder, owner, value, name)
    full = f"{owner.name_}.{name}"
    storage, pointer = _global_pointer(context, builder, owner.schema, value, full)
    alias = memory.alias_name(owner.schema, "", full)
    return memory.load(context, builder, storage, pointer, PYTHON_TYPES[fields[name].kind], alias)


@lower_setattr_generic(ParamsType)
def _set_params(context: Any, builder: Any, signature: Any, args: Any, name: str) -> Any:
    cls = signature.args[0].cls.__name__
    raise TypingError(f"{cls}.{name} cannot be set while a model runs; use a scalar of the world")


@infer_getattr
class _PartAttributes(AttributeTemplate):
    key = PartType

    def generic_resolve(self, owner: Any, name: str) -> Any:
        part, schema = owner.part, owner.schema
        if name in part.scalars:
            return PYTHON_TYPES[part.scalars[name].kind]
        if name in part.arrays:
            return ArrayType(schema, f"{part.name}.{name}")
        if name == "rows" and part.entity is not None:
            return TableType(schema, schema.entity(part.entity))
        found = resolve_class_attribute(owner, name)
        if found is None:
            raise no_attribute(owner, name, [n for n in dir(part.cls) if n[0] != "_"])
        return found


@lower_getattr_generic(PartType)
def _get_part(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    part, schema = owner.part, owner.schema
    if name in part.scalars:
        spec = part.scalars[name]
        storage, pointer = _global_pointer(context, builder, schema, value, spec.name)
        alias = memory.alias_name(schema, "", spec.name)
        return memory.load(context, builder, storage, pointer, PYTHON_TYPES[spec.kind], alias)
    if name in part.arrays or name == "rows":
        return value
    return lower_class_attribute(context, builder, owner, value, name)


@lower_setattr_generic(PartType)
def _set_part(context: Any, builder: Any, signature: Any, args: Any, name: str) -> Any:
    owner, given = signature.args
    part, schema = owner.part, owner.schema
    if name not in part.scalars:
        raise TypingError(f"{part.name}.{name} cannot be replaced; set its entries")
    full = part.scalars[name].name
    storage, pointer = _global_pointer(context, builder, schema, args[0], full)
    memory.store(context, builder, storage, pointer, args[1], given, memory.alias_name(schema, "", full))


@infer_getattr
class _CarrierAttributes(AttributeTemplate):
    key = CarrierType

    def generic_resolve(self, carrier: Any, name: str) -> Any:
        member = carrier.member
        if name == member.key:
            return RowType(carrier.schema, carrier.schema.by_code(member.rows))
        found = resolve_class_attribute(carrier, name)
        if found is None:
            raise no_attribute(carrier, name, [member.key] if member.key else [])
        return found


@lower_getattr_generic(CarrierType)
def _get_carrier(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    if name != owner.member.key:
        return lower_class_attribute(context, builder, owner, value, name)
    header, index = memory.parts(context, builder, owner, value)
    row_type = RowType(owner.schema, owner.schema.by_code(owner.member.rows))
    return memory.make_row(context, builder, row_type, header, index)


@infer_getattr
class _TableAttributes(AttributeTemplate):
    key = TableType

    def generic_resolve(self, table: Any, name: str) -> Any:
        if name in COUNTS or name == "_code":
            return types.int64
        if name == "_kernel":
            return WorldType(kernel_schemas[table.schema])
        if name == "_is_attached":
            return types.boolean
        methods = table_methods(table)
        if name in methods:
            return bound_method(table, name, table_method(table, name))
        if name == "index":
            raise TypingError(f"Table {table.entity.table} has no number: mark all its rows with touched.all(...)")
        kind = "Pool" if table.entity.pooled else "Arena"
        hint = " Declare the table as a Pool to spawn and remove rows." * (name in POOL_METHODS)
        raise TypingError(f"{kind} {table.entity.table} has no {name!r} in compiled code.{hint}")


@lower_getattr_generic(TableType)
def _get_table(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    if name in COUNTS:
        return memory.load_word(builder, value, owner.entity.slot + COUNTS[name], COUNT_TAGS[name])
    if name == "_code":
        return ir.Constant(I64, owner.entity.code)
    kernel = memory.load_word(builder, value, layout.KERNEL)
    if name == "_kernel":
        return kernel
    return builder.icmp_signed("!=", kernel, ir.Constant(I64, 0))


@lower_setattr_generic(TableType)
def _set_table(context: Any, builder: Any, signature: Any, args: Any, name: str) -> Any:
    table, given = signature.args
    value = context.cast(builder, args[1], given, types.int64)
    memory.store_word(builder, args[0], table.entity.slot + COUNTS[name], value, COUNT_TAGS[name])
