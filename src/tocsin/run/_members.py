"""What a save holds: the world, and of the kernel what cannot be derived from the world.

The kernel's layout (which clock lies where), its lists and its addresses are made anew by
`assemble`; pending times, draws, counts, integrals and the clock's own time are kept. The
calendar is not: clocks ring in order of (time, slot), however they are queued.

Each part is checked before it is used, as a save may come from a stranger and compiled code
does not check what the kernel and references hold. Errors are InputError.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.kernel import Clockwork
from tocsin.kernel._state import IN_HEAP, RATED
from tocsin.run._archive import damaged
from tocsin.run._rates import KEPT_RATES, KEPT_RATES_SCALARS, restore_rates
from tocsin.schema import FieldSpec, Model, World
from tocsin.schema._layout import GENERATION, NEXT, EntitySchema, WorldSchema
from tocsin.schema._world import MOST_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.run._archive import Take

KEPT: dict[str, tuple[str, ...]] = {
    "clocks": ("time",),
    "owners": ("epoch",),
    "actions": ("n_fired",),
    "series": ("total", "sum", "error", "area", "area_squared", "low", "high", "last", "since"),
    **KEPT_RATES,
}
"""Columns of the kernel's tables that are saved; and a random source that has a state."""
KEPT_ARRAYS = ("observed", "row_area", "row_since", "asked_at")
KEPT_SCALARS = ("now", "n_events", "n_still", "started", *KEPT_RATES_SCALARS)
MOST_EVENTS = 1 << 62
_COUNTS = ("n_rows", "n_live", "free")


def world_members(world: World) -> dict[str, NDArray[Any]]:
    """Return every part of a world by name: columns with their capacity, counts, arrays, scalars."""
    schema, found = world.schema(), dict[str, Any]()
    for table, entity in schema.tables().items():
        rows = world._tables[entity.name]
        found[f"world/{table}/counts"] = rows._counts[1:4]
        for spec in (*entity.fields.values(), *entity.hidden):
            found[f"world/{table}/{spec.name}"] = rows.rows[spec.name]
    for name in schema.arrays:
        found[f"world/{name}"] = world.__dict__[name].values
    for name in schema.globals_fields():
        found[f"world/={name}"] = world._globals[name].reshape(1)
    return found


def kernel_members(kernel: Clockwork, is_keyed: bool) -> dict[str, NDArray[Any]]:
    """Return what is kept of the kernel, by name. `is_keyed`: the random source has no state."""
    found: dict[str, Any] = {}
    for table, columns in kept(kernel, with_rngs=not is_keyed).items():
        for column in columns:
            found[f"kernel/{table}/{column}"] = kernel.__dict__[table][column]
    for name in KEPT_ARRAYS:
        found[f"kernel/{name}"] = kernel.__dict__[name].values
    for name in KEPT_SCALARS:
        found[f"kernel/={name}"] = kernel._globals[name].reshape(1)
    return found


def kept(kernel: Clockwork, with_rngs: bool) -> dict[str, tuple[str, ...]]:
    """Return the columns that are saved, by table."""
    return {**KEPT, "rngs": tuple(kernel.rngs.rows.dtype.names or ())} if with_rngs else KEPT


def restored_world(cls: type[World], take: Take, label: str) -> World:
    """Return a world made of its parts."""
    import numpy as np

    schema = cls.schema()
    record = np.zeros((), schema.globals_dtype() if schema.globals_fields() else [("_blank", "i8")])
    tables = {name: _table(entity, take, label) for name, entity in schema.tables().items()}
    arrays = {
        name: take(f"world/{name}", array.field.dtype, (None,) * array.ndim) for name, array in schema.arrays.items()
    }
    for name, spec in schema.globals_fields().items():
        record[name] = take(f"world/={name}", spec.dtype, (1,))[0]
    for entity in schema.entities:
        for spec in entity.fields.values():
            if spec.kind == "ref":
                _check_references(schema, entity, spec, tables, label)
    world = cls._restore({"globals": record, "tables": tables, "arrays": arrays})
    _check_params(world, label)
    return world


def _table(entity: EntitySchema, take: Take, label: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows (with their capacity) and (n_rows, n_live, first free row) of a table."""
    import numpy as np

    counts = take(f"world/{entity.table}/counts", "i8", (3,))
    specs = (*entity.fields.values(), *entity.hidden)
    capacity: int | None = None
    columns: dict[str, Any] = {}
    for spec in specs:
        columns[spec.name] = take(f"world/{entity.table}/{spec.name}", spec.dtype, (capacity,))
        capacity = len(columns[spec.name])
    n_rows, n_live, free = counts.tolist()
    most = capacity or 0
    fits = 1 <= most < MOST_ROWS and 0 <= n_live <= n_rows <= most
    if entity.pooled:
        fits = fits and _is_pool(columns[GENERATION], columns[NEXT], n_rows, n_live, free)
    else:
        fits = fits and n_live == n_rows and free == -1 and most == max(n_rows, 1)
    if not fits:
        raise damaged(label, f"the counts of {entity.table}, {dict(zip(_COUNTS, counts.tolist(), strict=True))}, "
                             f"do not fit its rows")  # fmt: skip
    rows = np.zeros(most, entity.dtype())
    for name, values in columns.items():
        rows[name] = values
    return rows, counts


def _is_pool(generation: NDArray[Any], following: NDArray[Any], n_rows: int, n_live: int, free: int) -> bool:
    """Say whether live rows are as many as counted, and the free list goes through all others.

    Every dead row follows one other, or is the first: so from the first on none comes twice.
    """
    import numpy as np

    if generation.min() < 0 or generation[n_rows:].any():
        return False
    dead = np.flatnonzero(generation[:n_rows] % 2 == 0)
    chain = np.sort(np.append(following[dead], free))
    return len(dead) == n_rows - n_live and bool(np.array_equal(chain, np.append(-1, dead)))


def _check_references(
    schema: WorldSchema, entity: EntitySchema, spec: FieldSpec, tables: dict[str, Any], label: str
) -> None:
    """Refuse references to rows that do not exist. (An empty table still has room for one row.)"""
    import numpy as np

    rows, counts = tables[entity.table]
    values = rows[spec.name][: counts[0]].astype(np.int64)
    n_target = max(int(tables[schema.entity(str(spec.target)).table][1][0]), 1)
    index = np.where(values < 0, 0, values & 0xFFFFFFFF)
    if values.size and (values.min() < -1 or index.max() >= n_target):
        raise damaged(label, f"{entity.table}.{spec.name} refers to rows that {spec.target} does not have")


def _check_params(world: World, label: str) -> None:
    for block, cls in world.schema().params.items():
        for name, value in world.__dict__[block].to_dict().items():
            try:
                cls.check(name, value)
            except InputError as error:
                raise damaged(label, str(error)) from None


def restore_kernel(model: Model, world: World, kernel: Clockwork, take: Take, label: str, *, with_rngs: bool) -> None:
    """Put what was kept into a kernel that was just assembled for the world.

    `with_rngs`: the random source's state as well.
    """
    for table, columns in kept(kernel, with_rngs).items():
        rows = kernel.__dict__[table]
        for column in columns:
            rows[column][:] = take(f"kernel/{table}/{column}", rows[column].dtype, (len(rows),))
    for name in KEPT_ARRAYS:
        values = kernel.__dict__[name].values
        values[:] = take(f"kernel/{name}", values.dtype, values.shape)
    for name in KEPT_SCALARS:
        kernel._globals[name] = take(f"kernel/={name}", kernel._globals.dtype[name], (1,))[0]
    _check_counts(kernel, label)
    _check_rngs(kernel, label)
    timed, rated = _may_ring(model, world, kernel)
    _check_times(kernel, timed, label)
    restore_rates(kernel, rated, label)
    _queue(kernel)


def _check_counts(kernel: Clockwork, label: str) -> None:
    fired, epoch = kernel.actions["n_fired"], kernel.owners["epoch"]
    fits = (
        kernel.started in (0, 1)
        and math.isfinite(kernel.now)
        and 0 <= kernel.n_events < MOST_EVENTS
        and int(fired.min()) >= 0
        and sum(fired.tolist()) == kernel.n_events
        and 0 <= kernel.n_still <= min(kernel.n_events, kernel.still_limit)
        and (not len(epoch) or int(epoch.min()) >= 0)
    )
    if not fits:
        raise damaged(label, f"its counts of events or draws, or its time {kernel.now!r}, cannot be")


def _check_rngs(kernel: Clockwork, label: str) -> None:
    """Refuse words of more than 32 bits, and an even step, with which a stream might stand still."""
    rngs = kernel.rngs
    for name in rngs.rows.dtype.names or ():
        value, is_word = int(rngs[name][0]), name[:4] in ("word", "step")
        if (is_word and not 0 <= value < 1 << 32) or (name == "step0" and value % 2 == 0):
            raise damaged(label, f"{name} of its random source cannot be {value}")


def _may_ring(model: Model, world: World, kernel: Clockwork) -> tuple[NDArray[Any], NDArray[Any]]:
    """Say of each slot whether its clock may have a pending time, and whether it may have a rate."""
    import numpy as np

    timed, rated = np.zeros((2, len(kernel.clocks)), np.bool_)
    for state, member in zip(kernel.actions.rows, model.actions, strict=True):
        rows = np.zeros(1, np.int64) if member.code == 0 else _live(world, member.code)
        (rated if state["asked"] == RATED else timed)[state["base"] + rows * state["stride"]] = True
    return timed, rated


def _check_times(kernel: Clockwork, may_ring: NDArray[Any], label: str) -> None:
    """Refuse NaN, the past, and a ring of what is no live row."""
    import numpy as np

    times = kernel.clocks["time"]
    if kernel.started and not (times >= kernel.now).all():
        raise damaged(label, f"a clock has a pending time that is NaN or before its time, {kernel.now!r}")
    if not np.isposinf(times[~may_ring] if kernel.started else times).all():
        raise damaged(label, "a clock that cannot ring has a pending time")


def _live(world: World, code: int) -> NDArray[Any]:
    """Return the numbers of an entity's live rows."""
    import numpy as np

    entity = world.schema().by_code(code)
    table = world._tables[entity.name]
    if not entity.pooled:
        return np.arange(len(table))
    return np.flatnonzero(table._columns[GENERATION][: len(table)] % 2 == 1)


def _queue(kernel: Clockwork) -> None:
    """Put the clocks that will ring into the heap, sorted, as after a start; the loop does the rest."""
    import numpy as np

    times = kernel.clocks["time"]
    slots = np.flatnonzero(times < np.inf)
    order = slots[np.argsort(times[slots], kind="stable")]
    n = len(order)
    kernel.heap["time"][:n], kernel.heap["slot"][:n] = times[order], order
    kernel.clocks["prev"][order], kernel.clocks["next"][order] = IN_HEAP, np.arange(n)
    kernel.n_queued = kernel.n_heap = n
