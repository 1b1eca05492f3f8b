"""What is done to LLVM's text before it is optimised."""

import llvmlite.binding as llvm
import pytest

from tocsin.compile._program import roots_inside

CALL = """
define double @f(double %x) {
  %r = call double @sqrt(double %x)
  ret double %r
}
declare double @sqrt(double)
"""
BOTH = CALL + "declare double @llvm.sqrt.f64(double)\n"


@pytest.mark.parametrize("text", [CALL, BOTH])
def test_square_roots_are_an_instruction(text):
    """An older Numba calls the C library's, which a browser does not have."""
    module = llvm.parse_assembly(roots_inside(text))
    assert [f.name for f in module.functions if f.is_declaration] == ["llvm.sqrt.f64"]
