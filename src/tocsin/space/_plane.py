"""`Plane` and `Plane3`: rows at points of a rectangle or a box, found by a snapshot index.

`index(now)` sorts all rows by cell, as a counting sort into compressed rows: the cells in order, in
each cell the rows by number. Queries see the positions of that moment until the next `index`; `age`
says how long ago that was. Whoever looks is where its own fields say. Rows removed since the index was
made are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeVar

from tocsin.kernel import lowest_bit
from tocsin.schema import Array, float64, int32, int64
from tocsin.space._axis import apart, around, cells_within, stretches
from tocsin.space._near import MOST_POINTS, near_flat, near_solid
from tocsin.space._points import NO_ROW, Flat, Points, Solid, is_better

E = TypeVar("E")
NEVER_INDEXED = -math.inf
ROW = 0xFFFFFFFF


class Snapshot(Points[E]):
    """What planes of two and three dimensions share: a snapshot index."""

    first: Array[int32]  # the rows of cell c have places first[c] .. first[c + 1] - 1
    keys: Array[int64]  # by place: which row, and where it was
    xs: Array[float64]
    ys: Array[float64]
    zs: Array[float64]
    cell_of: Array[int32]  # by row: its cell, -1 for a row that is not live
    n_indexed: int64
    indexed_at: float64  # when; -inf before the first time
    bad_row: int64  # where `index` stopped

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return an index of no rows, with room for all."""
        found = super().contents(n_rows)
        n_cells = found["n_x"] * found["n_y"] * found["n_z"]
        blank, flat = [0] * n_rows, self.n_axes == 2
        return {
            **found, "first": [0] * (n_cells + 1), "keys": blank, "xs": blank, "ys": blank,
            "zs": [] if flat else blank, "cell_of": blank, "indexed_at": NEVER_INDEXED, "bad_row": NO_ROW,
        }  # fmt: skip

    def resize(self, n_rows: int) -> None:
        """Make room for more rows."""
        for name in ("keys", "xs", "ys", "cell_of", *(["zs"] if self.n_axes == 3 else [])):
            self._enlarge(name, n_rows)

    def index(self, now: float) -> None:
        """Sort all live rows by cell, at time `now`. Cost O(rows + cells).

        Raises ValueError for a position that is NaN, or outside a bounded axis; `bad_row` says whose,
        and the index stays as it was.
        """
        self.find_cells(0, len(self.rows))
        self.count(0, self.n_cells())
        self.add_up(now)
        self.sort(0, self.n_cells())

    def find_cells(self, start: int, stop: int) -> None:
        """Note the cells of rows start .. stop - 1: the first of four steps of `index`, for threads.

        First all rows, in any division; then `count` for all cells; then `add_up`; then `sort` for
        all cells. The order is the same for any division.
        """
        for k in range(start, stop):
            cell = -1
            if self.rows.is_live(k):
                cell = self._cell_of(k)
            self.cell_of[k] = cell

    def count(self, start: int, stop: int) -> None:
        """Count the rows in cells start .. stop - 1."""
        for cell in range(start, stop):
            self.first[cell + 1] = 0
        for k in range(len(self.rows)):
            cell = self.cell_of[k]
            if start <= cell < stop:
                self.first[cell + 1] += 1

    def add_up(self, now: float) -> None:
        """Say where each cell begins, from the counts; the index is of time `now`."""
        total = 0
        self.first[0] = 0
        for cell in range(self.n_cells()):
            n_rows = self.first[cell + 1]
            self.first[cell + 1] = total
            total += n_rows
        self.n_indexed = total
        self.indexed_at = now

    def sort(self, start: int, stop: int) -> None:
        """Put the rows of cells start .. stop - 1 in their places."""
        for k in range(len(self.rows)):
            cell = self.cell_of[k]
            if start <= cell < stop:
                place = self.first[cell + 1]
                self.first[cell + 1] = place + 1
                row = self.rows[k]
                self.keys[place] = row.key
                self.xs[place] = self._x_in(row.x)
                self.ys[place] = self._y_in(row.y)
                if self.n_axes == 3:
                    self.zs[place] = self._z_in(self._z(row))

    def age(self, now: float) -> float:
        """Return how long ago the index was made; inf if never."""
        return now - self.indexed_at

    def in_order(self) -> Iterator[E]:
        """Iterate over the rows in the order of the index: those near each other come one after another.

        For a sweep over all rows in which each looks around, and whose order does not matter: at a
        million rows it takes a third of the time, as memory is read in stretches. Rows that were
        removed since the index was made are left out, those spawned since too.
        """
        place = 0
        while place < self.n_indexed:
            key = self.keys[place]
            place += 1
            row = self.rows[key & ROW]
            if row.key == key:
                yield row

    def _cell_of(self, k: int) -> int:
        """Return the cell of a row that is live."""
        row = self.rows[k]
        if not self.has_room_at(row.x, row.y, self._z(row)):
            self.bad_row = k
            raise ValueError("a row stands outside the space or at NaN; `bad_row` says which")
        return self._cell_here(row)

    def _expect_index(self) -> None:
        if self.indexed_at == NEVER_INDEXED:
            raise ValueError("there is no index yet: call index(now) before the first query")

    def _best_in(
        self, cell: int, x: float, y: float, z: float, own: int, last: float, last_row: int, best: float, best_row: int
    ) -> tuple[float, int]:
        for place in range(self.first[cell], self.first[cell + 1]):
            dx = apart(self.xs[place] - x, self.turn_x)
            dy = apart(self.ys[place] - y, self.turn_y)
            d = dx * dx + dy * dy
            if self.n_axes == 3:
                dz = apart(self.zs[place] - z, self.turn_z)
                d += dz * dz
            key = self.keys[place]
            k = key & ROW
            if k != own and is_better(d, k, last, last_row, best, best_row) and self.rows[k].key == key:
                best, best_row = d, k
        return best, best_row

    def _hits(self, start: int, stop: int, x: float, y: float, z: float, square: float) -> int:
        """Return which places of start .. stop - 1 are near enough, a bit each."""
        if start < 0 or stop > len(self.xs) or len(self.ys) < len(self.xs):
            raise IndexError("the index of this plane is damaged: make it anew with index(now)")
        if self.n_axes == 3:
            return near_solid(self.xs, self.ys, self.zs, start, stop - start,
                              x, y, z, self.turn_x, self.turn_y, self.turn_z, square)  # fmt: skip
        return near_flat(self.xs, self.ys, start, stop - start, x, y, self.turn_x, self.turn_y, square)

    def _rows_near(self, x: float, y: float, z: float, r: float, own: int) -> Iterator[E]:
        """Iterate over rows, cell by cell: each line of cells is one or, across a seam, two stretches."""
        if not r >= 0.0:
            raise ValueError("radius must be >= 0, and is negative or NaN")
        self._expect_index()
        x, y, square = self._x_in(x), self._y_in(y), r * r
        n_x, n_y, n_z = self.n_x, self.n_y, self.n_z
        low, high = cells_within(x, r, self.width, n_x, self.is_torus_x)
        low_y, high_y = cells_within(y, r, self.height, n_y, self.is_torus_y)
        low_z, high_z = 0, 0
        if self.n_axes == 3:
            z = self._z_in(z)
            low_z, high_z = cells_within(z, r, self.depth, n_z, self.is_torus_z)
        start, stop, rest = stretches(low, high, n_x)
        layer = low_z
        while layer <= high_z:
            line = low_y
            while line <= high_y:
                base = (around(layer, n_z) * n_y + around(line, n_y)) * n_x
                place, end = self.first[base + start], self.first[base + stop]
                after, last = self.first[base], self.first[base + rest]
                while True:
                    while place < end:
                        until = min(end, place + MOST_POINTS)
                        hits = self._hits(place, until, x, y, z, square)
                        while hits != 0:
                            key = self.keys[place + lowest_bit(hits)]
                            hits &= hits - 1
                            row = self.rows[key & ROW]
                            if row.index != own and row.key == key:
                                yield row
                        place = until
                    if after == last:
                        break
                    place, end = after, last
                    after = last
                line += 1
            layer += 1


class Plane(Flat[E], Snapshot[E]):
    """Points of a rectangle, for entities with fields `x: float64` and `y: float64`; a snapshot index.

    Parameters
    ----------
    width, height : sizes of the axes, 1e-100 .. 1e100
    torus : whether the plane closes on itself, or (along x, along y)
    reach : the radius that is asked most; cells are made for it (0: about two rows to a cell)
    border : what `move` does beyond a bounded axis: 'error', 'clamp', 'reflect' or 'absorb'

    Raises InputError for a value that breaks a rule.
    """


class Plane3(Solid[E], Snapshot[E]):
    """Points of a box, for entities with fields `x`, `y` and `z`, all float64; a snapshot index.

    Parameters
    ----------
    width, height, depth : sizes of the axes, 1e-100 .. 1e100
    torus : whether the box closes on itself, or (along x, along y, along z)
    reach : the radius that is asked most; cells are made for it (0: about two rows to a cell)
    border : what `move` does beyond a bounded axis: 'error', 'clamp', 'reflect' or 'absorb'

    Raises InputError for a value that breaks a rule.
    """
