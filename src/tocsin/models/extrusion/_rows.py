"""CTCF rows as text, to columns of numbers; a bad row is named by its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._layout import (
    BadRow,
    Layout,
    Wanted,
    fail,
    find_layout,
    split_row,
)

LEFT, RIGHT, NEITHER = -1, 1, 0
_SIDES = {"+": RIGHT, "-": LEFT}
_MAX_DIGITS = 15  # any genome; keeps int64 arithmetic exact


class Row(NamedTuple):
    """One good row; `line` counts from 1."""

    chrom: str
    start: int
    end: int
    side: int
    value: float
    line: int


@dataclass(frozen=True, eq=False)
class Rows:
    """All good rows of a file as columns of length n_rows, in file order."""

    name: str
    value_name: str
    chrom: list[str]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    side: NDArray[np.int8]
    value: NDArray[np.float64]
    line: NDArray[np.int64]
    n_unstranded: int


def parse_rows(name: str, lines: list[str], wanted: Wanted) -> Rows:
    """Read every row of `lines`; the first that breaks a rule raises `InputError`."""
    content = _content(lines, has_header=wanted.format in ("tsv", "csv"))
    layout = find_layout(name, content, wanted)
    rows: list[Row] = []
    n_unstranded = 0
    for number, text in content:
        try:
            row = _parse(text, number, layout)
        except BadRow as bad:
            fail(name, number, text, str(bad))
        if row.side != NEITHER or wanted.unstranded == "both":
            rows.append(row)
        elif wanted.unstranded == "skip":
            n_unstranded += 1
        else:
            fail(name, number, text, _UNSTRANDED)
    if not rows:
        _fail_empty(name, n_unstranded)
    return _columns(name, layout.value_name, rows, n_unstranded)


_UNSTRANDED = (
    "strand is '.', and without a strand a site has no capture side; give the motif's "
    "strand, or pass unstranded='skip' to leave such rows out"
)


def _fail_empty(name: str, n_unstranded: int) -> NoReturn:
    if n_unstranded:
        raise InputError(
            f"{name}: all {n_unstranded} rows have strand '.', so none is left; "
            "give each CTCF site the strand of its motif"
        )
    raise InputError(f"{name}: the file has no row; expected one CTCF site a line")


def _content(lines: list[str], *, has_header: bool) -> Iterator[tuple[int, str]]:
    """(line number, text) of all but blank, comment, `track` and `browser` lines."""
    is_first = has_header
    for number, text in enumerate(lines, 1):
        word = text.split(None, 1)[0] if text and not text.isspace() else "#"
        if word[0] == "#" and not (is_first and _is_hashed_header(text)):
            continue
        if word in ("track", "browser"):
            continue
        is_first = False
        yield number, text


def _is_hashed_header(text: str) -> bool:
    return text.strip().lstrip("#").lstrip().lower().startswith(("chrom\t", "chrom,"))


def _parse(text: str, number: int, layout: Layout) -> Row:
    fields = split_row(text, layout.separator)
    n = len(fields)
    if n < layout.n_columns or (layout.is_exact and n > layout.n_columns):
        raise BadRow(_wrong_width(n, layout))
    if not fields[layout.chrom]:
        raise BadRow("chrom is empty; name the chromosome, as in chr21")
    start = _position("start", fields[layout.start])
    end = _position("end", fields[layout.end])
    if start >= end:
        raise BadRow(
            f"start must be < end, got {start} and {end}; positions are 0-based and "
            "half-open, and the lower one comes first on either strand"
        )
    side = _side(fields[layout.strand])
    value = _value(layout.value_name, fields[layout.value]) if layout.value >= 0 else 0.0
    return Row(fields[layout.chrom], start, end, side, value, number)


def _wrong_width(n: int, layout: Layout) -> str:
    if layout.separator is not None:
        return f"{n} columns, and the header has {layout.n_columns}; fill or drop cells"
    if layout.is_exact:
        return f"narrowPeak has 10 columns, got {n}; pass format='bed' to read BED"
    return (
        f"BED needs at least 6 columns (chrom start end name score strand), got {n}; "
        "a CTCF site needs its motif's strand"
    )


def _position(word: str, text: str) -> int:
    if text.isdigit() and text.isascii() and len(text) <= _MAX_DIGITS:
        return int(text)
    if text.startswith("-") and text[1:].isdigit():
        raise BadRow(f"{word} must be >= 0, got {text[:40]}")
    if text.isdigit() and text.isascii():
        raise BadRow(f"{word} must have at most {_MAX_DIGITS} digits, got {len(text)}")
    raise BadRow(
        f"{word} must be a whole number of bp, got {text[:40]!r}; write it with digits "
        "only, and start a heading with '#'"
    )


def _side(text: str) -> int:
    side = _SIDES.get(text)
    if side is not None:
        return side
    if text == ".":
        return NEITHER
    raise BadRow(f"strand must be + or -, got {text[:40]!r}")


def _value(word: str, text: str) -> float:
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        raise BadRow(
            f"{word} must be a number, got {text[:40]!r}; give all sites the same "
            "strength with strength=0.8 if the file has no scores"
        )
    if not (isfinite(value) and value >= 0.0):
        raise BadRow(f"{word} must be finite and >= 0, got {text[:40]}")
    if word == "strength" and value > 1.0:
        raise BadRow(
            f"strength must be <= 1 (a probability), got {text[:40]}; name the column score if it is a BED score"
        )
    return value


def _columns(name: str, value_name: str, rows: list[Row], n_unstranded: int) -> Rows:
    chrom, start, end, side, value, line = zip(*rows, strict=True)
    return Rows(
        name=name,
        value_name=value_name,
        chrom=list(chrom),
        start=np.array(start, dtype=np.int64),
        end=np.array(end, dtype=np.int64),
        side=np.array(side, dtype=np.int8),
        value=np.array(value, dtype=np.float64) + 0.0,  # -0.0 becomes 0.0
        line=np.array(line, dtype=np.int64),
        n_unstranded=n_unstranded,
    )
