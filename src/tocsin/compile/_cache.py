"""The disk cache of machine code, keyed by content (see `_fingerprint.py`).

An entry is an object file and a JSON file beside it: no pickle, nothing is run to read it. A
warm start does not import Numba. The folder is `TOCSIN_CACHE_DIR`, or `tocsin` in the user's
cache folder; it is created for the user alone. If it cannot be written, nothing is cached.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tocsin.compile._access import Access
from tocsin.compile._fingerprint import fingerprint
from tocsin.compile._native import NativeLoop, can_load
from tocsin.compile._program import Program, compile_program, type_program
from tocsin.schema import Model, WorldSchema
from tocsin.schema._system import Alone

_log = logging.getLogger("tocsin")
_loaded: dict[str, NativeLoop] = {}
_lock = threading.RLock()
"""One thread compiles at a time: a build has its state in this package's modules."""


def native_loop(
    model: Model, kernel: WorldSchema, entry: Callable[..., Any], replacements: dict[Any, str | tuple[float, ...]]
) -> NativeLoop:
    """Return the compiled loop of a model: from this process, from disk, or compiled now."""
    with _lock:
        key = fingerprint(model, kernel, entry, _platform())
        if key not in _loaded:
            program = load(key)
            if program is None or not can_load(program):
                _log.info("compiling the model %s: some seconds, once; the machine code is kept", model.name)
                program = compile_program(model, kernel, entry, replacements)
                store(key, program)
            _loaded[key] = NativeLoop(program)
        return _loaded[key]


def wasm_loop(
    model: Model, kernel: WorldSchema, entry: Callable[..., Any], replacements: dict[Any, str | tuple[float, ...]],
    alone: Alone,
) -> bytes:  # fmt: skip
    """Return the loop of a model as a WebAssembly object: from disk, or compiled now.

    `alone` says what the ticks of synchronous systems are made of: they are part of the loop.

    Raises CompileError and PurityError, as `native_loop` does.
    """
    from tocsin.compile._wasm import PLATFORM, wasm_object

    with _lock:
        key = fingerprint(model, kernel, entry, f"{PLATFORM} {alone.plans}")
        program = load(key)
        if program is None:
            typed = type_program(model, kernel, entry, replacements, alone)
            program = Program(wasm_object(typed), [], typed.access)
            store(key, program)
        return program.code


@functools.cache
def _platform() -> str:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


def folder() -> Path:
    """Return the cache folder, which may not exist yet."""
    given = os.environ.get("TOCSIN_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(base) / "tocsin" if base else Path.home() / ".cache" / "tocsin"


def load(key: str) -> Program | None:
    """Return a cached program, or None if there is none that is whole."""
    try:
        facts = json.loads((folder() / f"{key}.json").read_text())
        code = (folder() / f"{key}.o").read_bytes()
        if hashlib.sha256(code).hexdigest() != facts["sha256"]:
            return None
        access = {name: Access.from_json(given) for name, given in facts["access"].items()}
        return Program(code, list(facts["externals"]), access)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def store(key: str, program: Program) -> None:
    """Write a program to the cache; a folder that cannot be written is left alone."""
    facts = {
        "sha256": hashlib.sha256(program.code).hexdigest(), "externals": program.externals,
        "access": {name: access.to_json() for name, access in program.access.items()},
    }  # fmt: skip
    with contextlib.suppress(OSError):
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(folder() / f"{key}.o", program.code)
        _replace(folder() / f"{key}.json", json.dumps(facts).encode())


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
