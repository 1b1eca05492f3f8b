"""Random initial states that are the same bits on every platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tocsin.kernel import uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 8


def unit_vectors(seed: int, n: int, stream: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return n random directions of the plane, as two arrays of shape (n,).

    The first of 8 points of a square that lies in the circle (or (1, 0), with probability 5e-6), brought to
    length 1: only the square root is needed, which IEEE defines to the last bit.
    """
    u = 2.0 * uniforms(seed, 2 * CANDIDATES * n, stream).reshape(2, CANDIDATES, n) - 1.0
    square = u[0] * u[0] + u[1] * u[1]
    is_fit = (square <= 1.0) & (square > 1e-6)
    first, every = is_fit.argmax(axis=0), np.arange(n)
    some = is_fit.any(axis=0)
    length = np.sqrt(np.where(some, square[first, every], 1.0))
    return np.where(some, u[0, first, every] / length, 1.0), np.where(some, u[1, first, every] / length, 0.0)


def whole_numbers(seed: int, n: int, most: float, stream: int = 0) -> NDArray[np.int64]:
    """Return n random whole numbers of 0 .. most - 1."""
    return (uniforms(seed, n, stream) * most).astype(np.int64)


def random_order(seed: int, n: int, stream: int = 0) -> NDArray[np.int64]:
    """Return 0 .. n - 1 in random order."""
    return np.argsort(uniforms(seed, n, stream), kind="stable").astype(np.int64)
