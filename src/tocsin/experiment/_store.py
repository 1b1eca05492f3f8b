"""The store: one folder an experiment, whole at every moment.

    plan.parquet           every candidate, with what is wrong with it
    manifest.json          what made it: versions, model, hashes, machine, command line
    results/part-*.parquet one row a run
    results/journal.jsonl  rows of runs that ended since the last part, one a line
    runs/                  recordings of single runs, if `keep` asks for them

A row is in the journal before the next run is looked at, so a kill at any moment loses the runs in
flight. A part is written beside its place and renamed; only then the journal is emptied. A row that
is in both, after a kill between the two, counts once.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tocsin.errors import InputError, OutputError
from tocsin.experiment._work import Row

if TYPE_CHECKING:
    import pyarrow as pa

PART_ROWS = 20_000
"""Rows of a part: some 5 MB."""
_FIXED = (
    ("candidate", "int32"), ("replicate", "int32"), ("seed", "uint64"), ("stop", "string"), ("error", "string"),
    ("time", "float64"), ("n_events", "int64"), ("state_hash", "string"), ("wall_seconds", "float64"),
    ("cpu_seconds", "float64"),
)  # fmt: skip
FIXED = tuple(name for name, _ in _FIXED)
"""Columns that every table of results has; metrics follow in order of name."""


class Store:
    """The folder of one experiment.

    Parameters
    ----------
    folder : where it is
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.journal = self.results / "journal.jsonl"
        self.damaged: list[str] = []
        """What could not be read, one sentence a file."""
        self._file: IO[bytes] | None = None
        self._rows: list[Row] = []

    def begin(self) -> None:
        """Make the folder. Raises InputError if there is an experiment in it, OutputError if it cannot be made."""
        if self.manifest_path.exists() or any(self.parts()) or self.journal.exists():
            raise InputError(
                f"{str(self.folder)!r} holds an experiment; go on with --resume (resume=True), or choose another folder with --out"
            )
        try:
            self.results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make {str(self.results)!r}: {error.strerror}") from None

    @property
    def manifest_path(self) -> Path:
        """The file that says what made it."""
        return self.folder / "manifest.json"

    def parts(self) -> list[Path]:
        """Return the files of whole parts, in order."""
        return sorted(self.results.glob("part-[0-9]*.parquet"))

    def manifest(self) -> dict[str, Any]:
        """Return the manifest. Raises InputError if it is missing or not whole."""
        try:
            found = json.loads(self.manifest_path.read_text(encoding="utf-8"))
            if not isinstance(found, dict):
                raise ValueError("it is no table")
            return found
        except FileNotFoundError:
            raise InputError(f"there is no experiment in {str(self.folder)!r}: it has no manifest.json") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{str(self.manifest_path)!r} cannot be read: {error}"[:300]) from None

    def write_manifest(self, facts: Mapping[str, Any]) -> None:
        """Write the manifest whole. Raises OutputError."""
        text = json.dumps(finite(facts), indent=2, default=str) + "\n"
        write_file(self.manifest_path, lambda path: path.write_text(text, encoding="utf-8"))

    def write_table(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file whole. Raises OutputError."""
        import pyarrow.parquet as pq

        write_file(self.folder / name, lambda path: pq.write_table(table, path, compression="zstd"))

    def add(self, row: Row) -> None:
        """Note a row for good. Raises OutputError."""
        try:
            if self._file is None:
                self._file = self.journal.open("ab", buffering=0)
            self._file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise OutputError(
                f"cannot write {str(self.journal)!r}: {error.strerror}; free some space and go on with --resume"
            ) from None
        self._rows.append(row)
        if len(self._rows) >= PART_ROWS:
            self.roll()

    def roll(self) -> None:
        """Make a part of the rows in the journal, and empty it. Raises OutputError."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._rows:
            last = self.parts()[-1:]
            number = int(last[0].stem.partition("-")[2]) + 1 if last else 0
            self.write_table(f"results/part-{number:06}.parquet", rows_to_arrow(self._rows))
            self._rows = []
        with contextlib.suppress(OSError):
            self.journal.unlink(missing_ok=True)

    def recover(self) -> None:
        """Take up the journal of an experiment that was killed. What is half-written is named in `damaged`."""
        self._rows = self.journal_rows()
        self.roll()

    def journal_rows(self) -> list[Row]:
        """Return the whole rows of the journal."""
        try:
            lines = self.journal.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            self.damaged.append(f"{self.journal}: {error.strerror}")
            return []
        rows = [row for row in map(_row, filter(None, lines)) if row is not None]
        lost = sum(1 for line in lines if line) - len(rows)
        if lost:
            self.damaged.append(f"{self.journal}: {lost} half-written line(s); those runs are done again")
        return rows

    def tables(self) -> list[pa.Table]:
        """Return what is in the parts and the journal; a part that cannot be read is named in `damaged`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        found = []
        for path in self.parts():
            try:
                table = pq.ParquetFile(path).read()
                if table.column_names[: len(FIXED)] != list(FIXED):
                    raise ValueError(f"its columns are not those of results but {', '.join(table.column_names)[:100]}")
                found.append(table)
            except (OSError, ValueError, pa.ArrowException) as error:
                text = str(error).split("\n")[0][:200]
                self.damaged.append(f"{path}: {text}; its runs are missing until --resume does them again")
        rows = self.journal_rows() if not self._rows else list(self._rows)
        return [*found, rows_to_arrow(rows)] if rows else found

    def set_aside(self) -> None:
        """Rename parts that cannot be read, so that their runs are done again."""
        for text in list(self.damaged):
            path = Path(text.partition(": ")[0])
            if path.suffix == ".parquet":
                path.replace(path.with_name(path.name + ".damaged"))


def finite(value: Any) -> Any:
    """Return nested plain values with null for what is no number: JSON has neither NaN nor infinity."""
    if isinstance(value, Mapping):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _row(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
        return row if isinstance(row, dict) and set(FIXED) <= row.keys() and isinstance(row["metrics"], dict) else None
    except ValueError:
        return None


def rows_to_arrow(rows: Iterable[Row]) -> pa.Table:
    """Return rows as a table: the fixed columns, then the metrics in order of name, float64."""
    import pyarrow as pa

    rows = list(rows)
    names = sorted({name for row in rows for name in row["metrics"]})
    arrays = [pa.array([row[name] for row in rows], pa.type_for_alias(kind)) for name, kind in _FIXED]
    arrays += [pa.array([row["metrics"].get(name) for row in rows], pa.float64()) for name in names]
    return pa.table(arrays, names=[*FIXED, *names])


def write_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file beside its place, flush it to the disk, and rename it. Raises OutputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        os.close(handle)
        try:
            write(Path(name))
            with open(name, "rb+") as file:
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
