"""The compiled loop of a model, and what the compiler knows of its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tocsin.kernel import (
    Clockwork,
    _tick,
    advance,
    call_at,
    float_bits,
    float_from_bits,
    lowest_bit,
    prefetch,
    prefetch_address,
)
from tocsin.kernel._edges import EDGES
from tocsin.kernel._outside import outside
from tocsin.kernel._philox import philox_fill, philox_rows
from tocsin.kernel._samplers import product_128
from tocsin.kernel._sweep import work
from tocsin.kernel._ziggurat import edge
from tocsin.schema import Model, WorldSchema
from tocsin.schema._system import Alone
from tocsin.space._near import near_flat, near_solid

if TYPE_CHECKING:
    from tocsin.compile import Access, NativeLoop

_REPLACEMENTS: dict[Any, str | tuple[float, ...]] = {
    edge: EDGES,
    philox_fill: "philox_fill",
    philox_rows: "philox_rows",
    call_at: "call_at",
    float_bits: "float_bits",
    float_from_bits: "float_from_bits",
    lowest_bit: "lowest_bit",
    near_flat: "near_flat",
    near_solid: "near_solid",
    prefetch: "prefetch",
    prefetch_address: "prefetch_address",
    outside: "outside",
    _tick.copy_row: "copy_row",
    product_128: "product_128",
}


def compiled(model: Model, schema: WorldSchema, entry: Callable[..., int]) -> NativeLoop:
    """Return an event loop compiled for a model, from the cache if it is there.

    Raises CompileError and PurityError for a model that does not compile.
    """
    from tocsin.compile import native_loop

    return native_loop(model, schema, entry, _REPLACEMENTS)


def access_of(model: Model) -> Mapping[str, Access]:
    """Return what each function of a model reads, writes and touches.

    By name: 'Step.fire', and 'Step.schedule' or 'Step.rate' as its author wrote it;
    'LoopSize.value' for an observable. Compiles the model, unless that is cached. Raises
    CompileError and PurityError for a model that does not compile.
    """
    found = dict(compiled(model, Clockwork.schema(), advance).access)
    if model.is_synchronous:
        apart = compiled(model, Clockwork.schema(), work).access
        found |= {f"{m.name}.update": apart[f"{m.name}.update"] for m in model.systems if m.is_synchronous}
    return found


def wasm_object_of(simulation: Any) -> bytes:
    """Return a simulation's event loop as a WebAssembly object, from the cache if it is there.

    Raises CompileError for a model that cannot be compiled so.
    """
    from tocsin.compile import wasm_loop

    ticks = simulation._driver.ticks
    alone = Alone(ticks.plans_alone() if ticks is not None else {}, _tick)
    return wasm_loop(simulation.model, simulation._kernel.schema(), simulation._driver._entry, _REPLACEMENTS, alone)
