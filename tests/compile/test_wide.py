"""The high half of a product of 64 by 64 bits, as each kind of machine gets it."""

from __future__ import annotations

import ctypes
import itertools

import llvmlite.binding as llvm
import pytest

from tocsin.compile._program import target_machine
from tocsin.compile._wide import HIGH_HALF, with_high_half


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"])
def test_the_high_half_of_a_product(triple: str) -> None:
    """Both definitions of it give what whole numbers give, for 64 bits of either sign."""
    machine = target_machine()
    declared = f"declare i64 @{HIGH_HALF}(i64, i64) #1\n"
    caller = f"define i64 @f(i64 %a, i64 %b) {{\n  %c = call i64 @{HIGH_HALF}(i64 %a, i64 %b)\n  ret i64 %c\n}}\n"
    module = llvm.parse_assembly(with_high_half(declared + caller, triple))
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    assert ("i128" in str(module)) == triple.startswith("x86")
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    high_half = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)(engine.get_function_address("f"))
    edges = (0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0)
    for a, b in itertools.product(edges, edges):
        assert high_half(a, b) == a * b >> 64
