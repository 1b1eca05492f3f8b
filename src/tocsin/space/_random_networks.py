"""Networks at random, and regular ones: the standard ensembles. Same arguments, same network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.space._network import Network

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def erdos_renyi(n: int, mean_degree: float, seed: int = 0) -> Network:
    """Return n nodes and round(n * mean_degree / 2) different edges, all sets of edges equally likely.

    Erdős and Rényi 1959. Raises InputError if there are fewer pairs than that. Cost: sorts.
    """
    most, n_edges = n * (n - 1) // 2, round(n * mean_degree / 2)
    if not (mean_degree >= 0 and n_edges <= most):
        raise InputError(f"mean_degree must be in 0..{n - 1} for {n} nodes, got {mean_degree}")
    rng = np.random.default_rng(seed)
    if 2 * n_edges > most:  # choose the pairs that are left out
        number = np.setdiff1d(np.arange(most), rng.choice(most, most - n_edges, replace=False))
        upper = np.stack(np.triu_indices(n, 1), axis=1)
        return Network.from_edges(n, upper[number])
    keys = np.zeros(0, np.int64)
    while len(keys) < n_edges:  # a pair that is there already is drawn again: no set is favoured
        a, b = rng.integers(0, n, n_edges - len(keys)), rng.integers(0, n - 1, n_edges - len(keys))
        b += b >= a
        keys = _different(np.concatenate([keys, (np.minimum(a, b) << 32) | np.maximum(a, b)]))
    return Network.from_edges(n, np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1))


def barabasi_albert(n: int, m: int, seed: int = 0) -> Network:
    """Return a network that grows by nodes which join m others, chosen in proportion to their degree.

    It starts from a star of m + 1 nodes. Barabási and Albert 1999, doi:10.1126/science.286.5439.509.
    Raises InputError unless 1 <= m < n. Cost: a Python loop over the nodes.
    """
    if not 1 <= m < n:
        raise InputError(f"m must be in 1..{n - 1} for {n} nodes, got {m}")
    rng = np.random.default_rng(seed)
    ends = [end for k in range(m) for end in (k, m)]
    for node in range(m + 1, n):
        chosen: dict[int, None] = {}
        while len(chosen) < m:
            draws = rng.integers(0, len(ends), m - len(chosen))
            chosen |= dict.fromkeys(ends[k] for k in draws.tolist())
        ends.extend(end for other in chosen for end in (other, node))
    return Network.from_edges(n, np.array(ends).reshape(-1, 2))


def lattice(shape: tuple[int, ...] | list[int], *, periodic: bool = True) -> Network:
    """Return a lattice: nodes in row-major order, each joined to the next along every axis.

    An axis of two nodes has one edge between them, also if it is periodic. Raises InputError for
    a length < 1.
    """
    if len(shape) == 0 or min(shape) < 1:
        raise InputError(f"shape must be lengths >= 1, got {list(shape)}")
    number = np.arange(int(np.prod(shape))).reshape(tuple(shape))
    parts = [np.zeros((0, 2), np.int64)]
    for axis, length in enumerate(shape):
        step = np.stack([number, np.roll(number, -1, axis)], axis=-1)
        closed = periodic and length > 2
        parts.append(step.take(range(length if closed else length - 1), axis).reshape(-1, 2))
    return Network.from_edges(number.size, np.concatenate(parts))


def small_world(n: int, k: int, rewired: float, seed: int = 0) -> Network:
    """Return a ring in which each node is joined to k / 2 on each side, with edges rewired at random.

    Each edge keeps its first node and gets, with probability `rewired`, another second one that it
    is not joined to. Watts and Strogatz 1998, doi:10.1038/30918. Raises InputError unless k is even,
    0 < k < n - 1, and `rewired` a probability. Cost: a Python loop over the rewired edges.
    """
    if not (0 < k < n - 1 and k % 2 == 0):
        raise InputError(f"k must be even and in 2..{n - 2} for {n} nodes, got {k}")
    if not 0.0 <= rewired <= 1.0:
        raise InputError(f"rewired must be a probability in 0..1, got {rewired}")
    rng = np.random.default_rng(seed)
    node = np.tile(np.arange(n), k // 2)
    other = (node + np.repeat(np.arange(1, k // 2 + 1), n)) % n
    pairs = set(map(frozenset, zip(node.tolist(), other.tolist(), strict=True)))
    for e in np.flatnonzero(rng.random(len(node)) < rewired).tolist():
        a, new = int(node[e]), int(rng.integers(n))
        while new == a or frozenset((a, new)) in pairs:
            new = int(rng.integers(n))
        pairs.remove(frozenset((a, int(other[e]))))
        pairs.add(frozenset((a, new)))
        other[e] = new
    return Network.from_edges(n, np.stack([node, other], axis=1))


def configuration(degrees: ArrayLike, seed: int = 0) -> Network:
    """Return a network with given degrees: half edges paired at random, loops and repeats dropped.

    The erased configuration model; what is dropped is a few edges if no degree is large. Molloy
    and Reed 1995, doi:10.1002/rsa.3240060204. Raises InputError for a negative degree, or an odd sum.
    """
    wanted = _degrees(degrees)
    if wanted.sum() % 2:
        raise InputError(f"the degrees must have an even sum, got {wanted.sum()}")
    ends = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(wanted)), wanted)).reshape(-1, 2)
    a, b = ends[ends[:, 0] != ends[:, 1]].T
    keys = _different((np.minimum(a, b) << 32) | np.maximum(a, b))
    return Network.from_edges(len(wanted), np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1))


def complete(n: int) -> Network:
    """Return n nodes, each joined to all others. Raises InputError for n < 1."""
    if n < 1:
        raise InputError(f"n must be >= 1, got {n}")
    return Network.from_edges(n, np.stack(np.triu_indices(n, 1), axis=1))


def _different(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different keys, ascending. By a sort: NumPy's `unique` is some fifty times slower here."""
    keys.sort()
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def _degrees(degrees: ArrayLike) -> NDArray[Any]:
    values = np.asarray(degrees)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu") or (values < 0).any():
        raise InputError("degrees must be whole numbers >= 0, one for each node")
    return values.astype(np.int64)
