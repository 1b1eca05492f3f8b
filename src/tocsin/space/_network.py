"""`Network`: who is joined to whom, in compressed rows; and worlds that hold one.

Row i of `neighbours` is `neighbours[first[i] : first[i + 1]]`, in ascending order: the order in which
a model visits them is defined by the network alone. Memory: 8 bytes a node and 4 an entry, 8 more
with weights; an edge without direction is two entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tocsin.errors import InputError
from tocsin.schema import Array, World, float64, int32, int64

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MOST_NODES = 2**31 - 1
Repeated = Literal["error", "sum", "keep"]


@dataclass(frozen=True, eq=False)
class Network:
    """A graph of nodes 0 .. n - 1 in compressed sparse rows.

    Attributes
    ----------
    first : shape (n + 1,), int64: row i is entries first[i] .. first[i + 1] - 1
    neighbours : shape (n_entries,), int32: ascending in each row
    weights : shape (n_entries,), float64, or empty: every weight is 1
    edges : shape (n_entries,), int64: the edge of each entry, as numbered in the list it was made
        from; empty unless `keep_edges` was asked
    is_directed : whether row i holds only the targets of edges from i
    """

    first: NDArray[Any]
    neighbours: NDArray[Any]
    weights: NDArray[Any]
    edges: NDArray[Any]
    is_directed: bool = False

    @classmethod
    def from_edges(
        cls,
        n: int,
        edges: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        directed: bool = False,
        repeated: Repeated = "error",
        keep_edges: bool = False,
    ) -> Network:
        """Return the network of a list of edges.

        Parameters
        ----------
        n : number of nodes
        edges : shape (m, 2), whole numbers: pairs of nodes, each edge once
        weights : shape (m,), finite, >= 0; all 1 by default
        directed : whether (i, j) joins i to j only
        repeated : what a pair given twice means: an error, one edge with the sum of the weights, or
            as many edges
        keep_edges : remember which edge each entry comes from

        Raises InputError: a node outside 0 .. n - 1, an edge from a node to itself, a pair given
        twice, a weight that is negative or not finite. Cost: one sort of the entries.
        """
        pairs = _pairs(n, edges)
        values = None if weights is None else _weights(weights, len(pairs))
        if repeated == "sum" and values is None:
            values = np.ones(len(pairs))
        keys = (pairs[:, 0] << 32) | pairs[:, 1]
        if not directed:
            keys = np.concatenate([keys, (pairs[:, 1] << 32) | pairs[:, 0]])
        if values is None and not keep_edges:
            keys.sort()
            order = np.zeros(0, np.int64)
        else:
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            order %= max(len(pairs), 1)
        values = np.zeros(0) if values is None else values[order]
        same = keys[1:] == keys[:-1]
        if repeated != "keep" and same.any():
            if repeated == "error":
                key = int(keys[1:][same][0])
                raise InputError(
                    f"edge ({key >> 32}, {key & 0xFFFFFFFF}) is given twice; give it once, or say repeated='sum'"
                )
            starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
            values, keys, order = np.add.reduceat(values, starts), keys[starts], order[starts]
        first = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) << 32)
        kept = order if keep_edges else np.zeros(0, np.int64)
        return cls(first.astype(np.int64), (keys & 0xFFFFFFFF).astype(np.int32), values, kept, directed)

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = None) -> Network:
        """Return the network of a networkx graph; its nodes are numbered in their order there.

        `weight` names the edge attribute that holds weights (1 where it is missing). Edges of a
        multigraph between the same nodes are summed. Raises InputError as `from_edges` does.
        """
        number = {node: i for i, node in enumerate(graph.nodes)}
        pairs = [(number[a], number[b]) for a, b in graph.edges()]
        given = None if weight is None else [data.get(weight, 1.0) for _, _, data in graph.edges(data=True)]
        repeated: Repeated = "sum" if graph.is_multigraph() else "error"
        return cls.from_edges(len(number), pairs, given, directed=graph.is_directed(), repeated=repeated)

    @classmethod
    def from_scipy(cls, matrix: Any, *, directed: bool | None = None, weighted: bool = True) -> Network:
        """Return the network of a square scipy sparse matrix: entry (i, j) joins i to j.

        Parameters
        ----------
        matrix : shape (n, n), any sparse format; duplicates are summed, zeros are no edges
        directed : None finds out whether the matrix is symmetric
        weighted : False takes every entry as an edge of weight 1

        Raises InputError if it is not square, or `directed=False` and it is not symmetric.
        """
        rows = matrix.tocsr().copy()
        if rows.shape[0] != rows.shape[1]:
            raise InputError(f"a network needs a square matrix, got shape {rows.shape}")
        rows.sum_duplicates()
        rows.eliminate_zeros()
        is_symmetric = directed is not True and (rows != rows.T).nnz == 0
        if directed is False and not is_symmetric:
            raise InputError("directed=False needs a symmetric matrix; leave it out, or add the transpose")
        cells = rows.tocoo()
        pairs = np.stack([cells.row, cells.col], axis=1)
        made = cls.from_edges(rows.shape[0], pairs, cells.data if weighted else None, directed=True)
        return cls(made.first, made.neighbours, made.weights, made.edges, not is_symmetric)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.first) - 1

    @property
    def n_edges(self) -> int:
        """Number of edges, one without direction counted once."""
        return len(self.neighbours) if self.is_directed else len(self.neighbours) // 2

    @property
    def degrees(self) -> NDArray[Any]:
        """Return the length of each row, shape (n,), int64."""
        return np.diff(self.first)

    def row(self, node: int) -> NDArray[Any]:
        """Return the neighbours of a node, ascending, int32."""
        return self.neighbours[self.first[node] : self.first[node + 1]]

    def to_edges(self) -> NDArray[Any]:
        """Return the edges, shape (n_edges, 2), int64, sorted; of one without direction the smaller node first."""
        source = np.repeat(np.arange(self.n), self.degrees)
        pairs = np.stack([source, self.neighbours.astype(np.int64)], axis=1)
        return pairs if self.is_directed else pairs[pairs[:, 0] < pairs[:, 1]]

    def transposed(self) -> Network:
        """Return the network with every edge turned round, as entries: `edges` says which entry each was."""
        source = np.repeat(np.arange(self.n), self.degrees)
        order = np.argsort((self.neighbours.astype(np.int64) << 32) | source, kind="stable")
        first = np.searchsorted(self.neighbours[order], np.arange(self.n + 1))
        weights = self.weights[order] if len(self.weights) else self.weights
        return Network(first.astype(np.int64), source[order].astype(np.int32), weights, order, self.is_directed)

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Return the arrays of a `Networked` world: `Town(people=network.n, **network.columns())`."""
        return {"first": self.first, "neighbours": self.neighbours, "weights": self.weights}

    def columns_with_room(self, room: int) -> Mapping[str, NDArray[Any]]:
        """Return the arrays of a `Rewired` world: each row has room for `room` more neighbours.

        Raises InputError for a negative number, and for a network with repeated edges.
        """
        if room < 0:
            raise InputError(f"room must be >= 0, got {room}")
        degrees = self.degrees
        if (np.diff(self.neighbours) <= 0)[_inside(self.first)].any():
            raise InputError("a network with repeated edges cannot be rewired; sum them with repeated='sum'")
        first = self.first + room * np.arange(self.n + 1)
        place = np.arange(len(self.neighbours)) + np.repeat(room * np.arange(self.n), degrees)
        neighbours, weights = np.full(first[-1], -1, np.int32), np.zeros(first[-1])
        neighbours[place] = self.neighbours
        weights[place] = self.weights if len(self.weights) else 1.0
        return {"first": first, "neighbours": neighbours, "weights": weights, "degrees": degrees}


class Networked(World):
    """A world with a network that stays as it is: `for k in range(world.begin(i), world.end(i))`."""

    first: Array[int64]
    neighbours: Array[int32]
    weights: Array[float64]  # empty: every weight is 1

    def begin(self, node: int) -> int:
        """Return the first entry of a node's row."""
        return self.first[node]

    def end(self, node: int) -> int:
        """Return the entry after the last of a node's row."""
        return self.first[node + 1]

    def weight(self, entry: int) -> float:
        """Return the weight of an entry."""
        return self.weights[entry] if len(self.weights) > 0 else 1.0


class Rewired(World):
    """A world with a network whose edges come and go: one entry a direction, O(degree) each.

    A row keeps its neighbours ascending, so what a model visits does not depend on the order in
    which edges came. A row has room for so many neighbours as it was made with.
    """

    first: Array[int64]
    degrees: Array[int32]
    neighbours: Array[int32]
    weights: Array[float64]

    def begin(self, node: int) -> int:
        """Return the first entry of a node's row."""
        return self.first[node]

    def end(self, node: int) -> int:
        """Return the entry after the last of a node's row."""
        return self.first[node] + self.degrees[node]

    def find(self, node: int, other: int) -> int:
        """Return the first entry of a node's row that is not below `other`: binary search."""
        low, high = self.begin(node), self.end(node)
        while low < high:
            middle = (low + high) // 2
            if self.neighbours[middle] < other:
                low = middle + 1
            else:
                high = middle
        return low

    def is_joined(self, node: int, other: int) -> bool:
        """Say whether there is an entry from a node to another."""
        entry = self.find(node, other)
        return entry < self.end(node) and self.neighbours[entry] == other

    def join(self, node: int, other: int, weight: float) -> bool:
        """Add an entry from a node to another; False if it is there, or the row is full."""
        entry, end = self.find(node, other), self.end(node)
        if end == self.first[node + 1] or (entry < end and self.neighbours[entry] == other):
            return False
        for k in range(end, entry, -1):
            self.neighbours[k] = self.neighbours[k - 1]
            self.weights[k] = self.weights[k - 1]
        self.neighbours[entry] = other
        self.weights[entry] = weight
        self.degrees[node] += 1
        return True

    def part(self, node: int, other: int) -> bool:
        """Remove the entry from a node to another; False if there is none."""
        entry, end = self.find(node, other), self.end(node)
        if entry == end or self.neighbours[entry] != other:
            return False
        for k in range(entry, end - 1):
            self.neighbours[k] = self.neighbours[k + 1]
            self.weights[k] = self.weights[k + 1]
        self.neighbours[end - 1] = -1
        self.degrees[node] -= 1
        return True


def _pairs(n: int, edges: ArrayLike) -> NDArray[Any]:
    if not 0 <= n <= MOST_NODES:
        raise InputError(f"n must be in 0..{MOST_NODES} nodes, got {n}")
    given = np.asarray(edges)
    pairs = given.reshape(-1, 2) if given.size == 0 else given
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"edges must have shape (m, 2), got {pairs.shape}")
    if pairs.size and pairs.dtype.kind not in "iu":
        raise InputError(f"edges must be pairs of whole numbers, got {pairs.dtype}")
    pairs = pairs.astype(np.int64)
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < n):
        bad = int(pairs.min() if pairs.min() < 0 else pairs.max())
        raise InputError(f"nodes are numbered 0..{n - 1}, got an edge with node {bad}")
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        raise InputError(f"an edge joins two different nodes, got ({pairs[loops][0, 0]}, {pairs[loops][0, 0]})")
    return pairs


def _weights(weights: ArrayLike, m: int) -> NDArray[Any]:
    values = np.asarray(weights, np.float64)
    if values.shape != (m,):
        raise InputError(f"weights must have one entry for each of {m} edges, got shape {values.shape}")
    bad = ~((values >= 0.0) & (values < np.inf))
    if bad.any():
        raise InputError(f"a weight must be >= 0 and finite, got {values[bad][0]}")
    return values


def _inside(first: NDArray[Any]) -> NDArray[Any]:
    """Return a mask over neighbouring entries k, k + 1: both are of one row. Shape (n_entries - 1,)."""
    inside = np.ones(max(int(first[-1]) - 1, 0), bool)
    ends = first[1:-1]
    inside[ends[(ends > 0) & (ends < first[-1])] - 1] = False
    return inside
