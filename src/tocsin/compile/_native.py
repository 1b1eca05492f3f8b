"""Load an object file into this process and call it. Needs LLVM only, not Numba."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from tocsin.compile._program import ENTRY, Program, target_machine


class NativeLoop:
    """The compiled event loop. Calling it releases the interpreter lock."""

    def __init__(self, program: Program) -> None:
        import llvmlite.binding as llvm

        machine = target_machine()
        module = llvm.parse_assembly("")
        module.triple = machine.triple
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(program.code))
        self._engine.finalize_object()
        prototype = ctypes.CFUNCTYPE(
            ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
            ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64,
        )  # fmt: skip
        self.address = int(self._engine.get_function_address(ENTRY))
        """Where it begins: as long as this object lives."""
        self._call = prototype(self.address)
        self.access = program.access

    def __call__(self, world: int, kernel: int, until: float, max_events: int) -> int:
        """Run the loop on two headers; return the Stop code.

        Raises RuntimeError with the text of the exception that a model function raised.
        """
        result, error = ctypes.c_int64(), ctypes.c_void_p()
        status = self._call(ctypes.addressof(result), ctypes.addressof(error), None, world, kernel, until, max_events)
        if status != 0:
            raise RuntimeError(raised(error.value))
        return result.value


def can_load(program: Program) -> bool:
    """Say whether every outside function that the code calls is in this process."""
    return all(map(_is_found, program.externals))


def _is_found(name: str) -> bool:
    """Say whether LLVM knows a function; one of the C library it is told here, as Numba may not be there to do it."""
    import llvmlite.binding as llvm

    if llvm.address_of_symbol(name):
        return True
    function = getattr(_c_library(), name, None)
    if function is None:
        return False
    llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return True


@functools.cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL("ucrtbase" if os.name == "nt" else None)


def raised(address: int | None) -> str:
    """Read the exception that Numba's code left: its class and arguments, without unpickling."""
    import pickletools

    if not address:
        return "an exception was raised"
    data = ctypes.c_void_p.from_address(address).value
    size = ctypes.c_int32.from_address(address + 8).value
    if not data or size <= 0:
        return "an exception was raised"
    operations = list(pickletools.genops(ctypes.string_at(data, size)))
    words: list[Any] = [argument for _, argument, _ in operations if isinstance(argument, str)]
    if not any(operation.name == "NONE" for operation, _, _ in operations[-4:]):
        words = words[:-2]  # then come the function's name and its file
    at = next((k for k, w in enumerate(words) if w.endswith(("Error", "Exception", "Iteration"))), None)
    if at is None:
        return "an exception was raised"
    return ": ".join([words[at], *words[at + 1 :]])
