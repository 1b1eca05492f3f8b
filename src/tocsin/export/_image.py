"""The state of a simulation as one block of memory, with 32-bit addresses of its own.

The world and the kernel are each a header of 64-bit words, a record of scalars, tables and
arrays. They are laid out one after the other from a base address, and every word that is an
address is written anew; nothing else changes. The way back copies the same blocks into a copy
of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tocsin.export._views import view_headers, view_parts
from tocsin.schema import World
from tocsin.schema._layout import ACROSS, BASE, FREE, GLOBALS, GROW, KERNEL, N_ROWS, OUTSIDE, TICK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.run import Simulation

ALIGN = 64


@dataclass(frozen=True)
class Block:
    """One piece of memory: 'world/legs', 'kernel/=header', at an address, in bytes."""

    name: str
    at: int
    n_bytes: int


@dataclass(frozen=True)
class Image:
    """A block of memory for one address, and where its parts lie."""

    data: bytes
    base: int
    blocks: dict[str, Block]

    @property
    def world(self) -> int:
        """Address of the world's header."""
        return self.blocks["world/=header"].at

    @property
    def kernel(self) -> int:
        """Address of the kernel's header."""
        return self.blocks["kernel/=header"].at

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.base + len(self.data)


def image_of(simulation: Simulation[Any], base: int) -> Image:
    """Return the state as memory that begins at address `base`."""
    simulation._come_to_rest()
    blocks, end = _place(simulation, base)
    data = bytearray(end - base)
    for name, values in _parts(simulation):
        at = blocks[name].at - base
        data[at : at + values.nbytes] = values.tobytes()
    for name, values in _addressed(simulation, blocks).items():
        at = blocks[name].at - base
        data[at : at + values.nbytes] = values.tobytes()
    return Image(bytes(data), base, blocks)


def taken_back(simulation: Simulation[Any], image: Image, memory: bytes | memoryview) -> Simulation[Any]:
    """Return a copy of the simulation in the state that a memory holds.

    Parameters
    ----------
    simulation : the one that the image was made of
    image : where its parts lie
    memory : bytes of the whole memory, from address 0
    """
    import numpy as np

    other = simulation.copy()
    for name, values in _state(other):
        block = image.blocks[name]
        raw = np.frombuffer(memory, np.uint8, block.n_bytes, block.at)
        if name.endswith("=header"):
            _take_counts(other.world if name[0] == "w" else other._kernel, raw.view(np.int64))
            continue
        kept = values["rows_at"].copy() if name == "kernel/actions" else None
        values.reshape(-1).view(np.uint8)[:] = raw
        if kept is not None:
            values["rows_at"] = kept
    return other


def _parts(simulation: Simulation[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    yield from _state(simulation)
    yield from view_parts(simulation).items()


def _state(simulation: Simulation[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    for side, world in (("world", simulation.world), ("kernel", simulation._kernel)):
        yield f"{side}/=header", world._header
        yield f"{side}/=globals", world._globals.reshape(1)
        for table, entity in world.schema().tables().items():
            yield f"{side}/{table}", world._tables[entity.name].rows
        for name in world.schema().arrays:
            yield f"{side}/{name}", world.__dict__[name].values


def _place(simulation: Simulation[Any], base: int) -> tuple[dict[str, Block], int]:
    blocks, at = {}, base
    for name, values in _parts(simulation):
        at = -(-at // ALIGN) * ALIGN
        blocks[name] = Block(name, at, values.nbytes)
        at += values.nbytes
    return blocks, -(-at // ALIGN) * ALIGN


def _addressed(simulation: Simulation[Any], blocks: dict[str, Block]) -> dict[str, NDArray[Any]]:
    """Return the parts that hold addresses, with the new ones."""
    world, kernel = simulation.world, simulation._kernel
    found = {f"{side}/=header": _header(side, w, blocks) for side, w in (("world", world), ("kernel", kernel))}
    found["world/=header"][KERNEL] = blocks["kernel/=header"].at
    actions = kernel.actions.rows.copy()
    tables = ["world/=globals", *(f"world/{table}" for table in world.schema().tables())]
    for state, member in zip(actions, simulation.model.actions, strict=True):
        state["rows_at"] = blocks[tables[member.code]].at
    found["kernel/actions"] = actions
    return found | view_headers(simulation, found["world/=header"], blocks)


def _header(side: str, world: World, blocks: dict[str, Block]) -> NDArray[Any]:
    words, schema = world._header.copy(), world.schema()
    words[[KERNEL, GROW, TICK, ACROSS, OUTSIDE]] = 0
    words[GLOBALS] = blocks[f"{side}/=globals"].at
    for table, entity in schema.tables().items():
        words[entity.slot + BASE] = blocks[f"{side}/{table}"].at
    for name, array in schema.arrays.items():
        words[array.slot] = blocks[f"{side}/{name}"].at
    return words


def _take_counts(world: World, words: NDArray[Any]) -> None:
    for entity in world.schema().entities:
        world._header[entity.slot + N_ROWS : entity.slot + FREE + 1] = words[
            entity.slot + N_ROWS : entity.slot + FREE + 1
        ]
