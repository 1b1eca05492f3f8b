"""`for row in world.rows` in compiled code: all rows of an arena, the live ones of a pool."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.extending import lower_builtin

from tocsin.compile import _memory as memory
from tocsin.compile._row_fields import get_row_field
from tocsin.compile._types import RowsType, TableType
from tocsin.schema import _layout as layout

I64 = ir.IntType(64)


@lower_builtin("getiter", TableType)
def _begin(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    rows = context.make_helper(builder, sig.return_type)
    rows.world = args[0]
    rows.n_rows = memory.load_word(builder, args[0], sig.args[0].entity.slot + layout.N_ROWS, "_n_rows")
    rows.index = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
    return rows._getvalue()


@lower_builtin("iternext", RowsType)
@iternext_impl(RefType.UNTRACKED)
def _next(context: Any, builder: Any, sig: Any, args: Any, result: Any) -> None:
    rows_type = sig.args[0]
    rows = context.make_helper(builder, rows_type, value=args[0])
    if rows_type.table.entity.pooled:
        _skip_dead(context, builder, rows_type, rows)
    index = builder.load(rows.index)
    is_row = builder.icmp_signed("<", index, rows.n_rows)
    result.set_valid(is_row)
    with builder.if_then(is_row):
        result.yield_(memory.make_row(context, builder, rows_type.yield_type, rows.world, index))
        builder.store(builder.add(index, ir.Constant(I64, 1)), rows.index)


def _skip_dead(context: Any, builder: Any, rows_type: Any, rows: Any) -> None:
    look, test, skip, done = (builder.append_basic_block(name) for name in ("look", "test", "skip", "done"))
    builder.branch(look)
    builder.position_at_end(look)
    index = builder.load(rows.index)
    builder.cbranch(builder.icmp_signed("<", index, rows.n_rows), test, done)
    builder.position_at_end(test)
    row = memory.make_row(context, builder, rows_type.yield_type, rows.world, index)
    generation = get_row_field(context, builder, rows_type.yield_type, row, layout.GENERATION)
    builder.cbranch(builder.trunc(generation, ir.IntType(1)), done, skip)
    builder.position_at_end(skip)
    builder.store(builder.add(index, ir.Constant(I64, 1)), rows.index)
    builder.branch(look)
    builder.position_at_end(done)
