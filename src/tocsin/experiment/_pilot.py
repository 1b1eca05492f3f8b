"""What an experiment will cost, from a few runs of it that are thrown away."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from tocsin.experiment._plan import Plan, Run
from tocsin.experiment._work import run_one

MOST_RUNS = 3


class Pilot(NamedTuple):
    """What a run costs, from a few."""

    n: int
    """Runs that were made; 0 if no candidate is good."""
    cpu_seconds: float
    """Mean CPU time of one."""
    n_events: float
    error: str | None
    """Why one failed."""
    start_seconds: float
    """CPU time of making the first simulation: compiling, or reading machine code from the cache."""


def pilot(plan: Plan) -> Pilot:
    """Run replicate 0 of the first, the middle and the last good candidate; compiling is not counted."""
    start = 0.0
    good = [n for n, error in enumerate(plan.errors) if error is None]
    chosen = list(dict.fromkeys(good[k] for k in (0, len(good) // 2, -1))) if good else []
    rows: list[dict[str, Any]] = []
    for n, candidate in enumerate(chosen[:MOST_RUNS]):
        if n == 0:
            begun = time.process_time()
            _warm_up(plan, plan.run(candidate, 0))
            start = time.process_time() - begun
        rows.append(run_one(plan.job, plan.run(candidate, 0)))
    if not rows:
        return Pilot(0, 0.0, 0.0, None, start)
    cpu, events = (sum(row[name] or 0.0 for row in rows) / len(rows) for name in ("cpu_seconds", "n_events"))
    return Pilot(len(rows), cpu, events, next((row["error"] for row in rows if row["error"]), None), start)


def _warm_up(plan: Plan, run: Run) -> None:
    """Have the model compiled: make its simulation, and let it fire nothing."""
    from tocsin.errors import TocsinError

    try:
        plan.job.scenario(run).start()[0].next_event()
    except (TocsinError, ArithmeticError, LookupError, TypeError, ValueError):
        return  # the run itself will say why
