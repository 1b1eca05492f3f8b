"""Search for a schedule that makes an algorithm fail: what the adversary of the papers would do.

The adversary says who looks when, how fast each robot is, and where moves are cut short. Schedules are
drawn at random and improved (see `search`), and one that
breaks the invariant is made as short as it goes by leaving out parts of it (Zeller and
Hildebrandt 2002, doi:10.1109/32.988498).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tocsin.errors import InputError
from tocsin.models.swarm.robot import QUIET
from tocsin.models.swarm.search import METHODS, Candidate, Choices
from tocsin.models.swarm.summary import diameter, positions
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation
from tocsin.schema import NEVER, Model
from tocsin.schema._annotations import nearest

GOALS = ("links", "diameter", "gather")


@dataclass(frozen=True)
class Verdict:
    """How bad a candidate is."""

    score: float
    """The goal's measure; larger is worse for the algorithm."""
    is_broken: bool
    guide: float
    """What the search goes by: the score, and signs that it may grow."""
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
            reach = world.rules.visibility
            score, aim = world.longest_link / reach, world.longest_aim / reach
            return Verdict(score, self._is_broken(world, start), score + max(0.0, aim - 1.0), n_events)
        if self.goal == "diameter":
            score = world.growth / start
            return Verdict(score, self._is_broken(world, start), score, n_events)
        left = diameter(positions(world, simulation.now))
        is_gathered = world.outcome == QUIET and left <= 2.0 * world.rules.tolerance
        return Verdict(left / start, not is_gathered, left / start, n_events)


def attack(game: Game, *, runs: int = 500, length: int = 0, seed: int = 0, method: str = "restarts") -> Attack:
    """Search for a candidate that breaks the goal, and shorten it.

    Parameters
    ----------
    game : what is attacked
    runs : most runs of the search; shortening takes some more
    length : turns that the adversary decides; 3 n by default
    seed : of the search
    method : "restarts" (random restarts and local search) or "cmaes" (CMA-ES, by Optuna)

    Returns the first candidate that breaks the goal, shortened; else the worst one found. Raises InputError for an unknown
    goal or method.
    """
    for name, word, known in (("goal", game.goal, GOALS), ("method", method, tuple(METHODS))):
        if word not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}, got {word!r}.{nearest(word, known)}")
    if runs < 1:
        raise InputError(f"runs must be >= 1, got {runs}")
    search = METHODS[method](Choices(game.n, game.scheduler, game.is_cut, game.gap, length or 3 * game.n), seed)
    best: Attack | None = None
    for number in range(1, runs + 1):
        candidate = search.ask()
        verdict = game.play(candidate)
        search.tell(candidate, verdict.guide)
        if verdict.is_broken:
            return shortened(game, Attack(candidate, verdict, number))
        if best is None or verdict.guide >= best.verdict.guide:
            best = Attack(candidate, verdict, number)
    assert best is not None
    return replace(best, n_runs=runs)


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
