"""Small experiments that the tests share: one compiled model, the M/M/1 queue."""

from __future__ import annotations

from typing import Any

from tocsin.experiment import Sweep

MM1 = {"model": "mm1", "run": {"until": 40.0, "burn_in": 5.0}}
ARRIVAL, SERVICE = "params.rates.arrival", "params.rates.service"


def queue(axes: dict[str, Any] | None = None, **settings: Any) -> Sweep:
    """Return a sweep of the M/M/1 queue."""
    return Sweep.of(MM1, {ARRIVAL: [0.2, 0.5, 0.8]} if axes is None else axes, **settings)


def write_sweep(path: Any, text: str = "", axes: str = '"params.rates.arrival" = [0.2, 0.5]') -> Any:
    """Write a scenario of the queue with a table [sweep]; return its path."""
    path.write_text(f'model = "mm1"\n[run]\nuntil = 40.0\n[sweep]\n{text}\n[sweep.axes]\n{axes}\n')
    return path
