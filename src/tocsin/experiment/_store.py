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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tocsin.errors import InputError, OutputError
from tocsin.experiment._rows import check_part, read_row, rows_to_arrow
from tocsin.experiment._work import Row

if TYPE_CHECKING:
    import pyarrow as pa

PART_ROWS = 20_000
"""Rows of a part: some 5 MB."""


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
        self._broken: list[Path] = []
        """The files that could not be read."""
        self._file: IO[bytes] | None = None
        self._rows: list[Row] = []
        self._lock: IO[bytes] | None = None

    def begin(self) -> None:
        """Make the folder. Raises InputError if there is an experiment in it, OutputError if it cannot be made."""
        self.make()
        if self.manifest_path.exists() or self.is_begun():
            raise InputError(
                f"{str(self.folder)!r} holds an experiment; go on with --resume (resume=True), or choose another folder with --out"
            )

    def is_begun(self) -> bool:
        """Say whether there are results."""
        return any(self.parts()) or self.journal.exists()

    def make(self) -> None:
        """Make the folder if it is not there, and keep all others out of it. Raises OutputError, InputError."""
        try:
            self.results.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise OutputError(f"cannot make {str(self.results)!r}: {why}; choose another folder with --out") from None
        self._lock = locked(self.results / ".lock")

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
            self._drop_journal()

    def _drop_journal(self) -> None:
        with contextlib.suppress(OSError):
            self.journal.unlink(missing_ok=True)

    def recover(self) -> None:
        """Take up the journal of an experiment that was killed. What is half-written is named in `damaged`."""
        for pattern in (".part-*", "../.plan.parquet-*", "../.manifest.json-*"):
            for path in self.results.glob(pattern):  # never renamed, as its writer was killed
                with contextlib.suppress(OSError):
                    path.unlink()
        self._rows = self.journal_rows()
        self.roll()
        self._drop_journal()

    def close(self) -> None:
        """Make a part of the rows in the journal, and let others in. Raises OutputError."""
        try:
            self.roll()
        finally:
            self.release()

    def release(self) -> None:
        """Let others in."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def journal_rows(self) -> list[Row]:
        """Return the whole rows of the journal."""
        try:
            lines = self.journal.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            self._name(self.journal, f"{error.strerror}")
            return []
        rows = [row for row in map(read_row, filter(None, lines)) if row is not None]
        lost = sum(1 for line in lines if line) - len(rows)
        if lost:
            self.damaged.append(f"{self.journal}: {lost} half-written line(s); those runs are done again")
        return rows

    def tables(self) -> list[pa.Table]:
        """Return what is in the parts and the journal; a part that cannot be read is named in `damaged`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = list(self._rows) or self.journal_rows()  # first: a row that goes into a part meanwhile is there twice
        found = []
        for path in self.parts():
            try:
                table = pq.ParquetFile(path).read()
                check_part(table)
                found.append(table)
            except (OSError, ValueError, pa.ArrowException) as error:
                text = str(error).split("\n")[0][:200].rstrip(".")
                self._name(path, f"{text}; its runs are missing until --resume does them again")
        return [*found, rows_to_arrow(rows)] if rows else found

    def _name(self, path: Path, why: str) -> None:
        if path not in self._broken:
            self.damaged.append(f"{path}: {why}")
            self._broken.append(path)

    def set_aside(self) -> None:
        """Rename what cannot be read, so that its runs are done again. Raises OutputError."""
        for path in dict.fromkeys(self._broken):
            try:
                path.replace(path.with_name(path.name + ".damaged"))
            except OSError as error:
                raise OutputError(f"cannot set {str(path)!r} aside: {error.strerror}; take it away by hand") from None
        self._broken = []


def finite(value: Any) -> Any:
    """Return nested plain values with null for what is no number: JSON has neither NaN nor infinity."""
    if isinstance(value, Mapping):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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


def locked(path: Path) -> IO[bytes] | None:
    """Return a file that is this process's alone until it is closed, or the process ends in whatever way.

    None where the system has no such locks. Raises InputError if another has it, OutputError if it cannot be made.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        file = path.open("ab")
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror}; choose another folder with --out") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise InputError(
            f"{str(path.parent.parent)!r} is being written by another experiment; wait until it ends, "
            f"or choose another folder with --out"
        ) from None
    except OSError:  # a file system without locks
        pass
    return file
