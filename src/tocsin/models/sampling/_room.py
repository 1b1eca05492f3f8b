"""Where a target may be: a box and general half-spaces, checked, and a point inside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.sampling import _input

Vector = NDArray[np.float64]
Matrix = NDArray[Any]


class Room:
    """The points with lower <= x <= upper and A x <= b.

    Parameters
    ----------
    d : number of coordinates
    lower, upper : walls of a box, (d,) or one number each; none by default
    half_spaces : a pair (A, b) of an (m, d) and an (m,) array

    Raises InputError for what does not fit, and where the walls leave no room.
    """

    def __init__(self, d: int, lower: Any, upper: Any, half_spaces: Any = None) -> None:
        self.d = d
        self.low, self.high = _input.walls(lower, upper, d)
        self.normals, self.offsets = _half_spaces(half_spaces, d)
        self._middle = self._find_middle() if len(self.offsets) else None

    @property
    def has_half_spaces(self) -> bool:
        """Whether there are walls beside those of the box."""
        return len(self.offsets) > 0

    @property
    def has_walls(self) -> bool:
        """Whether there is a wall."""
        return self.has_half_spaces or bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def check(self, x: Vector) -> None:
        """Raise InputError if a start lies outside."""
        _input.inside(x, self.low, self.high)
        if self._is_outside(x).any():
            k = int(np.flatnonzero(self._is_outside(x))[0])
            raise InputError(
                f"start must lie within the walls, but half-space {k} has A x = {self.normals[k] @ x:g}, "
                f"more than b = {self.offsets[k]:g}"
            )

    def within(self, x: Vector) -> Vector:
        """Return x, or where it is outside a point inside on the way to it."""
        found: Vector = np.clip(x, self.low, self.high)
        if self._middle is None or not self._is_outside(found).any():
            return found
        way = found - self._middle
        ahead = self.normals @ way
        left = self.offsets - self.normals @ self._middle
        share = np.min(left[ahead > 0.0] / ahead[ahead > 0.0], initial=1.0)
        found = self._middle + 0.9 * share * way
        return found

    def walls(self, centre: Vector, scale: Matrix) -> tuple[Matrix, Vector]:
        """Return normals (m, d) and offsets (m,) of all walls for z, x = centre + scale z: normals @ z <= offsets."""
        up, down = np.isfinite(self.high), np.isfinite(self.low)
        normals = np.concatenate([scale[up], -scale[down], self.normals @ scale])
        parts = (self.high - centre)[up], (centre - self.low)[down], self.offsets - self.normals @ centre
        return normals, np.concatenate(parts)

    def _is_outside(self, x: Vector) -> Any:
        slack = 1e-12 * (1.0 + np.abs(self.offsets))
        return self.normals @ x > self.offsets + slack

    def _find_middle(self) -> Vector:
        """Return the centre of a large ball inside (Chebyshev centre), by linear programming."""
        linprog = _input.scipy("optimize").linprog
        sizes = np.linalg.norm(self.normals, axis=1)
        up, down = np.isfinite(self.high), np.isfinite(self.low)
        eye = np.eye(self.d)
        rows = np.concatenate([self.normals, eye[up], -eye[down]])
        sides = np.concatenate([self.offsets, self.high[up], -self.low[down]])
        radius = np.concatenate([sizes, np.ones(int(up.sum() + down.sum()))])
        found = linprog(
            np.r_[np.zeros(self.d), -1.0], np.column_stack([rows, radius]), sides,
            bounds=[(None, None)] * self.d + [(0.0, 1.0)],
        )  # fmt: skip
        if found.status != 0 or not found.x[-1] > 1e-9:
            raise InputError("half_spaces and walls leave no room: no point has A x < b within lower and upper")
        middle: Vector = found.x[:-1]
        return middle


def _half_spaces(given: Any, d: int) -> tuple[Matrix, Vector]:
    if given is None:
        return np.zeros((0, d)), np.zeros(0)
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise InputError("half_spaces must be a pair (A, b): the points with A x <= b")
    normals = _input.matrix("half_spaces[0]", np.atleast_2d(np.asarray(given[0])))
    if normals.shape[1] != d:
        raise InputError(f"half_spaces[0] must have {d} columns, got shape {normals.shape}")
    offsets = _input.vector("half_spaces[1]", given[1], len(normals))
    if not np.isfinite(offsets).all():
        raise InputError("half_spaces[1] must be finite; leave out half-spaces that bar nothing")
    if not normals.any(axis=1).all():
        raise InputError(f"half_spaces[0] must not have rows of zeros (row {int(np.argmin(normals.any(axis=1)))})")
    return normals, offsets
