"""Checks of what the user gives: shapes, finite numbers, symmetric positive definite matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError, needed

Vector = NDArray[np.float64]


def scipy(part: str) -> Any:
    """Return a module of SciPy. Raises InputError that says what to install if it is not there."""
    return needed(f"scipy.{part}", "this target", "sampling")


def vector(label: str, given: Any, d: int, default: float | None = None) -> Vector:
    """Return `d` float64 entries: those given, or one number for all.

    Raises InputError for another shape, NaN, or what is no number.
    """
    if given is None:
        if default is None:
            raise InputError(f"{label} is needed")
        given = default
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{label} must be numbers, got {given!r}"[:200]) from None
    if values.shape not in ((), (d,)):
        raise InputError(f"{label} must have {d} entries or be one number, got shape {values.shape}")
    if np.isnan(values).any():
        raise InputError(f"{label} must not be NaN{_where(np.isnan(values))}")
    return np.array(np.broadcast_to(values, (d,)))


def observations(given: Any, n: int) -> Vector:
    """Return (n,) finite observations. Raises InputError for others, one number for all among them."""
    if np.ndim(given) == 0:
        raise InputError(f"y must have {n} entries, got one number")
    values = vector("y", np.asarray(given), n)
    if not np.isfinite(values).all():
        raise InputError(f"y must be finite{_where(~np.isfinite(values))}")
    return values


def matrix(label: str, given: Any) -> NDArray[np.float64]:
    """Return a float64 array of two dimensions, from an array or a data frame, all finite. Raises InputError."""
    given = given.to_numpy() if hasattr(given, "to_numpy") else given
    if np.iscomplexobj(given):
        raise InputError(f"{label} must be real, got complex numbers")
    try:
        values = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{label} must hold numbers; encode categories first") from None
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(f"{label} must have 2 dimensions and at least one entry, got shape {values.shape}")
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise InputError(f"{label} must be finite, got {values[i, j]} in row {i}, column {j}")
    return values


def precision_matrix(given: Any) -> Any:
    """Return a symmetric positive definite matrix as scipy CSR with sorted indices.

    Raises InputError if it is not square, finite, symmetric or positive definite. The last is tested by a
    Cholesky factor up to 2,000 rows and by a sparse LU factor above; a matrix too large for that by diagonal dominance.
    """
    sparse = scipy("sparse")
    if sparse.issparse(given) and (0 in given.shape or np.iscomplexobj(given)):
        raise InputError(f"precision must be real and have at least one entry, got shape {given.shape}, {given.dtype}")
    found = sparse.csr_array(given if sparse.issparse(given) else matrix("precision", given), dtype=np.float64)
    if found.shape[0] != found.shape[1]:
        raise InputError(f"precision must be square, got shape {found.shape}")
    if not np.isfinite(found.data).all():
        raise InputError("precision must be finite")
    found.sum_duplicates()
    gap = abs(found - found.T)
    scale = abs(found).max()
    if gap.nnz and gap.max() > 1e-10 * scale:
        i, j = np.unravel_index(gap.toarray().argmax(), gap.shape) if found.shape[0] <= 2_000 else gap.nonzero()
        i, j = (int(np.ravel(k)[0]) for k in (i, j))
        raise InputError(
            f"precision must be symmetric, got {found[i, j]} at ({i}, {j}) and {found[j, i]} at ({j}, {i})"
        )
    if not _is_positive_definite(found):
        raise InputError("precision must be positive definite: it has an eigenvalue <= 0, so this is no distribution")
    found.sort_indices()
    return found


def _is_positive_definite(found: Any) -> bool:
    d = found.shape[0]
    diagonal = found.diagonal()
    if (diagonal <= 0.0).any():
        return False
    if d <= 2_000:
        try:
            np.linalg.cholesky(found.toarray())
        except np.linalg.LinAlgError:
            return False
        return True
    row_sums = abs(found).sum(axis=1)
    if (2.0 * diagonal > row_sums).all():
        return True
    return _has_positive_pivots(found)


def _has_positive_pivots(found: Any) -> bool:
    splu = scipy("sparse.linalg").splu
    try:
        factor = splu(found.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # a pivot of zero
        return False
    return bool((factor.perm_r == factor.perm_c).all() and (factor.U.diagonal() > 0.0).all())


def probability(label: str, given: Any, d: int) -> Vector:
    """Return `d` probabilities strictly between 0 and 1. Raises InputError for others."""
    values = vector(label, given, d)
    bad = ~((values > 0.0) & (values < 1.0))
    if bad.any():
        raise InputError(
            f"{label} must be > 0 and < 1, got {values[bad][0]:g}{_where(bad)}: a coordinate that is surely in or out "
            f"needs no spike; leave it without (inclusion for the others only) or leave it out of the model"
        )
    return values


def walls(lower: Any, upper: Any, d: int) -> tuple[Vector, Vector]:
    """Return the walls of a box, -inf and inf where there is none. Raises InputError if lower >= upper."""
    low, high = vector("lower", lower, d, -np.inf), vector("upper", upper, d, np.inf)
    bad = low >= high
    if bad.any():
        raise InputError(f"lower must be < upper, got {low[bad][0]:g} and {high[bad][0]:g}{_where(bad)}")
    return low, high


def inside(x: Vector, low: Vector, high: Vector) -> None:
    """Raise InputError if a start lies outside the walls."""
    bad = (x < low) | (x > high)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise InputError(f"start must lie within the walls, got {x[i]:g} for coordinate {i}: {low[i]:g} .. {high[i]:g}")


def names_of(given: Any, d: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of d coordinates: given ones, the columns of a data frame, or x[0], x[1] ..."""
    if names is None:
        columns = getattr(given, "columns", None)
        names = [str(c) for c in columns] if columns is not None else [str(k) for k in range(d)]
    if len(names) != d:
        raise InputError(f"names must have {d} entries, got {len(names)}")
    if len(set(names)) != d:
        raise InputError("names must differ from each other")
    return tuple(map(str, names))


def _where(bad: Any) -> str:
    return f" (entry {int(np.flatnonzero(bad)[0])})" if np.ndim(bad) else ""
