"""Plain functions that are one machine instruction: bit casts and prefetching."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tocsin.compile import _memory as memory

I32 = ir.IntType(32)
I64 = ir.IntType(64)


@intrinsic
def float_bits(typing_context: Any, x: Any) -> Any:
    """Return the IEEE bits of a double as a signed 64-bit number."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], I64)

    return types.int64(types.float64), code


@intrinsic
def float_from_bits(typing_context: Any, i: Any) -> Any:
    """Return the double with these IEEE bits."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), code


@intrinsic
def prefetch(typing_context: Any, row: Any) -> Any:
    """Fetch the cache line of a row, to read and write it."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        header, index = memory.parts(context, builder, sig.args[0], args[0])
        _prefetch(builder, memory.row_address(builder, sig.args[0].entity, header, index))
        return context.get_dummy_value()

    return types.void(row), code


@intrinsic
def prefetch_address(typing_context: Any, address: Any) -> Any:
    """Fetch the cache line at an address, to read and write it; a bad address does nothing."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _prefetch(builder, args[0])
        return context.get_dummy_value()

    return types.void(types.int64), code


def _prefetch(builder: Any, address: Any) -> None:
    pointer_type = ir.IntType(8).as_pointer()
    function = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(
        builder.module, ir.FunctionType(ir.VoidType(), [pointer_type, I32, I32, I32]), "llvm.prefetch.p0"
    )
    hints = [ir.Constant(I32, 1), ir.Constant(I32, 3), ir.Constant(I32, 1)]
    builder.call(function, [builder.inttoptr(address, pointer_type), *hints])
