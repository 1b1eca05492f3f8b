"""`Claims`: several rows want one cell; who gets it is drawn fairly, and by nothing else.

Each row has at most one claim, so none wins twice. `grant` goes in rounds: in each, every cell with room
goes to the claim whose keyed hash is least, its winner moves there, and what he leaves may have room in
the next; until a round moves nobody. The hash is of (a number drawn for this `grant`, cell, row), so no row
is favoured, and the result does not depend on the order in which claims are made, nor on threads.
"""

from __future__ import annotations

from typing import Any, TypeVar

from tocsin.kernel._philox import philox4x32, signed64
from tocsin.schema import Array, Part, int32, int64
from tocsin.space._grid import MOST_CELLS, _whole
from tocsin.space._lists import NOWHERE

E = TypeVar("E")
MASK = 0xFFFFFFFF


class Claims(Part[E]):
    """Claims of rows on the cells of a grid.

    Parameters
    ----------
    n_cells : number of cells of the grid

    Raises InputError for a value that breaks a rule.
    """

    needs = ("cell: int32",)
    wish: Array[int32]  # by row: the cell it claims, or -1
    best: Array[int64]  # by cell: the least hash of this round
    best_row: Array[int32]  # by cell: whose it is, or -1
    room: Array[int32]  # by cell: how many it could take when `grant` began

    def __init__(self, n_cells: int) -> None:
        self._n_cells = _whole("n_cells", n_cells, 1)
        if self._n_cells > MOST_CELLS:
            _whole("n_cells", MOST_CELLS + 1, 1)

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return no claims, with room for one a row."""
        import numpy as np

        none = np.full(self._n_cells, NOWHERE)
        return {"wish": np.full(n_rows, NOWHERE), "best": none, "best_row": none, "room": np.zeros(self._n_cells)}

    def resize(self, n_rows: int) -> None:
        """Make room for more rows."""
        self._enlarge("wish", n_rows, NOWHERE)

    def claim(self, row: Any, cell: int) -> None:
        """Claim a cell for a row, in place of what it has claimed. Raises IndexError for a cell that is not there."""
        if not 0 <= cell < len(self.best):
            raise IndexError("this cell is not on the grid")
        self.wish[row.index] = cell

    def withdraw(self, row: Any) -> None:
        """Drop the claim of a row, if it has one."""
        self.wish[row.index] = NOWHERE

    def has_claim(self, row: Any) -> bool:
        """Say whether a row's claim is still open: after `grant`, that it has lost."""
        return self.wish[row.index] >= 0

    def grant(self, grid: Any, rng: Any, vacated: bool = True) -> int:
        """Move all winners on a grid, in rounds until nobody moves; return how many moved.

        Parameters
        ----------
        grid : the grid, with as many cells
        rng : one number is drawn
        vacated : whether a cell that a winner leaves can be won in a later round of this `grant`

        Losers keep their claims: let them claim another cell and grant again, or `withdraw`. Rows on no
        cell may claim; those that were removed are passed over. A claim on the row's own cell is granted
        at once. Two rows that want each other's full cell both stay. Cost O(rows) a round.
        """
        if grid.n_cells() != len(self.best):
            raise ValueError("these claims are for a grid with another number of cells")
        salt, n_granted, n_moved = rng.bits64(), 0, 1
        for cell in range(len(self.room)):
            self.room[cell] = grid.capacity - grid.n_on[cell]
        while n_moved > 0:
            self._compete(grid, salt, vacated)
            n_moved = self._move_winners(grid)
            n_granted += n_moved
        return n_granted

    def _compete(self, grid: Any, salt: int, vacated: bool) -> None:
        for k in range(len(self.rows)):
            cell = self.wish[k]
            if cell < 0:
                continue
            if not self.rows.is_live(k) or grid.cell_of[k] == cell:
                self.wish[k] = NOWHERE
            elif grid.has_room(cell) and (vacated or grid.capacity == 0 or self.room[cell] > 0):
                drawn = priority(salt, cell, k)
                if self.best_row[cell] < 0 or drawn < self.best[cell]:
                    self.best[cell] = drawn
                    self.best_row[cell] = k

    def _move_winners(self, grid: Any) -> int:
        n_moved = 0
        for k in range(len(self.rows)):
            cell = self.wish[k]
            if cell >= 0 and self.best_row[cell] == k:
                grid.move(self.rows[k], cell)
                self.room[cell] -= 1
                self.wish[k] = NOWHERE
                self.best_row[cell] = NOWHERE
                n_moved += 1
        return n_moved


def priority(salt: int, cell: int, row: int) -> int:
    """Return 64 bits that are a pure function of the draw, the cell and the row (Philox4x32-10)."""
    words = philox4x32(cell, row, 0, 0, salt & MASK, (salt >> 32) & MASK)
    return signed64(words[0], words[1])
