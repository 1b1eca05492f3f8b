"""Search for a schedule that makes an algorithm fail: what the adversary of the papers would do.

The adversary says who looks when, how fast each robot is, and where moves are cut short. Schedules are
drawn at random, the best of them changed bit by bit (random restarts, then hill climbing), and one that
breaks the invariant is made as short as it goes by leaving out parts of it (Zeller and
Hildebrandt 2002, doi:10.1109/32.988498).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.swarm.robot import QUIET, SEQUENTIAL
from tocsin.models.swarm.rows import Turn
from tocsin.models.swarm.summary import diameter, positions
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation
from tocsin.schema import NEVER, Model

GOALS = ("links", "diameter", "gather")
ANYWHERE = 0.5
"""Share of the runs that start afresh, at random."""

WIDE = 4.0
"""Waits and speeds are drawn within a factor exp(WIDE) of what the scenario says."""


@dataclass(frozen=True)
class Candidate:
    """What an adversary decides."""

    plan: tuple[Turn, ...]
    slowness: tuple[float, ...]
    """Of each robot: its speed as a share of the scenario's."""


@dataclass(frozen=True)
class Verdict:
    """How bad a candidate is."""

    score: float
    """The goal's measure; larger is worse for the algorithm."""
    is_broken: bool
    n_events: int
    """Events until it was broken, or in all."""


@dataclass(frozen=True)
class Attack:
    """The result of a search."""

    candidate: Candidate
    verdict: Verdict
    n_runs: int


@dataclass(frozen=True)
class Game:
    """What is attacked.

    Parameters
    ----------
    model : of the swarm
    make : returns the world for a candidate; it has to be watched
    n : number of robots
    scheduler : ASYNC, SEQUENTIAL or ROUNDS
    is_cut : whether moves may be cut short
    gap : typical wait
    goal : "links" (an initial link is lost), "diameter" (it grows), "gather" (the robots do not come to
        rest within twice the tolerance)
    events : most events of a run
    seed : of the runs
    """

    model: Model
    make: Callable[[Candidate], SwarmWorld]
    n: int
    scheduler: int
    is_cut: bool
    gap: float
    goal: str
    events: int
    seed: int = 0

    def play(self, candidate: Candidate) -> Verdict:
        """Run a candidate."""
        world = self.make(candidate)
        start = diameter(positions(world, 0.0))
        simulation = Simulation(self.model, world, seed=self.seed)
        if self.goal == "gather":
            simulation.run(events=self.events)
        else:
            n = 0
            while n < self.events and not self._is_broken(simulation.world, start):
                n += simulation.run(events=min(16, self.events - n)).n_events or self.events
        return self._verdict(simulation, start)

    def _is_broken(self, world: SwarmWorld, start: float) -> bool:
        if self.goal == "links":
            return world.lost_at < NEVER
        return bool(world.growth > 1e-9 * start)

    def _verdict(self, simulation: Simulation[SwarmWorld], start: float) -> Verdict:
        world, n_events = simulation.world, simulation.n_events
        if self.goal == "links":
            return Verdict(world.longest_link / world.rules.visibility, self._is_broken(world, start), n_events)
        if self.goal == "diameter":
            return Verdict(world.growth / start, self._is_broken(world, start), n_events)
        left = diameter(positions(world, simulation.now))
        is_gathered = world.outcome == QUIET and left <= 2.0 * world.rules.tolerance
        return Verdict(left / start, not is_gathered, n_events)


def attack(game: Game, *, runs: int = 500, length: int = 0, seed: int = 0) -> Attack:
    """Search for a candidate that breaks the goal, and shorten it.

    Parameters
    ----------
    game : what is attacked
    runs : most runs of the search; shortening takes some more
    length : turns that the adversary decides; 3 n by default
    seed : of the search

    Returns the first candidate that breaks the goal, shortened; else the worst one found.
    """
    if game.goal not in GOALS:
        raise InputError(f"goal must be one of {', '.join(GOALS)}, got {game.goal!r}")
    rng = np.random.default_rng(seed)
    best: Attack | None = None
    for number in range(1, runs + 1):
        is_fresh = best is None or rng.random() < ANYWHERE
        candidate = (
            fresh(game, rng, length or 3 * game.n) if is_fresh or best is None else changed(game, rng, best.candidate)
        )
        verdict = game.play(candidate)
        if best is None or verdict.score >= best.verdict.score:
            best = Attack(candidate, verdict, number)
        if verdict.is_broken:
            return shortened(game, Attack(candidate, verdict, number))
    assert best is not None
    return replace(best, n_runs=runs)


def fresh(game: Game, rng: np.random.Generator, length: int) -> Candidate:
    """Draw a candidate."""
    turns = [_turn(game, rng, length) for _ in range(length)]
    slowness = [float(np.exp(-WIDE * rng.random())) if rng.random() < 0.5 else 1.0 for _ in range(game.n)]
    return Candidate(_ordered(game, turns), tuple(slowness))


def _turn(game: Game, rng: np.random.Generator, length: int) -> Turn:
    who = int(rng.integers(game.n))
    stop = float(1.0 - rng.random()) if game.is_cut and rng.random() < 0.7 else 0.0
    return who, stop, _when(game, rng, length)


def _when(game: Game, rng: np.random.Generator, length: int) -> float:
    if game.scheduler == SEQUENTIAL:
        return -1.0
    if game.scheduler == 0:
        return float(game.gap * np.exp(rng.uniform(-WIDE, WIDE)))
    return float(rng.integers(1, max(2, 1 + 2 * length // game.n)))


def _ordered(game: Game, turns: list[Turn]) -> tuple[Turn, ...]:
    """Put the entries of rounds in order, each robot once a round."""
    if game.scheduler in (0, SEQUENTIAL):
        return tuple(turns)
    return tuple(
        sorted({(when, who): (who, stop, when) for who, stop, when in turns}.values(), key=lambda t: (t[2], t[0]))
    )


def changed(game: Game, rng: np.random.Generator, old: Candidate) -> Candidate:
    """Return a neighbour of a candidate: one to three of its parts are drawn anew, moved or dropped."""
    turns, slowness = list(old.plan), list(old.slowness)
    for _ in range(int(rng.integers(1, 4))):
        kind, k = int(rng.integers(5)), int(rng.integers(max(1, len(turns))))
        if kind == 0 or not turns:
            turns.insert(k, _turn(game, rng, len(turns) + 1))
        elif kind == 1:
            turns[k] = _turn(game, rng, len(turns))
        elif kind == 2:
            j = int(rng.integers(len(turns)))
            turns[k], turns[j] = turns[j], turns[k]
        elif kind == 3:
            who, stop, when = turns[k]
            factor = float(np.exp(rng.normal(0.0, 0.5)))
            nearby = (when if when < 0 else when * factor) if game.scheduler == 0 else when
            turns[k] = (who, min(1.0, stop * factor), nearby)
        else:
            i = int(rng.integers(game.n))
            slowness[i] = min(1.0, float(slowness[i] * np.exp(rng.normal(0.0, 0.7))))
    return Candidate(_ordered(game, turns), tuple(slowness))


def shortened(game: Game, found: Attack) -> Attack:
    """Leave out turns, and make robots as fast as the scenario says, as long as the goal stays broken."""
    best, n_runs, size = found, found.n_runs, max(1, len(found.candidate.plan) // 2)
    while size >= 1:
        k = 0
        while k < len(best.candidate.plan):
            plan = best.candidate.plan
            trial = replace(best.candidate, plan=plan[:k] + plan[k + size :])
            verdict, n_runs = game.play(trial), n_runs + 1
            if verdict.is_broken:
                best = Attack(trial, verdict, n_runs)
            else:
                k += size
        size //= 2
    for i in range(game.n):
        if best.candidate.slowness[i] != 1.0:
            pace = (*best.candidate.slowness[:i], 1.0, *best.candidate.slowness[i + 1 :])
            trial = replace(best.candidate, slowness=pace)
            verdict, n_runs = game.play(trial), n_runs + 1
            if verdict.is_broken:
                best = Attack(trial, verdict, n_runs)
    return replace(best, n_runs=n_runs)


def as_toml(value: Any) -> str:
    """Return a plain value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return "inf" if value == math.inf else repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_toml(str(key))} = {as_toml(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(as_toml, value)) + "]"
