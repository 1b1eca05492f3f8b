"""Linear algebra whose last bits do not depend on the processor.

A trajectory is chaotic: one bit of a matrix that it starts from, and all later events differ. Libraries of linear
algebra choose the order of their sums, and fused operations, by the processor. What a trajectory follows from is made here
instead: by single multiplications and additions in an order that only the shapes decide. What is a mere choice (a scale, a
mode) may come from elsewhere if it is `rounded`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return a @ b, (n, m), of a (n, k) and b (k, m) or (k,)."""
    right = b if b.ndim == 2 else b[:, None]
    n, k = a.shape
    if k <= n:
        found = np.zeros((n, right.shape[1]))
        for j in range(k):
            found += a[:, j, None] * right[j]
    else:
        found = np.stack([(row[:, None] * right).sum(axis=0) for row in a])
    return found if b.ndim == 2 else found[:, 0]


def cholesky(a: Matrix) -> Matrix:
    """Return the lower triangular L with L L' = a, (d, d). Raises LinAlgError if a is not positive definite."""
    found = np.zeros_like(a)
    for j in range(len(a)):
        rest = a[j:, j] - (found[j:, :j] * found[j, :j]).sum(axis=1)
        if not rest[0] > 0.0:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        found[j:, j] = rest / np.sqrt(rest[0])
    return found


def solve_lower(lower: Matrix, b: Matrix) -> Matrix:
    """Return the x with lower @ x = b, of the shape of b, (d, m) or (d,)."""
    right = b if b.ndim == 2 else b[:, None]
    found = np.zeros(right.shape)
    for j in range(len(lower)):
        found[j] = (right[j] - (lower[j, :j, None] * found[:j]).sum(axis=0)) / lower[j, j]
    return found if b.ndim == 2 else found[:, 0]


def solve(a: Matrix, b: Vector) -> Vector:
    """Return the x with a @ x = b for a positive definite a. Raises LinAlgError for another a."""
    lower = cholesky(a)
    return solve_lower(lower.T[::-1, ::-1], solve_lower(lower, b)[::-1])[::-1]


def inverse(a: Matrix) -> Matrix:
    """Return the inverse of a positive definite a, (d, d). Raises LinAlgError for another a."""
    root = solve_lower(cholesky(a), np.eye(len(a)))
    return product(root.T, root)


def rounded(values: Vector, size: Vector, bits: int = 34) -> Vector:
    """Return `values` to `bits` binary places of their `size`: what is noise in their last places is gone.

    Not for what must be known to more than that; two machines still differ where a value lies at the very edge of a
    place, which has a chance of about 2**(bits - 48) for each.
    """
    place = np.ldexp(1.0, np.frexp(size)[1] - bits)
    return np.asarray(np.rint(values / place) * place)
