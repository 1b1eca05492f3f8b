"""Contacts from a file: CSV, Parquet, or anything with columns in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.schema._annotations import nearest
from tocsin.space import Network

COLUMNS = ("source", "target", "weight", "since", "until")


@dataclass(frozen=True)
class Contacts:
    """A network, and when each of its edges is there (None: always)."""

    network: Network
    since: NDArray[np.float64] | None = None
    until: NDArray[np.float64] | None = None


def read_contacts(path: Path, *, n: int | None = None, directed: bool = False) -> Contacts:
    """Return the contacts in a CSV (with a header) or Parquet file.

    Columns: `source` and `target` (numbers of people from 0), and if there are any `weight`, `since`
    and `until` (times between which the contact is there; one that is empty is no limit). A pair may
    come more than once if it has times, else it is refused.

    Parameters
    ----------
    n : number of people; one more than the largest number by default
    directed : whether only the source infects the target

    Raises InputError: no such file, a column that is missing, unknown or not of numbers.
    """
    columns = _columns(path)
    for name in columns:
        if name not in COLUMNS:
            raise InputError(
                f"{path.name} has a column {name!r}.{nearest(name, COLUMNS)} Columns: {', '.join(COLUMNS)}."
            )
    for name in ("source", "target"):
        if name not in columns:
            raise InputError(f"{path.name} lacks the column {name!r}; it has: {', '.join(columns) or 'none'}")
    pairs = np.stack([_whole(path, name, columns[name]) for name in ("source", "target")], axis=1)
    weights = _numbers(path, "weight", columns["weight"], None) if "weight" in columns else None
    since = _numbers(path, "since", columns["since"], -np.inf) if "since" in columns else None
    until = _numbers(path, "until", columns["until"], np.inf) if "until" in columns else None
    has_times = since is not None or until is not None
    people = n if n is not None else int(pairs.max()) + 1 if len(pairs) else 0
    if n is None and people > 1_000_000 + 1_000 * len(pairs):
        raise InputError(f"{path.name}: {people:,} people for {len(pairs):,} contacts; say so (n) if it is no slip")
    try:
        network = Network.from_edges(
            people, pairs, weights, directed=directed, repeated="keep" if has_times else "error", keep_edges=has_times
        )
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    return Contacts(network, since, until)


def _columns(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        is_parquet = path.suffix.lower() == ".parquet"
        table = pyarrow.parquet.read_table(path) if is_parquet else pyarrow.csv.read_csv(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path.name} cannot be read as {'Parquet' if is_parquet else 'CSV'}: {error}") from None
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise InputError(f"{path.name} has two columns {name!r}")
    return {name: table.column(name) for name in table.column_names}


def _numbers(path: Path, name: str, column: Any, missing: float | None) -> NDArray[np.float64]:
    import pyarrow as pa

    try:
        values = column.cast(pa.float64())
    except pa.ArrowException:
        raise InputError(f"{path.name}: column {name!r} must hold numbers, and holds {column.type}") from None
    if missing is None and values.null_count:
        raise InputError(f"{path.name}: column {name!r} has {values.null_count} empty places")
    return np.asarray(values if missing is None else values.fill_null(missing)).astype(np.float64)


def _whole(path: Path, name: str, column: Any) -> NDArray[np.int64]:
    values = _numbers(path, name, column, None)
    if not ((values == np.floor(values)) & (np.abs(values) < 2.0**31)).all():
        raise InputError(f"{path.name}: column {name!r} must hold whole numbers below 2**31")
    return values.astype(np.int64)
