"""Python processes of which CPU time or memory is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tocsin.errors import InputError, SimulationError


def run(code: str, *args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run Python code in a process of its own; return what it printed.

    Raises SimulationError with its last words if it failed.
    """
    command = [sys.executable, "-c", code, *args]
    done = subprocess.run(  # noqa: S603
        command, env={**os.environ, **(env or {})}, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SimulationError(f"a process of the benchmark failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def cpu_seconds(code: str, *args: str, env: Mapping[str, str] | None = None) -> float:
    """Return the CPU seconds, user and system, of a whole process that runs Python code."""
    before = _children_seconds()
    run(code, *args, env=env)
    return _children_seconds() - before


def _children_seconds() -> float:
    import resource  # only Unix has it

    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def needs_linux() -> None:
    """Raise InputError where a process cannot read its own peak memory."""
    if not Path("/proc/self/status").exists():
        raise InputError("this benchmark reads /proc/self/status, which only Linux has")
