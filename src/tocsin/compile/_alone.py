"""A synchronous system's tick as straight code in the event loop, for a machine without threads and Python.

What a system needs is known when this is compiled (`TickPlan`), so the code has no more in it. The views of the
world that it needs are headers beside the world's own: word TICK of the world's header is the address of the
first system's frozen header, the others follow `frozen_bytes` apart; word ACROSS of each is the newborns' header,
word GROW that of the flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from tocsin.compile import _memory as memory
from tocsin.compile._functions import alone, call_function, dispatcher_type
from tocsin.compile._types import ModelType, PartType, TableType, WorldType
from tocsin.schema import _layout as layout
from tocsin.schema._flags import Flags
from tocsin.schema._system import TickPlan

I64 = ir.IntType(64)
NONE = ir.Constant(I64, 0)
MANY = 50_000
"""Rows from which it pays to visit them by place, as in `run/_ticks.py`."""
Step = tuple[Callable[..., Any], tuple[Any, ...]]


def type_tick(context: Any, model: Any, plan: TickPlan, kernel: Any) -> None:
    """Type all that a tick calls, before any of it is compiled."""
    for function, kinds in (*_before(model, plan, kernel), *_visit(model, plan, kernel), *_after(model, plan, kernel)):
        dispatcher_type(function).get_call_type(context, kinds, {})


def _table(schema: Any, name: str) -> TableType:
    return TableType(schema, schema.entity(name))


def _before(model: Any, plan: TickPlan, kernel: Any) -> Iterator[Step]:
    for name in plan.emptied:
        yield alone().pieces.empty, (_table(model.schema, name),)
    for name in plan.spaces:
        yield alone().pieces.make_index, (PartType(model.schema, name), kernel)


def _visit(model: Any, plan: TickPlan, kernel: Any) -> Iterator[Step]:
    if plan.by_place:
        yield alone().pieces.list_by_place, (PartType(model.schema, plan.by_place), kernel)
    whole = (types.int64,) * 5
    yield alone().pieces.visit, (ModelType(model), WorldType(model.schema), kernel, *whole)


def _after(model: Any, plan: TickPlan, kernel: Any) -> Iterator[Step]:
    if plan.leaving:
        yield alone().pieces.take_leave, (_table(model.schema, plan.leaving),)
    for name in plan.spawned:
        yield alone().pieces.join, (_table(model.schema, name), _table(model.views.newborn, name))
    for name in plan.gives:
        yield alone().pieces.put_together, (PartType(model.schema, name),)
    if plan.is_flagged:
        yield alone().pieces.touch_flagged, (WorldType(Flags.schema()), kernel)


def emit_tick(context: Any, builder: Any, model: Any, number: int, plan: TickPlan, kernel: Any, header: Any) -> Any:
    """Emit one tick of system `number`; the value is 0. Exceptions of the model leave through the call convention."""
    at_kernel = memory.load_word(builder, header, layout.KERNEL)
    offset = ir.Constant(I64, plan.ordinal * layout.frozen_bytes(model.schema))
    frozen = builder.add(memory.load_word(builder, header, layout.TICK), offset)
    born = memory.load_word(builder, frozen, layout.ACROSS)
    flags = memory.load_word(builder, frozen, layout.GROW)

    def call(step: Step, *values: Any) -> Any:
        return call_function(context, builder, *step, values)[1]

    def value_of(kind: Any) -> Any:
        if kind == kernel:
            return at_kernel
        if getattr(kind, "schema", None) is model.views.newborn:
            return born
        return flags if kind == WorldType(Flags.schema()) else header

    def calls(steps: Iterator[Step]) -> None:
        for step in steps:
            call(step, *map(value_of, step[1]))

    calls(_before(model, plan, kernel))
    memory.store_word(builder, header, layout.ACROSS, frozen, "header")
    memory.store_word(builder, born, layout.ACROSS, frozen, "header")
    _freeze(builder, model.schema, plan, header, frozen)
    *listing, visit = _visit(model, plan, kernel)
    n_rows = _n_rows(builder, model, number, header)
    n_listed = _if_many(builder, n_rows, lambda: call(listing[0], header, at_kernel)) if listing else NONE
    action = ir.Constant(I64, number)
    call(visit, context.get_dummy_value(), header, at_kernel, action, n_rows, n_listed, frozen, flags)
    calls(_after(model, plan, kernel))
    return NONE


def _n_rows(builder: Any, model: Any, number: int, header: Any) -> Any:
    rows = model.actions[number].rows
    return memory.load_word(builder, header, model.schema.by_code(rows).slot + layout.N_ROWS, "_n_rows") if rows else ir.Constant(I64, 1)  # fmt: skip


def _if_many(builder: Any, n_rows: Any, listing: Callable[[], Any]) -> Any:
    """Emit: the number of rows listed, if there are so many that it pays; else 0."""
    before = builder.block
    with builder.if_then(builder.icmp_signed(">=", n_rows, ir.Constant(I64, MANY))):
        found = listing()
        listed = builder.block
    merged = builder.phi(I64)
    merged.add_incoming(NONE, before)
    merged.add_incoming(found, listed)
    return merged


def _freeze(builder: Any, schema: Any, plan: TickPlan, header: Any, frozen: Any) -> None:
    """Bring the counts of a frozen world up to date, and copy the rows that the system both sees and writes.

    Plain copies without alias tags: they may change any field.
    """
    for entity in schema.entities:
        for k in (layout.N_ROWS, layout.N_LIVE, layout.FREE, layout.CAPACITY):
            word = builder.load(memory.word_pointer(builder, header, entity.slot + k))
            builder.store(word, memory.word_pointer(builder, frozen, entity.slot + k))
        if entity.name == plan.copied:
            target, source = (memory.row_address(builder, entity, at, NONE) for at in (frozen, header))
            n_rows = memory.load_word(builder, header, entity.slot + layout.N_ROWS, "_n_rows")
            n_bytes = builder.mul(n_rows, ir.Constant(I64, memory.row_dtype(entity).itemsize))
            pointers = [builder.inttoptr(at, ir.IntType(8).as_pointer()) for at in (target, source)]
            cgutils.raw_memcpy(builder, *pointers, n_bytes, 1)
