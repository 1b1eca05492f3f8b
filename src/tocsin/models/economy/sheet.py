"""A design as a spreadsheet: rows of path and value, out and in; and tables of results as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin.models.economy.read import MOST_BYTES, AnyDesign

MOST_ROWS = 100_000


def values_of(design: AnyDesign) -> dict[str, Any]:
    """Return every number, truth and text of a design by path, such as activities.dig.gain.gold."""
    return dict(_leaves(design.model_dump(mode="python", by_alias=True, exclude_defaults=True), ""))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, tuple):
        for k, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{k}")
    elif value is not None:
        yield path, value


def write_values(design: AnyDesign) -> str:
    """Return a design as CSV with the columns path and value."""
    return write_rows([{"path": path, "value": value} for path, value in values_of(design).items()])


def read_values(path: str | Path) -> dict[str, Any]:
    """Return changes from a CSV file with the columns path and value; other columns are for people.

    A value that reads as a number is one. Raises InputError with the lines that are wrong.
    """
    try:
        with Path(path).open("rb") as file:
            given = file.read(MOST_BYTES + 1)
        if len(given) > MOST_BYTES:
            raise InputError(f"{Path(path).name} has more than {MOST_BYTES:,} bytes, which is the most of a sheet")
        text = given.decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text), strict=True))
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{Path(path).name} is no CSV text: {error}") from None
    if not rows or not {"path", "value"} <= set(rows[0]):
        raise InputError(f"{Path(path).name} needs a first line with the columns path and value, and rows")
    if len(rows) > MOST_ROWS:
        raise InputError(f"{Path(path).name} may have {MOST_ROWS:,} rows, got {len(rows):,}")
    bad = [str(n) for n, row in enumerate(rows, 2) if not (row["path"] or "").strip() or row["value"] in (None, "")]
    if bad:
        raise InputError(f"{Path(path).name}: path or value is missing in line {', '.join(bad[:10])}")
    return {row["path"].strip(): number_or_text(row["value"].strip()) for row in rows}


def number_or_text(text: str) -> Any:
    """Return what a cell or an option says: a whole number, a number, a truth, or text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def write_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV; numbers to their last digit."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows([{k: repr(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows])
    return out.getvalue()
