"""What a page must know of a simulation: addresses, names, bounds, and how a save is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tocsin.errors import Stop
from tocsin.export._image import Block
from tocsin.export._module import WasmProgram
from tocsin.export.marks import View
from tocsin.run._members import KEPT_ARRAYS, KEPT_SCALARS, kept
from tocsin.run._save import save_facts
from tocsin.schema import World
from tocsin.schema._layout import GENERATION, N_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.run import Simulation

Blocks = Mapping[str, Block]
KERNEL_SCALARS = ("now", "n_events", "started", "begun_at", "is_logging", "n_log")


def description(simulation: Simulation[Any], program: WasmProgram, view: View) -> dict[str, Any]:
    """Return plain values for the page: everything but the module and its memory."""
    world, kernel, blocks = simulation.world, simulation._kernel, program.image.blocks
    log = kernel.log.rows
    return {
        "model": simulation.model.name, "seed": str(simulation.seed), "pages": program.n_pages,
        "stack": program.stack, "base": program.image.base, "world": program.image.world,
        "kernel": program.image.kernel, "tables": _tables(world, blocks), "arrays": _arrays(world, blocks),
        "globals": {name: _place(world, "world", name, blocks) for name in world._globals.dtype.names},
        "scalars": {name: _place(kernel, "kernel", name, blocks) for name in KERNEL_SCALARS},
        "params": _params(world, blocks), "view": view.to_dict(),
        "observables": [
            {"name": m.name, "doc": _line(m.cls), "at": _column_at(kernel.series.rows, "kernel/series", "total", n, blocks)}
            for n, m in enumerate(simulation.model.observables)
        ],
        "actions": [
            {"name": m.name, "doc": _line(m.cls), "at": _column_at(kernel.actions.rows, "kernel/actions", "n_fired", n, blocks)}
            for n, m in enumerate(simulation.model.actions)
        ],
        "log": {"at": blocks["kernel/log"].at, "size": log.dtype.itemsize},
        "seedWords": [
            [_column_at(kernel.rngs.rows, "kernel/rngs", column, row, blocks), part]
            for row in range(2 if simulation.model.is_synchronous else 1)  # and of the lane that ticks
            for column, part in (("key_low", "low"), ("key_high", "high"))
            if simulation.source.name == "philox"
        ],
        "stops": {
            int(Stop.BAD_TIME): "A clock was set to NaN or to a time before now; `tocsin run` names it.",
            int(Stop.ZENO): "Too many events at one instant: some action sets itself for now without end.",
        },
        "save": {"facts": save_facts(simulation), "members": _members(simulation, blocks)},
    }  # fmt: skip


def remote_description(simulation: Simulation[Any], view: View) -> dict[str, Any]:
    """Return what a page must know of a simulation that runs elsewhere: names and bounds, no addresses."""
    world = simulation.world
    return {
        "remote": True, "model": simulation.model.name, "seed": str(simulation.seed), "view": view.to_dict(),
        "seedWords": [1] if simulation.source.name == "philox" else [], "params": _params(world, None),
        "tables": {
            table: {"fields": {f.name: {"kind": f.kind} for f in entity.fields.values()}}
            for table, entity in world.schema().tables().items()
        },
        "observables": [{"name": m.name, "doc": _line(m.cls)} for m in simulation.model.observables],
        "actions": [{"name": m.name, "doc": _line(m.cls)} for m in simulation.model.actions],
    }  # fmt: skip


def _line(cls: type) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0]


def _tables(world: World, blocks: Blocks) -> dict[str, Any]:
    schema, found = world.schema(), {}
    for table, entity in schema.tables().items():
        dtype = world._tables[entity.name].rows.dtype
        fields = {
            f.name: {
                "dtype": dtype[f.name].str[1:], "offset": dtype.fields[f.name][1], "kind": f.kind,
                "target": None if f.target is None else schema.entity(f.target).table,
            }
            for f in entity.fields.values()
        }  # fmt: skip
        found[table] = {
            "entity": entity.name, "doc": _line(entity.cls), "at": blocks[f"world/{table}"].at,
            "size": dtype.itemsize, "header": blocks["world/=header"].at + 8 * entity.slot, "pooled": entity.pooled,
            "generation": dtype.fields[GENERATION][1] if entity.pooled else 0, "fields": fields,
        }  # fmt: skip
    return found


def _arrays(world: World, blocks: Blocks) -> dict[str, Any]:
    return {
        name: {
            "at": blocks[f"world/{name}"].at, "shape": list(world.__dict__[name].values.shape),
            "dtype": world.__dict__[name].values.dtype.str[1:], "size": world.__dict__[name].values.itemsize,
        }
        for name in world.schema().arrays
    }  # fmt: skip


def _place(world: World, side: str, name: str, blocks: Blocks) -> list[Any]:
    dtype, offset = world._globals.dtype.fields[name][:2]  # type: ignore[index]
    return [dtype.str[1:], blocks[f"{side}/=globals"].at + offset]


def _params(world: World, blocks: Blocks | None) -> list[dict[str, Any]]:
    found = []
    for block, cls in world.schema().params.items():
        for name, field in cls.fields().items():
            spec = cls.spec(name)
            found.append(
                {
                    "block": block, "name": name, "kind": field.kind, "unit": spec.unit, "doc": spec.doc,
                    "gt": spec.gt, "ge": spec.ge, "lt": spec.lt, "le": spec.le,
                    "start": getattr(world.__dict__[block], name), "place": _place(world, "world", f"{block}.{name}", blocks) if blocks is not None else [],
                }
            )  # fmt: skip
    return found


def _column_at(rows: NDArray[Any], block: str, column: str, row: int, blocks: Blocks) -> int:
    return blocks[block].at + row * rows.dtype.itemsize + int(rows.dtype.fields[column][1])  # type: ignore[index]


def _members(simulation: Simulation[Any], blocks: Blocks) -> list[dict[str, Any]]:
    """Return for each member of a save where its values lie, in the order in which it is written."""
    world, kernel, found = simulation.world, simulation._kernel, []
    header = blocks["world/=header"].at

    def add(name: str, values: NDArray[Any], at: int, step: int) -> None:
        found.append(
            {
                "name": name,
                "descr": values.dtype.str,
                "shape": list(values.shape),
                "at": at,
                "size": values.itemsize,
                "step": step,
            }
        )

    for table, entity in world.schema().tables().items():
        rows = world._tables[entity.name].rows
        add(f"world/{table}/counts", world._header[:3], header + 8 * (entity.slot + N_ROWS), 8)
        for spec in (*entity.fields.values(), *entity.hidden):
            at = _column_at(rows, f"world/{table}", spec.name, 0, blocks)
            add(f"world/{table}/{spec.name}", rows[spec.name], at, rows.itemsize)
    for name in world.schema().arrays:
        values = world.__dict__[name].values
        add(f"world/{name}", values, blocks[f"world/{name}"].at, values.itemsize)
    for name in world.schema().globals_fields():
        add(f"world/={name}", world._globals[name].reshape(1), _place(world, "world", name, blocks)[1], 8)
    for table, columns in kept(kernel, with_rngs=not simulation.source.is_keyed).items():
        rows = kernel.__dict__[table].rows
        n = len(kernel.__dict__[table])
        for column in columns:
            add(
                f"kernel/{table}/{column}",
                rows[column][:n],
                _column_at(rows, f"kernel/{table}", column, 0, blocks),
                rows.itemsize,
            )
    for name in KEPT_ARRAYS:
        values = kernel.__dict__[name].values
        add(f"kernel/{name}", values, blocks[f"kernel/{name}"].at, values.itemsize)
    for name in KEPT_SCALARS:
        add(f"kernel/={name}", kernel._globals[name].reshape(1), _place(kernel, "kernel", name, blocks)[1], 8)
    return found
