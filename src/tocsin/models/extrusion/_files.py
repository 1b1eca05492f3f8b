"""Text files in and out: read whole, name every failure; write whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tocsin.errors import InputError, OutputError

StrPath = str | os.PathLike[str]

_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bgz": gzip.decompress,
    ".xz": lzma.decompress,
}
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7": ".xz"}


def packing_suffix(path: Path) -> str:
    """`.gz`, `.bgz` or `.xz` where the name ends so (any case), else ''."""
    suffix = path.suffix.lower()
    return suffix if suffix in _UNPACK else ""


def read_lines(path: StrPath) -> list[str]:
    """The lines of a UTF-8 text file, without line ends; line 1 is item 0.

    Plain, `.gz`/`.bgz` or `.xz` by suffix. A byte order mark is dropped; LF, CRLF and
    CR all end a line.

    Raises
    ------
    InputError
        The file is missing, unreadable, truncated, corrupt, or not text.
    """
    path = Path(path)
    text = _decode(path, _unpack(path, _read_bytes(path)))
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as err:  # ValueError: a NUL in the name
        why = getattr(err, "strerror", None) or str(err)
        raise InputError(f"cannot read {str(path)!r}: {why}; check the path and its permissions") from err


def _unpack(path: Path, raw: bytes) -> bytes:
    suffix = packing_suffix(path)
    if not suffix:
        return raw
    try:
        return _UNPACK[suffix](raw)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as err:
        raise InputError(
            f"{path.name}: not a complete {suffix} file ({err}); it may be truncated: "
            "fetch or compress it again, or rename it if it is not compressed"
        ) from err


def _decode(path: Path, raw: bytes) -> str:
    for magic, suffix in _MAGIC.items():
        if raw.startswith(magic):
            raise InputError(f"{path.name}: holds compressed data; let its name end in {suffix}, or unpack it first")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        number = raw.count(b"\n", 0, err.start) + 1
        raise InputError(
            f"{path.name}, line {number}: byte {raw[err.start]:#04x} is not UTF-8; "
            "is this a binary file? Save it as plain UTF-8 text"
        ) from err
    if "\0" in text:
        number = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(
            f"{path.name}, line {number}: a NUL byte: this is a binary or UTF-16 file; save it as plain UTF-8 text"
        )
    return text


def write_text(path: StrPath, text: str) -> Path:
    """Write `text` to `path`; see `write_bytes`. Compressed if `.gz`, `.bgz` or `.xz`.

    The bytes depend on the text alone (no time stamp inside a `.gz`).
    """
    raw, suffix = text.encode("utf-8"), packing_suffix(Path(path))
    if suffix == ".xz":
        raw = lzma.compress(raw)
    elif suffix:
        raw = gzip.compress(raw, mtime=0)
    return write_bytes(path, raw)


def write_bytes(path: StrPath, raw: bytes) -> Path:
    """Write `raw` to `path`, whole or not at all, and return the path.

    A temporary file beside the target is written, then renamed over it: a reader sees
    the old file or the new one. A symbolic link is followed.

    Raises
    ------
    OutputError
        The folder is missing, the target is not a plain file, or the write failed.
    """
    path = Path(path)
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OutputError(f"cannot write {str(path)!r}: it is not a plain file")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {str(path)!r}: there is no folder {str(target.parent)!r}; make it first")
    try:
        _replace(target, raw)
    except OSError as err:
        raise OutputError(
            f"cannot write {str(path)!r}: {err.strerror}; choose a folder that you may write to, with room on the disk"
        ) from err
    return path


def _replace(target: Path, raw: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=".tocsin-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, else the usual new file's."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)  # the only way to read it is to set it
    os.umask(mask)
    return 0o666 & ~mask
