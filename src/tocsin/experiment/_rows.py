"""Rows of runs: as lines of a journal, and as columns of a table; what is no such row is told apart."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tocsin.experiment._work import Row

if TYPE_CHECKING:
    import pyarrow as pa

_FIXED = (
    ("candidate", "int32"), ("replicate", "int32"), ("seed", "uint64"), ("stop", "string"), ("error", "string"),
    ("time", "float64"), ("n_events", "int64"), ("state_hash", "string"), ("wall_seconds", "float64"),
    ("cpu_seconds", "float64"),
)  # fmt: skip
FIXED = tuple(name for name, _ in _FIXED)
"""Columns that every table of results has; metrics follow in order of name."""
_MOST = (1 << 31) - 1
"""Of a number in int32."""


def rows_to_arrow(rows: Iterable[Row]) -> pa.Table:
    """Return rows as a table: the fixed columns, then the metrics in order of name, float64."""
    import pyarrow as pa

    rows = list(rows)
    names = sorted({name for row in rows for name in row["metrics"]})
    arrays = [pa.array([row[name] for row in rows], pa.type_for_alias(kind)) for name, kind in _FIXED]
    arrays += [pa.array([row["metrics"].get(name) for row in rows], pa.float64()) for name in names]
    return pa.table(arrays, names=[*FIXED, *names])


def read_row(line: bytes) -> Row | None:
    """Return the row in a line of a journal, or None if it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and set(FIXED) <= row.keys() and _is_whole(row) else None


def _is_whole(row: Row) -> bool:
    """Say whether all values have the types of their columns."""
    numbers = isinstance(row["metrics"], dict) and all(map(_is_number, row["metrics"].values()))
    place = all(type(row[name]) is int and 0 <= row[name] <= _MOST for name in ("candidate", "replicate"))
    return numbers and place and all(_fits(row[name], kind) for name, kind in _FIXED)


def _is_number(value: Any) -> bool:
    return value is None or type(value) in (int, float)


def _fits(value: Any, kind: str) -> bool:
    if value is None:
        return True
    if kind == "string":
        return isinstance(value, str)
    if kind == "float64":
        return _is_number(value)
    low, high = (0, 1 << 64) if kind == "uint64" else (-1 << 63, 1 << 63)
    return type(value) is int and low <= value < high


def check_part(table: pa.Table) -> None:
    """Raise ValueError if a table is not one of rows: another program's, or another version's."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if table.column_names[: len(FIXED)] != list(FIXED):
        raise ValueError(f"its columns are not those of results but {', '.join(table.column_names)[:100]}")
    kinds = [pa.type_for_alias(kind) for _, kind in _FIXED] + [pa.float64()] * (table.num_columns - len(FIXED))
    for name, own, kind in zip(table.column_names, table.schema.types, kinds, strict=True):
        if own != kind:
            raise ValueError(f"its column {name} is {own}, where results have {kind}")
    for name in ("candidate", "replicate"):
        if table.column(name).null_count or (pc.min(table.column(name)).as_py() or 0) < 0:
            raise ValueError(f"its column {name} has rows that are no number >= 0")
