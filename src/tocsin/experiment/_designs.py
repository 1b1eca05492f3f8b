"""Designs: from axes to a table of candidates."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tocsin.errors import InputError, needed
from tocsin.experiment._axes import Axis, Value
from tocsin.formula import value_of
from tocsin.scenario._toml import parse_value

Row = tuple[Value, ...]
DESIGNS = ("grid", "zip", "random", "lhs", "sobol", "table")
SAMPLED = ("random", "lhs", "sobol")
MOST_CANDIDATES = 1_000_000
"""Candidates that a plan may have: above it the plan itself would no longer fit on a page, or in memory."""


def candidates(axes: Sequence[Axis], design: str, n: int | None, seed: int, where: str) -> list[Row]:
    """Return the candidates, each with one value an axis, in the order of the axes.

    Parameters
    ----------
    design : grid (the last axis fastest), zip, random, lhs (Latin hypercube) or sobol (scrambled)
    n : how many, for the designs that are drawn
    seed : of the draw

    Raises InputError, with the number, for more than MOST_CANDIDATES.
    """
    free = [axis for axis in axes if axis.formula is None]
    if design in SAMPLED:
        rows = _sampled(free, design, n, seed, where)
    elif n is not None:
        raise InputError(
            f"{where}: candidates = {n} belongs to the designs {', '.join(SAMPLED)}; a {design} has as many as it has"
        )
    else:
        rows = _listed(free, design, where)
    return [_completed(axes, free, row, where) for row in rows]


def _listed(free: Sequence[Axis], design: str, where: str) -> list[Row]:
    ranges = [axis.path for axis in free if axis.is_range]
    if ranges:
        raise InputError(
            f'{where}: {ranges[0]} is a range, and a {design} needs values: linspace = [first, last, n], or design = "lhs"'
        )
    lengths = [len(axis.values) for axis in free]
    if design == "zip":
        if len(set(lengths)) > 1:
            found = ", ".join(f"{a.path}: {len(a.values)}" for a in free)
            raise InputError(f"{where}: a zip needs axes of one length, got {found}")
        return list(zip(*(axis.values for axis in free), strict=True)) or [()]
    _check_number(math.prod(lengths), " × ".join(f"{n:,}" for n in lengths), where)
    return list(itertools.product(*(axis.values for axis in free)))


def _check_number(n: int, text: str, where: str) -> None:
    if n > MOST_CANDIDATES:
        shown = f"{n:,} candidates" + (f" ({text})" if text else "")
        raise InputError(
            f'{where}: {shown} are more than {MOST_CANDIDATES:,}; thin the axes, or draw some: design = "sobol", candidates = 1024'
        )


def _sampled(free: Sequence[Axis], design: str, n: int | None, seed: int, where: str) -> list[Row]:
    if n is None or n < 1:
        raise InputError(f"{where}: design = {design!r} needs candidates = how many, >= 1, got {n!r}")
    _check_number(n, "", where)
    if not free:
        raise InputError(f"{where}: there is no axis to draw")
    shares = uniforms(design, n, len(free), seed)
    return [tuple(axis.at(u) for axis, u in zip(free, row, strict=True)) for row in shares]


def uniforms(design: str, n: int, n_axes: int, seed: int) -> list[list[float]]:
    """Return n points of the unit cube by 'random', 'lhs' or 'sobol' (scipy.stats.qmc)."""
    import warnings

    import numpy as np

    rng = np.random.default_rng(seed)
    if design == "random":
        found: list[list[float]] = rng.random((n, n_axes)).tolist()
        return found
    qmc = needed("scipy.stats.qmc", f"the design {design!r}", "experiment")
    engine = qmc.LatinHypercube(n_axes, rng=rng) if design == "lhs" else qmc.Sobol(n_axes, scramble=True, rng=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a number that is no power of two: balance is lost, not the rest
        return engine.random(n).tolist()  # type: ignore[no-any-return]


def _completed(axes: Sequence[Axis], free: Sequence[Axis], row: Row, where: str) -> Row:
    """Work the formulas out, in order: each may name any axis that has a value."""
    if len(free) == len(axes):
        return row
    known = dict(zip((axis.path for axis in free), row, strict=True))
    short = {axis.name: axis.path for axis in axes}
    for axis in axes:
        if axis.formula is not None:
            known[axis.path] = _worked_out(axis, {n: known[p] for n, p in short.items() if p in known}, where)
    return tuple(known[axis.path] for axis in axes)


def _worked_out(axis: Axis, names: dict[str, Value], where: str) -> float:
    assert axis.formula is not None
    for name in sorted(axis.formula.names()):
        if not isinstance(names.get(name), (int, float)):
            has = ", ".join(n for n, v in names.items() if isinstance(v, (int, float))) or "none"
            raise InputError(
                f"{where}, {axis.path}: the formula names {name!r}, and the axes with numbers before it are: {has}"
            )
    value = value_of(axis.formula, {n: float(v) for n, v in names.items() if isinstance(v, (int, float))})
    return int(value) if axis.is_whole and value.is_integer() else value


def read_table(path: Path, where: str) -> tuple[list[str], list[Row]]:
    """Return the column names and rows of a CSV or Parquet file: an explicit table of candidates.

    Raises InputError.
    """
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(path)
            names, rows = table.column_names, list(zip(*(c.to_pylist() for c in table.columns), strict=True))
        else:
            names, rows = _read_csv(path, where)
    except OSError as error:
        raise InputError(
            f"{where}: cannot read the table {str(path)!r}: {getattr(error, 'strerror', None) or error}"
        ) from None
    except (UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: {str(path)!r} is no table: {error}"[:300]) from None
    if not names or not rows:
        raise InputError(f"{where}: the table {str(path)!r} is empty")
    _check_number(len(rows), "", where)
    return names, rows


def _read_csv(path: Path, where: str) -> tuple[list[str], list[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines:
        return [], []
    for n, line in enumerate(lines[1:], 2):
        if len(line) != len(lines[0]):
            raise InputError(f"{where}: {path.name}, line {n}: {len(line)} values for {len(lines[0])} columns")
    return [name.strip() for name in lines[0]], [
        tuple(parse_value(text.strip()) for text in line) for line in lines[1:]
    ]
