"""Which points are near, four at a time in vector registers: what `space/_near.py` says in plain Python."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tocsin.compile import _memory as memory

I1, I32, I64, DOUBLE = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()
LANES = 4
POINTS, WORDS, FLAGS = ir.VectorType(DOUBLE, LANES), ir.VectorType(I64, LANES), ir.VectorType(I1, LANES)


@intrinsic
def near_flat(
    typing_context: Any, xs: Any, ys: Any, start: Any, n: Any, x: Any, y: Any, turn_x: Any, turn_y: Any, square: Any
) -> Any:
    """Return a bit for each of n points from `start` on: whether it is near enough, in two dimensions."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _near(builder, _axes(sig, args, 2), args[2], args[3], args[-1])

    return types.int64(xs, ys, *(types.int64,) * 2, *(types.float64,) * 5), code


@intrinsic
def near_solid(
    typing_context: Any, xs: Any, ys: Any, zs: Any, start: Any, n: Any,
    x: Any, y: Any, z: Any, turn_x: Any, turn_y: Any, turn_z: Any, square: Any,
) -> Any:  # fmt: skip
    """Return a bit for each of n points from `start` on: whether it is near enough, in three dimensions."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _near(builder, _axes(sig, args, 3), args[3], args[4], args[-1])

    return types.int64(xs, ys, zs, *(types.int64,) * 2, *(types.float64,) * 7), code


def _axes(sig: Any, args: Any, n: int) -> list[tuple[Any, Any, Any, Any]]:
    """Return (array, header, coordinate, size of a torus) of each axis."""
    return [(sig.args[k].array, args[k], args[n + 2 + k], args[2 * n + 2 + k]) for k in range(n)]


def _near(builder: Any, axes: list[tuple[Any, Any, Any, Any]], start: Any, n: Any, square: Any) -> Any:
    bases = [_offset(builder, memory.load_word(builder, header, array.slot), start) for array, header, _, _ in axes]
    places = [(_spread(builder, at, POINTS), _spread(builder, turn, POINTS)) for _, _, at, turn in axes]
    square, count = _spread(builder, square, POINTS), _spread(builder, n, WORDS)
    found = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
    with cgutils.for_range_slice(builder, ir.Constant(I64, 0), n, ir.Constant(I64, LANES), intp=I64) as (k, _):
        lanes = builder.add(_spread(builder, k, WORDS), ir.Constant(WORDS, list(range(LANES))))
        is_there = builder.icmp_signed("<", lanes, count)
        total = None
        for base, (at, turn) in zip(bases, places, strict=True):
            part = _square(builder, builder.fsub(_load(builder, _offset(builder, base, k), is_there), at), turn)
            total = part if total is None else builder.fadd(total, part)
        hits = builder.and_(builder.fcmp_ordered("<=", total, square), is_there)
        bits = builder.zext(builder.bitcast(hits, ir.IntType(LANES)), I64)
        builder.store(builder.or_(builder.load(found), builder.shl(bits, k)), found)
    return builder.load(found)


def _square(builder: Any, difference: Any, turn: Any) -> Any:
    """Return the square of a distance along an axis, the short way around: `apart` of `space/_axis.py`."""
    magnitude = ir.Constant(WORDS, [(1 << 63) - 1] * LANES)
    straight = builder.bitcast(builder.and_(builder.bitcast(difference, WORDS), magnitude), POINTS)
    other = builder.fsub(turn, straight)
    short = builder.select(builder.fcmp_ordered("<", other, straight), other, straight)
    return builder.fmul(short, short)


def _offset(builder: Any, base: Any, index: Any) -> Any:
    return builder.add(base, builder.shl(index, ir.Constant(I64, 3)))


def _load(builder: Any, address: Any, is_there: Any) -> Any:
    """Load four doubles, of which those that are not there are 0 and their memory is not looked at."""
    name, pointer = "llvm.masked.load.v4f64.p0", POINTS.as_pointer()
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(POINTS, [pointer, I32, FLAGS, POINTS]), name
    )
    blank = ir.Constant(POINTS, [0.0] * LANES)
    return builder.call(function, [builder.inttoptr(address, pointer), ir.Constant(I32, 8), is_there, blank])


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)
