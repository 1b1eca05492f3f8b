"""From a model's loop to a WebAssembly object, by LLVM's own wasm32 target.

LLVM ends the process when it meets what the target cannot do, so this runs in a child process:
JSON on standard input (the text of the loop, its entry, the functions kept apart), the object
file on standard output.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

from tocsin.compile._program import Typed, optimised
from tocsin.errors import CompileError

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+bulk-memory-opt,+nontrapping-fptoint,+sign-ext,+mutable-globals"
PLATFORM = f"{TRIPLE} {FEATURES} fetch"
SECONDS = 300
PREFETCH = re.compile(r"call void @llvm\.prefetch\.p0\((ptr [^,]+),[^)]*\)")
FETCH = """
define internal i8 @tocsin_fetch(ptr %where) alwaysinline {
  %byte = load volatile i8, ptr %where
  ret i8 %byte
}
"""
"""WebAssembly has no prefetching; a byte that nobody waits for brings its cache line as well (every address asked for is
one of a table). Measured on PHOLD with 100,000 clocks: see `tocsin bench wasm`."""


def wasm_object(typed: Typed) -> bytes:
    """Return a relocatable WebAssembly object. Raises CompileError if LLVM cannot make one."""
    given = json.dumps({"text": typed.text, "entry": typed.entry})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", "from tocsin.compile._wasm import main; main()"]
    done = subprocess.run(  # noqa: S603 (our own interpreter and our own words)
        command, input=given.encode(), capture_output=True, env=environment, timeout=SECONDS, check=False
    )
    if done.returncode != 0 or done.stdout[:4] != b"\0asm":
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise CompileError(f"LLVM cannot make WebAssembly of this model: {words[-1] if words else 'it gave no reason'}")
    return done.stdout


def main() -> None:
    """Read a loop, write an object: the child process."""
    given = json.load(sys.stdin)
    machine = _target_machine()
    module = optimised(_retargeted(given["text"], machine), given["entry"], machine)
    sys.stdout.buffer.write(machine.emit_object(module))


def _target_machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(
        cpu="generic", features=FEATURES, opt=3, reloc="static", codemodel="default"
    )  # fmt: skip


def _retargeted(text: str, machine: Any) -> str:
    text = re.sub(r'target datalayout = ".*"', f'target datalayout = "{machine.target_data}"', text)
    text = re.sub(r'target triple = ".*"', f'target triple = "{TRIPLE}"', text)
    return PREFETCH.sub(r"call i8 @tocsin_fetch(\1)", text) + FETCH
