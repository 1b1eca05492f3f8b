"""How far apart two sites are once loops bring their feet together: shortest paths.

A path walks the lattice, `step_length` a site, and hops from one foot of a LEF to the other,
`hop_length` a LEF; of LEFs side by side (the right foot of one next to the left foot of the
other) a chain is hopped without paying for the junctions. Lengths are whole numbers, so
distances are exact. These are the effective distances of the lefsim engine, version 0.1.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion.loops import check_loops

Ints = NDArray[np.int64]
_MOST = 2**53  # no distance exceeds it, so that sums of two stay far from the int64 limit


class LoopGraph:
    """The lattice with its loops as a graph; loops may be nested, disjoint or crossed.

    Parameters
    ----------
    n_sites : length of the lattice, >= 1
    left_sites, right_sites : int, shape (n_loops,); feet of the loops, left <= right < n_sites;
        on a ring left > right is a loop over the first site
    step_length : length of one step along the lattice, >= 1
    hop_length : length of a hop over a LEF, >= 0
    is_ring : whether the last site is next to the first

    Raises InputError for arrays or lengths that break these rules.
    """

    def __init__(
        self, n_sites: int, left_sites: ArrayLike, right_sites: ArrayLike,
        *, step_length: int = 1, hop_length: int = 1, is_ring: bool = False,
    ) -> None:  # fmt: skip
        self.n_sites = check_count("n_sites", n_sites, 1)
        self.step_length = check_count("step_length", step_length, 1)
        self.hop_length = check_count("hop_length", hop_length, 0)
        left, right = check_feet(self.n_sites, left_sites, right_sites, is_ring=is_ring)
        if self.step_length * self.n_sites > _MOST or self.hop_length * (len(left) + 1) > _MOST:
            raise InputError("step_length or hop_length is too large: distances must stay below 2**53")
        stop: Ints = np.unique(np.concatenate([left, right, [0, self.n_sites - 1]]))
        if len(stop) == 1:
            stop = np.array([0, 1])  # one site: a stretch needs two ends
        gap = np.diff(stop, prepend=stop[0] - 1)
        if not is_ring:
            gap[0] = -1
        self._stop: Ints = stop
        self._between: Ints | None = None
        feet = (_by_stop(stop, left, right), _by_stop(stop, right, left))
        self._graph = (stop, gap, self.step_length, self.hop_length, *feet)

    def graph(self) -> tuple[Any, ...]:
        """The graph as the compiled functions of `_shortest` take it."""
        return self._graph

    def effective_distance(self, a: int, b: int) -> int:
        """The length of a shortest path between two sites. Raises InputError off the lattice."""
        return int(self.effective_distances([a], [b])[0, 0])

    def effective_distances(self, sites: ArrayLike, targets: ArrayLike | None = None) -> Ints:
        """Lengths of shortest paths between sites; O(stops^2 + pairs), the first part once.

        Parameters
        ----------
        sites : int, shape (n,)
        targets : int, shape (m,), optional

        Returns
        -------
        int64, shape (n, m): each of `sites` to each of `targets`; without targets, shape
        (n (n - 1) / 2,): every pair of `sites` in the order of SciPy's `pdist`, which
        `squareform` makes a matrix.

        Raises
        ------
        InputError
            Not whole numbers, or a site off the lattice.
        """
        rows = self._sites("sites", sites)
        if targets is not None:
            return self._rectangle(rows, self._sites("targets", targets))
        i, j = np.triu_indices(len(rows), 1)
        return self._rectangle(rows, rows)[i, j]

    def _rectangle(self, a: Ints, b: Ints) -> Ints:
        between = self._between_stops()
        low_a, low_b = self._stretch(a), self._stretch(b)
        direct = np.abs(a[:, None] - b) * self.step_length
        found: Ints = np.where(low_a[:, None] == low_b, direct, np.iinfo(np.int64).max)
        for stop_a in (low_a, low_a + 1):
            for stop_b in (low_b, low_b + 1):
                ends = self._walk(a, stop_a)[:, None] + self._walk(b, stop_b)
                np.minimum(found, ends + between[np.ix_(stop_a, stop_b)], out=found)
        return found

    def _stretch(self, sites: Ints) -> Ints:
        """The stop at or before each site that is not the last one."""
        k = np.searchsorted(self._stop, sites, side="right") - 1
        return np.minimum(k, len(self._stop) - 2).astype(np.int64)

    def _walk(self, sites: Ints, stops: Ints) -> Ints:
        found: Ints = np.abs(sites - self._stop[stops]) * self.step_length
        return found

    def _between_stops(self) -> Ints:
        if self._between is None:
            from tocsin.models.extrusion.analysis._shortest import all_stops

            self._between = all_stops(self._graph)
        return self._between

    def _sites(self, name: str, given: ArrayLike) -> Ints:
        array = np.asarray(given)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InputError(f"{name} must be one-dimensional whole numbers, got shape {array.shape} of {array.dtype}")
        bad = array[(array < 0) | (array >= self.n_sites)]
        if len(bad):
            raise InputError(f"{name} must be on the lattice, 0..{self.n_sites - 1}, got {bad[0]}")
        return array.astype(np.int64)


def check_count(name: str, number: Any, least: int) -> int:
    """`number` as an int, or `InputError`: a whole number >= `least`."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise InputError(f"{name} must be a whole number >= {least}, got {number!r}")
    return int(number)


def check_feet(
    n_sites: int, left_sites: ArrayLike, right_sites: ArrayLike, *, is_ring: bool = False
) -> tuple[Ints, Ints]:
    """Both feet of each loop, int64, shape (n_loops,); InputError off the lattice, or if they cross."""
    if is_ring:
        left, right = np.asarray(left_sites), np.asarray(right_sites)
        over_origin = (left > right) if left.shape == right.shape else np.zeros(left.shape, bool)
        low, high = check_loops(np.where(over_origin, right, left), np.where(over_origin, left, right))
        left, right = np.where(over_origin, high, low), np.where(over_origin, low, high)
    else:
        left, right = low, high = check_loops(left_sites, right_sites)
    if len(high) and high.max() >= n_sites:
        raise InputError(f"right_sites must be < n_sites, {n_sites}, got {high.max()}")
    return left, right


def _by_stop(stop: Ints, site: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """CSR of the LEFs by the stop of one foot: start of each stop, its LEFs, stops of their other feet."""
    lef = np.argsort(site, kind="stable").astype(np.int64)
    start = np.searchsorted(site[lef], np.append(stop, stop[-1] + 1)).astype(np.int64)
    return start, lef, np.searchsorted(stop, other[lef]).astype(np.int64)
