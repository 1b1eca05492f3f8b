"""What is tried next: Optuna's samplers, asked batch by batch, so that what they say does not depend on workers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from tocsin.errors import InputError
from tocsin.experiment._axes import Axis
from tocsin.experiment._goals import Goal

SAMPLERS = ("tpe", "nsga2", "cmaes", "random")


class Told(NamedTuple):
    """What came of a trial."""

    trial: Any
    values: Sequence[float] | None
    """Of the goals; None if its runs failed."""
    violations: Sequence[float] = ()
    """Of each constraint, by how much it is broken; <= 0 if it is not."""


class Asker:
    """Points to try, from an Optuna study in memory.

    TPE: Bergstra and others 2011 (NeurIPS 24). NSGA-II: Deb and others 2002, doi:10.1109/4235.996017. CMA-ES:
    Hansen and Ostermeier 2001, doi:10.1162/106365601750190398. The batch is the population of the latter two.
    Optuna's CMA-ES knows no constraints: it is told ranks, in which what breaks them comes last.
    """

    def __init__(self, sampler: str, axes: Sequence[Axis], goals: Sequence[Goal], batch: int, seed: int) -> None:
        try:
            import optuna
        except ImportError:
            raise InputError(
                "optimise needs Optuna, which is not installed; run: pip install 'tocsin[experiment]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._axes, self._goals = axes, goals
        self._is_ranked = sampler == "cmaes"  # and so no failure takes a place out of a generation
        self._failed = optuna.trial.TrialState.FAIL
        directions = ["maximize" if goal.is_max else "minimize" for goal in goals]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._study = optuna.create_study(directions=directions, sampler=_made(sampler, batch, seed))
        self._space = {axis.path: _distribution(axis) for axis in axes}

    def ask(self, n: int) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """Return n trials and their points."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trials = [self._study.ask(self._space) for _ in range(n)]
        return trials, [tuple(_value(axis, trial.params[axis.path]) for axis in self._axes) for trial in trials]

    def tell(self, batch: Sequence[Told]) -> None:
        """Say what came of the trials that were asked for last."""
        if self._is_ranked:
            self._tell_ranks(batch)
            return
        for trial, values, violations in batch:
            if values is None:
                self._study.tell(trial, state=self._failed)
                continue
            for n, violation in enumerate(violations):
                trial.set_constraint(str(n), float(violation))
            self._study.tell(trial, [float(v) for v in values])

    def _tell_ranks(self, batch: Sequence[Told]) -> None:
        """Say only who is better: what keeps the constraints, by the goal; then the rest, by how little it breaks them.

        Deb 2000, doi:10.1016/S0045-7825(99)00389-8. CMA-ES asks for nothing else of a generation.
        """
        sign = -1.0 if self._goals[0].is_max else 1.0

        def key(told: Told) -> tuple[float, float]:
            if told.values is None:
                return math.inf, math.inf
            broken = sum(max(0.0, v) for v in told.violations)
            return broken, 0.0 if broken > 0.0 else sign * told.values[0]

        for rank, told in enumerate(sorted(batch, key=key)):
            self._study.tell(told.trial, sign * rank)


def _made(sampler: str, batch: int, seed: int) -> Any:
    from optuna import samplers

    seed %= 1 << 32
    if sampler == "tpe":
        return samplers.TPESampler(seed=seed)
    if sampler == "nsga2":
        return samplers.NSGAIISampler(seed=seed, population_size=batch)
    if sampler == "cmaes":
        return samplers.CmaEsSampler(seed=seed, popsize=batch)
    return samplers.RandomSampler(seed=seed)


def _distribution(axis: Axis) -> Any:
    """Return the distribution of an axis; of listed values, that of their numbers."""
    from optuna import distributions

    if not axis.is_range:
        return distributions.CategoricalDistribution(tuple(range(len(axis.values))))
    if axis.is_whole:
        return distributions.IntDistribution(int(axis.low), int(axis.high), log=axis.is_log)
    return distributions.FloatDistribution(axis.low, axis.high, log=axis.is_log)


def _value(axis: Axis, given: Any) -> Any:
    return given if axis.is_range else axis.values[given]
