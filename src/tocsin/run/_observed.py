"""What the observables say: value now, exact average over time, spread, extremes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import InputError
from tocsin.kernel import Clockwork
from tocsin.schema import Model
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def row_means(model: Model, kernel: Clockwork, name: str) -> NDArray[Any]:
    """Return the time average of one observable on each row."""
    import numpy as np

    names = [m.name for m in model.observables]
    if name not in names:
        raise InputError(f"there is no observable {name!r}.{nearest(name, names)}")
    ends = [*kernel.series["base"].tolist(), len(kernel.observed)]
    rows = slice(ends[names.index(name)], ends[names.index(name) + 1])
    span = kernel.now - kernel.series["since"][names.index(name)]
    rest = kernel.now - kernel.row_since.values[rows]
    area = kernel.row_area.values[rows] + kernel.observed.values[rows] * rest
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(area / span)
