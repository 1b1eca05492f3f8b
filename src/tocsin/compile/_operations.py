"""Typing and code of operations: indexing, `len`, comparing rows, pools, dispatch over actions."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_cast,
)  # fmt: skip

from tocsin.compile import _memory as memory
from tocsin.compile._functions import call_function, dispatcher_type
from tocsin.compile._types import PYTHON_TYPES, ArrayType, CarrierType, ModelType, RowType, Stamp, TableType
from tocsin.schema import NEVER
from tocsin.schema import _layout as layout
from tocsin.schema import _table as table_module

I64 = ir.IntType(64)
I32 = ir.IntType(32)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        owner, index = args
        if isinstance(owner, TableType) and isinstance(index, types.Integer):
            return signature(RowType(owner.schema, owner.entity), owner, types.int64)
        if isinstance(owner, ArrayType) and _indices(owner, index):
            return signature(PYTHON_TYPES[owner.array.field.kind], owner, _index_type(owner))
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        owner, index, _value = args
        if isinstance(owner, ArrayType) and _indices(owner, index):
            wanted = PYTHON_TYPES[owner.array.field.kind]
            return signature(types.none, owner, _index_type(owner), wanted)
        return None


def _indices(owner: Any, index: Any) -> bool:
    if owner.array.ndim == 1:
        return isinstance(index, types.Integer)
    return isinstance(index, types.BaseTuple) and len(index) == owner.array.ndim


def _index_type(owner: Any) -> Any:
    ndim = owner.array.ndim
    return types.int64 if ndim == 1 else types.UniTuple(types.int64, ndim)


@lower_builtin(operator.getitem, TableType, types.Integer)
def _get_row_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    owner = sig.args[0]
    n_rows = memory.load_word(builder, args[0], owner.entity.slot + layout.N_ROWS, "_n_rows")
    _check_index(context, builder, owner, owner.entity.table, args[1], n_rows)
    return memory.make_row(context, builder, sig.return_type, args[0], args[1])


def _check_index(context: Any, builder: Any, owner: Any, name: str, index: Any, length: Any) -> None:
    """Raise IndexError unless 0 <= index < length; the kernel's own accesses are not checked."""
    if id(owner.schema) not in Stamp.shared:
        is_bad = builder.icmp_unsigned(">=", index, length)
        with builder.if_then(is_bad, likely=False):
            message = f"{name}[...]: the index is out of range"
            context.call_conv.return_user_exc(builder, IndexError, (message,))


def _entry(context: Any, builder: Any, owner: Any, header: Any, index: Any) -> tuple[Any, ...]:
    from numba.core import cgutils

    array = owner.array
    indices = [index] if array.ndim == 1 else cgutils.unpack_tuple(builder, index, array.ndim)
    flat = ir.Constant(I64, 0)
    for axis in range(array.ndim):
        length = memory.load_word(builder, header, array.slot + 1 + axis)
        _check_index(context, builder, owner, array.name, indices[axis], length)
        flat = builder.add(builder.mul(flat, length), indices[axis])
    storage = memory.storage_of(array.field)
    pointer_type = context.get_data_type(storage).as_pointer()
    size = context.get_abi_sizeof(context.get_data_type(storage))
    base = memory.load_word(builder, header, array.slot)
    address = builder.add(base, builder.mul(flat, ir.Constant(I64, size)))
    alias = memory.alias_name(owner.schema, "[]", array.name)
    return storage, builder.inttoptr(address, pointer_type), alias


@lower_builtin(operator.getitem, ArrayType, types.Integer)
@lower_builtin(operator.getitem, ArrayType, types.BaseTuple)
def _get_entry(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    owner = sig.args[0]
    storage, pointer, alias = _entry(context, builder, owner, args[0], args[1])
    return memory.load(context, builder, storage, pointer, sig.return_type, alias)


@lower_builtin(operator.setitem, ArrayType, types.Integer, types.Any)
@lower_builtin(operator.setitem, ArrayType, types.BaseTuple, types.Any)
def _set_entry(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    storage, pointer, alias = _entry(context, builder, sig.args[0], args[0], args[1])
    memory.store(context, builder, storage, pointer, args[2], sig.args[2], alias)
    return context.get_dummy_value()


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], (TableType, ArrayType)):
            return signature(types.int64, args[0])
        return None


@lower_builtin(len, TableType)
def _len_table(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return memory.load_word(builder, args[0], sig.args[0].entity.slot + layout.N_ROWS, "_n_rows")


@lower_builtin(len, ArrayType)
def _len_array(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return memory.load_word(builder, args[0], sig.args[0].array.slot + 1)


class _Compare(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        left, right = args
        if isinstance(left, RowType) and (left == right or isinstance(right, types.NoneType)):
            return signature(types.boolean, left, right)
        return None


for _operator in (operator.eq, operator.ne, operator.is_, operator.is_not):
    infer_global(_operator)(type("_CompareRows", (_Compare,), {}))


def _comparison(sign: str) -> Any:
    def compare(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left = memory.parts(context, builder, sig.args[0], args[0])[1]
        if isinstance(sig.args[1], types.NoneType):
            none = builder.icmp_signed("<", left, ir.Constant(I64, 0))
            return none if sign == "==" else builder.not_(none)
        right = memory.parts(context, builder, sig.args[1], args[1])[1]
        return builder.icmp_signed(sign, left, right)

    return compare


for _operator, _sign in (
    (operator.eq, "=="), (operator.ne, "!="), (operator.is_, "=="), (operator.is_not, "!="),
):  # fmt: skip
    lower_builtin(_operator, RowType, RowType)(_comparison(_sign))
    lower_builtin(_operator, RowType, types.NoneType)(_comparison(_sign))


@lower_cast(types.NoneType, RowType)
def _none_to_row(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return memory.make_row(context, builder, wanted, ir.Constant(I64, 0), ir.Constant(I64, -1))


@lower_cast(types.Optional, RowType)
def _optional_to_row(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    optional = context.make_helper(builder, given, value=value)
    header, index = memory.parts(context, builder, wanted, optional.data)
    index = builder.select(optional.valid, index, ir.Constant(I64, -1))
    return memory.make_row(context, builder, wanted, header, index)


# --- pools -----------------------------------------------------------------------------------


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


POOL_METHODS: dict[str, Any] = {
    "_at": _at, "_clear": _clear, "_grow": _grow, "_touch": _touch, "is_live": _is_live,
    "spawn": table_module.spawn, "remove": table_module.remove,
}  # fmt: skip


# --- dispatch --------------------------------------------------------------------------------


class _Dispatch(AbstractTemplate):
    """`model.fire(action, ...)`, `model.schedule(...)`, `model.observe(...)`: a switch."""

    kind = ""

    def generic(self, args: Any, kws: Any) -> Any:
        model = self.this.model  # type: ignore[attr-defined]
        members, method, returns = MEMBERS[self.kind]
        for number, member in enumerate(getattr(model, members)):
            carrier = CarrierType(model, members, number)
            got = _method(member, method).get_call_type(
                self.context, (carrier, *_method_args(self.kind, args)), {}
            )
            _check_return(member, method, returns, got.return_type)
            if self.kind == "schedule" and member.asked == "rate":
                rate = _method(member, "rate").get_call_type(self.context, (carrier, args[1]), {})
                _check_return(member, "rate", returns, rate.return_type)
        return signature(returns, *args, recvr=self.this)  # type: ignore[attr-defined]


MEMBERS: dict[str, tuple[str, str, Any]] = {
    "fire": ("actions", "fire", types.none),
    "schedule": ("actions", "schedule", types.float64),
    "observe": ("observables", "value", types.float64),
}


def _method(member: Any, name: str) -> Any:
    return dispatcher_type(getattr(member.cls, name))


def _method_args(kind: str, args: Any) -> Any:
    """From (number, world, index, ...) to what the method takes after `self`."""
    return (args[1], *args[3:])


def _check_return(member: Any, method: str, wanted: Any, got: Any) -> None:
    if wanted is types.none and not isinstance(got, types.NoneType):
        raise TypingError(f"{member.name}.{method} must return nothing")
    if wanted is types.float64 and not isinstance(got, (types.Float, types.Integer, types.Boolean)):
        raise TypingError(
            f"{member.name}.{method} must return a number on every path, but may return {got}"
        )


@infer_getattr
class _ModelAttributes(AttributeTemplate):
    key = ModelType

    def generic_resolve(self, model: Any, name: str) -> Any:
        if name not in MEMBERS:
            return None
        template = type(f"_Dispatch_{name}", (_Dispatch,), {"key": (ModelType, name), "kind": name})
        return types.BoundFunction(template, model)


def _lower_dispatch(kind: str) -> Any:
    members, _, returns = MEMBERS[kind]

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = sig.args[0].model
        number = args[1]
        done = builder.append_basic_block("done")
        incoming = []
        default = builder.append_basic_block("no_such")
        switch = builder.switch(number, default)
        for n, member in enumerate(getattr(model, members)):
            block = builder.append_basic_block(member.name)
            switch.add_case(ir.Constant(I64, n), block)
            builder.position_at_end(block)
            value = _call_member(context, builder, sig, args, kind, n, member)
            incoming.append((value, builder.block))
            builder.branch(done)
        builder.position_at_end(default)
        builder.unreachable()
        builder.position_at_end(done)
        if returns is types.none:
            return context.get_dummy_value()
        if not incoming:
            return ir.Constant(ir.DoubleType(), 0.0)
        merged = builder.phi(ir.DoubleType())
        for value, block in incoming:
            merged.add_incoming(value, block)
        return merged

    return code


def _call_member(
    context: Any, builder: Any, sig: Any, args: Any, kind: str, number: int, member: Any
) -> Any:
    members, method, returns = MEMBERS[kind]
    model, header, index = sig.args[0].model, args[2], args[3]
    carrier = CarrierType(model, members, number)
    bound = memory.make_row(context, builder, carrier, header, index)

    def call() -> Any:
        got, value = call_function(
            context, builder, getattr(member.cls, method),
            (carrier, *_method_args(kind, sig.args[1:])), (bound, *_method_args(kind, args[1:])),
        )  # fmt: skip
        return None if returns is types.none else context.cast(builder, value, got.return_type, returns)

    entity = model.schema.by_code(member.code) if member.code else None
    if returns is types.none or entity is None or not entity.pooled:
        return call()
    return _if_live(context, builder, RowType(model.schema, entity), bound, kind, call)


def _if_live(context: Any, builder: Any, row_type: Any, row: Any, kind: str, call: Any) -> Any:
    from tocsin.compile._attributes import _get_row

    absent = ir.Constant(ir.DoubleType(), NEVER if kind == "schedule" else 0.0)
    generation = _get_row(context, builder, row_type, row, layout.GENERATION)
    live = builder.trunc(generation, ir.IntType(1))
    before = builder.block
    then, after = builder.append_basic_block("live"), builder.append_basic_block("after")
    builder.cbranch(live, then, after)
    builder.position_at_end(then)
    value = call()
    then = builder.block
    builder.branch(after)
    builder.position_at_end(after)
    merged = builder.phi(ir.DoubleType())
    merged.add_incoming(absent, before)
    merged.add_incoming(value, then)
    return merged


for _kind in MEMBERS:
    lower_builtin((ModelType, _kind), ModelType, types.VarArg(types.Any))(_lower_dispatch(_kind))


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
