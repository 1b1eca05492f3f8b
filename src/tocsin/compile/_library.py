"""Let Numba write IR without making machine code of every function on the way.

Numba optimises and emits each function with all it calls, again at each level of the call tree.
Only the whole is wanted here, once, so inside a build its code libraries just collect IR. They
stay fit for linking, in case other code of the process meets them later.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target


class _NoEngine:
    """Stands for the code generator of a library that has no machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to set: compiled loops use no Python environment."""


class IrLibrary(JITCodeLibrary):
    """A code library that is neither optimised nor emitted, and linked only when asked."""

    codegen = _NoEngine()

    def add_ir_module(self, ir_module: Any) -> None:
        """Take the IR of a function, unverified: the whole is verified at the end."""
        module = llvm.parse_assembly(cgutils.normalize_ir_text(str(ir_module)))
        module.name = ir_module.name
        module.data_layout = self._codegen._data_layout
        self._final_module.link_in(module)

    def add_linking_library(self, library: Any) -> None:
        """Note a library that this one calls."""
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        """Take nothing more."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: nothing here can be called yet."""
        self._ensure_finalized()
        return 0

    def whole(self) -> Any:
        """Return one module with this library and all that it calls, each once."""
        module = self._final_module.clone()
        seen, waiting = {self}, list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library in seen:
                continue
            seen.add(library)
            if isinstance(library, IrLibrary):
                module.link_in(library._final_module, preserve=True)
                waiting.extend(library._linking_libraries)
            else:
                module.link_in(library._get_module_for_linking(), preserve=True)
        return module

    def _get_module_for_linking(self) -> Any:
        """Return the whole, for other code of the process that meets a function compiled here."""
        self._ensure_finalized()
        module = self.whole()
        for function in module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        return module


@contextmanager
def ir_only() -> Iterator[None]:
    """Make Numba collect IR only, inside this block."""
    generator = cpu_target.target_context.codegen()
    before = generator._library_class
    generator._library_class = IrLibrary
    try:
        yield
    finally:
        generator._library_class = before


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector: a build makes a million objects that live to its end."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
