"""The M/M/1 queue, in a world that may kill the process that builds it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tocsin.models.classic.mm1 import MODEL, Queue, Rates

__all__ = ["MODEL", "build"]


def build(folder: Path, n_present: int = 0, deaths: int = 0, rates: Rates | None = None) -> Queue:
    """Return a queue; die on the way, the first `deaths` times."""
    for n in range(deaths):
        flag = folder / f"death-{n_present}-{n}"
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return Queue(n_present=n_present, rates=rates or Rates())
