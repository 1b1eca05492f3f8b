"""Axes: what is varied, by its path in the scenario, and over which values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tocsin.errors import InputError
from tocsin.experiment._paths import Paths, parse_path
from tocsin.formula import Node, formula

Value = Any
"""What TOML can hold: a number, a truth value, text, a list, a table."""
KEYS = ("values", "choices", "linspace", "logspace", "range", "formula")
MOST_VALUES = 1_000_000


@dataclass(frozen=True)
class Axis:
    """One varied key: a list of values, a range, or a formula of the other axes.

    Parameters
    ----------
    path : as in 'params.rates.step'
    values : the values, if they are listed
    low, high : the bounds, if it is a range: for random, lhs and sobol designs
    is_log : whether a range is even in the logarithm
    is_whole : whether a range holds whole numbers; both bounds belong to it
    formula : of the names of the other axes
    """

    path: str
    values: tuple[Value, ...] = ()
    low: float = math.nan
    high: float = math.nan
    is_log: bool = False
    is_whole: bool = False
    formula: Node | None = None

    @property
    def is_range(self) -> bool:
        """Whether it is a range."""
        return not math.isnan(self.low)

    @property
    def name(self) -> str:
        """Its last part: 'step' of 'params.rates.step'."""
        return str(parse_path(self.path)[-1])

    def at(self, share: float) -> Value:
        """Return the value at a share of the axis, 0 <= share < 1."""
        if not self.is_range:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if self.is_whole:
            return min(int(self.low) + int(share * (int(self.high) - int(self.low) + 1)), int(self.high))
        if self.is_log:
            return math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """Return where on a range a value is, 0 at the low end and 1 at the high one."""
        low, high, x = (
            (math.log(v) for v in (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        )
        return (x - low) / (high - low)


def read_axis(path: str, given: Any, where: str) -> Axis:
    """Return the axis that a TOML value (or a Python one) states.

    A list of values; or a table with one of values, choices, linspace = [first, last, n],
    logspace = [first, last, n], range = [low, high] (with log = true, integer = true), formula = "...".
    Raises InputError.
    """
    parse_path(path)
    label = f"{where}, {path}"
    if isinstance(given, Axis):
        return given
    if not isinstance(given, Mapping):
        if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
            raise InputError(
                f"{label}: an axis is a list of values or a table with one of {', '.join(KEYS)}, got {given!r}"
            )
        return Axis(path, _values(label, given))
    chosen = [key for key in KEYS if key in given]
    unknown = [key for key in given if key not in (*KEYS, "log", "integer")]
    if unknown or len(chosen) != 1:
        raise InputError(
            f"{label}: an axis has exactly one of {', '.join(KEYS)} (and log, integer), got {', '.join(given)}"
        )
    axis = _READERS[chosen[0]](path, given[chosen[0]], label, given)
    return axis if axis.is_range or axis.formula or not given.get("integer") else _rounded(axis)


def fitted(axis: Axis, paths: Paths, where: str) -> Axis:
    """Return an axis whose numbers have the type of its key. Raises InputError for an unknown path."""
    kind = paths.kind(axis.path, where)
    if axis.path == "run.seed":
        raise InputError(
            f"{where}: run.seed is no axis; set replicates and seed, and each run is given a seed of its own"
        )
    if kind.split(" or ")[0] != "int":
        return axis
    if axis.is_range or axis.formula is not None:
        return replace(axis, is_whole=True)
    whole = (int(v) if isinstance(v, float) and v.is_integer() else v for v in axis.values)
    return replace(axis, values=tuple(whole))


def _values(label: str, given: Any) -> tuple[Value, ...]:
    found = tuple(v.item() if hasattr(v, "item") else v for v in given)
    if not found:
        raise InputError(f"{label}: the axis is empty; give it at least one value, or take it out")
    if len(found) > MOST_VALUES:
        raise InputError(f"{label}: an axis may have {MOST_VALUES:,} values, got {len(found):,}")
    return found


def _listed(path: str, given: Any, label: str, table: Any) -> Axis:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise InputError(f"{label}: values must be a list, got {given!r}")
    return Axis(path, _values(label, given))


def _spaced(is_log: bool) -> Any:
    def read(path: str, given: Any, label: str, table: Any) -> Axis:
        name = "logspace" if is_log else "linspace"
        if not _are_numbers(given, 3) or not isinstance(given[2], int):
            raise InputError(f"{label}: {name} must read [first, last, how many], got {given!r}")
        first, last, n = given
        if is_log and not (first > 0 and last > 0):
            raise InputError(f"{label}: logspace needs first and last > 0, got {first!r} and {last!r}")
        if n < 1:
            raise InputError(f"{label}: the axis is empty: {name} needs at least 1 value, got {n}")
        if n > MOST_VALUES:
            raise InputError(f"{label}: an axis may have {MOST_VALUES:,} values, got {n:,}")
        return Axis(path, tuple(_between(first, last, k, n, is_log) for k in range(n)))

    return read


def _between(first: float, last: float, k: int, n: int, is_log: bool) -> float:
    if k == 0 or n == 1:
        return float(first)
    if k == n - 1:
        return float(last)
    share = k / (n - 1)
    return float(first * (last / first) ** share if is_log else first + share * (last - first))


def _ranged(path: str, given: Any, label: str, table: Any) -> Axis:
    is_log, is_whole = bool(table.get("log")), bool(table.get("integer"))
    if not _are_numbers(given, 2) or not all(map(math.isfinite, given)) or not given[0] < given[1]:
        raise InputError(f"{label}: range must read [low, high] with low < high, got {given!r}")
    if is_log and given[0] <= 0:
        raise InputError(f"{label}: a range with log = true needs low > 0, got {given[0]!r}")
    return Axis(path, low=float(given[0]), high=float(given[1]), is_log=is_log, is_whole=is_whole)


def _formula(path: str, given: Any, label: str, table: Any) -> Axis:
    if not isinstance(given, str):
        raise InputError(f'{label}: formula must be text such as "2 * step", got {given!r}')
    return Axis(
        path,
        formula=formula(given, lambda column, rule: InputError(f"{label}: {given!r}, column {column + 1}: {rule}")),
    )


_READERS: dict[str, Any] = {
    "values": _listed, "choices": _listed, "linspace": _spaced(False), "logspace": _spaced(True),
    "range": _ranged, "formula": _formula,
}  # fmt: skip


def _are_numbers(given: Any, n: int) -> bool:
    is_list = isinstance(given, (list, tuple)) and len(given) == n
    return is_list and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in given)


def _rounded(axis: Axis) -> Axis:
    return replace(axis, values=tuple(dict.fromkeys(round(v) for v in axis.values)))
