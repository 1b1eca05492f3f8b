"""Results: one row a run, with its parameters, however and wherever the runs were made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.experiment._intervals import Interval, mean_interval, two_stage_interval
from tocsin.experiment._rows import FIXED, rows_to_arrow
from tocsin.experiment._store import Store
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr
    from numpy.typing import NDArray

TIMINGS = ("wall_seconds", "cpu_seconds")
"""Columns that say how long it took: the only ones that differ from one making of a table to the next."""


@dataclass(frozen=True, eq=False)
class Results:
    """The table of an experiment, sorted by candidate and replicate.

    Columns: candidate and replicate (int32), the axes by path, seed (uint64), stop, error, time,
    n_events, state_hash, wall_seconds, cpu_seconds, then the metrics in order of name (float64, null
    for a run that failed).
    """

    table: pa.Table
    axes: tuple[str, ...]
    damaged: tuple[str, ...] = ()
    """Files of the store that could not be read, and why."""
    confidence: float = 0.95
    first_stage: Mapping[str, int] = field(default_factory=dict)
    """By target: how many replicates the choice of their number was made from (see `two_stage_interval`)."""

    @classmethod
    def load(cls, folder: str | Path) -> Results:
        """Read an experiment's folder, running or done. Raises InputError if there is none."""
        store = Store(Path(folder))
        manifest = store.manifest()
        plan = read_plan(store)
        try:
            level, first = float(manifest.get("confidence", 0.95)), dict(manifest.get("first_stage", {}))
        except (TypeError, ValueError) as error:
            raise InputError(f"{str(store.manifest_path)!r} is no manifest of an experiment: {error}") from None
        return joined(store.tables(), plan, store.damaged, level, first)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        known = {*FIXED, *self.axes}
        return [name for name in self.table.column_names if name not in known]

    @property
    def targets(self) -> list[str]:
        """The metrics whose precision decided how many replicates there are."""
        return [name for name in self.first_stage if name in self.table.column_names]

    def candidate_values(self) -> dict[int, tuple[Any, ...]]:
        """Return the values of the axes, by candidate."""
        rows = zip(*(self.table.column(name).to_pylist() for name in ("candidate", *self.axes)), strict=True)
        return {candidate: tuple(values) for candidate, *values in rows}

    def column(self, name: str) -> NDArray[Any]:
        """Return a metric, one float64 a run, NaN where there is none. Raises InputError for an unknown name."""
        import numpy as np

        if name not in self.table.column_names:
            raise self._unknown(name)
        import pyarrow as pa

        found = self.table.column(name)
        if not (pa.types.is_floating(found.type) or pa.types.is_integer(found.type) or pa.types.is_null(found.type)):
            raise InputError(f"{name} is no number, and so no metric")
        return np.asarray(found.cast(pa.float64()).fill_null(np.nan))

    def _unknown(self, name: str) -> InputError:
        if not self.metrics and len(self):
            why = next(filter(None, self.table.column("error").to_pylist()), "none says why")
            return InputError(f"there is no metric {name!r}: all {len(self)} runs failed, such as: {why}")
        return InputError(
            f"there is no metric {name!r}.{nearest(name, self.metrics)} There are: {', '.join(self.metrics) or 'none'}."
        )

    def of(self, candidate: int, metric: str) -> NDArray[Any]:
        """Return a metric of one candidate, in order of replicate; failed runs are left out."""
        return _known(self.column(metric)[self._candidates == candidate])

    @cached_property
    def _candidates(self) -> NDArray[Any]:
        import numpy as np

        return np.asarray(self.table.column("candidate"))

    def intervals(self, metric: str, confidence: float | None = None) -> dict[int, Interval]:
        """Return mean and t interval of a metric, by candidate. One replicate has no interval."""
        import numpy as np

        values, candidates = self.column(metric), self._candidates
        level, first = confidence or self.confidence, self.first_stage.get(metric)
        groups = {int(c): _known(values[candidates == c]) for c in np.unique(candidates)}
        if first is None:
            return {c: mean_interval(x, level) for c, x in groups.items()}
        return {c: two_stage_interval(x, first, level) for c, x in groups.items()}

    def failures(self) -> pa.Table:
        """Return the rows of runs that failed, were refused or killed."""
        import pyarrow.compute as pc

        return self.table.filter(pc.is_valid(self.table.column("error")))

    def hash(self) -> str:
        """Return the SHA-256 of the table without the columns of TIMINGS: of what was found, not how fast."""
        kept = [name for name in self.table.column_names if name not in TIMINGS]
        digest = hashlib.sha256(json.dumps(kept).encode())
        for name in kept:
            for value in self.table.column(name).to_pylist():
                digest.update(f"{value!r};".encode())
        return digest.hexdigest()

    def to_arrow(self) -> pa.Table:
        """Return the table."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame. Raises InputError if pandas is not installed."""
        try:
            return self.table.to_pandas()
        except ImportError:
            raise InputError(
                "to_pandas needs pandas, which is not installed; run: pip install 'tocsin[experiment]'"
            ) from None

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame. Raises InputError if polars is not installed."""
        try:
            import polars
        except ImportError:
            raise InputError("to_polars needs polars, which is not installed; run: pip install polars") from None
        return polars.from_arrow(self.table)  # type: ignore[return-value]

    def to_xarray(self) -> xr.Dataset:
        """Return the metrics as arrays over candidate and replicate; axes are coordinates of the candidates.

        A grid is unfolded: one dimension an axis, then replicate. Missing runs are NaN.
        """
        from tocsin.experiment._xarray import to_xarray

        return to_xarray(self)


def _known(values: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    return np.asarray(values[~np.isnan(values)])


def read_plan(store: Store) -> pa.Table:
    """Return plan.parquet. Raises InputError if it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = store.folder / "plan.parquet"
    try:
        plan = pq.ParquetFile(path).read()
        names = plan.column_names
        if len(names) < 2 or (names[0], names[-1]) != ("candidate", "error"):
            raise ValueError(f"its columns are not those of a plan but {', '.join(names)[:100]}")
        return plan
    except (OSError, ValueError, pa.ArrowException) as error:
        text = str(error).split("\n")[0][:200]
        raise InputError(f"{str(path)!r} cannot be read: {text}; --resume with the scenario writes it again") from None


def joined(
    tables: Sequence[pa.Table],
    plan: pa.Table,
    damaged: Sequence[str] = (),
    confidence: float = 0.95,
    first_stage: Mapping[str, int] | None = None,
) -> Results:
    """Return the results of some tables of rows: each run once, sorted, with the values of its candidate."""
    import numpy as np
    import pyarrow as pa

    axes = tuple(plan.column_names[1:-1])
    rows = pa.concat_tables(list(tables), promote_options="default") if tables else rows_to_arrow([])
    candidate, replicate = (np.asarray(rows.column(name)).astype(np.int64) for name in ("candidate", "replicate"))
    _, first = np.unique(candidate << 32 | replicate, return_index=True)
    first = first[candidate[first] < plan.num_rows]
    rows = rows.take(pa.array(first)).combine_chunks()
    metrics = sorted(set(rows.column_names) - set(FIXED))
    values = plan.take(pa.array(candidate[first])).combine_chunks()
    named = {name: rows.column(name) for name in ("candidate", "replicate")}
    named |= {name: values.column(name) for name in axes}
    named |= {name: rows.column(name) for name in (*FIXED[2:], *metrics)}
    return Results(pa.table(named), axes, tuple(damaged), confidence, first_stage or {})
