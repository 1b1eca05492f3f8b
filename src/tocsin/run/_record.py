"""Recorders: snapshots and events as streams of Arrow record batches, in bounded memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError, OutputError, SimulationError, Stop
from tocsin.schema import FieldSpec, World
from tocsin.schema._table import GENERATION_SHIFT

if TYPE_CHECKING:
    import pyarrow as pa

    from tocsin.run._simulation import Simulation

BATCH_ROWS = 65_536
BATCH_PARTS = 4_096
MOST_SNAPSHOTS = 1_000_000_000


class _Stream:
    """A run that is read as Arrow record batches, once."""

    def __init__(self, simulation: Simulation[Any]) -> None:
        self._simulation = simulation
        self._used = False

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the batches."""
        raise NotImplementedError

    def _batches(self) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._used:
            raise InputError("this recording has been read; a run cannot be read twice")
        self._used = True
        return self._batches()

    def reader(self) -> pa.RecordBatchReader:
        """Return a pyarrow reader over the batches."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Run to the end and return everything as one Arrow table."""
        return self.reader().read_all()

    def to_pandas(self) -> Any:
        """Run to the end and return everything as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Run to the end and return everything as a polars DataFrame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_parquet(self, path: str | Path) -> int:
        """Run to the end, writing a Parquet file (zstd) batch by batch; return the rows.

        If the disk fills or Ctrl-C stops the run, the file is closed with what was recorded.
        Raises OutputError if the file cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        n_rows = 0
        try:
            with pq.ParquetWriter(path, self.schema, compression="zstd") as writer:
                for batch in self:
                    writer.write_batch(batch)
                    n_rows += batch.num_rows
        except (OSError, pa.ArrowException) as error:
            raise OutputError(
                f"cannot write {path}: {error}. {n_rows} rows were recorded before that; "
                f"choose another place or free some space."
            ) from None
        return n_rows


class EventStream(_Stream):
    """Every event: time, action, index."""

    def __init__(self, simulation: Simulation[Any], until: float, events: int) -> None:
        super().__init__(simulation)
        self._until, self._events = until, events

    @property
    def schema(self) -> pa.Schema:
        """time float64, action dictionary of strings, index int32."""
        import pyarrow as pa

        few = len(self._simulation.model.actions) <= 256
        names = pa.dictionary(pa.uint8() if few else pa.uint16(), pa.utf8())
        return pa.schema([("time", pa.float64()), ("action", names), ("index", pa.int32())])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        simulation = self._simulation
        kernel, driver = simulation._kernel, simulation._driver
        kernel.log._adopt(_zeros(BATCH_ROWS, kernel.log.rows.dtype))
        kernel.log._counts[1:3] = BATCH_ROWS
        end = kernel.n_events + self._events
        stop = Stop.LOG_FULL
        while stop is Stop.LOG_FULL:
            failure: BaseException | None = None
            kernel.n_log, kernel.is_logging = 0, 1
            try:
                stop = driver.advance(self._until, end - kernel.n_events)
            except BaseException as error:  # the events before it, Ctrl-C included, are handed on
                failure = error
            finally:
                kernel.is_logging = 0  # what is run between two batches is not of this stream
            if kernel.n_log:
                yield self._batch(kernel.log.rows[: kernel.n_log].copy())
            if failure is not None:
                raise failure
        simulation._settle(stop, self._until)

    def _batch(self, rows: Any) -> pa.RecordBatch:
        import pyarrow as pa

        names = pa.array([m.name for m in self._simulation.model.actions])
        actions = pa.DictionaryArray.from_arrays(rows["action"].astype("u1" if len(names) <= 256 else "u2"), names)
        return pa.RecordBatch.from_arrays(
            [_contiguous(rows["time"]), actions, _contiguous(rows["row"])], schema=self.schema
        )


def spaced(start: float, until: float, every: float) -> Iterator[float]:
    """Yield start, start + every, ... up to `until`. Raises InputError for a spacing or an end out of range."""
    if not (every > 0 and math.isfinite(every)):
        raise InputError(f"every must be > 0, got {every!r}")
    if not until >= start:
        raise InputError(f"until must be a time >= now ({start}), got {until!r}")
    steps = itertools.count() if until == math.inf else range(int((until - start) / every + 1e-9) + 1)
    for k in steps:
        yield min(start + k * every, until)


class SnapshotStream(_Stream):
    """One table of the world at equal intervals of time, or where a condition holds at these."""

    def __init__(
        self, simulation: Simulation[Any], every: float, until: float, columns: Any,
        run: int | None = None, when: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(simulation)
        self._run, self._when = run, when
        if not (every > 0 and math.isfinite(every)):
            raise InputError(f"every must be > 0, got {every!r}")
        if not (math.isfinite(until) and until >= simulation.now):
            raise InputError(f"until must be a time >= now ({simulation.now}), got {until!r}")
        if (until - simulation.now) / every > MOST_SNAPSHOTS:
            raise InputError(
                f"every={every!r} makes more than {MOST_SNAPSHOTS:,} snapshots up to {until!r}; use a larger one"
            )
        self._every, self._until = float(every), float(until)
        self._select(columns)

    def _select(self, columns: Any) -> None:
        self._table, self._columns = _selection(self._simulation.world, columns)

    @cached_property
    def schema(self) -> pa.Schema:
        """time float64, index int32, then the columns in their own types; with a run, first run, step and uid."""
        import pyarrow as pa

        first = pa.field("time", pa.float64())
        return pa.schema([first, *self._rows(self._simulation.now).schema])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        parts: list[pa.RecordBatch] = []
        n_rows = 0
        try:
            for time in self._times():
                self._simulation.run(until=time)
                if self._when is not None and not self._when(self._simulation):
                    continue
                parts.append(self._snapshot(time))
                n_rows += parts[-1].num_rows
                if n_rows >= BATCH_ROWS or len(parts) >= BATCH_PARTS:
                    batch, parts, n_rows = _join(parts), [], 0
                    yield batch
            self._simulation.run(until=self._until)
        except (SimulationError, KeyboardInterrupt):
            if parts:
                yield _join(parts)  # what was recorded is not lost
            raise
        if parts:
            yield _join(parts)

    def _times(self) -> Iterator[float]:
        return spaced(self._simulation.now, self._until, self._every)

    def _snapshot(self, time: float) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa

        batch = self._rows(time)
        times = pa.array(np.full(batch.num_rows, time))
        return pa.RecordBatch.from_arrays([times, *batch.columns], schema=self.schema)

    def _rows(self, time: float) -> pa.RecordBatch:
        stamp = None if self._run is None else (self._run, round((time - self._simulation.start) / self._every))
        return table_batch(self._simulation.world, self._table, self._columns, stamp)


def _selection(world: World, columns: Any) -> tuple[str, list[str] | None]:
    if columns is None:
        columns = first_table(world)
    if isinstance(columns, Mapping):
        if len(columns) != 1:
            raise InputError("a recording follows one table; make one recording for each")
        table, names = next(iter(columns.items()))
    elif isinstance(columns, str):
        table, names = columns, None
    else:
        table, names = first_table(world), list(columns)
    table_batch(world, table, names)
    return table, None if names is None else list(names)


def first_table(world: World) -> str:
    """Return the name of the world's first table. Raises InputError if it has none."""
    for table in world.schema().tables():
        return table
    raise InputError("this world has no table to record; follow its numbers with observables")


def table_batch(
    world: World, table: str, columns: Sequence[str] | None, stamp: tuple[int, int] | None = None
) -> pa.RecordBatch:
    """Return the live rows of a table; references become row numbers, none becomes null.

    `stamp`: the numbers of the run and of the step; then the first columns are these and the rows' keys. Raises InputError for an unknown table or column.
    """
    import numpy as np
    import pyarrow as pa

    from tocsin.schema._annotations import nearest

    schema = world.schema().tables().get(table)
    if schema is None:
        known = world.schema().tables()
        raise InputError(f"there is no table {table!r}.{nearest(table, known)} The world has: {', '.join(known)}.")
    rows = world._tables[schema.name]
    live = rows._live_rows()
    arrays, names = [pa.array(live.astype("i4"))], ["index"]
    if stamp is not None:
        numbers = (np.full(len(live), number, np.int64) for number in stamp)
        arrays, names = [*map(pa.array, (*numbers, rows._keys_of(live))), *arrays], ["run", "step", "uid", *names]
    for name in schema.fields if columns is None else columns:
        if name not in schema.fields:
            raise InputError(
                f"{table} has no column {name!r}.{nearest(name, schema.fields)} It has: {', '.join(schema.fields)}."
            )
        arrays.append(_column(world, rows[name][live], schema.fields[name]))
        names.append(name)
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _column(world: World, values: Any, field: FieldSpec) -> pa.Array:
    import pyarrow as pa

    if field.kind != "ref":
        return pa.array(_contiguous(values))
    rows = values.astype("i8") & 0xFFFFFFFF
    none = values < 0
    if field.keyed and field.target is not None:
        generations = world._tables[field.target]._columns["_generation"]
        none |= generations[rows.clip(0, len(generations) - 1)] != values.astype("i8") >> GENERATION_SHIFT
    return pa.array(rows.astype("i4"), mask=none)


def _join(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.Table.from_batches(parts).combine_chunks().to_batches()[0] if len(parts) > 1 else parts[0]


def _contiguous(values: Any) -> Any:
    import numpy as np

    return np.ascontiguousarray(values)


def _zeros(n: int, dtype: Any) -> Any:
    import numpy as np

    return np.zeros(n, dtype)
