"""The loops of one state: checked leg sites, and their sizes in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError


@dataclass(frozen=True)
class LoopSummary:
    """Sizes of the loops of one state, kb: (right - left) resolution / 1000."""

    n_loops: int
    mean_kb: float
    median_kb: float
    sd_kb: float  # of the population: divisor n_loops
    shortest_kb: float
    longest_kb: float
    quantiles_kb: dict[float, float]  # level to size; linear between order statistics

    def to_dict(self) -> dict[str, object]:
        """Plain numbers, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        levels = sorted(self.quantiles_kb.items())
        parts = [f"{100 * level:g} %: {kb:,.1f}" for level, kb in levels]
        return (
            f"{self.n_loops:,} loops, mean {self.mean_kb:,.1f} kb, median {self.median_kb:,.1f} kb ({', '.join(parts)})"
        )


def summarise_loops(
    left_sites: ArrayLike,
    right_sites: ArrayLike,
    *,
    resolution: int = 1000,
    quantiles: Sequence[float] = (0.05, 0.25, 0.75, 0.95),
) -> LoopSummary:
    """Loop sizes of one state in numbers.

    Parameters
    ----------
    left_sites, right_sites : int, shape (n_loops,)
        Lattice sites of the two legs of each LEF, left <= right; at least one LEF.
    resolution : int
        Length of a lattice site, bp, > 0.
    quantiles : sequence of float
        Levels in 0..1.

    Raises
    ------
    InputError
        The arrays differ in length, are empty or cross, or a level is outside 0..1.
    """
    left, right = check_loops(left_sites, right_sites)
    if not len(left):
        raise InputError("no loop to summarise: the arrays of sites are empty")
    levels = [float(level) for level in quantiles]
    if not all(0.0 <= level <= 1.0 for level in levels):
        raise InputError(f"quantiles must be in 0..1, got {list(quantiles)}")
    size = (right - left) * (check_resolution(resolution) / 1000.0)
    found = np.quantile(size, levels).tolist()
    return LoopSummary(
        n_loops=len(size),
        mean_kb=float(size.mean()),
        median_kb=float(np.median(size)),
        sd_kb=float(size.std()),
        shortest_kb=float(size.min()),
        longest_kb=float(size.max()),
        quantiles_kb=dict(zip(levels, found, strict=True)),
    )


def check_loops(left_sites: ArrayLike, right_sites: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both legs' sites as int64, shape (n_loops,).

    Raises
    ------
    InputError
        Not whole numbers, not 1-D, of two lengths, negative, or left > right.
    """
    left, right = _whole("left_sites", left_sites), _whole("right_sites", right_sites)
    if len(left) != len(right):
        raise InputError(f"left_sites and right_sites must have one length, got {len(left)} and {len(right)}")
    crossed = np.flatnonzero((left > right) | (left < 0))
    if len(crossed):
        i = int(crossed[0])
        raise InputError(f"loop {i} must have 0 <= left <= right, got {left[i]} and {right[i]}")
    return left, right


def check_resolution(resolution: int) -> int:
    """`resolution` as an int, or `InputError`: a whole number of bp, > 0."""
    if not (isinstance(resolution, int | np.integer) and resolution > 0):
        raise InputError(f"resolution must be a whole number of bp a site, > 0, got {resolution!r}")
    return int(resolution)


def _whole(name: str, values: ArrayLike) -> NDArray[np.int64]:
    try:
        array = np.asarray(values)
    except ValueError as err:  # ragged
        raise InputError(f"{name} must be whole numbers: {err}") from err
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"{name} must be a one-dimensional array of whole numbers, got shape {array.shape} of {array.dtype}"
        )
    return array.astype(np.int64)
