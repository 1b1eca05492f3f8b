"""`Buckets`: rows found by a number that they carry, such as whom a message is for.

Rows are sorted by their field `bucket` when the index is made: before each tick of a synchronous system
that looks into it, or by `index(now)`. Within a bucket they stand in order of row number, which for messages is
that of sender, then of sending.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from tocsin.errors import InputError
from tocsin.schema import Array, Part, int32, int64

E = TypeVar("E")
ROW = 0xFFFFFFFF


class Buckets(Part[E]):
    """Rows by their field `bucket: int32`, 0 .. n_buckets - 1; those with another number are in none.

    Parameters
    ----------
    n_buckets : how many numbers there are, > 0
    """

    needs = ("bucket: int32",)
    first: Array[int32]  # the rows of bucket b are number first[b] .. first[b + 1] - 1 of the order
    keys: Array[int64]
    cell_of: Array[int32]  # by row: its bucket, -1 for none

    def __init__(self, n_buckets: int) -> None:
        if isinstance(n_buckets, bool) or not isinstance(n_buckets, int) or n_buckets < 1:
            raise InputError(f"n_buckets must be a whole number > 0, got {n_buckets!r}")
        self._n_buckets = n_buckets

    def contents(self, n_rows: int) -> dict[str, Any]:
        """Return an index without rows."""
        import numpy as np

        return {"first": np.zeros(self._n_buckets + 1), "keys": np.zeros(n_rows), "cell_of": np.full(n_rows, -1)}

    def resize(self, n_rows: int) -> None:
        """Make room for more rows."""
        self._enlarge("keys", n_rows)
        self._enlarge("cell_of", n_rows, -1)

    def n_cells(self) -> int:
        """Return the number of buckets."""
        return len(self.first) - 1

    def index(self, now: float) -> None:
        """Sort all live rows by bucket. Cost O(rows + buckets)."""
        self.find_cells(0, len(self.rows))
        self.count(0, self.n_cells())
        self.add_up(now)
        self.sort(0, self.n_cells())

    def find_cells(self, start: int, stop: int) -> None:
        """Note the buckets of rows start .. stop - 1."""
        for k in range(start, stop):
            self.cell_of[k] = -1
            if self.rows.is_live(k):
                bucket = self.rows[k].bucket
                if 0 <= bucket < self.n_cells():
                    self.cell_of[k] = bucket

    def count(self, start: int, stop: int) -> None:
        """Count the rows in buckets start .. stop - 1."""
        for bucket in range(start, stop):
            self.first[bucket + 1] = 0
        for k in range(len(self.rows)):
            bucket = self.cell_of[k]
            if start <= bucket < stop:
                self.first[bucket + 1] += 1

    def add_up(self, now: float) -> None:
        """Say where each bucket begins, from the counts; `sort` moves each beginning to its end."""
        total = 0
        self.first[0] = 0
        for bucket in range(self.n_cells()):
            n_rows = self.first[bucket + 1]
            self.first[bucket + 1] = total
            total += n_rows

    def sort(self, start: int, stop: int) -> None:
        """Put the rows of buckets start .. stop - 1 in their places."""
        for k in range(len(self.rows)):
            bucket = self.cell_of[k]
            if start <= bucket < stop:
                place = self.first[bucket + 1]
                self.first[bucket + 1] = place + 1
                self.keys[place] = self.rows[k].key

    def at(self, bucket: int) -> Iterator[E]:
        """Iterate over the rows in a bucket; none for a number that is no bucket."""
        place, end = 0, 0
        if 0 <= bucket < self.n_cells():
            place, end = self.first[bucket], self.first[bucket + 1]
        while place < end:
            key = self.keys[place]
            place += 1
            row = self.rows[key & ROW]
            if row.key == key:
                yield row
