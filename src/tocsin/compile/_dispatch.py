"""`model.fire(action, ...)`, `.schedule(...)`, `.rate(...)`, `.observe(...)`: a switch over the members."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, signature
from numba.extending import infer_getattr, lower_builtin

from tocsin.compile import _memory as memory
from tocsin.compile._functions import call_function, dispatcher_type
from tocsin.compile._row_fields import get_row_field
from tocsin.compile._types import CarrierType, ModelType, RowType
from tocsin.errors import CompileError
from tocsin.schema import NEVER
from tocsin.schema import _layout as layout

I64 = ir.IntType(64)
EACH_VALUE = "each_value"


class _Dispatch(AbstractTemplate):
    """One of these calls: a switch."""

    kind = ""

    def generic(self, args: Any, kws: Any) -> Any:
        model = self.this.model
        members, method, returns = MEMBERS[self.kind]
        for number, member in _asked(model, self.kind):
            carrier = CarrierType(model, members, number)
            got = _method(member, method).get_call_type(self.context, (carrier, *_method_args(self.kind, args)), {})
            _check_return(model, member, method, returns, got.return_type)
        return signature(returns, *args, recvr=self.this)


MEMBERS: dict[str, tuple[str, str, Any]] = {
    "fire": ("actions", "fire", types.none),
    "schedule": ("actions", "schedule", types.float64),
    "rate": ("actions", "rate", types.float64),
    "observe": ("observables", "value", types.float64),
}


def _asked(model: Any, kind: str) -> list[tuple[int, Any]]:
    """Return the members that may be asked, with their numbers."""
    members = enumerate(getattr(model, MEMBERS[kind][0]))
    return [(n, m) for n, m in members if kind == "observe" or kind == (m.method if kind == "fire" else m.asked)]


def _method(member: Any, name: str) -> Any:
    return dispatcher_type(getattr(member.cls, name))


def _method_args(kind: str, args: Any) -> Any:
    """From (number, world, index, ...) to what the method takes after `self`."""
    return (args[1], *args[3:])


def _check_return(model: Any, member: Any, method: str, wanted: Any, got: Any) -> None:
    rule = ""
    if wanted is types.none and not isinstance(got, types.NoneType):
        rule = "must return nothing"
    if wanted is types.float64 and not isinstance(got, (types.Float, types.Integer, types.Boolean)):
        may = "None" if isinstance(got, (types.NoneType, types.Optional)) else str(got)
        rule = f"must return a number on every path, but may return {may}"
    if rule:
        raise CompileError(f"{_place(member, method)}: {member.name}.{method} {rule} (compiling model {model.name})")


def _place(member: Any, method: str) -> str:
    code = getattr(member.cls, method).__code__
    return f"{os.path.abspath(code.co_filename)}:{code.co_firstlineno}"


@infer_getattr
class _ModelAttributes(AttributeTemplate):
    key = ModelType

    def generic_resolve(self, model: Any, name: str) -> Any:
        if name == EACH_VALUE:
            return types.BoundFunction(_EachValue, model)
        if name not in MEMBERS:
            return None
        template = type(f"_Dispatch_{name}", (_Dispatch,), {"key": (ModelType, name), "kind": name})
        return types.BoundFunction(template, model)


def _lower_dispatch(kind: str) -> Any:
    returns = MEMBERS[kind][2]

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = sig.args[0].model
        cases = {
            n: (member.name, partial(_call_member, context, builder, sig, args, kind, n, member))
            for n, member in _asked(model, kind)
        }
        if returns is types.none:
            switch_over(builder, args[1], cases, None)
            return context.get_dummy_value()
        return switch_over(builder, args[1], cases, ir.Constant(ir.DoubleType(), 0.0))

    return code


def switch_over(builder: Any, number: Any, cases: Mapping[int, tuple[str, Callable[..., Any]]], absent: Any) -> Any:
    """Emit a switch over numbers, each with a name and code that returns a value; no other number comes.

    `absent` is what it gives without any case; None if the cases give nothing.
    """
    done = builder.append_basic_block("done")
    incoming = []
    default = builder.append_basic_block("no_such")
    switch = builder.switch(number, default)
    for n, (name, emit) in cases.items():
        block = builder.append_basic_block(name)
        switch.add_case(ir.Constant(I64, n), block)
        builder.position_at_end(block)
        value = emit()
        incoming.append((value, builder.block))
        builder.branch(done)
    builder.position_at_end(default)
    builder.unreachable()
    builder.position_at_end(done)
    if absent is None or not incoming:
        return absent
    merged = builder.phi(absent.type)
    for value, block in incoming:
        merged.add_incoming(value, block)
    return merged


def _call_member(context: Any, builder: Any, sig: Any, args: Any, kind: str, number: int, member: Any) -> Any:
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
    absent = ir.Constant(ir.DoubleType(), NEVER if kind == "schedule" else 0.0)
    generation = get_row_field(context, builder, row_type, row, layout.GENERATION)
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


class _EachValue(AbstractTemplate):
    """`model.each_value(code, world, kernel, index, now, before, after)`: straight code for each kind."""

    key = (ModelType, EACH_VALUE)

    def generic(self, args: Any, kws: Any) -> Any:
        _, _, kernel, index, now, before, after = args
        observe = types.BoundFunction(
            type("_Observe", (_Dispatch,), {"key": (ModelType, "observe"), "kind": "observe"}), self.this
        )
        observe.get_call_type(self.context, (types.int64, args[1], index), {})
        before.get_call_type(self.context, (kernel, types.int64, index), {})
        after.get_call_type(self.context, (kernel, types.int64, index, types.float64, now), {})
        return signature(types.none, *args, recvr=self.this)


@lower_builtin((ModelType, EACH_VALUE), ModelType, types.VarArg(types.Any))
def _lower_each_value(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    observables = enumerate(sig.args[0].model.observables)
    kinds: dict[int, list[tuple[int, Any]]] = {}
    for number, member in observables:
        kinds.setdefault(member.code, []).append((number, member))
    cases = {
        code: (f"kind_{code}", partial(_read_all, context, builder, sig, args, members))
        for code, members in kinds.items()
    }
    switch_over(builder, args[1], cases, None)
    return context.get_dummy_value()


def _read_all(context: Any, builder: Any, sig: Any, args: Any, members: list[tuple[int, Any]]) -> None:
    model, _, world, kernel, index, now, before, after = sig.args
    _, _, world_at, kernel_at, index_at, now_at, _, _ = args
    asked = signature(types.float64, model, types.int64, world, index)
    for number, member in members:
        which = ir.Constant(I64, number)
        call_function(
            context, builder, before.dispatcher.py_func, (kernel, types.int64, index), (kernel_at, which, index_at)
        )
        value = _call_member(context, builder, asked, (args[0], which, world_at, index_at), "observe", number, member)
        call_function(
            context, builder, after.dispatcher.py_func,
            (kernel, types.int64, index, types.float64, now), (kernel_at, which, index_at, value, now_at),
        )  # fmt: skip


for _kind in MEMBERS:
    lower_builtin((ModelType, _kind), ModelType, types.VarArg(types.Any))(_lower_dispatch(_kind))
