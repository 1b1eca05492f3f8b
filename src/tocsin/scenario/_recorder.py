"""Parquet files that are written while a run goes on, in bounded memory."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import OutputError
from tocsin.run import Simulation

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 65_536


class ParquetFile:
    """Rows on their way into one Parquet file (zstd); the file appears when it is closed.

    Raises OutputError if it cannot be opened.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self.n_rows = 0
        self._partial = path.with_name(f".{path.name}.partial")
        try:
            self._writer = pq.ParquetWriter(self._partial, schema, compression="zstd")
        except OSError as error:
            raise self._error(error) from None
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows. Raises OutputError if the disk does not take them."""
        self._waiting.append(batch)
        self._n_waiting += batch.num_rows
        if self._n_waiting >= GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Write what is left and put the file in its place. Raises OutputError."""
        self._flush()
        try:
            self._writer.close()
            self._partial.replace(self.path)
        except OSError as error:
            raise self._error(error) from None

    def discard(self) -> None:
        """Leave no file, after an error in writing."""
        with contextlib.suppress(OSError):
            self._writer.close()
        with contextlib.suppress(OSError):
            self._partial.unlink(missing_ok=True)

    def _flush(self) -> None:
        import pyarrow as pa

        if not self._waiting:
            return
        table = pa.Table.from_batches(self._waiting)
        try:
            self._writer.write_table(table, row_group_size=GROUP_ROWS)
        except OSError as error:
            raise self._error(error) from None
        self.n_rows += table.num_rows
        self._waiting, self._n_waiting = [], 0

    def _error(self, error: OSError) -> OutputError:
        return OutputError(
            f"cannot write {str(self.path)!r}: {error}. {self.n_rows} rows were recorded before "
            f"that; choose another place or free some space."
        )


class Events(ParquetFile):
    """events.parquet: time, action, index of every event."""

    def __init__(self, folder: Path, simulation: Simulation[Any]) -> None:
        super().__init__(folder / "events.parquet", simulation.record_events(events=0).schema)


class States(ParquetFile):
    """snapshots.parquet: the live rows of one table, with the time in front."""

    def __init__(self, folder: Path, simulation: Simulation[Any], table: str, columns: list[str] | None) -> None:
        self._simulation, self._table, self._columns = simulation, table, columns
        which = table if columns is None else {table: columns}
        schema = simulation.record(every=1.0, until=simulation.now, columns=which).schema
        super().__init__(folder / "snapshots.parquet", schema)

    def take(self) -> None:
        """Add the table as it is now. Raises OutputError."""
        import numpy as np
        import pyarrow as pa

        rows = self._simulation.to_arrow(self._table, self._columns)
        times = pa.array(np.full(rows.num_rows, self._simulation.now))
        for batch in rows.add_column(0, "time", times).combine_chunks().to_batches():
            self.write(batch)
