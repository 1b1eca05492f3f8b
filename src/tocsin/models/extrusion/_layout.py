"""Where a row of CTCF sites holds what: fixed by the format, or stated by a header.

Four formats. `bed`: chrom, start, end, name, score, strand, then anything.
`narrowpeak`: BED6 plus signalValue, pValue, qValue, peak (ENCODE). `tsv` and `csv`: a
header names the columns chrom, start, end, strand, and score (any BED scale) or
strength (0..1). Positions are 0-based and half-open, in bp, in all of them.
"""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from tocsin.errors import InputError
from tocsin.models.extrusion._files import packing_suffix

FORMATS = ("bed", "narrowpeak", "tsv", "csv")
_SUFFIXES = {
    ".bed": "bed",
    ".narrowpeak": "narrowpeak",
    ".tsv": "tsv",
    ".csv": "csv",
}
_REQUIRED = ("chrom", "start", "end", "strand")
_KNOWN = (*_REQUIRED, "name", "score", "strength")
_HEADER = "chrom, start, end, strand, and score or strength"


class Layout(NamedTuple):
    """Where a row holds what; `value` is -1 where no score is wanted."""

    chrom: int
    start: int
    end: int
    strand: int
    value: int
    value_name: str  # 'score', 'strength', 'signalValue' or ''
    n_columns: int
    is_exact: bool  # n_columns is the number, not the least number
    separator: str | None  # None: tabs if the line has one, else blanks


class Wanted(NamedTuple):
    """What the caller asks of a file."""

    format: str
    value: str  # 'score', 'signal', or '' for none
    unstranded: str  # 'error', 'skip', or 'both': a site that captures from both sides
    ignored: Collection[str]


class BadRow(Exception):
    """Carries rule and remedy from a field up to the loop that knows the line."""


def fail(name: str, number: int, text: str, rule: str) -> NoReturn:
    """Raise the `InputError` of one line: where, the rule and remedy, the text."""
    shown = text if len(text) <= 100 else text[:97] + "..."
    raise InputError(f"{name}, line {number}: {rule}; the line is {shown!r}")


def want(
    path: Path,
    format: str | None,
    strength: str | float,
    unstranded: str,
    ignore: Collection[str],
    *,
    choices: tuple[str, ...],
) -> Wanted:
    """The checked arguments of `read_sites` that say how to read the file; `choices` for unstranded rows."""
    if unstranded not in choices:
        raise InputError(f"unstranded must be {' or '.join(map(repr, choices))}, got {unstranded!r}")
    words = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    chosen = _format(path, format)
    return Wanted(chosen, _column(strength), unstranded, words)


def _format(path: Path, format: str | None) -> str:
    if format is not None:
        if format.lower() in FORMATS:
            return format.lower()
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    plain = path.with_suffix("") if packing_suffix(path) else path
    found = _SUFFIXES.get(plain.suffix.lower())
    if found is None:
        raise InputError(
            f"cannot tell the format of {path.name!r} by its suffix; name it "
            ".bed, .narrowPeak, .tsv or .csv (plain, .gz, .xz), or pass format='bed'"
        )
    return found


def _column(strength: str | float) -> str:
    """The column to read, '' for none."""
    if isinstance(strength, str):
        if strength in ("score", "signal"):
            return strength
    elif _is_probability(strength):
        return ""
    raise InputError(f"strength must be 'score', 'signal' (narrowPeak) or a number in 0..1, got {strength!r}")


def _is_probability(number: float) -> bool:
    try:
        return math.isfinite(number) and 0.0 <= number <= 1.0
    except TypeError:
        return False


def find_layout(name: str, content: Iterator[tuple[int, str]], wanted: Wanted) -> Layout:
    """The layout that the format fixes, or that the header states (it is consumed)."""
    if wanted.format == "bed":
        if wanted.value == "signal":
            raise InputError(
                f"{name}: strength='signal' reads narrowPeak's signalValue, and this "
                "file is BED; pass strength='score' or format='narrowpeak'"
            )
        value = 4 if wanted.value else -1
        return Layout(0, 1, 2, 5, value, wanted.value, 6, False, None)
    if wanted.format == "narrowpeak":
        value, word = {"signal": (6, "signalValue"), "score": (4, "score")}.get(wanted.value, (-1, ""))
        return Layout(0, 1, 2, 5, value, word, 10, True, None)
    for number, text in content:
        try:
            return _header(text, wanted)
        except BadRow as bad:
            fail(name, number, text, str(bad))
    raise InputError(f"{name}: the file is empty; expected a header: {_HEADER}")


def _header(text: str, wanted: Wanted) -> Layout:
    separator = "," if wanted.format == "csv" else "\t"
    fields = split_row(text.lstrip().lstrip("#"), separator)
    names = [field.lower() for field in fields]
    ignored = {word.lower() for word in wanted.ignored}
    for word in names:
        if word not in _KNOWN and word not in ignored:
            raise BadRow(_unknown_column(word, len(names), wanted.format))
        if word not in ignored and names.count(word) > 1:
            raise BadRow(f"column {word!r} is named twice; keep one")
    where = {word: i for i, word in enumerate(names) if word not in ignored}
    missing = [word for word in _REQUIRED if word not in where]
    if missing:
        raise BadRow(f"no column {', '.join(missing)}; the header needs {_HEADER}")
    value_name = _value_column(where, wanted.value)
    chrom, start, end, strand = (where[word] for word in _REQUIRED)
    value = where.get(value_name, -1)
    return Layout(chrom, start, end, strand, value, value_name, len(names), True, separator)


def _unknown_column(word: str, n_columns: int, format: str) -> str:
    near = difflib.get_close_matches(word, _KNOWN, n=1, cutoff=0.6)
    hint = f", did you mean {near[0]!r}?" if near else ""
    if n_columns == 1:
        other = "csv" if format == "tsv" else "tsv"
        hint += f" (one column only: pass format={other!r} if that is the separator)"
    return f"unknown column {word!r}{hint}; the columns are {', '.join(_KNOWN)}: rename it, or pass ignore=[{word!r}]"


def _value_column(where: dict[str, int], value: str) -> str:
    if value == "signal":
        raise BadRow("strength='signal' needs narrowPeak; pass strength='score'")
    if not value:
        return ""
    found = [word for word in ("score", "strength") if word in where]
    if not found:
        raise BadRow("no column score or strength; add one, or give all sites the same, such as strength=0.8")
    if len(found) == 2:
        raise BadRow("both score and strength are there; pass ignore=['score'] or ignore=['strength']")
    return found[0]


def split_row(text: str, separator: str | None) -> list[str]:
    if separator is None:
        fields = text.split("\t") if "\t" in text else text.split()
    elif '"' in text:
        try:
            fields = next(csv.reader([text], delimiter=separator, strict=True))
        except csv.Error as err:
            raise BadRow(f"the quotes do not pair up ({err})") from err
    else:
        fields = text.split(separator)
    # strip only where there is a blank: 0.30 s instead of 0.37 for 38,815 rows
    return [field.strip() for field in fields] if " " in text else fields
