"""States and events out of the Parquet files of `tocsin run` (and of `to_parquet`), bit by bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath
from tocsin.models.extrusion.analysis.bins import Bins
from tocsin.models.extrusion.analysis.contacts import CAPTURED, ContactMap

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
COLUMNS = ("site", "facing", "lef")
"""What a snapshot of the legs must hold, beside time and index."""


class Snapshot(NamedTuple):
    """LEFs on the fibre at one time: sites of their legs, and how many of them are captured."""

    time: float
    left: Ints
    right: Ints
    n_held: Ints | None

    def within(self, first: int, n_sites: int) -> Snapshot:
        """The LEFs with both feet on a part of the lattice, sites counted from its first."""
        end = first + n_sites
        is_here = (self.left >= first) & (self.left < end) & (self.right >= first) & (self.right < end)
        held = None if self.n_held is None else self.n_held[is_here]
        return Snapshot(self.time, self.left[is_here] - first, self.right[is_here] - first, held)


def snapshots_of(path: StrPath) -> Iterator[Snapshot]:
    """The states in a recording of the legs, one by one, in memory of one row group.

    Parameters
    ----------
    path : Parquet file with columns time, index, site, facing, lef, and captured (or state) if
        n_held is wanted

    Raises
    ------
    InputError
        The file is missing, not Parquet, or lacks a column.
    """
    rest: dict[str, Any] = {}
    for batch in _batches(path, ("time", "index", *COLUMNS), ("captured", "state")):
        here = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
        rows = {name: np.concatenate([rest[name], here[name]]) if rest else here[name] for name in here}
        is_new = (np.diff(rows["time"]) != 0) | (np.diff(rows["index"]) <= 0)
        edges = [0, *(np.flatnonzero(is_new) + 1).tolist()]
        for low, high in itertools.pairwise(edges):
            yield _snapshot({name: values[low:high] for name, values in rows.items()})
        rest = {name: values[edges[-1] :] for name, values in rows.items()}
    if rest and len(rest["time"]):
        yield _snapshot(rest)


def events_of(path: StrPath) -> Iterator[pa.RecordBatch]:
    """The batches of a recording of events. Raises InputError as `snapshots_of`."""
    return _batches(path, ("time", "action", "index"), ())


def contacts_from_recording(path: StrPath, bins: Bins, **settings: Any) -> ContactMap:
    """The contact map of all states in a recording; `settings` are those of `ContactMap`.

    Raises InputError as `snapshots_of` and `ContactMap`.
    """
    contacts = ContactMap(bins, **settings)
    for snapshot in snapshots_of(path):
        contacts.add(snapshot.left, snapshot.right)
    return contacts


def _snapshot(rows: dict[str, Any]) -> Snapshot:
    is_left, lef = rows["facing"] < 0, rows["lef"].astype(np.int64)
    n = int(lef.max(initial=-1)) + 1
    left, right, held = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
    left[lef[is_left]], right[lef[~is_left]] = rows["site"][is_left], rows["site"][~is_left]
    is_bound, is_known = (left >= 0) & (right >= 0), "captured" in rows or "state" in rows
    if is_known:
        captured = rows["captured"] if "captured" in rows else rows["state"] == CAPTURED
        np.add.at(held, lef, captured.astype(np.int64))
    return Snapshot(float(rows["time"][0]), left[is_bound], right[is_bound], held[is_bound] if is_known else None)


def _batches(path: StrPath, needed: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(Path(path)) as file:
            names = file.schema_arrow.names
            missing = [name for name in needed if name not in names]
            if missing:
                raise InputError(f"{Path(path).name} has no column {', '.join(missing)}; it has {', '.join(names)}")
            yield from file.iter_batches(columns=[*needed, *(name for name in wanted if name in names)])
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot read {str(path)!r} as Parquet: {error}") from error
