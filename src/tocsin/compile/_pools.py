"""Pools in compiled code: spawning, removing, growing."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tocsin.compile import _memory as memory
from tocsin.compile._types import RowType, TableType
from tocsin.schema import _layout as layout
from tocsin.schema import _table as table_module
from tocsin.schema._views import LEAVING

I64 = ir.IntType(64)


@intrinsic
def _row_at(typing_context: Any, table: Any, index: Any) -> Any:
    if not isinstance(table, TableType):
        return None

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return memory.make_row(context, builder, sig.return_type, args[0], args[1])

    return RowType(table.schema, table.entity)(table, types.int64), code


@intrinsic
def _clear_row(typing_context: Any, table: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        entity = sig.args[0].entity
        dtype = memory.row_dtype(entity)
        address = memory.row_address(builder, entity, args[0], args[1])
        kept = {f.name: f for f in entity.hidden if f.name != layout.GENERATION}
        for name, field in {**entity.fields, **kept}.items():
            storage, pointer = memory.field_pointer(context, builder, address, dtype, name)
            lltype = context.get_data_type(storage)
            fill = -1 if field.kind == "ref" else (0.0 if field.kind == "float" else 0)
            alias = memory.alias_name(sig.args[0].schema, entity.name, name)
            memory.tag(builder, builder.store(ir.Constant(lltype, fill), pointer), alias)
        return context.get_dummy_value()

    return types.void(table, types.int64), code


@intrinsic
def _grow_pool(typing_context: Any, table: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        grow = memory.load_word(builder, args[0], layout.GROW)
        function = ir.FunctionType(ir.VoidType(), [I64]).as_pointer()
        pointer = builder.inttoptr(grow, function)
        builder.call(pointer, [ir.Constant(I64, sig.args[0].entity.code)])
        return context.get_dummy_value()

    return types.void(table), code


def _at(table: Any, index: int) -> Any:
    return _row_at(table, index)


def _clear(table: Any, index: int) -> None:
    _clear_row(table, index)


def _grow(table: Any) -> None:
    _grow_pool(table)


def _touch(table: Any, row: Any) -> None:
    if table._is_attached:
        table._kernel.add(row)


def _is_live(table: Any, index: int) -> bool:
    return table._at(index)._generation % 2 == 1


def _is_live_always(table: Any, index: int) -> bool:
    return True


ARENA_METHODS: dict[str, Any] = {"is_live": _is_live_always, "pick": table_module.pick_any}


@intrinsic
def _newborns(typing_context: Any, table: Any) -> Any:
    """Return the table in which rows of a frozen pool are spawned."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return memory.load_word(builder, args[0], layout.ACROSS)

    return TableType(table.schema.across, table.entity)(table), code


def _spawn_newborn(table: Any) -> Any:
    return _newborns(table).spawn()


def _leave(table: Any, row: Any) -> None:
    row._next = LEAVING


POOL_METHODS: dict[str, Any] = {
    "_at": _at, "_clear": _clear, "_grow": _grow, "_touch": _touch, "is_live": _is_live,
    "pick": table_module.pick_live, "spawn": table_module.spawn, "remove": table_module.remove,
}  # fmt: skip


FROZEN_METHODS: dict[str, Any] = {**POOL_METHODS, "spawn": _spawn_newborn, "remove": _leave}
"""In a frozen world, what a method does waits for the tick's end."""


def table_methods(table: Any) -> dict[str, Any]:
    """Return the functions behind the methods of a table."""
    if not table.entity.pooled:
        return ARENA_METHODS
    return FROZEN_METHODS if table.schema.role == "frozen" else POOL_METHODS


def table_method(table: Any, name: str) -> Any:
    """Return the function behind a method of a table."""
    return table_methods(table)[name]
