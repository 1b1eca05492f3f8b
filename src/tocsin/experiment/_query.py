"""SQL over the results of an experiment, by DuckDB: it reads, and reaches nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import InputError
from tocsin.experiment._results import Results, read_plan
from tocsin.experiment._store import Store

if TYPE_CHECKING:
    import pyarrow as pa


def query(folder: str | Path, sql: str, complain: Callable[[str], object] | None = None) -> pa.Table:
    """Return what an SQL query finds in an experiment's folder.

    Tables: `results`, one row a run with the values of its candidate, and `plan`, one row a
    candidate. The database is in memory and holds Arrow tables, and it is locked before the query
    runs: no file is opened, nothing is written. `complain` is called with each file that could not be read, and
    why; its rows are missing. Raises InputError for a query that fails.
    """
    try:
        import duckdb
    except ImportError:
        raise InputError("queries need DuckDB, which is not installed; run: pip install 'tocsin[experiment]'") from None
    results, plan = Results.load(folder), read_plan(Store(Path(folder)))
    if complain is not None:
        for text in results.damaged:
            complain(text)
    connection = duckdb.connect(config={"python_enable_replacements": "false"})
    try:
        connection.register("results", results.table)
        connection.register("plan", plan)
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        found = connection.sql(sql)
        if found is None:
            raise InputError("the query failed: it selects nothing")
        return found.to_arrow_table()
    except duckdb.Error as error:
        text = " ".join(str(error).split())
        raise InputError(f"the query failed: {text}"[:1000]) from None
    finally:
        connection.close()
