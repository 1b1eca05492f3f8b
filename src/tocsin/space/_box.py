"""A rectangle or a box: its size, which axes are tori, what happens at a border, its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from tocsin.errors import InputError
from tocsin.schema import Part, boolean, float64, int8, int64
from tocsin.space._axis import difference, fold, inside, is_on

E = TypeVar("E")
BORDERS = {"error": 0, "clamp": 1, "reflect": 2, "absorb": 3}
CLAMP, REFLECT, ABSORB = 1, 2, 3
LEAST, MOST = 1e-100, 1e100
"""Sizes between which squares of distances neither vanish nor overflow."""
FEW_CELLS = 1 << 14
"""Cells that are always allowed, however few the rows."""


class Box(Part[E]):
    """What spaces of points share. A bounded axis is 0 <= x <= size, a torus 0 <= x < size."""

    width: float64
    height: float64
    depth: float64
    is_torus_x: boolean
    is_torus_y: boolean
    is_torus_z: boolean
    turn_x: float64  # the size of a torus, else inf
    turn_y: float64
    turn_z: float64
    n_x: int64  # cells along each axis
    n_y: int64
    n_z: int64
    border: int8
    n_axes = 2

    def __init__(self, size: Sequence[float], torus: bool | Sequence[bool], reach: float, border: str) -> None:
        n = self.n_axes
        self._size = [_size(name, value) for name, value in zip(SIZES[:n], size, strict=True)]
        flags = [torus] * n if isinstance(torus, bool) else list(torus)
        if len(flags) != n or not all(isinstance(flag, bool) for flag in flags):
            raise InputError(f"torus must be true or false, or one of these for each of {n} axes, got {torus!r}")
        if not (isinstance(reach, (int, float)) and reach >= 0.0):
            raise InputError(f"reach must be >= 0, got {reach!r}")
        if border not in BORDERS:
            raise InputError(f"border must be one of {', '.join(BORDERS)}, got {border!r}")
        self._torus, self._reach, self._border = flags, float(reach), BORDERS[border]

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return sizes and numbers of cells: none shorter than `reach`, as many as there may be."""
        found: dict[str, Any] = {"border": self._border, "depth": 1.0, "turn_z": math.inf, "n_z": 1}
        edge = self._edge(n_rows)
        for axis, size in enumerate(self._size):
            letter = "xyz"[axis]
            found[SIZES[axis]] = size
            found[f"is_torus_{letter}"] = self._torus[axis]
            found[f"turn_{letter}"] = size if self._torus[axis] else math.inf
            found[f"n_{letter}"] = max(1, int(size / edge)) if edge > 0.0 else 1
        return found

    def _edge(self, n_rows: int) -> float:
        """Return the least length of a cell: `reach`, or what leaves two rows to a cell.

        There are at most four cells to a row, or FEW_CELLS; an axis shorter than a cell is one cell.
        """
        wanted = max(4 * n_rows, FEW_CELLS) if self._reach > 0.0 else max(1, n_rows // 2)
        sizes = sorted(self._size)
        while sizes:
            edge = math.exp((sum(map(math.log, sizes)) - math.log(wanted)) / len(sizes))
            if edge <= sizes[0]:
                return max(self._reach, edge)
            sizes.pop(0)
        return max(self._size)

    def n_cells(self) -> int:
        """Return the number of cells."""
        return self.n_x * self.n_y * self.n_z

    def x_to(self, row: Any, other: Any) -> float:
        """Return the difference along x from a row to another, with its sign; on a torus the short way around."""
        return difference(other.x - row.x, self.turn_x)

    def y_to(self, row: Any, other: Any) -> float:
        """Return the difference along y, as `x_to`."""
        return difference(other.y - row.y, self.turn_y)

    def z_to(self, row: Any, other: Any) -> float:
        """Return the difference along z, as `x_to`; for points with a z."""
        return difference(other.z - row.z, self.turn_z)

    def _x_in(self, x: float) -> float:
        return fold(x, self.width) if self.is_torus_x else inside(x, self.width)

    def _y_in(self, y: float) -> float:
        return fold(y, self.height) if self.is_torus_y else inside(y, self.height)

    def _z_in(self, z: float) -> float:
        return fold(z, self.depth) if self.is_torus_z else inside(z, self.depth)

    def _x_kept(self, x: float) -> float:
        return fold(x, self.width) if self.is_torus_x else kept(x, self.width, self.border)

    def _y_kept(self, y: float) -> float:
        return fold(y, self.height) if self.is_torus_y else kept(y, self.height, self.border)

    def _z_kept(self, z: float) -> float:
        return fold(z, self.depth) if self.is_torus_z else kept(z, self.depth, self.border)

    def has_room_at(self, x: float, y: float, z: float) -> bool:
        """Say whether a row can be at a point: not NaN, not beyond a bounded axis."""
        if self.n_axes == 3 and not is_on(z, self.depth, self.is_torus_z):
            return False
        return is_on(x, self.width, self.is_torus_x) and is_on(y, self.height, self.is_torus_y)


SIZES = ("width", "height", "depth")


def kept(x: float, length: float, border: int) -> float:
    """Return where a coordinate ends on a bounded axis, by what happens at its border.

    Raises ValueError outside 0 .. length where the border is an error, and always for NaN.
    """
    if 0.0 <= x <= length:
        return x
    if border == REFLECT:
        y = fold(x, 2.0 * length)
        return y if y <= length else 2.0 * length - y
    if border in (CLAMP, ABSORB) and x == x:
        return 0.0 if x < 0.0 else length
    raise ValueError("a coordinate must be in 0 .. the size of the space, and is outside or NaN")


def _size(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not LEAST <= value <= MOST:
        raise InputError(f"{name} must be a number in {LEAST:g} .. {MOST:g}, got {value!r}")
    return float(value)
