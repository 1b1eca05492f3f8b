"""Typing and code of operations: indexing, `len`, comparing rows, None as a row."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast

from tocsin.compile import _memory as memory
from tocsin.compile._types import PYTHON_TYPES, ArrayType, RowType, Stamp, TableType
from tocsin.schema import _layout as layout

I64 = ir.IntType(64)


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
        is_row = isinstance(right, RowType) and isinstance(left, RowType) and left.entity is right.entity
        if isinstance(left, RowType) and (is_row or isinstance(right, types.NoneType)):
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


@lower_cast(RowType, RowType)
def _other_view(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    """A row seen through another view of its world is the same row, to refer to; a row that is not born yet is none."""
    if given.entity is not wanted.entity:
        raise TypingError(f"a reference to {wanted.entity.name} is given a row of {given.entity.name}")
    if given.schema.role == "newborn":
        raise TypingError(
            f"{given.entity.name} that is spawned in a synchronous system cannot be referred to before it is born"
        )
    return memory.make_row(context, builder, wanted, *memory.parts(context, builder, given, value))
