"""From declarations to machine code; all of Numba lives here."""

from tocsin.compile._access import Access
from tocsin.compile._assembly import Assembled, assembled
from tocsin.compile._cache import native_loop, wasm_loop
from tocsin.compile._native import NativeLoop
from tocsin.compile._program import Program, compile_program

__all__ = ["Access", "Assembled", "NativeLoop", "Program", "assembled", "compile_program", "native_loop", "wasm_loop"]
