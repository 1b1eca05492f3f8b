"""What the observables say: value now, exact average over time, spread, extremes."""

from __future__ import annotations

import math
from typing import NamedTuple

from tocsin.kernel import Clockwork
from tocsin.schema import Model


class Observation(NamedTuple):
    """One observable since the start (or since `reset_observables`).

    `mean` and `variance` weigh each value by how long it lasted; both are NaN while no time
    has passed.
    """

    value: float
    mean: float
    variance: float
    low: float
    high: float


def observations(model: Model, kernel: Clockwork) -> dict[str, Observation]:
    """Return all observables at the kernel's time, without changing anything."""
    return {m.name: _one(kernel, n) for n, m in enumerate(model.observables)}


def _one(kernel: Clockwork, number: int) -> Observation:
    series = kernel.series[number]
    total, span, rest = series.total, kernel.now - series.since, kernel.now - series.last
    if span <= 0.0:
        return Observation(total, math.nan, math.nan, series.low, series.high)
    mean = (series.area + total * rest) / span
    square = (series.area_squared + total * total * rest) / span
    return Observation(total, mean, max(0.0, square - mean * mean), series.low, series.high)
