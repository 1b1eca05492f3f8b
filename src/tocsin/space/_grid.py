"""`Grid` and `Grid3`: rows on the cells of a lattice, with a live index.

Cells are numbered along x, then y, then z: cell (y * width + x), or ((z * height + y) * width + x).
The rows on a cell are a list in order of their numbers, kept up by every `move` and `remove`. The entity
has a field `cell: int32`, where the grid writes the cell of a row, -1 for a row on none.

Neighbourhoods: 'moore' (largest difference of coordinates <= radius), 'von neumann' (sum of differences),
'hex' (rows of hexagons, odd rows shifted by half a cell to the right). Never the centre; each cell once,
however small a torus. Order: from the low to the high offset of each axis, x fastest (all of a line that
goes around: from 0 on), then the rows of a cell by number.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from tocsin.errors import InputError
from tocsin.schema import Array, Part, boolean, int8, int32, int64
from tocsin.space._axis import around, stretches
from tocsin.space._lists import NOWHERE, link, link_all, unlink

E = TypeVar("E")
MOORE, VON_NEUMANN, HEX = 0, 1, 2
NEIGHBOURHOODS = {"moore": MOORE, "von neumann": VON_NEUMANN, "hex": HEX}
MOST_CELLS = 1 << 30


class Lattice(Part[E]):
    """What grids of two and three dimensions share."""

    needs = ("cell: int32",)
    width: int64
    height: int64
    depth: int64
    is_torus_x: boolean
    is_torus_y: boolean
    is_torus_z: boolean
    neighbourhood: int8
    capacity: int64  # most rows on a cell; 0 for any number
    line_of: Array[int32]  # by cell: its line, y + z * height
    head: Array[int32]  # by cell: its first row, or -1
    n_on: Array[int32]  # by cell: how many rows
    empty: Array[int32]  # the cells without rows, in any order: the first n_empty
    empty_at: Array[int32]  # by cell: its place in `empty`, or -1
    n_empty: int64
    cell_of: Array[int32]  # by row: its cell, or -1
    after: Array[int32]  # by row: the next row on its cell, or -1
    before: Array[int32]

    def __init__(
        self, size: Sequence[int], torus: bool | Sequence[bool], neighbourhood: str, capacity: int | None
    ) -> None:
        self._size = [_whole(name, n, 1) for name, n in zip(("width", "height", "depth"), size, strict=False)]
        flags = [torus] * len(size) if isinstance(torus, bool) else list(torus)
        if len(flags) != len(size) or not all(isinstance(flag, bool) for flag in flags):
            raise InputError(
                f"torus must be true or false, or one of these for each of {len(size)} axes, got {torus!r}"
            )
        if neighbourhood not in NEIGHBOURHOODS:
            raise InputError(f"neighbourhood must be one of {', '.join(NEIGHBOURHOODS)}, got {neighbourhood!r}")
        self._kind, self._torus = NEIGHBOURHOODS[neighbourhood], flags
        if self._kind == HEX and len(size) == 3:
            raise InputError("hexagons are for two dimensions")
        if self._kind == HEX and flags[1] and self._size[1] % 2:
            raise InputError(f"a torus of hexagons needs an even height, got {self._size[1]}")
        self._capacity = 0 if capacity is None else _whole("capacity", capacity, 1)
        self._n_cells = self._size[0] * self._size[1] * (self._size[2] if len(size) == 3 else 1)
        if self._n_cells > MOST_CELLS:
            raise InputError(f"a grid must have <= {MOST_CELLS:,} cells, got {self._n_cells:,}")

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return a grid on which no row is."""
        import numpy as np

        sizes, torus = [*self._size, 1][:3], [*self._torus, False][:3]
        cells, nowhere = np.arange(self._n_cells), np.full(n_rows, NOWHERE)
        return {
            "width": sizes[0], "height": sizes[1], "depth": sizes[2],
            "is_torus_x": torus[0], "is_torus_y": torus[1], "is_torus_z": torus[2],
            "neighbourhood": self._kind, "capacity": self._capacity,
            "line_of": cells // sizes[0], "head": np.full(len(cells), NOWHERE), "n_on": np.zeros(len(cells)),
            "empty": cells, "empty_at": cells, "n_empty": len(cells),
            "cell_of": nowhere, "after": nowhere, "before": nowhere,
        }  # fmt: skip

    def resize(self, n_rows: int) -> None:
        """Make room for more rows."""
        for name in ("cell_of", "after", "before"):
            self._enlarge(name, n_rows, NOWHERE)

    def begin(self) -> None:
        """Put all rows on the cells that their column `cell` says.

        Raises InputError for a cell that is not there, or more rows on a cell than its capacity.
        """
        import numpy as np

        cell = np.array(self.rows["cell"], np.int64)
        n_cells, label = self.n_cells(), f"{self.rows.schema.table}.cell"
        bad = np.flatnonzero((cell < NOWHERE) | (cell >= n_cells))
        if len(bad):
            raise InputError(
                f"{label} must be in 0..{n_cells - 1}, or -1 for none, got {cell[bad[0]]} for row {bad[0]}"
            )
        n_on = np.bincount(cell[cell >= 0], minlength=n_cells)
        if self.capacity and n_on.max(initial=0) > self.capacity:
            full = int(n_on.argmax())
            raise InputError(f"{label}: {n_on[full]} rows are on cell {full}, whose capacity is {self.capacity}")
        link_all(self, cell)
        self.n_on.values[:] = n_on
        empty = np.flatnonzero(n_on == 0)
        self.empty_at.values[:] = NOWHERE
        self.empty_at.values[empty] = np.arange(len(empty))
        self.empty.values[: len(empty)] = empty
        self.n_empty = len(empty)

    def n_cells(self) -> int:
        """Return the number of cells."""
        return self.width * self.height * self.depth

    def column(self, cell: int) -> int:
        """Return x of a cell."""
        return cell % self.width

    def line(self, cell: int) -> int:
        """Return y of a cell."""
        return cell // self.width % self.height

    def layer(self, cell: int) -> int:
        """Return z of a cell; 0 on a grid with two axes."""
        return cell // (self.width * self.height)

    def is_empty(self, cell: int) -> bool:
        """Say whether no row is on a cell."""
        return self.n_on[cell] == 0

    def has_room(self, cell: int) -> bool:
        """Say whether another row may move to a cell."""
        return self.capacity == 0 or self.n_on[cell] < self.capacity

    def occupants(self, cell: int) -> Iterator[E]:
        """Iterate over the rows on a cell, by number; one may be moved or removed in its turn."""
        k = self.head[cell]
        while k >= 0:
            following = self.after[k]
            if self.rows.is_live(k):
                yield self.rows[k]
            k = following

    def random_empty(self, rng: Any) -> int:
        """Return a cell on which no row is, all equally likely. Cost O(1).

        Whoever moves is on a cell, so his own is none of them. Raises ValueError if no cell is empty.
        """
        if self.n_empty == 0:
            raise ValueError("no cell of the grid is empty")
        return self.empty[rng.integers(0, self.n_empty)]

    def move_to_empty(self, row: Any, rng: Any) -> int:
        """Move a row to a random empty cell, and return it. Raises ValueError if there is none."""
        cell = self.random_empty(rng)
        self.move(row, cell)
        return cell

    def move(self, row: Any, cell: int) -> None:
        """Put a row on a cell, from wherever it was. Cost O(1), and O(rows on the cell).

        Raises IndexError for a cell that is not there, ValueError if it is full; the row then stays.
        """
        if not 0 <= cell < len(self.n_on):
            raise IndexError("this cell is not on the grid: cells are 0 .. n_cells() - 1, and cell_at(x, y) finds them")
        k = row.index
        old = self.cell_of[k]
        if old != cell:
            if not self.has_room(cell):
                raise ValueError("this cell is full: ask has_room(cell) first")
            if old >= 0:
                self._take(k, old)
            self._put(k, cell)
        row.cell = cell

    def remove(self, row: Any) -> None:
        """Take a row off the grid; nothing if it is on no cell. Do so before you remove it from a pool."""
        k = row.index
        if self.cell_of[k] >= 0:
            self._take(k, self.cell_of[k])
        row.cell = NOWHERE

    def _put(self, k: int, cell: int) -> None:
        link(self, k, cell)
        if self.n_on[cell] == 0:
            last, place = self.empty[self.n_empty - 1], self.empty_at[cell]
            self.empty[place] = last
            self.empty_at[last] = place
            self.empty_at[cell] = NOWHERE
            self.n_empty -= 1
        self.n_on[cell] += 1

    def _take(self, k: int, cell: int) -> None:
        unlink(self, k)
        self.n_on[cell] -= 1
        if self.n_on[cell] == 0:
            self.empty[self.n_empty] = cell
            self.empty_at[cell] = self.n_empty
            self.n_empty += 1

    def place_of(self, row: Any) -> int:
        """Return the cell of a row. Raises ValueError if it is on none."""
        cell = self.cell_of[row.index]
        if cell < 0:
            raise ValueError("this row is on no cell: move it to one first")
        return cell

    def neighbours(self, row: Any, radius: int = 1) -> Iterator[E]:
        """Iterate over the rows on the cells around that of a row; those on its own cell are not among them.

        Raises ValueError for a radius below 0, or a row that is on no cell.
        """
        return self._rows_around(self.place_of(row), radius)

    def neighbours_of(self, cell: int, radius: int = 1) -> Iterator[E]:
        """Iterate over the rows on the cells around a cell."""
        return self._rows_around(cell, radius)

    def _rows_around(self, cell: int, radius: int) -> Iterator[E]:
        """As `cells_around`, with the rows: written out, as one generator in another costs four times as much."""
        self._check_around(cell, radius)
        width, height, depth, kind = self.width, self.height, self.depth, self.neighbourhood
        line = self.line_of[cell]
        x, y, z = cell - line * width, line, 0
        if depth > 1:
            z = line // height
            y = line - z * height
        low_z, high_z = offsets(z, radius, depth, self.is_torus_z)
        low_y, high_y = offsets(y, radius, height, self.is_torus_y)
        dz = low_z
        while dz <= high_z:
            reach = radius - abs(dz) if kind == VON_NEUMANN else radius
            dy = low_y
            while dy <= high_y:
                low, high = columns(kind, reach, dy, y)
                low, high = clipped(x, low, high, width, self.is_torus_x)
                near, stop, rest = stretches(low, high, width)
                base = (around(z + dz, depth) * height + around(y + dy, height)) * width
                near, stop, rest = base + near, base + stop, base + rest
                while True:
                    while near < stop:
                        k = self.head[near]
                        if near == cell:
                            k = NOWHERE
                        while k >= 0:
                            row = self.rows[k]
                            k = self.after[k] if self.capacity != 1 else NOWHERE
                            if self.rows.is_live(row.index):
                                yield row
                        near += 1
                    if rest == base:
                        break
                    near, stop, rest = base, rest, base
                dy += 1
            dz += 1

    def _check_around(self, cell: int, radius: int) -> None:
        if radius < 0:
            raise ValueError("radius must be >= 0, and is negative")
        if not 0 <= cell < len(self.head):
            raise IndexError("this cell is not on the grid: cells are 0 .. n_cells() - 1, and cell_at(x, y) finds them")

    def cells_around(self, cell: int, radius: int = 1) -> Iterator[int]:
        """Iterate over the cells around a cell, without it. Cost O(cells).

        Raises ValueError for a radius below 0, IndexError for a cell that is not there.
        """
        self._check_around(cell, radius)
        width, height, depth, kind = self.width, self.height, self.depth, self.neighbourhood
        line = self.line_of[cell]
        x, y, z = cell - line * width, line % height, line // height
        low_z, high_z = offsets(z, radius, depth, self.is_torus_z)
        low_y, high_y = offsets(y, radius, height, self.is_torus_y)
        dz = low_z
        while dz <= high_z:
            reach = radius - abs(dz) if kind == VON_NEUMANN else radius
            dy = low_y
            while dy <= high_y:
                low, high = columns(kind, reach, dy, y)
                low, high = clipped(x, low, high, width, self.is_torus_x)
                near, stop, rest = stretches(low, high, width)
                base = (around(z + dz, depth) * height + around(y + dy, height)) * width
                while True:
                    while near < stop:
                        if base + near != cell:
                            yield base + near
                        near += 1
                    if rest == 0:
                        break
                    near, stop, rest = 0, rest, 0
                dy += 1
            dz += 1


class Grid(Lattice[E]):
    """Cells of a rectangle, for entities with a field `cell: int32`.

    Parameters
    ----------
    width, height : cells along x and y, >= 1
    torus : whether the grid closes on itself, or (along x, along y)
    neighbourhood : 'moore', 'von neumann' or 'hex'
    capacity : most rows on a cell, >= 1; None for any number

    Raises InputError for a value that breaks a rule.
    """

    def __init__(
        self, width: int, height: int, *,
        torus: bool | Sequence[bool] = False, neighbourhood: str = "moore", capacity: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__((width, height), torus, neighbourhood, capacity)

    def cell_at(self, x: int, y: int) -> int:
        """Return the cell at (x, y), folded on a torus. Raises ValueError outside."""
        return axis_cell(y, self.height, self.is_torus_y) * self.width + axis_cell(x, self.width, self.is_torus_x)


class Grid3(Lattice[E]):
    """Cells of a box, for entities with a field `cell: int32`.

    Parameters
    ----------
    width, height, depth : cells along x, y and z, >= 1
    torus : whether the grid closes on itself, or (along x, along y, along z)
    neighbourhood : 'moore' or 'von neumann'
    capacity : most rows on a cell, >= 1; None for any number

    Raises InputError for a value that breaks a rule.
    """

    def __init__(
        self, width: int, height: int, depth: int, *,
        torus: bool | Sequence[bool] = False, neighbourhood: str = "moore", capacity: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__((width, height, depth), torus, neighbourhood, capacity)

    def cell_at(self, x: int, y: int, z: int) -> int:
        """Return the cell at (x, y, z), folded on a torus. Raises ValueError outside."""
        line = axis_cell(z, self.depth, self.is_torus_z) * self.height + axis_cell(y, self.height, self.is_torus_y)
        return line * self.width + axis_cell(x, self.width, self.is_torus_x)


def axis_cell(x: int, n: int, is_torus: bool) -> int:
    """Return a coordinate that is on the axis. Raises ValueError outside a bounded one."""
    if is_torus:
        return x % n
    if not 0 <= x < n:
        raise ValueError("a coordinate must be in 0 .. the size of the grid - 1, and is outside")
    return x


def offsets(x: int, radius: int, n: int, is_torus: bool) -> tuple[int, int]:
    """Return the lowest and the highest offset along an axis: each cell once, the short way around."""
    if is_torus:
        return max(-radius, -((n - 1) // 2)), min(radius, n // 2)
    return max(-radius, -x), min(radius, n - 1 - x)


def columns(kind: int, radius: int, dy: int, y: int) -> tuple[int, int]:
    """Return the lowest and the highest offset along x in the line at offset dy; low > high for none."""
    if kind == MOORE:
        return -radius, radius
    if kind == VON_NEUMANN:
        return abs(dy) - radius, radius - abs(dy)
    double = 2 * radius - abs(dy)
    shift = ((y + dy) & 1) - (y & 1)
    return -((double + shift) // 2), (double - shift) // 2


def clipped(x: int, low: int, high: int, n: int, is_torus: bool) -> tuple[int, int]:
    """Return the columns at offsets low .. high of x, without what is outside, or of a torus none twice."""
    if low > high:
        return 0, -1
    if not is_torus:
        return max(x + low, 0), min(x + high, n - 1)
    if high - low >= n - 1:
        return 0, n - 1
    return x + low, x + high


def _whole(name: str, value: int, least: int) -> int:
    try:
        found = operator.index("" if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} must be a whole number, got {value!r}") from None
    if not least <= found < 1 << 31:
        raise InputError(f"{name} must be in {least} .. 2**31 - 1, got {value}")
    return found
