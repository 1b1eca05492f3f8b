"""Tracks and loops averaged over states: bigWig, and BEDPE with the frequency of each loop."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.models.extrusion.analysis.bins import Bins
from tocsin.models.extrusion.analysis.contacts import legs_of
from tocsin.models.extrusion.analysis.files import replaced, require
from tocsin.models.extrusion.loops import check_loops, check_resolution
from tocsin.models.extrusion.report import write_bedpe


@dataclass(eq=False)
class LoopTally:
    """How often each pair of sites was held together, over many states.

    Memory is an entry a distinct pair: few for loops with both legs captured, which stand on CTCF
    sites; many for all loops of a long run.
    """

    n_states: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._seen: Counter[tuple[int, int]] = Counter()

    def add(self, left_sites: ArrayLike, right_sites: ArrayLike) -> None:
        """Add the loops of one state. Raises InputError as `check_loops`."""
        left, right = check_loops(left_sites, right_sites)
        self._seen.update(set(zip(left.tolist(), right.tolist(), strict=True)))
        self.n_states += 1

    def add_world(self, world: Any, *, is_captured: bool = True) -> None:
        """Add the loops of an extrusion world: those with both legs captured, or all."""
        left, right = legs_of(world, is_captured=is_captured)
        self.add(left, right)

    def frequencies(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Left site, right site and share of the states of each pair, in order of site."""
        pairs = np.array(sorted(self._seen), np.int64).reshape(-1, 2)
        count = np.array([self._seen[a, b] for a, b in pairs.tolist()], np.float64)
        return pairs[:, 0], pairs[:, 1], count / max(1, self.n_states)

    def write(
        self, path: StrPath, *, chrom: str, start: int = 0, resolution: int = 1000, end: int | None = None,
        min_frequency: float = 0.0,
    ) -> Path:  # fmt: skip
        """Write the loops as BEDPE, the score their frequency, 0..1.

        Parameters are those of `write_bedpe`; loops rarer than `min_frequency` are left out.
        Raises InputError and OutputError as it does.
        """
        left, right, frequency = self.frequencies()
        kept = frequency >= min_frequency
        names = [f"loop{i}" for i in range(int(kept.sum()))]
        return write_bedpe(
            path, left[kept], right[kept], chrom=chrom, start=start, resolution=resolution, end=end,
            names=names, scores=frequency[kept],
        )  # fmt: skip


def write_bin_track(path: StrPath, values: ArrayLike, bins: Bins) -> Path:
    """Write one value a bin as bedGraph; NaN is left out. Raises InputError, OutputError."""
    value, edge = np.asarray(values, np.float64), bins.edges.tolist()
    if value.shape != (bins.n_bins,):
        raise InputError(f"values must be one a bin, {bins.n_bins}, got shape {value.shape}")
    lines = [
        f"{bins.chrom}\t{edge[i]}\t{edge[i + 1]}\t{float(value[i])!r}\n" for i in np.flatnonzero(np.isfinite(value))
    ]
    return write_text(path, "".join(lines))


def write_bigwig(
    path: StrPath, values: ArrayLike, *, chrom: str, start: int = 0, resolution: int = 1000,
    end: int | None = None, chrom_bp: int | None = None,
) -> Path:  # fmt: skip
    """Write one value a lattice site, or a bin, as bigWig; equal neighbours share an entry.

    Parameters
    ----------
    values : float, shape (n,); NaN where there is none. The format keeps 32 bits of each.
    chrom, start, resolution, end : as in `write_bedgraph`
    chrom_bp : length of the chromosome, bp; where the values end by default

    Raises
    ------
    InputError
        The library pyBigWig is missing, or a number is out of its range.
    OutputError
        The file cannot be written.
    """
    pybigwig = require("pyBigWig")
    value = np.asarray(values, np.float64)
    if value.ndim != 1 or not np.isfinite(value).any() or np.isinf(value).any():
        raise InputError("values must be one-dimensional numbers, not infinite, and not all NaN")
    wide, last = check_resolution(resolution), start + len(value) * check_resolution(resolution)
    last = last if end is None else min(last, end)
    length = last if chrom_bp is None else chrom_bp
    if length < last or start < 0 or start + (len(value) - 1) * wide >= last:
        raise InputError(
            f"values reach from {start} to {last} bp, and the chromosome has {length}; check start and end"
        )
    same = (value[1:] == value[:-1]) | (np.isnan(value[1:]) & np.isnan(value[:-1]))
    first = np.flatnonzero(np.append(True, ~same))
    stop = np.minimum(start + np.append(first[1:], len(value)) * wide, last)
    is_there = np.isfinite(value[first])
    with replaced(path) as temporary:
        file = pybigwig.open(str(temporary), "w")
        file.addHeader([(chrom, int(length))])
        starts, ends = (start + first * wide)[is_there], stop[is_there]
        file.addEntries(
            [chrom] * len(starts), starts.tolist(), ends=ends.tolist(), values=value[first][is_there].tolist()
        )
        file.close()
    return Path(path)
