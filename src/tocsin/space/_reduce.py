"""`Sum`, `Least`, `Most`, `Last`: numbers of the world that all rows of a synchronous system give to at once.

Each row gives through its own block of 1,024 rows, and the blocks are put together in order as the tick ends: so
a sum of floats is the same bits at any number of threads. All see the value of the last tick meanwhile.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from tocsin.schema import Array, Part, float64

E = TypeVar("E")
BLOCK_BITS = 10


class Reduction(Part[E]):
    """What sums and extremes share. `value` is that of the last tick in which a system gave something."""

    value: float64
    blocks: Array[float64]
    staged = ("blocks",)
    """Arrays that a synchronous system may write, each row in its own block."""
    blank = 0.0

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return a blank value and blank blocks."""
        import numpy as np

        return {"value": self.blank, "blocks": np.full((n_rows >> BLOCK_BITS) + 1, self.blank)}

    def resize(self, n_rows: int) -> None:
        """Make room for more rows."""
        self._enlarge("blocks", (n_rows >> BLOCK_BITS) + 1, self.blank)

    def gather(self) -> None:
        """Put the blocks together, in order, and make them blank: as a tick ends."""
        total = self.blank
        for given in self.blocks.values.tolist():
            total = self._both(total, given)
        self.value = total
        self.blocks.values[:] = self.blank

    def _both(self, one: float, other: float) -> float:
        raise NotImplementedError


class Sum(Reduction[E]):
    """The sum of what the rows of a tick give; 0 if none does.

    A part of the world: `total: Sum[Bug]`, made by `Sum()`. Its attribute `value`, float64, is that of the last tick of
    a synchronous system that gives to it.
    """

    def give(self, row: Any, amount: float) -> None:
        """Add an amount. `row` is the system's own."""
        self.blocks[row.index >> BLOCK_BITS] += amount

    def _both(self, one: float, other: float) -> float:
        return one + other


class Least(Reduction[E]):
    """The least of what the rows of a tick give, in `value`; inf if none does."""

    blank = math.inf

    def give(self, row: Any, amount: float) -> None:
        """Give a number. `row` is the system's own."""
        block = row.index >> BLOCK_BITS
        self.blocks[block] = min(self.blocks[block], amount)

    def _both(self, one: float, other: float) -> float:
        return min(one, other)


class Most(Reduction[E]):
    """The greatest of what the rows of a tick give, in `value`; -inf if none does."""

    blank = -math.inf

    def give(self, row: Any, amount: float) -> None:
        """Give a number. `row` is the system's own."""
        block = row.index >> BLOCK_BITS
        self.blocks[block] = max(self.blocks[block], amount)

    def _both(self, one: float, other: float) -> float:
        return max(one, other)


class Last(Reduction[E]):
    """What the row with the highest number gives, of those that give, in `value`; NaN if none does.

    Of several that one row gives, the last.

    A NaN that is given is as nothing.
    """

    blank = math.nan

    def give(self, row: Any, amount: float) -> None:
        """Give a number. `row` is the system's own."""
        block = row.index >> BLOCK_BITS
        self.blocks[block] = self._both(self.blocks[block], amount)

    def _both(self, one: float, other: float) -> float:
        return other if other == other else one
