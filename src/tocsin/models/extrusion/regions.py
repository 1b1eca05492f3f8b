"""Where on the genome the lattice lies: region texts and chrom.sizes files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, read_lines
from tocsin.models.extrusion._layout import fail
from tocsin.models.extrusion._rows import Rows

END_MARGIN_BP = 100_000  # past the last row, where nothing states the chromosome's end
_REGION = re.compile(r"(?P<chrom>\S+):(?P<start>[0-9,]+)-(?P<end>[0-9,]+)", re.ASCII)
_MAX_DIGITS = 15


class Region(NamedTuple):
    """Part of a chromosome, bp, 0-based and half-open; `end` None is not yet known."""

    chrom: str
    start: int
    end: int | None

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Which rows have their midpoint inside; bool, shape (n_rows,)."""
        is_here = np.array([chrom == self.chrom for chrom in rows.chrom])
        middle = (rows.start + rows.end) // 2
        is_here &= middle >= self.start
        return is_here if self.end is None else is_here & (middle < self.end)


def parse_region(text: str) -> Region:
    """`chr21`, or `chr21:14,000,000-20,000,000` (commas optional).

    Raises
    ------
    InputError
        The text is neither, or its start is not below its end.
    """
    word = text.strip() if isinstance(text, str) else ""
    if word and ":" not in word and not any(map(str.isspace, word)):
        return Region(word, 0, None)
    match = _REGION.fullmatch(word)
    numbers = [match[key].replace(",", "") for key in ("start", "end")] if match else []
    if not match or not all(0 < len(digits) <= _MAX_DIGITS for digits in numbers):
        raise InputError(f"region must read chr21 or chr21:14,000,000-20,000,000, got {text!r}")
    start, end = map(int, numbers)
    if start >= end:
        raise InputError(f"region must have start < end, got {text!r}")
    return Region(match["chrom"], start, end)


def read_chrom_sizes(path: StrPath) -> dict[str, int]:
    """Chromosome lengths, bp, from UCSC's two-column file.

    Raises
    ------
    InputError
        The file cannot be read, has no row, or a row is not a name and a length > 0.
    """
    name, sizes = Path(path).name, dict[str, int]()
    for number, text in enumerate(read_lines(path), 1):
        fields = text.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) < 2 or not _is_length(fields[1]):
            fail(name, number, text, "expected a chromosome and its length in bp, > 0")
        if sizes.setdefault(fields[0], int(fields[1])) != int(fields[1]):
            fail(name, number, text, f"{fields[0]} has two lengths; keep one")
    if not sizes:
        raise InputError(f"{name}: the file has no row; expected chromosome and length")
    return sizes


def _is_length(text: str) -> bool:
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return is_number and int(text) > 0


def choose_span(where: Region, rows: Rows, resolution: int, chrom_sizes: StrPath | None) -> tuple[Region, str]:
    """The region with its end known, and the rule that gave the end.

    The region's own end; else the chromosome's length; else the last row's end plus
    `END_MARGIN_BP`, rounded up to a whole site.

    Raises
    ------
    InputError
        The file has no row of the chromosome; the region or a row exceeds its length.
    """
    here = np.flatnonzero(where._replace(start=0, end=None).holds(rows))
    if not len(here):
        _fail_absent(where.chrom, rows)
    if chrom_sizes is not None:
        length = _length(where.chrom, chrom_sizes)
        _check_fits(where, rows, here, length)
        if where.end is None:
            return where._replace(end=length), "the length in chrom.sizes"
    if where.end is not None:
        return where, "the region's own end"
    past = int(rows.end[here].max()) + END_MARGIN_BP
    end = -(-past // resolution) * resolution
    return where._replace(end=end), f"the last row's end plus {END_MARGIN_BP // 1000} kb"


def _length(chrom: str, chrom_sizes: StrPath) -> int:
    sizes = read_chrom_sizes(chrom_sizes)
    if chrom not in sizes:
        raise InputError(f"{Path(chrom_sizes).name}: no length for {chrom!r}; it has {_some(list(sizes))}")
    return sizes[chrom]


def _check_fits(where: Region, rows: Rows, here: NDArray[np.intp], length: int) -> None:
    if where.end is not None and where.end > length:
        raise InputError(f"region must end at or before {length:,}, the length of {where.chrom}, got {where.end:,}")
    last = int(here[rows.end[here].argmax()])
    if rows.end[last] > length:
        raise InputError(
            f"{rows.name}, line {rows.line[last]}: end {rows.end[last]:,} is past the "
            f"end of {where.chrom}, {length:,}; are both files of one genome build?"
        )


def _fail_absent(chrom: str, rows: Rows) -> NoReturn:
    names = list(dict.fromkeys(rows.chrom))
    bare = chrom.removeprefix("chr")
    twin = next((name for name in names if name.removeprefix("chr") == bare), None)
    hint = f"; did you mean {twin!r}?" if twin else ""
    raise InputError(
        f"{rows.name}: no row of chromosome {chrom!r}{hint}; the file has {_some(names)}. Name one, or a part of it, as the region."
    )


def _some(names: list[str]) -> str:
    """Up to five names, and how many more there are."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
