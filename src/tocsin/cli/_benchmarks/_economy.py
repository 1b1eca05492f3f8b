"""The sandtable rules against the same rules as NumPy columns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

from tocsin.cli._benchmarks._comparison import Comparison, alternated, faster
from tocsin.cli._benchmarks._economy_columns import run_columns
from tocsin.errors import SimulationError
from tocsin.models.economy.sandtable.config import SandtableDesign
from tocsin.models.economy.sandtable.run import run_sandtable

PLAYERS, DAYS, ROUNDS = 10_000, 30, 3


def economy() -> Iterator[Comparison]:
    """The sandtable rules, 10,000 players for 30 days, one thread: against the same rules as columns of NumPy arrays."""
    _check()
    for battles in ("rounds", "exact"):
        ours, peer = alternated(_speed(_ours(battles)), _speed(_peer), ROUNDS)
        yield faster(f"sandtable, battles by {battles}, NumPy columns", ours, peer, None, "player-days/CPU s")


def _ours(battles: str) -> Callable[[], object]:
    return lambda: run_sandtable(SandtableDesign(), PLAYERS, DAYS, 1, threads=1, battles=battles)


def _peer() -> object:
    return run_columns(PLAYERS, DAYS, 1)


def _speed(program: Callable[[], object]) -> Callable[[], float]:
    def figure() -> float:
        started = time.process_time()
        program()
        return PLAYERS * DAYS / (time.process_time() - started)

    return figure


def _check() -> None:
    """Raise SimulationError unless both have the same win rate and the same gold, within 4.5 standard errors."""
    ours = run_sandtable(SandtableDesign(), PLAYERS, DAYS, 1, threads=1).summary()
    peer = run_columns(PLAYERS, DAYS, 2)
    p = peer.wins / peer.battles
    if abs(ours["win_rate"] - p) > 6.4 * math.sqrt(p * (1 - p) / peer.battles) + 1e-3:
        raise SimulationError(f"win rates differ: {ours['win_rate']:.5f} and {p:.5f}")
    if abs(ours["gold_earned"] / peer.earned - 1.0) > 0.03:
        raise SimulationError(f"gold differs: {ours['gold_earned']} and {peer.earned}")
