"""One function from LLVM assembly that was written for one set of data. Needs LLVM only, not Numba."""

from __future__ import annotations

import functools
from typing import Any

from tocsin.compile._program import target_machine


class Assembled:
    """Machine code of one function. `address` holds as long as this object lives."""

    def __init__(self, text: str, name: str) -> None:
        """Optimise and load the function `name` of a module. Raises RuntimeError for text that is no module."""
        import llvmlite.binding as llvm

        machine = target_machine()
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.verify()
        self._engine: Any = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address = int(self._engine.get_function_address(name))


@functools.lru_cache(maxsize=64)
def assembled(text: str, name: str) -> Assembled:
    """Return the machine code of a function; the same text is compiled once."""
    return Assembled(text, name)
