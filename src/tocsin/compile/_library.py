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

from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target


class _NoEngine:
    """Stands for the code generator of a library that has no machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to set: compiled loops use no Python environment."""


class IrLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A code library that is linked but neither optimised nor emitted."""

    codegen = _NoEngine()

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Link what it calls, and return 0: nothing here can be called yet."""
        self._ensure_finalized()
        return 0


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
