"""Run an exported module under wasmtime, as a browser would: for tests and benchmarks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tocsin.errors import FireError, InputError, Stop
from tocsin.export._image import taken_back
from tocsin.export._module import EXCEPTION, RESULT, WasmProgram, export_module, with_room

if TYPE_CHECKING:
    from tocsin.run import Simulation


class WasmHost:
    """An instance of an exported module, with its own memory.

    Parameters
    ----------
    simulation : what to run; it stays as it is
    room : rows that each pool has room for at least

    Raises InputError if wasmtime is not installed, CompileError for what cannot be exported.
    """

    def __init__(self, simulation: Simulation[Any], room: int = 0) -> None:
        try:
            import wasmtime
        except ImportError:
            raise InputError("running a module needs wasmtime: pip install wasmtime") from None
        self._simulation = with_room(simulation, room)
        self.program: WasmProgram = export_module(self._simulation)
        store = self._store = wasmtime.Store(wasmtime.Engine())
        module = wasmtime.Module(store.engine, self.program.code)
        limits = wasmtime.Limits(self.program.n_pages, None)
        self._memory = wasmtime.Memory(store, wasmtime.MemoryType(limits))
        globals_type = wasmtime.GlobalType(wasmtime.ValType.i32(), True)
        provided: dict[str, Any] = {
            "__linear_memory": self._memory,
            "__stack_pointer": wasmtime.Global(store, globals_type, wasmtime.Val.i32(self.program.stack)),
            "__indirect_function_table": wasmtime.Table(
                store, wasmtime.TableType(wasmtime.ValType.funcref(), wasmtime.Limits(8, None)), None
            ),
        }
        instance = wasmtime.Instance(store, module, [provided[i.name or ""] for i in module.imports])
        self._advance: Any = instance.exports(store)["advance"]
        self._memory.write(store, self.program.image.data, self.program.image.base)

    def run(self, until: float = math.inf, events: int = 1 << 62) -> Stop:
        """Fire events up to a time or a number. Raises FireError for an exception of the model."""
        image = self.program.image
        status = self._advance(self._store, RESULT, EXCEPTION, 0, image.world, image.kernel, until, events)
        if status != 0:
            raise FireError("a function of the model raised an exception")
        return Stop(int.from_bytes(self._memory.read(self._store, RESULT, RESULT + 4), "little"))

    def state(self) -> Simulation[Any]:
        """Return a simulation in the state of the module's memory."""
        return taken_back(self._simulation, self.program.image, bytes(self._memory.read(self._store)))
