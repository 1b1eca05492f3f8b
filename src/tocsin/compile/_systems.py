"""What the event loop asks a model about its systems: switches over them, as for actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, signature
from numba.extending import infer_getattr, lower_builtin

from tocsin.compile import _memory as memory
from tocsin.compile._alone import emit_tick, type_tick
from tocsin.compile._attributes import kernel_type
from tocsin.compile._dispatch import switch_over
from tocsin.compile._functions import alone, call_function, dispatcher_type
from tocsin.compile._row_fields import get_row_field, row_key
from tocsin.compile._types import CarrierType, ModelType, PartType, RowType, WorldType
from tocsin.schema import _layout as layout
from tocsin.schema._flags import Flags
from tocsin.schema._system import INDEX_STEPS, takes_touched

I64 = ir.IntType(64)
RETURNS = {
    "way": types.int64, "n_rows": types.int64, "live_key": types.int64, "update_all": types.int64, "update": types.none,
    "update_own": types.none, "index": types.none, "each": types.none, "turn": types.int64, "turn_first": types.int64,
    "turn_size": types.int64, "turn_stage": types.int64,
}  # fmt: skip


class _Asked(AbstractTemplate):
    """One of these calls: a switch over the systems."""

    name = ""

    def generic(self, args: Any, kws: Any) -> Any:
        model = self.this.model
        if self.name == "turn" and model.is_shuffled:
            args[2].get_call_type(self.context, (self.this, *args[:2]), {})
        for number, member in _systems(self.this):
            if self.name == "each" and not member.is_synchronous:
                args[4].get_call_type(self.context, (ModelType(model, number), *_swept(args)), {})
            if self.name == ("update_own" if member.is_synchronous else "update"):
                given = _seen(model, member, args) if member.is_synchronous else _given(member, args)
                called = dispatcher_type(member.cls.update)
                called.get_call_type(self.context, (CarrierType(model, "actions", number), *given), {})
        if self.name == "update_all":
            for plan in alone().plans.values():
                type_tick(self.context, model, plan, kernel_type(model))
        if self.name == "index":
            for _, _, method, part, given in _steps(model, args):
                dispatcher_type(getattr(part.part.cls, method)).get_call_type(self.context, (part, *given), {})
        return signature(RETURNS[self.name], *args, recvr=self.this)


def _systems(asked: ModelType) -> list[tuple[int, Any]]:
    only = asked.only
    return [(n, m) for n, m in enumerate(asked.model.actions) if m.asked == "tick" and only in (None, n)]


def _swept(args: Any) -> tuple[Any, ...]:
    """From (number, world, kernel, now, function) to what that function takes after the model."""
    return (args[1], args[2], args[0], args[3])


def _given(member: Any, args: Any) -> Any:
    """From (number, world, index, now, rng, touched) to what `update` takes after `self`."""
    return (args[1], *args[3 : 6 if takes_touched(member.cls) else 5])


def _seen(model: Any, member: Any, args: Any) -> Any:
    """From (number, world, index, now, rng, lane) to what `update` of a synchronous system takes after `self`."""
    touched = (WorldType(Flags.schema()),) if takes_touched(member.cls) else ()
    return (WorldType(model.views.frozen), args[3], args[4], *touched)


@infer_getattr
class _ModelAttributes(AttributeTemplate):
    key = ModelType

    def generic_resolve(self, model: Any, name: str) -> Any:
        if name not in RETURNS:
            return None
        template = type(f"_Asked_{name}", (_Asked,), {"key": (ModelType, name), "name": name})
        return types.BoundFunction(template, model)


def _lower(name: str, case: Callable[..., Any], default: int) -> None:
    returns = RETURNS[name]

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        cases = {
            number: (member.name, partial(case, context, builder, sig, args, number, member))
            for number, member in _systems(sig.args[0])
        }
        if returns is types.none:
            switch_over(builder, args[1], cases, None)
            return context.get_dummy_value()
        return switch_over(builder, args[1], cases, ir.Constant(I64, default))

    lower_builtin((ModelType, name), ModelType, types.VarArg(types.Any))(code)


def _way(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    return ir.Constant(I64, sig.args[0].model.way(number))


@lower_builtin((ModelType, "turn"), ModelType, types.VarArg(types.Any))
def _turn(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    model, kernel, slot, function = sig.args
    if not model.model.is_shuffled:
        return context.cast(builder, args[2], slot, types.int64)
    called = function.dispatcher.py_func
    return call_function(context, builder, called, (model, kernel, slot), (args[0], args[1], args[2]))[1]


def _lower_turn(name: str) -> None:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = sig.args[0].model
        return _one_of(builder, [getattr(model, name)(n) for n in range(len(model.actions))], args[1])

    lower_builtin((ModelType, name), ModelType, types.Integer)(code)


def _one_of(builder: Any, values: list[int], index: Any) -> Any:
    """Emit: the value number `index` of a list that is known now."""
    kind = ir.ArrayType(I64, len(values))
    table = cgutils.global_constant(builder, "turns", ir.Constant(kind, values))
    return builder.load(builder.gep(table, [ir.Constant(I64, 0), index], inbounds=True))


def _n_rows(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    if not member.rows:
        return ir.Constant(I64, 1)
    slot = sig.args[0].model.schema.by_code(member.rows).slot
    return memory.load_word(builder, args[2], slot + layout.N_ROWS, "_n_rows")


def _live_key(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    schema = sig.args[0].model.schema
    if not member.rows or not schema.by_code(member.rows).pooled:
        return args[3]
    row_type = RowType(schema, schema.by_code(member.rows))
    key = row_key(context, builder, row_type, memory.make_row(context, builder, row_type, args[2], args[3]))
    is_live = builder.trunc(builder.lshr(key, ir.Constant(I64, 32)), ir.IntType(1))
    return builder.select(is_live, key, ir.Constant(I64, -1))


def _update_all(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    if number in alone().plans:
        model = sig.args[0].model
        return emit_tick(context, builder, model, number, alone().plans[number], kernel_type(model), args[2])
    function = ir.FunctionType(I64, [I64]).as_pointer()
    pointer = builder.inttoptr(memory.load_word(builder, args[2], layout.TICK), function)
    return builder.call(pointer, [ir.Constant(I64, number)])


def _update(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    if member.is_synchronous:
        return
    carrier = CarrierType(sig.args[0].model, "actions", number)
    bound = memory.make_row(context, builder, carrier, args[2], args[3])
    call_function(
        context, builder, member.cls.update,
        (carrier, *_given(member, sig.args[1:])), (bound, *_given(member, args[1:])),
    )  # fmt: skip


def _each(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    if member.is_synchronous:
        return
    kind, values = ModelType(sig.args[0].model, number), _swept((ir.Constant(I64, number), *args[2:]))
    function = sig.args[5].dispatcher.py_func
    call_function(context, builder, function, (kind, *_swept(sig.args[1:])), (args[0], *values))


def _update_own(context: Any, builder: Any, sig: Any, args: Any, number: int, member: Any) -> Any:
    if not member.is_synchronous:
        return
    model, lane_type, lane = sig.args[0].model, sig.args[6], args[6]
    carrier = CarrierType(model, "actions", number)
    bound = memory.make_row(context, builder, carrier, args[2], args[3])
    frozen = get_row_field(context, builder, lane_type, lane, "frozen")
    touched = [get_row_field(context, builder, lane_type, lane, "flags")] if takes_touched(member.cls) else []
    types_given = (carrier, *_seen(model, member, sig.args[1:]))

    def call() -> None:
        call_function(context, builder, member.cls.update, types_given, (bound, frozen, args[4], args[5], *touched))

    if not member.rows or not model.schema.by_code(member.rows).pooled:
        call()
        return
    key = _live_key(context, builder, sig, args, number, member)
    with builder.if_then(builder.icmp_signed(">=", key, ir.Constant(I64, 0))):
        call()


def _steps(model: Any, args: Any) -> list[tuple[int, int, str, Any, Any]]:
    """Return (space, step, method, type of the space, arguments) for (space, step, world, start, stop, now)."""
    return [
        (number, step, method, PartType(model.schema, name), args[5:6] if step in (1, 4) else args[3:5])
        for number, name in enumerate(model.indexed)
        for step, method in INDEX_STEPS.items()
    ]


@lower_builtin((ModelType, "index"), ModelType, types.VarArg(types.Any))
def _index(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = [steps[4] for steps in _steps(sig.args[0].model, args[1:])]
    for (number, step, method, part, kinds), values in zip(_steps(sig.args[0].model, sig.args[1:]), given, strict=True):
        is_space = builder.icmp_signed("==", args[1], ir.Constant(I64, number))
        is_step = builder.icmp_signed("==", args[2], ir.Constant(I64, step))
        with builder.if_then(builder.and_(is_space, is_step)):
            call_function(context, builder, getattr(part.part.cls, method), (part, *kinds), (args[3], *values))
    return context.get_dummy_value()


for _name in ("turn_first", "turn_size", "turn_stage"):
    _lower_turn(_name)
_lower("update_own", _update_own, 0)
_lower("each", _each, 0)
_lower("way", _way, 0)
_lower("n_rows", _n_rows, 0)
_lower("live_key", _live_key, -1)
_lower("update_all", _update_all, 0)
_lower("update", _update, 0)
