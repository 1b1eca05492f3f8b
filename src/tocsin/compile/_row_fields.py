"""Typing and code of the fields of a row: `leg.site`, `leg.lef.right`; what is checked at each read."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, lower_setattr_generic

from tocsin.compile import _memory as memory
from tocsin.compile._attributes import I64, lower_class_attribute, no_attribute, resolve_class_attribute
from tocsin.compile._types import PYTHON_TYPES, RowType, Stamp, WorldType, read_type
from tocsin.schema import FieldSpec
from tocsin.schema import _layout as layout


@infer_getattr
class _RowAttributes(AttributeTemplate):
    key = RowType

    def generic_resolve(self, row: Any, name: str) -> Any:
        if name in row.entity.fields:
            return read_type(row.schema, row.entity.fields[name])
        if name in ("index", "key", "_code") or _hidden(row.entity, name):
            return types.int64
        if name == "_world":
            return WorldType(row.schema)
        found = resolve_class_attribute(row, name)
        if found is None:
            raise no_attribute(row, name, row.entity.fields)
        return found


def _hidden(entity: Any, name: str) -> FieldSpec | None:
    return next((f for f in entity.hidden if f.name == name), None)


def _refuse_none(context: Any, builder: Any, owner: Any, index: Any, name: str) -> None:
    """Raise AttributeError for a field of a reference that points to no row."""
    if id(owner.schema) not in Stamp.shared:
        is_none = builder.icmp_signed("<", index, ir.Constant(I64, 0))
        with builder.if_then(is_none, likely=False):
            message = f"{owner.entity.name}.{name} of a reference that points to no row: test it with 'is None'"
            context.call_conv.return_user_exc(builder, AttributeError, (message,))


def _refuse_removed(context: Any, builder: Any, owner: Any, address: Any, name: str) -> None:
    """Raise IndexError for a field of a pool's row that was removed."""
    if owner.entity.pooled and name in owner.entity.fields and id(owner.schema) not in Stamp.shared:
        generation = _generation(context, builder, owner, address)
        is_removed = builder.not_(builder.trunc(generation, ir.IntType(1)))
        with builder.if_then(is_removed, likely=False):
            message = f"{owner.entity.name}.{name} of a row that was removed"
            context.call_conv.return_user_exc(builder, IndexError, (message,))


def _generation(context: Any, builder: Any, owner: Any, address: Any) -> Any:
    """Emit the read of the generation of a pool's row."""
    dtype = memory.row_dtype(owner.entity)
    storage, pointer = memory.field_pointer(context, builder, address, dtype, layout.GENERATION)
    alias = memory.alias_name(owner.schema, owner.entity.name, layout.GENERATION)
    return memory.load(context, builder, storage, pointer, types.int64, alias)


def _row_field(context: Any, builder: Any, owner: Any, value: Any, name: str) -> tuple[Any, ...]:
    header, index = memory.parts(context, builder, owner, value)
    _refuse_none(context, builder, owner, index, name)
    address = memory.row_address(builder, owner.entity, header, index)
    _refuse_removed(context, builder, owner, address, name)
    dtype = memory.row_dtype(owner.entity)
    storage, pointer = memory.field_pointer(context, builder, address, dtype, name)
    return header, storage, pointer, memory.alias_name(owner.schema, owner.entity.name, name)


@lower_getattr_generic(RowType)
def get_row_field(context: Any, builder: Any, owner: Any, value: Any, name: str) -> Any:
    """Emit the read of a field of a row."""
    field = owner.entity.fields.get(name) or _hidden(owner.entity, name)
    if field is not None:
        header, storage, pointer, alias = _row_field(context, builder, owner, value, name)
        if field.kind != "ref":
            return memory.load(context, builder, storage, pointer, PYTHON_TYPES[field.kind], alias)
        raw = memory.load(context, builder, storage, pointer, types.int64, alias)
        target = read_type(owner.schema, field)
        if target.schema is not owner.schema:
            header = memory.load_word(builder, header, layout.ACROSS)
        if field.keyed:
            raw = _index_of(context, builder, owner, target, field, header, raw)
        return memory.make_row(context, builder, target, header, raw)
    if name == "index":
        index = memory.parts(context, builder, owner, value)[1]
        _refuse_none(context, builder, owner, index, name)
        return index
    if name == "_code":
        return ir.Constant(I64, owner.entity.code)
    if name == "_world":
        return memory.parts(context, builder, owner, value)[0]
    if name == "key":
        return row_key(context, builder, owner, value)
    return lower_class_attribute(context, builder, owner, value, name)


def _index_of(context: Any, builder: Any, owner: Any, target: Any, field: FieldSpec, header: Any, key: Any) -> Any:
    """Return the row number of a reference into a pool; none, if the row was removed and that may be."""
    none = ir.Constant(I64, -1)
    index = builder.and_(key, ir.Constant(I64, 0xFFFFFFFF))
    is_none = builder.icmp_signed("<", key, ir.Constant(I64, 0))
    before = builder.block
    some, after = builder.append_basic_block("some"), builder.append_basic_block("after")
    builder.cbranch(is_none, after, some)
    builder.position_at_end(some)
    generation = _generation(context, builder, target, memory.row_address(builder, target.entity, header, index))
    is_same = builder.icmp_signed("==", generation, builder.ashr(key, ir.Constant(I64, 32)))
    if not field.nullable:
        with builder.if_then(builder.not_(is_same), likely=False):
            message = f"{owner.entity.name}.{field.name} points to no live row"
            context.call_conv.return_user_exc(builder, IndexError, (message,))
    found = builder.select(is_same, index, none)
    some = builder.block
    builder.branch(after)
    builder.position_at_end(after)
    merged = builder.phi(I64)
    merged.add_incoming(none, before)
    merged.add_incoming(found, some)
    return merged


def row_key(context: Any, builder: Any, owner: Any, value: Any) -> Any:
    """Return the key of a row; for a pool, its generation stands above bit 32."""
    index = memory.parts(context, builder, owner, value)[1]
    if not owner.entity.pooled:
        return index
    _, storage, pointer, alias = _row_field(context, builder, owner, value, layout.GENERATION)
    generation = memory.load(context, builder, storage, pointer, types.int64, alias)
    return builder.or_(builder.shl(generation, ir.Constant(I64, 32)), index)


@lower_setattr_generic(RowType)
def _set_row(context: Any, builder: Any, signature: Any, args: Any, name: str) -> Any:
    owner, given = signature.args
    target, value = args
    field = owner.entity.fields.get(name) or _hidden(owner.entity, name)
    if field is None:
        raise TypingError(f"{owner.entity.name}.{name} cannot be set")
    _, storage, pointer, alias = _row_field(context, builder, owner, target, name)
    if field.kind == "ref":
        value, given = _reference(context, builder, field, given, value), types.int64
    memory.store(context, builder, storage, pointer, value, given, alias)


def _reference(context: Any, builder: Any, field: FieldSpec, given: Any, value: Any) -> Any:
    if isinstance(given, types.NoneType):
        return ir.Constant(I64, -1)
    index = memory.parts(context, builder, given, value)[1]
    if not field.keyed:
        return index
    none = ir.Constant(I64, -1)
    is_none = builder.icmp_signed("<", index, ir.Constant(I64, 0))
    with builder.if_else(is_none) as (then, otherwise):
        with then:
            then_block = builder.block
        with otherwise:
            key = row_key(context, builder, given, value)
            other_block = builder.block
    merged = builder.phi(I64)
    merged.add_incoming(none, then_block)
    merged.add_incoming(key, other_block)
    return merged
