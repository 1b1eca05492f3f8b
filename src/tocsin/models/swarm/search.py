"""How schedules are proposed: random restarts with local search, or CMA-ES.

CMA-ES (Hansen and Ostermeier 2001, doi:10.1162/106365601750190398) is Optuna's. It moves a cloud of points of a
cube, each of which stands for a schedule, towards those that were worse for the algorithm.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from tocsin.errors import InputError
from tocsin.models.swarm.robot import ASYNC, SEQUENTIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.models.swarm.rows import Turn

ANYWHERE = 0.5
"""Share of the runs that start afresh, at random."""

WIDE = 4.0
"""Waits are drawn within a factor exp(WIDE) of what the scenario says."""

SLOWEST = 7.0
"""Robots are slowed by a factor of up to exp(SLOWEST). Slow ones on stale ways are what breaks asynchronous algorithms."""

STOPPED, SLOWED = 0.7, 0.5
"""Share of the moves that are stopped on their way, and of the robots that are slow."""

FRESH_START = 200
"""Runs after which CMA-ES starts anew, from another point."""


@dataclass(frozen=True)
class Candidate:
    """What an adversary decides."""

    plan: tuple[Turn, ...]
    slowness: tuple[float, ...]
    """Of each robot: its speed as a share of the scenario's."""


@dataclass(frozen=True)
class Choices:
    """What an adversary may choose from.

    Parameters
    ----------
    n : number of robots
    scheduler : ASYNC, SEQUENTIAL or ROUNDS
    is_cut : whether moves may be cut short
    gap : typical wait
    length : turns that it decides
    """

    n: int
    scheduler: int
    is_cut: bool
    gap: float
    length: int

    @property
    def n_rounds(self) -> int:
        """Rounds that the turns are spread over."""
        return max(1, 2 * self.length // self.n)


class Search(Protocol):
    """Something that proposes candidates and is told how bad they were."""

    def ask(self) -> Candidate:
        """Return the next candidate."""

    def tell(self, candidate: Candidate, score: float) -> None:
        """Take note of how bad a candidate was; more is worse for the algorithm."""


class Restarts:
    """Random restarts, and neighbours of the worst candidate so far."""

    def __init__(self, choices: Choices, seed: int) -> None:
        self._choices, self._rng = choices, np.random.default_rng(seed)
        self._best: Candidate | None = None
        self._score = -np.inf

    def ask(self) -> Candidate:
        """Return a fresh candidate, or a neighbour of the worst one."""
        if self._best is None or self._rng.random() < ANYWHERE:
            return fresh(self._choices, self._rng)
        return changed(self._choices, self._rng, self._best)

    def tell(self, candidate: Candidate, score: float) -> None:
        """Keep the worst candidate."""
        if self._best is None or score >= self._score:
            self._best, self._score = candidate, score


class CmaEs:
    """CMA-ES in the cube of `decoded`, started anew every FRESH_START runs. Raises InputError if Optuna is missing."""

    def __init__(self, choices: Choices, seed: int) -> None:
        try:
            import cmaes  # noqa: F401  (Optuna loads it at the first trial)
            import optuna
        except ImportError:
            raise InputError("method 'cmaes' needs Optuna and cmaes; run: pip install 'tocsin[experiment]'") from None
        self._optuna, self._choices, self._seed, self._n_runs = optuna, choices, seed, 0
        size = (2 + choices.is_cut) * choices.length + 2 * choices.n
        self._space = {f"u{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(size)}
        self._study, self._trial = self._begin(), cast(Any, None)

    def _begin(self) -> Any:
        optuna = self._optuna
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        start = np.random.default_rng([self._seed, self._n_runs]).random(len(self._space))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # experimental options warn
            sampler = optuna.samplers.CmaEsSampler(
                x0=dict(zip(self._space, start.tolist(), strict=True)), sigma0=0.3, n_startup_trials=1,
                seed=(self._seed + self._n_runs) % 2**32,
            )  # fmt: skip
        return optuna.create_study(direction="maximize", sampler=sampler)

    def ask(self) -> Candidate:
        """Return the next point of the cloud as a candidate."""
        if self._n_runs % FRESH_START == 0 and self._n_runs > 0:
            self._study = self._begin()
        self._n_runs += 1
        self._trial = self._study.ask(self._space)
        return decoded(self._choices, [self._trial.params[name] for name in self._space])

    def tell(self, candidate: Candidate, score: float) -> None:
        """Say how bad the point was."""
        self._study.tell(self._trial, score)


METHODS: dict[str, type[Restarts] | type[CmaEs]] = {"restarts": Restarts, "cmaes": CmaEs}


def decoded(choices: Choices, point: Sequence[float]) -> Candidate:
    """Return the candidate that a point of the unit cube stands for.

    Parameters
    ----------
    choices : what there is to choose
    point : numbers in 0..1: for each turn who, when, and, if moves are cut, where; for each robot whether it is slow, and how
    """
    numbers, turns = iter(point), []
    for _ in range(choices.length):
        who = min(choices.n - 1, int(next(numbers) * choices.n))
        when = _when(choices, next(numbers))
        share = next(numbers) if choices.is_cut else 1.0
        turns.append((who, 1.0 - share / STOPPED if share < STOPPED else 0.0, when))
    slowness = tuple(_slowness(next(numbers), next(numbers)) for _ in range(choices.n))
    return Candidate(ordered(choices, turns), slowness)


def _slowness(which: float, u: float) -> float:
    return float(np.exp(-SLOWEST * u)) if which < SLOWED else 1.0


def _when(choices: Choices, u: float) -> float:
    """Return when a turn is, from a number in 0..1: no wait of its own, a wait, or a round."""
    if choices.scheduler == SEQUENTIAL:
        return -1.0
    if choices.scheduler == ASYNC:
        return float(choices.gap * np.exp(WIDE * (2.0 * u - 1.0)))
    return float(1 + min(choices.n_rounds - 1, int(u * choices.n_rounds)))


def ordered(choices: Choices, turns: list[Turn]) -> tuple[Turn, ...]:
    """Put the entries of rounds in order, each robot once a round."""
    if choices.scheduler in (ASYNC, SEQUENTIAL):
        return tuple(turns)
    once = {(when, who): (who, stop, when) for who, stop, when in turns}
    return tuple(sorted(once.values(), key=lambda turn: (turn[2], turn[0])))


def _turn(choices: Choices, rng: np.random.Generator) -> Turn:
    who = int(rng.integers(choices.n))
    stop = float(1.0 - rng.random()) if choices.is_cut and rng.random() < STOPPED else 0.0
    return who, stop, _when(choices, rng.random())


def fresh(choices: Choices, rng: np.random.Generator) -> Candidate:
    """Draw a candidate."""
    turns = [_turn(choices, rng) for _ in range(choices.length)]
    slowness = tuple(_slowness(rng.random(), rng.random()) for _ in range(choices.n))
    return Candidate(ordered(choices, turns), slowness)


def changed(choices: Choices, rng: np.random.Generator, old: Candidate) -> Candidate:
    """Return a neighbour of a candidate: one to three of its parts are drawn anew, moved or dropped."""
    turns, slowness = list(old.plan), list(old.slowness)
    for _ in range(int(rng.integers(1, 4))):
        kind, k = int(rng.integers(5)), int(rng.integers(max(1, len(turns))))
        if kind == 0 or not turns:
            turns.insert(k, _turn(choices, rng))
        elif kind == 1:
            turns[k] = _turn(choices, rng)
        elif kind == 2:
            j = int(rng.integers(len(turns)))
            turns[k], turns[j] = turns[j], turns[k]
        elif kind == 3:
            who, stop, when = turns[k]
            factor = float(np.exp(rng.normal(0.0, 0.5)))
            turns[k] = (
                who,
                min(1.0, stop * factor),
                when * factor if choices.scheduler == ASYNC and when >= 0 else when,
            )
        else:
            i = int(rng.integers(choices.n))
            slowness[i] = min(1.0, float(slowness[i] * np.exp(rng.normal(0.0, 0.7))))
    return Candidate(ordered(choices, turns), tuple(slowness))
