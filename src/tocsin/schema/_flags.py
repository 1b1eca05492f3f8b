"""Where a synchronous system marks rows while many run at once: one byte a row."""

from __future__ import annotations

from typing import Any

from tocsin.schema._array import Array
from tocsin.schema._fields import int8, int64
from tocsin.schema._world import World


class Flags(World):
    """What a synchronous system is handed as `touched`: the rows are touched when the tick ends."""

    flags: Array[int8]
    first: Array[int64]  # by kind: where its rows start in `flags`; -1 for a kind without clocks

    def add(self, row: Any) -> None:
        """Mark a row (or the world): all its clocks are scheduled again, each once."""
        start = self.first[row._code]
        if start >= 0:
            self.flags[start + row.index] = 1

    def all(self, table: Any) -> None:
        """Mark every row of a table."""
        start = self.first[table._code]
        if start >= 0:
            for index in range(len(table)):
                self.flags[start + index] = 1
