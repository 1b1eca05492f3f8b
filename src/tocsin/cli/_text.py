"""Plain tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any


def number(value: Any) -> str:
    """Return a number as people read it: 12,345 or 0.00123457; - for none."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
    return str(value)


def json_line(value: Any) -> str:
    """Return nested plain values as JSON in one line, with null for what is no number."""
    from tocsin.experiment._store import finite

    return json.dumps(finite(value), default=str)


def columns(rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """Return rows with their columns aligned, those in `numeric` to the right."""
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(len(row[n]) for row in table) for n in range(len(table[0]))]
    return "\n".join("  ".join(_cells(row, widths, numeric)).rstrip() for row in table)


def _cells(row: list[str], widths: list[int], numeric: Sequence[int]) -> list[str]:
    return [
        text.rjust(width) if n in numeric else text.ljust(width)
        for n, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
