"""The Numba passes that a model needs, and no others: an eighth less to wait for a first run."""

from __future__ import annotations

from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager

PASSES = (
    (untyped_passes.TranslateByteCode, "byte code to IR"),
    (untyped_passes.FixupArgs, "arguments"),
    (untyped_passes.IRProcessing, "IR"),
    (untyped_passes.RewriteSemanticConstants, "constants"),
    (untyped_passes.DeadBranchPrune, "dead branches"),
    (untyped_passes.InlineClosureLikes, "inner functions"),
    (untyped_passes.GenericRewrites, "constant indices and raise"),
    (untyped_passes.ReconstructSSA, "single assignment"),
    (typed_passes.NopythonTypeInference, "types"),
    (typed_passes.PreLowerStripPhis, "no phis"),
    (typed_passes.IRLegalization, "legal IR"),
    (typed_passes.AnnotateTypes, "type notes, which access analysis reads"),
    (typed_passes.NativeLowering, "LLVM IR"),
    (typed_passes.NoPythonBackend, "result"),
)


class ModelCompiler(CompilerBase):
    """Compiles one function of a model or of the kernel."""

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline."""
        manager = PassManager("nopython")
        for stage, doc in PASSES:
            manager.add_pass(stage, doc)
        manager.finalize()
        return [manager]
