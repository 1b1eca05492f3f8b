"""What a benchmark says, and how its figures are taken."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

from tocsin.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """One figure of ours beside one of a peer's, in the same unit; more is better."""

    name: str
    ours: float
    peer: float
    unit: str
    goal: float | None = None
    """The ratio to reach."""

    @property
    def ratio(self) -> float:
        """Ours over the peer's."""
        return self.ours / self.peer

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached; true without one."""
        return self.goal is None or self.ratio >= self.goal

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the ratio, for JSON."""
        return {**asdict(self), "ratio": self.ratio}


def require(module: str, install: str) -> ModuleType:
    """Import a peer. Raises InputError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"this benchmark needs {module}, which is not installed; run: pip install {install}") from None


def alternated(ours: Callable[[], int], peer: Callable[[], int], rounds: int = 5) -> tuple[float, float]:
    """Return the median events per CPU second of two programs, run in turn.

    Each call makes one run and returns the events that it fired. Taking turns, both meet
    the same load of the machine.
    """
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(_speed(ours))
        theirs.append(_speed(peer))
    return statistics.median(mine), statistics.median(theirs)


def _speed(program: Callable[[], int]) -> float:
    gc.collect()
    begun = time.process_time()
    n_events = program()
    return n_events / max(time.process_time() - begun, 1e-9)
