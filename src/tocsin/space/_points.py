"""What all spaces of points answer: who is within a radius, who is nearest; in two and three dimensions.

A query goes through cells from the low to the high end of each axis, the first axis fastest, and
through the rows of a cell by number. Distances are compared as squares in float64, d * d <= r * r, with
each axis the short way around on a torus.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from tocsin.space._axis import around, cell_at, cells_within
from tocsin.space._box import ABSORB, Box

E = TypeVar("E")
NO_ROW = -1


class Points(Box[E]):
    """Queries, on top of an index that says which rows are in a cell."""

    def within(self, row: Any, r: float) -> Iterator[E]:
        """Iterate over the rows at a distance of at most `r` (inclusive) from a row, itself left out.

        Any r >= 0, inf for all. Raises ValueError for a radius that is negative or NaN, a row that
        stands outside, or if there is no index yet.
        """
        return self._rows_near(row.x, row.y, self._z(row), r, row.index)

    def nearest(self, row: Any, k: int) -> Iterator[E]:
        """Iterate over the `k` rows nearest to a row, itself left out: by distance, then by number.

        All rows if there are fewer. Cost: O(k) looks at some k rows, so for a small k. Raises
        ValueError for k below 0, and as `within`.
        """
        return self._rows_nearest(row.x, row.y, self._z(row), k, row.index)

    def _rows_nearest(self, x: float, y: float, z: float, k: int, own: int) -> Iterator[E]:
        if k < 0:
            raise ValueError("k must be >= 0, and is negative")
        self._expect_index()
        x, y = self._x_in(x), self._y_in(y)
        if self.n_axes == 3:
            z = self._z_in(z)
        r = max(self.width / self.n_x, self.height / self.n_y)
        last, last_row = -1.0, NO_ROW
        while k > 0:
            d, index = self._next_near(x, y, z, r, own, last, last_row)
            if index >= 0:
                last, last_row = d, index
                k -= 1
                yield self.rows[index]
            elif r == math.inf:
                break
            else:
                r = 2.0 * r if 2.0 * r < self.width + self.height + self.depth else math.inf

    def _next_near(
        self, x: float, y: float, z: float, r: float, own: int, last: float, last_row: int
    ) -> tuple[float, int]:
        """Return the first row after (square of distance, number) = (last, last_row) within r, and its square."""
        best, best_row = r * r, NO_ROW
        low_x, high_x = cells_within(x, r, self.width, self.n_x, self.is_torus_x)
        low_y, high_y = cells_within(y, r, self.height, self.n_y, self.is_torus_y)
        low_z, high_z = 0, 0
        if self.n_axes == 3:
            low_z, high_z = cells_within(z, r, self.depth, self.n_z, self.is_torus_z)
        for layer in range(low_z, high_z + 1):
            for line in range(low_y, high_y + 1):
                base = (around(layer, self.n_z) * self.n_y + around(line, self.n_y)) * self.n_x
                for column in range(low_x, high_x + 1):
                    cell = base + around(column, self.n_x)
                    best, best_row = self._best_in(cell, x, y, z, own, last, last_row, best, best_row)
        return best, best_row

    def _best_in(
        self, cell: int, x: float, y: float, z: float, own: int, last: float, last_row: int, best: float, best_row: int
    ) -> tuple[float, int]:
        raise NotImplementedError

    def _rows_near(self, x: float, y: float, z: float, r: float, own: int) -> Iterator[E]:
        raise NotImplementedError

    def _expect_index(self) -> None:
        """Raise ValueError if there is no index yet."""

    def _moved(self, row: Any) -> None:
        """Note that a row has moved."""

    def _z(self, row: Any) -> float:
        return 0.0

    def _cell_here(self, row: Any) -> int:
        """Return the cell of a row that stands inside."""
        column = cell_at(self._x_in(row.x), self.width, self.n_x)
        line = cell_at(self._y_in(row.y), self.height, self.n_y)
        layer = 0
        if self.n_axes == 3:
            layer = cell_at(self._z_in(self._z(row)), self.depth, self.n_z)
        return (layer * self.n_y + line) * self.n_x + column


def is_better(d: float, k: int, last: float, last_row: int, best: float, best_row: int) -> bool:
    """Say whether (d, k) comes after (last, last_row), and before (best, best_row) or, if that is none, within."""
    if d < last or (d == last and k <= last_row):
        return False
    return d < best or (d == best and (best_row < 0 or k < best_row))


class Flat(Points[E]):
    """Points of a rectangle."""

    needs = ("x: float64", "y: float64")

    def __init__(
        self, width: float, height: float, *,
        torus: bool | Sequence[bool] = False, reach: float = 0.0, border: str = "error",
    ) -> None:  # fmt: skip
        super().__init__((width, height), torus, reach, border)

    def around(self, x: float, y: float, r: float) -> Iterator[E]:
        """Iterate over all rows at a distance of at most `r` from a point; as `within`."""
        return self._rows_near(x, y, 0.0, r, NO_ROW)

    def nearest_to(self, x: float, y: float, k: int) -> Iterator[E]:
        """Iterate over the `k` rows nearest to a point; as `nearest`."""
        return self._rows_nearest(x, y, 0.0, k, NO_ROW)

    def move(self, row: Any, x: float, y: float) -> bool:
        """Put a row at a point, by the rule of the border; say whether that is where it was sent.

        False if it was stopped at the border by 'absorb'. A torus folds the point. Raises ValueError
        for NaN, and outside where the border is an error; the row then stays.
        """
        new_x, new_y = self._x_kept(x), self._y_kept(y)
        row.x = new_x
        row.y = new_y
        self._moved(row)
        return self.border != ABSORB or self.has_room_at(x, y, 0.0)


class Solid(Points[E]):
    """Points of a box."""

    needs = ("x: float64", "y: float64", "z: float64")
    n_axes = 3

    def __init__(
        self, width: float, height: float, depth: float, *,
        torus: bool | Sequence[bool] = False, reach: float = 0.0, border: str = "error",
    ) -> None:  # fmt: skip
        super().__init__((width, height, depth), torus, reach, border)

    def _z(self, row: Any) -> float:
        return row.z  # type: ignore[no-any-return]

    def around(self, x: float, y: float, z: float, r: float) -> Iterator[E]:
        """Iterate over all rows at a distance of at most `r` from a point; as `within`."""
        return self._rows_near(x, y, z, r, NO_ROW)

    def nearest_to(self, x: float, y: float, z: float, k: int) -> Iterator[E]:
        """Iterate over the `k` rows nearest to a point; as `nearest`."""
        return self._rows_nearest(x, y, z, k, NO_ROW)

    def move(self, row: Any, x: float, y: float, z: float) -> bool:
        """Put a row at a point, by the rule of the border; as in two dimensions."""
        new_x, new_y, new_z = self._x_kept(x), self._y_kept(y), self._z_kept(z)
        row.x = new_x
        row.y = new_y
        row.z = new_z
        self._moved(row)
        return self.border != ABSORB or self.has_room_at(x, y, z)
