"""A simulation as a WebAssembly module and the memory it starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tocsin.errors import CompileError
from tocsin.export._calls import first_call
from tocsin.export._image import Image, image_of
from tocsin.export._link import link
from tocsin.run._compiled import wasm_object_of
from tocsin.schema._layout import OUTSIDE

if TYPE_CHECKING:
    from tocsin.run import Simulation
    from tocsin.schema import Model

DATA = 1024
"""Address of the module's constants; below it lie the loop's result (8) and its exception (16)."""
RESULT, EXCEPTION = 8, 16
STACK = 256 << 10
"""Bytes of stack."""
PAGE = 64 << 10
MOST_BYTES = 256 << 20
"""Largest state of a page."""


@dataclass(frozen=True)
class WasmProgram:
    """A module, the memory it starts from, and the addresses that its host must know.

    `code` exports `advance(result, exception, 0, world, kernel, until, max_events) -> status`
    and imports from `env`: `__linear_memory`, `__stack_pointer` (set it to `stack`).
    """

    code: bytes
    image: Image
    stack: int

    @property
    def n_pages(self) -> int:
        """Pages of 64 kB that the memory needs."""
        return -(-self.image.end // PAGE)


def export_module(simulation: Simulation[Any], room: int = 0) -> WasmProgram:
    """Return a simulation, as it stands, as a WebAssembly module and its memory.

    Parameters
    ----------
    simulation : what to export; it stays as it is
    room : rows that each pool has room for at least, as pools of a module do not grow

    The module computes the same bits as this machine. Raises CompileError for a model that
    calls what a module does not hold (`math.gamma`, for instance), naming it and its line.
    """
    simulation = with_room(simulation, room)
    linked = link(wasm_object_of(simulation), "tocsin_advance", "advance", DATA)
    if linked.imports:
        raise CompileError(_refusal(simulation.model, linked.imports))
    stack = -(-(linked.end + STACK) // PAGE) * PAGE
    image = image_of(simulation, stack)
    if len(image.data) > MOST_BYTES:
        raise CompileError(
            f"the model {simulation.model.name} cannot be exported: its state has {len(image.data) >> 20} MB, and a page "
            f"takes {MOST_BYTES >> 20}. Make it smaller, or run it natively."
        )
    return WasmProgram(linked.code, image, stack)


def with_room(simulation: Simulation[Any], room: int) -> Simulation[Any]:
    """Return a copy whose pools have room for at least this many rows.

    Raises CompileError for a world with a function from outside, which a copy is without.
    """
    if simulation.world._header[OUTSIDE] != 0:
        raise CompileError(
            f"the model {simulation.model.name} cannot be exported: it calls a function of yours that was compiled for this "
            f"machine (World.attach; a sampler's gradient, for instance). Use a target that needs none, or run it natively."
        )
    other = simulation.copy()
    for entity in other.model.schema.entities:
        while entity.pooled and len(other.world._tables[entity.name].rows) < room:
            other.world._grow(entity.code)
    other._come_to_rest()
    return other


def _refusal(model: Model, imports: tuple[str, ...]) -> str:
    name = imports[0]
    return (
        f"the model {model.name} cannot be exported: {first_call(model, name)}{name} is of the C library, which a "
        f"module in a browser does not have, and its last digits differ between systems. Use what `rng` and plain "
        f"arithmetic offer, or run it natively."
    )
