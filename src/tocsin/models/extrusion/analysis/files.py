"""Contact maps in files: cooler `.cool`, a table of pixels, `.npz`; written whole or not at all.

Bins are numbered on the genome's grid, from 0 at the start of the chromosome. Values are the
average state's (`ContactMap.band`); pixels that are 0 or have no pair are left out.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError, OutputError
from tocsin.models.extrusion._files import StrPath, read_lines, write_bytes, write_text
from tocsin.models.extrusion.analysis.bins import Bins, make_bins
from tocsin.models.extrusion.analysis.contacts import ContactMap
from tocsin.models.extrusion.analysis.distances import check_count

_ROWS = 256  # bins of one chunk
_MOST_PAIRS = 2**30  # 8 GiB
_SETTINGS = ("kind", "sites_per_bin", "hop_length", "exponent", "is_ring")


def save_cool(
    path: StrPath,
    contacts: ContactMap | Sequence[ContactMap],
    *,
    chrom_bp: int | Mapping[str, int] | None = None,
    assembly: str | None = None,
) -> Path:
    """Write a `.cool`; the library cooler reads it, and with it HiGlass, cooltools.

    Parameters
    ----------
    path : path
    contacts : ContactMap of at least one state, or one for each of several chromosomes, with
        bins of one length
    chrom_bp : length of the chromosome, bp, or of each by name; where the bins end by default
    assembly : such as hg38

    Raises
    ------
    InputError
        The library cooler is missing, a map is empty, bins differ, or chrom_bp cuts a map.
    OutputError
        The file cannot be written.
    """
    cooler, pandas = require("cooler"), require("pandas")
    maps = [contacts] if isinstance(contacts, ContactMap) else list(contacts)
    if len({one.bins.bin_bp for one in maps}) != 1 or len({one.bins.chrom for one in maps}) != len(maps):
        raise InputError("give one map a chromosome, all with bins of one length")
    known = dict.fromkeys((one.bins.chrom for one in maps), chrom_bp) if isinstance(chrom_bp, int) else chrom_bp
    tables = [_bin_table(one.bins, (known or {}).get(one.bins.chrom)) for one in maps]
    offsets = np.cumsum([0, *(len(table["start"]) for table in tables)])
    bins = pandas.concat([pandas.DataFrame(table) for table in tables], ignore_index=True)
    chunks = (chunk for one, offset in zip(maps, offsets, strict=False) for chunk in _pixels(one, int(offset)))
    frames = (pandas.DataFrame(dict(zip(("bin1_id", "bin2_id", "count"), chunk, strict=True))) for chunk in chunks)
    with replaced(path) as temporary:
        cooler.create_cooler(
            str(temporary), bins, frames, dtypes={"count": np.float64}, ordered=True, assembly=assembly,
            metadata={"tocsin": [_facts(one) for one in maps]},
        )  # fmt: skip
    return Path(path)


def load_cool(path: StrPath, *, region: str | None = None, balance: bool = False) -> ContactMap:
    """Read a `.cool`: a chromosome of one of Tocsin's as it was, or a region of any.

    Parameters
    ----------
    path : path, or a cooler address such as map.mcool::/resolutions/10000
    region : chromosome or part of it; needed where the file has several chromosomes
    balance : use the balanced values of a Hi-C map, if it has them

    Raises
    ------
    InputError
        The library cooler is missing, the file is not a cooler, or lacks the region or weights.
    """
    cooler = require("cooler")
    with _readable(path, "a cooler"):
        file = cooler.Cooler(str(path))
        where = region or _only(file.chromnames)
        low, high = file.extent(where)
        pixels = file.matrix(balance=balance, as_pixels=True, join=False).fetch(where)
        value = pixels["balanced" if balance else "count"].to_numpy(np.float64)
        first, second = pixels["bin1_id"].to_numpy() - low, pixels["bin2_id"].to_numpy() - low
        own = file.info.get("metadata")
        for facts in own.get("tocsin", []) if isinstance(own, dict) else []:
            if facts["chrom"] == where:
                return _restored(facts, first, second, value)
        bins = _bins_of_table(str(where).partition(":")[0], file.binsize, file.bins()[low:high])
        band = _banded(bins.n_bins, bins.n_bins, first, second, value)
        return ContactMap.from_band(bins, band, kind="counts")


def write_pixels(path: StrPath, contacts: ContactMap) -> Path:
    """Write the pixels as a table: bin1, bin2, count, tabs between; packed if `.gz` or `.xz`.

    A first line, after `#`, says in JSON what the bins are. Numbers read back to the same bits.
    Raises OutputError; InputError for a map without a state.
    """
    lines = [f"# {json.dumps(_facts(contacts))}\nbin1\tbin2\tcount\n"]
    for first, second, value in _pixels(contacts):
        rows = zip(first.tolist(), second.tolist(), value.tolist(), strict=True)
        lines.append("".join(f"{a}\t{b}\t{v!r}\n" for a, b, v in rows))
    return write_text(path, "".join(lines))


def read_pixels(path: StrPath) -> ContactMap:
    """Read what `write_pixels` wrote. Raises InputError naming the line that is not as expected."""
    name, lines = Path(path).name, read_lines(path)
    if len(lines) < 2 or not lines[0].startswith("# {") or lines[1] != "bin1\tbin2\tcount":
        raise InputError(f"{name}: not a table of pixels by write_pixels: the first two lines are not its header")
    rows = []
    for number, text in enumerate(lines[2:], 3):
        try:
            if text:
                first, second, value = text.split("\t")
                rows.append((int(first), int(second), float(value)))
        except ValueError:
            raise InputError(f"{name}, line {number}: expected bin1, bin2, count, got {text[:100]!r}") from None
    with _readable(path, "a table of pixels"):
        table = np.array(rows, np.float64).reshape(-1, 3)
        first_bins, second_bins = table[:, :2].astype(np.int64).T
        return _restored(json.loads(lines[0][2:]), first_bins, second_bins, table[:, 2])


def save_npz(path: StrPath, contacts: ContactMap) -> Path:
    """Write the sums themselves, to go on adding later. Raises OutputError."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, total=contacts.total, facts=np.array(json.dumps(_facts(contacts))))
    return write_bytes(path, buffer.getvalue())


def load_npz(path: StrPath) -> ContactMap:
    """Read what `save_npz` wrote, to the same bits. Raises InputError if it is not such a file."""
    none = np.zeros(0, np.int64)
    with _readable(path, "a file written by save_npz"), np.load(path, allow_pickle=False) as file:
        found = _restored(json.loads(str(file["facts"])), none, none, np.zeros(0))
        total = file["total"]
        if total.shape != found.total.shape or total.dtype != np.float64:
            raise InputError(f"its sums have shape {total.shape}, expected {found.total.shape}")
        found.total = total
        return found


def require(name: str) -> Any:
    """Import an optional library, or raise an InputError that says how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"this needs {name}, which is not installed; run: pip install 'tocsin[hic]'") from error


@contextlib.contextmanager
def replaced(path: StrPath) -> Iterator[Path]:
    """A temporary file beside `path`, renamed over it at the end; OutputError if anything fails."""
    target = Path(os.path.realpath(path))
    if target.is_dir() or not target.parent.is_dir():
        raise OutputError(
            f"cannot write {str(path)!r}: there is no folder {str(target.parent)!r}, or it is a folder itself"
        )
    folder = None
    try:
        folder = tempfile.TemporaryDirectory(dir=target.parent, prefix=".tocsin-")
        temporary = Path(folder.name) / target.name
        yield temporary
        os.replace(temporary, target)
    except (OSError, RuntimeError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {error}; choose a folder that you may write to") from error
    finally:
        if folder is not None:
            folder.cleanup()


def _bin_table(bins: Bins, length: int | None) -> dict[str, Any]:
    """The bins of a whole chromosome: chrom, start, end."""
    last = int(bins.edges[-1])
    if length is not None and length < last:
        raise InputError(f"chrom_bp must be at least {last}, where the map of {bins.chrom} ends, got {length}")
    start = np.arange(0, length or last, bins.bin_bp)
    return {"chrom": bins.chrom, "start": start, "end": np.minimum(start + bins.bin_bp, length or last)}


def _pixels(
    contacts: ContactMap, offset: int = 0
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """bin1, bin2 and value of the pixels that are not 0, by rows, upper triangle; bin 0 is `offset`."""
    band, first = contacts.band(), contacts.bins.first + offset
    for low in range(0, len(band), _ROWS):
        rows = band[low : low + _ROWS]
        i, k = np.nonzero(np.nan_to_num(rows))
        yield first + low + i, first + low + i + k, rows[i, k]


def _facts(contacts: ContactMap) -> dict[str, Any]:
    return {**contacts.settings(), "n_states": contacts.n_states}


@contextlib.contextmanager
def _readable(path: StrPath, what: str) -> Iterator[None]:
    """Turn whatever a reader raises on a broken file into an InputError that names the file."""
    try:
        yield
    except Exception as error:
        raise InputError(f"cannot read {str(path)!r} as {what}: {error or type(error).__name__}") from error


def _restored(facts: dict[str, Any], first: Any, second: Any, value: Any) -> ContactMap:
    """The map of Tocsin's own header and pixels. Raises InputError if they do not fit."""
    bins = Bins(**{name: facts[name] for name in Bins.__dataclass_fields__})
    whole = make_bins(bins.chrom, bins.start, bins.end, resolution=bins.resolution, bin_bp=bins.bin_bp)
    width, n_states = check_count("width", facts["width"], 1), check_count("n_states", facts["n_states"], 1)
    n_bins, low = check_count("n_bins", bins.n_bins, 1), check_count("first", bins.first, whole.first)
    if low + n_bins > whole.first + whole.n_bins or width > n_bins or n_bins * width > _MOST_PAIRS:
        raise InputError("the bins of its header do not fit its lattice")
    band = _banded(n_bins, width, first - low, second - low, value)
    return ContactMap.from_band(bins, band, n_states, **{name: facts[name] for name in _SETTINGS})


def _banded(n_bins: int, width: int, first: Any, second: Any, value: Any) -> NDArray[np.float64]:
    i, k = np.asarray(first, np.int64), np.asarray(second, np.int64) - np.asarray(first, np.int64)
    band = np.zeros((n_bins, width))
    if len(i) and (i.min() < 0 or k.min() < 0):
        raise IndexError("a bin lies outside the map, or bin1 > bin2")
    if not np.isfinite(value[value == value]).all():
        raise ValueError("a count is infinite")
    band[i, k] = value
    return band


def _only(names: list[str]) -> str:
    if len(names) != 1:
        raise InputError(f"name a region: the file has {len(names)} chromosomes, {', '.join(names[:5])}, ...")
    return names[0]


def _bins_of_table(chrom: str, bin_bp: int | None, table: Any) -> Bins:
    if bin_bp is None:
        raise InputError("the file's bins differ in length; take a map with equal bins")
    start, end = int(table["start"].iloc[0]), int(table["end"].iloc[-1])
    return Bins(chrom, start, end, int(bin_bp), int(bin_bp), start // int(bin_bp), len(table))
