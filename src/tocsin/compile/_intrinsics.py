"""Plain functions that are a few machine instructions: bit casts, prefetching, a call by address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tocsin.compile import _memory as memory
from tocsin.compile._wide import HIGH_HALF
from tocsin.schema import _layout as layout

I32 = ir.IntType(32)
I64 = ir.IntType(64)
LANES = 4
VECTOR = ir.VectorType(I64, LANES)
MULTIPLIERS, WEYL, N_ROUNDS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 10
"""Philox4x32-10: doi:10.1145/2063384.2063405, section 4.3."""


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
def lowest_bit(typing_context: Any, mask: Any) -> Any:
    """Return the number of the lowest bit that is set."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), code


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


@intrinsic
def call_at(typing_context: Any, address: Any, a: Any, b: Any, c: Any, n: Any) -> Any:
    """Call a function of four whole numbers at an address."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(I64, [I64] * 4).as_pointer()
        return builder.call(builder.inttoptr(args[0], function), args[1:])

    return types.int64(*(types.int64,) * 5), code


@intrinsic
def copy_row(typing_context: Any, pool: Any, place: Any, born: Any, k: Any) -> Any:
    """Copy row k of one table to a place of another, all columns."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        entity = sig.args[0].entity
        rows = [memory.row_address(builder, entity, *at) for at in (args[:2], args[2:])]
        pointers = [builder.inttoptr(at, ir.IntType(8).as_pointer()) for at in rows]
        cgutils.raw_memcpy(builder, *pointers, ir.Constant(I64, memory.row_dtype(entity).itemsize), 1)
        return context.get_dummy_value()

    return types.void(pool, types.int64, born, types.int64), code


@intrinsic
def outside(typing_context: Any, points: Any, slopes: Any, row: Any) -> Any:
    """Call the function whose address is in the world's header with the addresses of two rows; NaN if it is 0."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = memory.load_word(builder, args[0], layout.OUTSIDE)
        before = builder.block
        with builder.if_then(builder.icmp_signed("!=", address, ir.Constant(I64, 0))):
            rows = [_row_of(builder, kind.array, args[0], args[2]) for kind in sig.args[:2]]
            function = ir.FunctionType(ir.DoubleType(), [I64, I64])
            value = builder.call(builder.inttoptr(address, function.as_pointer()), rows)
            called = builder.block
        merged = builder.phi(ir.DoubleType())
        merged.add_incoming(ir.Constant(ir.DoubleType(), float("nan")), before)
        merged.add_incoming(value, called)
        return merged

    return types.float64(points, slopes, types.int64), code


def _row_of(builder: Any, array: Any, header: Any, row: Any) -> Any:
    """Return the address of a row of a world array of doubles."""
    base, width = (memory.load_word(builder, header, array.slot + k) for k in (0, 2))
    return builder.add(base, builder.mul(builder.mul(row, width), ir.Constant(I64, 8)))


@intrinsic
def product_128(typing_context: Any, bits: Any, span: Any) -> Any:
    """Do what `kernel/_samplers.py` does; the high half is a function that each machine has its own of (`_wide.py`)."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        high = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, [I64, I64]), HIGH_HALF)
        return context.make_tuple(builder, sig.return_type, [builder.call(high, args), builder.mul(*args)])

    return types.UniTuple(types.int64, 2)(types.int64, types.int64), code


@intrinsic
def philox_fill(typing_context: Any, raw: Any, n: Any, first: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Do what `kernel/_philox.py` does, four blocks at a time in vector registers; n is a multiple of 4."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        begin, *rest = [_spread(builder, word) for word in args[2:6]]

        def counter(k: Any) -> list[Any]:
            lanes = builder.add(_spread(builder, k), ir.Constant(VECTOR, list(range(LANES))))
            return [builder.add(begin, lanes), *rest]

        return _fill(context, builder, sig, args, counter)

    return types.void(raw, *(types.int64,) * 7), code


@intrinsic
def philox_rows(
    typing_context: Any, raw: Any, n: Any, keys: Any, start: Any, c2: Any, c3: Any, k0: Any, k1: Any
) -> Any:
    """Do what `kernel/_philox.py` does, four rows at a time in vector registers; n is a multiple of 4."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base = memory.load_word(builder, args[2], sig.args[2].array.slot)
        rest = [_spread(builder, word) for word in args[4:6]]

        def counter(k: Any) -> list[Any]:
            address = builder.add(base, builder.mul(builder.add(args[3], k), ir.Constant(I64, 8)))
            rows = builder.load(builder.inttoptr(address, VECTOR.as_pointer()), align=8)
            return [_same(0), builder.and_(rows, _same(0xFFFFFFFF)), *rest]

        return _fill(context, builder, sig, args, counter)

    return types.void(raw, types.int64, keys, *(types.int64,) * 5), code


def _fill(context: Any, builder: Any, sig: Any, args: Any, counter: Any) -> Any:
    """Write n = args[1] blocks to the array args[0]; `counter(k)` gives the words of those from k on."""
    base, count = memory.load_word(builder, args[0], sig.args[0].array.slot), args[1]
    keys = [_spread(builder, key) for key in args[-2:]]
    start, step = [ir.Constant(I64, k) for k in (0, LANES)]
    with cgutils.for_range_slice(builder, start, count, step, intp=I64) as (k, _):
        words = _philox(builder, counter(k), keys)
        for half in (0, 1):
            low, high = words[2 * half], words[2 * half + 1]
            joined = builder.or_(builder.shl(high, _same(32)), low)
            place = builder.add(k, builder.mul(count, ir.Constant(I64, half)))
            address = builder.add(base, builder.mul(place, ir.Constant(I64, 8)))
            builder.store(joined, builder.inttoptr(address, VECTOR.as_pointer()), align=8)
    return context.get_dummy_value()


def _philox(builder: Any, counter: list[Any], keys: list[Any]) -> list[Any]:
    """Ten rounds of Philox4x32 on vectors of 64-bit words that hold 32 bits each."""
    low_half = _same(0xFFFFFFFF)
    c0, c1, c2, c3 = counter
    for number in range(N_ROUNDS):
        k0, k1 = (
            builder.and_(builder.add(key, _same(number * weyl)), low_half) for key, weyl in zip(keys, WEYL, strict=True)
        )
        p0, p1 = builder.mul(c0, _same(MULTIPLIERS[0])), builder.mul(c2, _same(MULTIPLIERS[1]))
        c0, c1 = builder.xor(builder.xor(c1, k0), builder.lshr(p1, _same(32))), builder.and_(p1, low_half)
        c2, c3 = builder.xor(builder.xor(c3, k1), builder.lshr(p0, _same(32))), builder.and_(p0, low_half)
    return [c0, c1, c2, c3]


def _same(value: int) -> Any:
    return ir.Constant(VECTOR, [value] * LANES)


def _spread(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), zeros)


def constant_table(values: tuple[float, ...]) -> Any:
    """Return an intrinsic that reads entry `index` (0 .. len - 1, unchecked) of constant doubles."""
    kind = ir.ArrayType(ir.DoubleType(), len(values))

    @intrinsic
    def entry(typing_context: Any, index: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            name = f"tocsin.table.{id(values):x}"
            table = builder.module.globals.get(name)
            if table is None:
                table = ir.GlobalVariable(builder.module, kind, name)
                table.initializer = ir.Constant(kind, list(values))
                table.global_constant, table.linkage = True, "internal"
            return builder.load(builder.gep(table, [ir.Constant(I64, 0), args[0]], inbounds=True))

        return types.float64(types.int64), code

    return entry


def _prefetch(builder: Any, address: Any) -> None:
    pointer_type = ir.IntType(8).as_pointer()
    function = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(
        builder.module, ir.FunctionType(ir.VoidType(), [pointer_type, I32, I32, I32]), "llvm.prefetch.p0"
    )
    hints = [ir.Constant(I32, 1), ir.Constant(I32, 3), ir.Constant(I32, 1)]
    builder.call(function, [builder.inttoptr(address, pointer_type), *hints])
