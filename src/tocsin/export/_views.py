"""The memory that synchronous systems need in a module: views of the world, of which this machine has others.

A frozen header for each system (`compile/_alone.py`), copies of the rows that a system both sees and writes, a
world of newborns, and flags. None of it is state: a tick begins by bringing it up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tocsin.schema._layout import (
    ACROSS,
    BASE,
    CAPACITY,
    FREE,
    GLOBALS,
    GROW,
    KERNEL,
    N_LIVE,
    N_ROWS,
    OUTSIDE,
    TICK,
    frozen_bytes,
)
from tocsin.schema._memory import zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.export._image import Block
    from tocsin.run import Simulation

Parts = dict[str, "NDArray[Any]"]
ADDRESSES = (KERNEL, GROW, TICK, ACROSS, OUTSIDE)


def view_parts(simulation: Simulation[Any]) -> Parts:
    """Return the blocks of memory, by name, all blank but for the flags; none for a model without."""
    import numpy as np

    ticks, schema = simulation._driver.ticks, simulation.model.schema
    if ticks is None:
        return {}
    plans = ticks.plans_alone().values()
    flags = ticks.flags()
    parts: Parts = {"frozen/=header": np.zeros(len(plans) * frozen_bytes(schema) // 8, "i8"), "born/=header": np.zeros(schema.n_words, "i8")}  # fmt: skip
    parts |= {"flags/=header": flags._header, "flags/flags": flags.flags.values, "flags/first": flags.first.values}
    for entity in schema.entities:
        rows = simulation.world._tables[entity.name].rows
        if any(plan.copied == entity.name for plan in plans):
            parts[f"frozen/{entity.table}"] = zeros(len(rows), rows.dtype)
        if any(entity.name in plan.spawned for plan in plans):
            parts[f"born/{entity.table}"] = zeros(len(rows), rows.dtype)
    return parts


def view_headers(simulation: Simulation[Any], world: NDArray[Any], blocks: Mapping[str, Block]) -> Parts:
    """Return the headers, given that of the world with its new addresses, in which two words are set."""
    import numpy as np

    ticks, schema = simulation._driver.ticks, simulation.model.schema
    if ticks is None:
        return {}
    stride = frozen_bytes(schema) // 8
    world[[TICK, ACROSS]] = blocks["frozen/=header"].at
    frozen = np.zeros(blocks["frozen/=header"].n_bytes // 8, "i8")
    for plan in ticks.plans_alone().values():
        words = frozen[plan.ordinal * stride : plan.ordinal * stride + schema.n_words]
        words[:] = world
        words[list(ADDRESSES)] = 0
        words[GROW], words[ACROSS] = blocks["flags/=header"].at, blocks["born/=header"].at
        if plan.copied:
            entity = schema.entity(plan.copied)
            words[entity.slot + BASE] = blocks[f"frozen/{entity.table}"].at
    return {"frozen/=header": frozen, "born/=header": _newborns(schema, world, blocks), "flags/=header": _flags(ticks.flags(), blocks)}  # fmt: skip


def _newborns(schema: Any, world: NDArray[Any], blocks: Mapping[str, Block]) -> NDArray[Any]:
    """Return the header of an empty world with the scalars of the real one."""
    import numpy as np

    words = np.zeros(schema.n_words, "i8")
    words[GLOBALS] = world[GLOBALS]
    for entity in schema.entities:
        block = blocks.get(f"born/{entity.table}")
        if block is not None:
            words[entity.slot + BASE], words[entity.slot + CAPACITY] = block.at, world[entity.slot + CAPACITY]
        words[[entity.slot + N_ROWS, entity.slot + N_LIVE]] = 0
        words[entity.slot + FREE] = -1
    return words


def _flags(flags: Any, blocks: Mapping[str, Block]) -> NDArray[Any]:
    words: NDArray[Any] = flags._header.copy()
    words[GLOBALS] = 0
    for name, array in flags.schema().arrays.items():
        words[array.slot] = blocks[f"flags/{name}"].at
    return words
