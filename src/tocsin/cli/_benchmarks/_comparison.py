"""What a benchmark says, and how its figures are taken."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tocsin.errors import InputError, SimulationError

ROUNDS = 11


@dataclass(frozen=True)
class Comparison:
    """One figure of ours beside one of a peer's, or beside a limit, in the same unit."""

    name: str
    ours: float
    peer: float
    unit: str
    goal: float | None = None
    """The ratio to reach."""
    ratios: tuple[float, ...] = ()
    """The ratio in each round; above 1, ours is better."""

    @property
    def ratio(self) -> float:
        """The median of the rounds; ours over the peer's where there are none."""
        return statistics.median(self.ratios) if self.ratios else self.ours / self.peer

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached; true without one."""
        return self.goal is None or self.ratio >= self.goal

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the ratio, for JSON."""
        return {
            "name": self.name, "ours": self.ours, "peer": self.peer, "unit": self.unit,
            "goal": self.goal, "ratio": self.ratio, "ratios": list(self.ratios),
        }  # fmt: skip


def require(module: str, install: str) -> ModuleType:
    """Import a peer. Raises InputError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"this benchmark needs {module}, which is not installed; run: pip install {install}") from None


def alternated(
    ours: Callable[[], float], peer: Callable[[], float], rounds: int = ROUNDS
) -> tuple[list[float], list[float]]:
    """Return what two programs give, called in turn, so that both meet the same load."""
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(ours())
        theirs.append(peer())
    return mine, theirs


def faster(
    name: str, ours: Sequence[float], peer: Sequence[float], goal: float | None, unit: str = "events/CPU s"
) -> Comparison:
    """Compare speeds, round by round: more is better."""
    ratios = tuple(mine / theirs for mine, theirs in zip(ours, peer, strict=True))
    return Comparison(name, statistics.median(ours), statistics.median(peer), unit, goal, ratios)


def within(name: str, measured: Sequence[float], limit: float, unit: str) -> Comparison:
    """Compare costs with a limit: the ratio is limit over cost, the goal 1."""
    return Comparison(name, statistics.median(measured), limit, unit, 1.0, tuple(limit / cost for cost in measured))


def speed(program: Callable[[], int]) -> float:
    """Return the events per CPU second of a program that returns how many it fired."""
    gc.collect()
    begun = time.process_time()
    n_events = program()
    return n_events / max(time.process_time() - begun, 1e-9)


def check_events(fired: int, wanted: int, who: str = "the benchmark") -> int:
    """Return the number of events. Raises SimulationError if it is not the one wanted."""
    if fired != wanted:
        raise SimulationError(f"{who} fired {fired} events, expected {wanted}")
    return fired


def check_close(ours: float, peer: float, tolerance: float, what: str) -> None:
    """Raise SimulationError unless two answers agree to a relative tolerance."""
    if not abs(ours - peer) <= tolerance * abs(peer):
        raise SimulationError(f"{what} do not agree: {ours:.6g} of ours, {peer:.6g} of the peer's; no figure is given")
