"""How loops lie in each other: the tree of loops, the backbone, stacks, coverage.

A loop's parent is the smallest loop that contains it; loops without one are roots, and what no
loop covers is the backbone (Goloborodko, Marko, Mirny 2016, doi:10.1016/j.bpj.2016.02.041). Two
loops that overlap with neither inside the other are crossed (LEFs that pass each other make them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.models.extrusion.analysis.contacts import legs_of
from tocsin.models.extrusion.loops import check_loops

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LoopTree:
    """The loops of one state as a forest; arrays of shape (n_loops,), in the order given.

    Attributes
    ----------
    parent : int64
        The smallest loop around each, -1 for roots.
    depth : int64
        How many loops are on the way up to the root, 0 for roots.
    n_children : int64
    is_stacked : bool
        Both feet stand right inside its parent's: two LEFs hold one loop.
    n_crossed : int
        Pairs of crossed loops.
    backbone : float
        Fraction of the lattice's bonds (between neighbouring sites) that no loop covers.
    """

    parent: Ints
    depth: Ints
    n_children: Ints
    is_stacked: NDArray[np.bool_]
    n_crossed: int
    backbone: float

    @property
    def n_loops(self) -> int:
        """How many loops."""
        return len(self.parent)

    @property
    def n_roots(self) -> int:
        """How many lie in no other."""
        return int((self.parent < 0).sum())

    @property
    def n_nested(self) -> int:
        """Pairs of loops with one inside the other, at any depth (of crossed loops: by parents)."""
        return int(self.depth.sum())


def nest(n_sites: int, left_sites: ArrayLike, right_sites: ArrayLike) -> LoopTree:
    """The tree of loops of one state; O(n log n + n depth).

    Of two LEFs with the same feet the first is the parent.

    Parameters
    ----------
    n_sites : length of the lattice
    left_sites, right_sites : int, shape (n_loops,); feet, left <= right < n_sites

    Raises
    ------
    InputError
        Sites off the lattice, or left > right.
    """
    left, right = check_loops(left_sites, right_sites)
    if len(right) and right.max() >= n_sites:
        raise InputError(f"right_sites must be < n_sites, {n_sites}, got {right.max()}")
    parent, depth, n_crossed = _tree(left, right)
    inner = np.flatnonzero(parent >= 0)
    outer = parent[inner]
    is_stacked = np.zeros(len(left), bool)
    is_stacked[inner] = (left[inner] - left[outer] <= 1) & (right[outer] - right[inner] <= 1)
    n_children = np.bincount(outer, minlength=len(left)).astype(np.int64)
    bare = (coverage(n_sites, left, right) == 0).mean() if n_sites > 1 else 1.0
    return LoopTree(parent, depth, n_children, is_stacked, n_crossed, float(bare))


def coverage(n_sites: int, left_sites: ArrayLike, right_sites: ArrayLike) -> Ints:
    """How many loops cover each bond between sites i and i + 1; int64, shape (n_sites - 1,)."""
    left, right = check_loops(left_sites, right_sites)
    change = np.bincount(left, minlength=n_sites) - np.bincount(right, minlength=n_sites)
    return np.cumsum(change)[:-1].astype(np.int64)


def _tree(left: Ints, right: Ints) -> tuple[Ints, Ints, int]:
    """Parents, depths and the number of crossed pairs: one pass with the list of open loops."""
    parent, depth = np.full(len(left), -1), np.zeros(len(left), np.int64)
    a, b = left.tolist(), right.tolist()
    open_loops: list[int] = []
    n_crossed = 0
    for i in np.lexsort((-right, left)).tolist():
        open_loops = [j for j in open_loops if b[j] >= a[i]]
        around = [j for j in open_loops if b[j] >= b[i]]
        n_crossed += sum(a[j] < a[i] < b[j] < b[i] for j in open_loops)
        if around:
            parent[i] = min(reversed(around), key=lambda j: b[j] - a[j])
            depth[i] = depth[parent[i]] + 1
        open_loops.append(i)
    return parent, depth, n_crossed


@dataclass(eq=False)
class NestingTally:
    """Nesting and coverage over many states, in bounded memory.

    Attributes
    ----------
    n_sites : int
    covered : int64, shape (n_sites - 1,)
        Sum over the states of how many loops cover each bond.
    by_depth : int64
        Loops by depth, summed over the states.
    """

    n_sites: int
    n_states: int = field(default=0, init=False)
    covered: Ints = field(init=False, repr=False)
    by_depth: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.covered = np.zeros(max(0, self.n_sites - 1), np.int64)
        self.by_depth = np.zeros(1, np.int64)
        self._sums = dict.fromkeys(_COLUMNS, 0.0)

    def add(self, left_sites: ArrayLike, right_sites: ArrayLike) -> None:
        """Add one state. Raises InputError as `nest`."""
        tree = nest(self.n_sites, left_sites, right_sites)
        now = np.bincount(tree.depth, minlength=len(self.by_depth))
        now[: len(self.by_depth)] += self.by_depth
        self.by_depth = now.astype(np.int64)
        self.covered += coverage(self.n_sites, left_sites, right_sites)
        for name in _COLUMNS:
            self._sums[name] += float(_COLUMNS[name](tree))
        self.n_states += 1

    def add_world(self, world: Any) -> None:
        """Add the state of an extrusion world."""
        self.add(*legs_of(world))

    def means(self) -> Mapping[str, float]:
        """Means over the states: loops, roots, nested and crossed pairs, stacked, depth, backbone.

        Raises InputError if no state was added.
        """
        if self.n_states == 0:
            raise InputError("the tally has no state yet: add one")
        found = {name: total / self.n_states for name, total in self._sums.items()}
        n = max(1, int(self.by_depth.sum()))
        return {**found, "mean_depth": float(self.by_depth @ np.arange(len(self.by_depth))) / n}

    def mean_coverage(self) -> NDArray[np.float64]:
        """Mean number of loops over each site, float64, shape (n_sites,): the mean of its bonds."""
        bonds = np.concatenate([self.covered[:1], self.covered, self.covered[-1:]]) / max(1, self.n_states)
        found: NDArray[np.float64] = (bonds[1:] + bonds[:-1]) / 2.0
        return found if self.n_sites > 1 else np.zeros(self.n_sites)


_COLUMNS: dict[str, Any] = {
    "loops": lambda tree: tree.n_loops,
    "roots": lambda tree: tree.n_roots,
    "nested_pairs": lambda tree: tree.n_nested,
    "crossed_pairs": lambda tree: tree.n_crossed,
    "stacked": lambda tree: int(tree.is_stacked.sum()),
    "backbone_fraction": lambda tree: tree.backbone,
}


def write_nesting(path: StrPath, tally: NestingTally) -> None:
    """Write means over the states, then loops by depth: what, value. Raises OutputError, InputError."""
    rows = [("states", float(tally.n_states)), *tally.means().items()]
    rows += [(f"loops_at_depth_{d}", n / tally.n_states) for d, n in enumerate(tally.by_depth.tolist())]
    write_text(path, "what\tvalue\n" + "".join(f"{name}\t{value:.10g}\n" for name, value in rows))
