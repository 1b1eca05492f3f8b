"""A model's compiled loop as WebAssembly: the same functions, the same bits, in any browser."""

from tocsin.export._module import WasmProgram, export_module

__all__ = ["WasmProgram", "export_module"]
