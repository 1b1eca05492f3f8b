"""Parquet files that are written while a run goes on, in bounded memory."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import OutputError
from tocsin.run import Simulation
from tocsin.run._archive import sync_file
from tocsin.run._series import known_observables, observed_batch
from tocsin.scenario._checkpoint import part_path
from tocsin.scenario._tables import Observables, Snapshots

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
        self._schema = schema
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

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written so far."""
        return self.n_rows + self._n_waiting == 0

    def append(self, part: Path) -> None:
        """Add all rows of another file. Raises OutputError."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(part) as file:
                for batch in file.iter_batches(GROUP_ROWS):
                    table = pa.Table.from_batches([batch]).cast(self._schema)
                    for piece in table.to_batches():
                        self.write(piece)
        except (OSError, pa.ArrowException) as error:
            raise OutputError(f"cannot read {str(part)!r}: {error}; resume from an older checkpoint") from None

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


class Recording:
    """One recording: a Parquet file, written in one go or in parts that checkpoints end.

    Parameters
    ----------
    path : where it appears when it is closed
    schema : of its rows
    parts : a folder for its parts; None writes it in one go
    n_parts : parts in that folder that are whole; others are written anew

    Raises OutputError if it cannot be opened.
    """

    def __init__(self, path: Path, schema: pa.Schema, parts: Path | None, n_parts: int = 0) -> None:
        self.path, self.n_parts, self.n_rows = path, n_parts, 0
        self._schema, self._parts = schema, parts
        self._file = self._next()

    @property
    def name(self) -> str:
        """Its name in a checkpoint."""
        return self.path.stem

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows. Raises OutputError if the disk does not take them."""
        self._file.write(batch)

    def cut(self) -> None:
        """End a part, and bring it to the disk. Raises OutputError."""
        if self._file.is_empty:
            return
        self._file.close()
        sync_file(self._file.path)
        self.n_parts += 1
        self._file = self._next()

    def close(self) -> None:
        """Write what is left and put the file in its place. Raises OutputError."""
        if self._parts is not None:
            self.cut()
            self._file.discard()
            self._file = ParquetFile(self.path, self._schema)
            for number in range(self.n_parts):
                self._file.append(part_path(self._parts, self.name, number))
        self._file.close()
        self.n_rows = self._file.n_rows

    def discard(self) -> None:
        """Leave no file, after an error in writing; whole parts stay."""
        self._file.discard()

    def _next(self) -> ParquetFile:
        path = self.path if self._parts is None else part_path(self._parts, self.name, self.n_parts)
        return ParquetFile(path, self._schema)


class Events(Recording):
    """events.parquet: time, action, index of every event."""

    def __init__(self, folder: Path, simulation: Simulation[Any], parts: Path | None = None, n_parts: int = 0) -> None:
        super().__init__(folder / "events.parquet", simulation.record_events(events=0).schema, parts, n_parts)


class Sampled(Recording):
    """A recording of what is so at equal times; `n_taken` counts them."""

    every: float
    n_taken: int = 0

    def take(self) -> None:
        """Add what is so now. Raises OutputError."""
        raise NotImplementedError


class Curves(Sampled):
    """observables.parquet: the time, and the values of observables."""

    def __init__(
        self,
        folder: Path,
        simulation: Simulation[Any],
        wanted: Observables,
        parts: Path | None = None,
        n_parts: int = 0,
    ) -> None:
        self._simulation, self.every = simulation, wanted.every
        self._names = known_observables(simulation.model, wanted.names)
        schema = simulation.record_observables(1.0, simulation.now, self._names).schema
        super().__init__(folder / "observables.parquet", schema, parts, n_parts)

    def take(self) -> None:
        self.write(observed_batch(self._simulation, self._names, self._schema, self._simulation.now))


class States(Sampled):
    """snapshots.parquet: the live rows of one table, with the time in front."""

    def __init__(
        self,
        folder: Path,
        simulation: Simulation[Any],
        wanted: Snapshots,
        parts: Path | None = None,
        n_parts: int = 0,
    ) -> None:
        table = wanted.table or next(iter(simulation.model.schema.tables()))
        columns = wanted.columns
        self._simulation, self._table, self._columns, self.every = simulation, table, columns, wanted.every
        which = table if columns is None else {table: columns}
        schema = simulation.record(every=1.0, until=simulation.now, columns=which).schema
        super().__init__(folder / "snapshots.parquet", schema, parts, n_parts)

    def take(self) -> None:
        import numpy as np
        import pyarrow as pa

        rows = self._simulation.to_arrow(self._table, self._columns)
        times = pa.array(np.full(rows.num_rows, self._simulation.now))
        for batch in rows.add_column(0, "time", times).combine_chunks().to_batches():
            self.write(batch)
