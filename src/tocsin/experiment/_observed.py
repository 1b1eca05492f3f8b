"""Data that a model is fitted to: a table whose columns are conditions, by path, and metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin.experiment._designs import read_table

_TABLES = ("params.", "init.", "run.")
_UNTIL = "run.until"


@dataclass(frozen=True)
class Observed:
    """What was seen: one row a condition."""

    paths: tuple[str, ...]
    """What the conditions set."""
    conditions: tuple[tuple[Any, ...], ...]
    metrics: tuple[str, ...]
    means: tuple[tuple[float, ...], ...]
    """Of each condition, the mean of each metric; NaN where nothing was seen."""
    n: int
    """Rows that the largest mean is made of."""

    @property
    def leaders(self) -> list[int]:
        """Of each condition, the first that differs from it in run.until at most: they are times of one trajectory."""
        keys = [tuple(v for path, v in zip(self.paths, row, strict=True) if path != _UNTIL) for row in self.conditions]
        return [keys.index(key) for key in keys]


def read_observed(data: str | Path | Mapping[str, Sequence[Any]], folder: Path, where: str) -> Observed:
    """Read data from a CSV or Parquet file, or from columns by name.

    A column whose name is a path, as in run.until, is a condition that the runs it is compared with are made
    under; the others are metrics. Rows with the same conditions are averaged. Raises InputError.
    """
    names, rows = read_table(folder / data, where) if isinstance(data, (str, Path)) else _columns(data, where)
    is_path = [name.startswith(_TABLES) for name in names]
    metrics = tuple(name for name, is_one in zip(names, is_path, strict=True) if not is_one)
    if not metrics:
        raise InputError(f"{where}: the data name no metric, only {', '.join(names)}")
    groups: dict[tuple[Any, ...], list[tuple[float, ...]]] = {}
    for n, row in enumerate(rows, 1):
        key = tuple(v for v, is_one in zip(row, is_path, strict=True) if is_one)
        seen = [_number(v, n, where) for v, is_one in zip(row, is_path, strict=True) if not is_one]
        groups.setdefault(key, []).append(tuple(seen))
    means = tuple(tuple(map(_mean, zip(*group, strict=True))) for group in groups.values())
    if all(math.isnan(value) for row in means for value in row):
        raise InputError(f"{where}: the data have no number in them")
    paths = tuple(name for name, is_one in zip(names, is_path, strict=True) if is_one)
    return Observed(paths, tuple(groups), metrics, means, max(map(len, groups.values())))


def _columns(data: Mapping[str, Sequence[Any]], where: str) -> tuple[list[str], list[Any]]:
    columns = {str(name): list(values) for name, values in data.items()}
    if len({len(values) for values in columns.values()}) != 1 or not all(columns.values()):
        raise InputError(f"{where}: the data must be columns of one length >= 1")
    plain = [[v.item() if hasattr(v, "item") else v for v in values] for values in columns.values()]
    return list(columns), list(zip(*plain, strict=True))


def _number(value: Any, row: int, where: str) -> float:
    if value is None or value == "":
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isinf(value):
        raise InputError(f"{where}: row {row} of the data has {value!r} where a number should be")
    return float(value)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
