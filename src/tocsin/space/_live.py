"""`LivePlane` and `LivePlane3`: rows at points, found where they are now.

The rows of a cell are a list in order of their numbers, kept up by every `move` and `remove`: for events,
and for systems that visit one row after another. All live rows are in it from the start; a row that is
spawned comes in with its first `move`. Positions change by `move` only. While a query is gone through,
the row whose turn it is may be moved or removed, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from tocsin.errors import InputError
from tocsin.schema import Array, int32
from tocsin.space._axis import apart, around, cells_within, fold, is_on
from tocsin.space._box import SIZES
from tocsin.space._lists import NOWHERE, link, link_all, unlink
from tocsin.space._points import Flat, Points, Solid, is_better

if TYPE_CHECKING:
    from numpy.typing import NDArray

E = TypeVar("E")


class Live(Points[E]):
    """What live planes of two and three dimensions share."""

    head: Array[int32]  # by cell: its first row, or -1
    cell_of: Array[int32]  # by row: its cell, or -1
    after: Array[int32]  # by row: the next row of its cell, or -1
    before: Array[int32]

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return an index of no rows, with room for all."""
        import numpy as np

        found, nowhere = super().contents(n_rows), np.full(n_rows, NOWHERE)
        n_cells = found["n_x"] * found["n_y"] * found["n_z"]
        return {**found, "head": np.full(n_cells, NOWHERE), "cell_of": nowhere, "after": nowhere, "before": nowhere}

    def resize(self, n_rows: int) -> None:
        """Make room for more rows."""
        for name in ("cell_of", "after", "before"):
            self._enlarge(name, n_rows, NOWHERE)

    def begin(self) -> None:
        """Put all live rows into the index. Raises InputError for one that stands outside."""
        import numpy as np

        rows, cell, stride = self.rows, np.zeros(len(self.rows), np.int64), 1
        is_live = np.array([rows.is_live(k) for k in range(len(rows))], bool)
        for axis in "xyz"[: self.n_axes]:
            along = self._cells_along(axis, rows[axis], is_live)
            cell += stride * along
            stride *= getattr(self, f"n_{axis}")
        link_all(self, np.where(is_live, cell, NOWHERE))

    def _cells_along(self, axis: str, given: NDArray[Any], is_live: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        size, n = getattr(self, SIZES["xyz".index(axis)]), getattr(self, f"n_{axis}")
        is_torus, x = getattr(self, f"is_torus_{axis}"), np.where(is_live, given, 0.0)
        for k in np.flatnonzero(~((x >= 0.0) & (x < size))):
            if not is_on(x[k], size, is_torus):
                label = f"{self.rows.schema.table}.{axis}"
                rule = "a finite number" if is_torus else f"in 0 .. {size:g}"
                raise InputError(f"{label} must be {rule}, got {x[k]} for row {k}")
            x[k] = fold(x[k], size) if is_torus else x[k]
        cells: NDArray[Any] = np.minimum((x * (n / size)).astype(np.int64), n - 1)
        return cells

    def index(self, now: float) -> None:
        """Do nothing: a live index is never old; for models that run on either kind of plane."""

    def remove(self, row: Any) -> None:
        """Take a row out of the plane; nothing if it is not in it. Do so before you remove it from a pool."""
        if self.cell_of[row.index] >= 0:
            unlink(self, row.index)

    def _moved(self, row: Any) -> None:
        k, cell = row.index, self._cell_here(row)
        if self.cell_of[k] != cell:
            if self.cell_of[k] >= 0:
                unlink(self, k)
            link(self, k, cell)

    def _best_in(
        self, cell: int, x: float, y: float, z: float, own: int, last: float, last_row: int, best: float, best_row: int
    ) -> tuple[float, int]:
        k = self.head[cell]
        while k >= 0:
            if k != own and self.rows.is_live(k):
                d = self._square(self.rows[k], x, y, z)
                if is_better(d, k, last, last_row, best, best_row):
                    best, best_row = d, k
            k = self.after[k]
        return best, best_row

    def _square(self, row: Any, x: float, y: float, z: float) -> float:
        dx, dy = apart(self._x_in(row.x) - x, self.turn_x), apart(self._y_in(row.y) - y, self.turn_y)
        d = dx * dx + dy * dy
        if self.n_axes == 3:
            dz = apart(self._z_in(self._z(row)) - z, self.turn_z)
            d += dz * dz
        return d

    def _rows_near(self, x: float, y: float, z: float, r: float, own: int) -> Iterator[E]:
        if not r >= 0.0:
            raise ValueError("radius must be >= 0, and is negative or NaN")
        x, y, square = self._x_in(x), self._y_in(y), r * r
        low_x, high_x = cells_within(x, r, self.width, self.n_x, self.is_torus_x)
        low_y, high_y = cells_within(y, r, self.height, self.n_y, self.is_torus_y)
        low_z, high_z = 0, 0
        if self.n_axes == 3:
            z = self._z_in(z)
            low_z, high_z = cells_within(z, r, self.depth, self.n_z, self.is_torus_z)
        layer = low_z
        while layer <= high_z:
            line = low_y
            while line <= high_y:
                base = (around(layer, self.n_z) * self.n_y + around(line, self.n_y)) * self.n_x
                column = low_x
                while column <= high_x:
                    k = self.head[base + around(column, self.n_x)]
                    while k >= 0:
                        following = self.after[k]
                        if k != own and self.rows.is_live(k):
                            row = self.rows[k]
                            if self._square(row, x, y, z) <= square:
                                yield row
                        k = following
                    column += 1
                line += 1
            layer += 1


class LivePlane(Flat[E], Live[E]):
    """Points of a rectangle, for entities with fields `x: float64` and `y: float64`; a live index.

    Parameters
    ----------
    width, height, torus, reach, border : as in `Plane`

    Raises InputError for a value that breaks a rule.
    """


class LivePlane3(Solid[E], Live[E]):
    """Points of a box, for entities with fields `x`, `y` and `z`, all float64; a live index.

    Parameters
    ----------
    width, height, depth, torus, reach, border : as in `Plane3`

    Raises InputError for a value that breaks a rule.
    """
