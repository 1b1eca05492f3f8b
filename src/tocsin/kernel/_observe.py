"""Observables: values followed as events happen, with exact integrals over time."""

from __future__ import annotations

from typing import Any

from tocsin.kernel._state import IN_VALUE


def observe_all(model: Any, world: Any, kernel: Any) -> None:
    """Read every observable on every row, without adding to the integrals."""
    for code in range(len(kernel.kinds)):
        kind = kernel.kinds[code]
        if kind.n_observables > 0:
            for index in range(kind.n_rows):
                observe_row(model, world, kernel, code, index, kernel.now)
    for number in range(len(kernel.series)):
        series = kernel.series[number]
        series.low = series.total
        series.high = series.total


def observe_event(model: Any, world: Any, kernel: Any, kind: int, index: int, now: float) -> None:
    """Read the observables of the row that fired, and those of the world."""
    if len(kernel.series) > 0:
        if kernel.kinds[kind].n_observables > 0:
            observe_row(model, world, kernel, kind, index, now)
        if kind != 0 and kernel.kinds[0].n_observables > 0:
            observe_row(model, world, kernel, 0, 0, now)
        for number in range(len(kernel.series)):
            series = kernel.series[number]
            series.low = min(series.low, series.total)
            series.high = max(series.high, series.total)


def observe_row(model: Any, world: Any, kernel: Any, code: int, index: int, now: float) -> None:
    """Read the observables of one row, of a kind that has some, and correct their sums by the difference."""
    model.each_value(code, world, kernel, index, now, look, take)


def look(kernel: Any, number: int, index: int) -> None:
    """Note which observable of which row is read next."""
    kernel.phase = IN_VALUE
    kernel.stop_slot = kernel.series[number].base + index


def take(kernel: Any, number: int, index: int, value: float, now: float) -> None:
    """Take the value of an observable of a row: what stood there until now goes into the integrals."""
    series = kernel.series[number]
    place = series.base + index
    old = kernel.observed[place]
    if value != old:
        kernel.row_area[place] += old * (now - kernel.row_since[place])
        kernel.row_since[place] = now
        kernel.observed[place] = value
        integrate(series, now)
        add_compensated(series, value - old)


def integrate(series: Any, now: float) -> None:
    """Carry the integrals of a series to `now`."""
    span = now - series.last
    series.area += series.total * span
    series.area_squared += series.total * series.total * span
    series.last = now


def add_compensated(series: Any, change: float) -> None:
    """Add to the running sum so that rounding does not pile up (Neumaier 1974)."""
    before = series.sum
    after = before + change
    if abs(before) >= abs(change):
        series.error += (before - after) + change
    else:
        series.error += (change - after) + before
    series.sum = after
    series.total = after + series.error
