"""Files of arrays: a zip of `.npy` members and one of JSON, read with distrust.

Members are stored, not compressed, so what is read is never larger than the file, and nothing
in it is run: JSON is plain, and arrays of objects are refused. The same contents make the same
bytes. Whatever is wrong with a file that is read raises InputError.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from tocsin.errors import InputError, OutputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Shape = tuple[int | None, ...]
    Take = Callable[[str, Any, Shape], NDArray[Any]]
    """Give a member by name, dtype and shape (None: any length), or raise InputError."""

FACTS = "save.json"
MOST_FACTS = 16 << 20
"""Bytes of JSON that are read."""
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[A-Za-z?][0-9]{0,3})', 'fortran_order': False, "
    rb"'shape': \(((?:[0-9]{1,19}, ?)*(?:[0-9]{1,19})?)\), \} *\n"
)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write_archive(file: IO[bytes], facts: Mapping[str, Any], members: Mapping[str, NDArray[Any]]) -> None:
    """Write plain values and arrays. Raises OSError."""
    import numpy as np

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(FACTS, _LONG_AGO), json.dumps(facts, sort_keys=True, allow_nan=False))
        for name, values in members.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _LONG_AGO), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)


def write_whole(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Put a file in its place whole or not at all, on the disk before this returns.

    Raises OutputError; what was there before is then untouched.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {error.strerror or error}; choose another place or free some space"
        ) from None


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can. Raises OSError."""
    if hasattr(os, "O_DIRECTORY"):
        _sync(folder, os.O_RDONLY)


def sync_file(path: Path) -> None:
    """Bring a file to the disk. Raises OutputError."""
    try:
        _sync(path, os.O_RDWR)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _sync(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Archive:
    """An archive that is being read.

    Parameters
    ----------
    file : open for reading, at its start
    label : what to call it in errors

    Raises InputError unless it is a zip of stored members that fit into it.
    """

    def __init__(self, file: IO[bytes], label: str) -> None:
        self._label = label
        self._left: dict[str, zipfile.ZipInfo] = {}
        try:
            size = file.seek(0, os.SEEK_END)
            self._zip = zipfile.ZipFile(file)
            infos = self._zip.infolist()
        except Exception as error:  # zipfile raises a dozen kinds, none of them promised
            self._damaged(f"it is not a zip file ({error})")
        total = 0
        for info in infos:
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                self._damaged(f"{info.filename!r} is compressed; members are stored as they are")
            if info.filename in self._left:
                self._damaged(f"{info.filename!r} is there twice")
            total += info.file_size
            self._left[info.filename] = info
        if total > size:
            self._damaged(f"its members claim {total} bytes, the file has {size}")

    def facts(self) -> dict[str, Any]:
        """Return the plain values. Raises InputError."""
        if FACTS not in self._left:
            self._damaged(f"it has no {FACTS}")
        if self._left[FACTS].file_size > MOST_FACTS:
            self._damaged(f"{FACTS} is larger than {MOST_FACTS} bytes")
        try:
            found = json.loads(self._bytes(FACTS), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self._damaged(f"{FACTS}: {error}")
        if not isinstance(found, dict):
            self._damaged(f"{FACTS} is not a table")
        return found

    def take(self, name: str, dtype: Any, shape: Shape) -> NDArray[Any]:
        """Return one array, in memory of its own. Raises InputError if it is not of that kind."""
        import numpy as np

        member, wanted = f"{name}.npy", np.dtype(dtype)
        if member not in self._left:
            self._damaged(f"it has no {member}")
        raw = self._bytes(member)
        found, start = self._header(member, raw, wanted)
        fits = len(found) == len(shape) and all(w in (None, f) for w, f in zip(shape, found, strict=True))
        if not fits:
            self._damaged(f"{member} has shape {found}, not {_written(shape)}")
        n_bytes = wanted.itemsize
        for length in found:
            n_bytes *= length
        if n_bytes != len(raw) - start:
            self._damaged(f"{member} has {len(raw) - start} bytes of values, its shape needs {n_bytes}")
        try:
            values = np.frombuffer(raw, wanted, offset=start).reshape(found).copy()
        except (ValueError, OverflowError) as error:
            self._damaged(f"{member}: {error}")
        if wanted.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
            self._damaged(f"{member} has truth values that are neither 0 nor 1")
        return values

    def expect_no_more(self) -> None:
        """Check that nothing was left unread. Raises InputError."""
        if self._left:
            self._damaged(f"it has members that do not belong in it, such as {min(self._left)!r}")

    def _header(self, member: str, raw: bytes, wanted: Any) -> tuple[tuple[int, ...], int]:
        """Return shape and start of the values. Reads the header as NumPy writes it, and no other."""
        end = 10 + int.from_bytes(raw[8:10], "little")
        match = _HEADER.fullmatch(raw[10:end]) if raw[:8] == _MAGIC and len(raw) >= end else None
        if match is None:
            self._damaged(f"{member} is not a .npy file of the simplest kind")
        kind = match[1].decode()
        if kind != wanted.str:
            self._damaged(f"{member} holds {kind!r}, not {wanted.str!r}")
        return tuple(int(word) for word in match[2].split(b",") if word.strip()), end

    def _bytes(self, member: str) -> bytes:
        """Read a member whole; the zip's CRC-32 is checked on the way."""
        try:
            return self._zip.read(self._left.pop(member))
        except Exception as error:  # as above
            self._damaged(f"{member}: {error}")

    def _damaged(self, what: str) -> NoReturn:
        raise damaged(self._label, what)


def damaged(label: str, what: str) -> InputError:
    """Return the error for a file that does not hold what it should."""
    return InputError(f"{label} is not a whole save of a simulation: {what}"[:500] + ". Take an older one.")


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _written(shape: Shape) -> str:
    return f"({', '.join('any' if n is None else str(n) for n in shape)})"
