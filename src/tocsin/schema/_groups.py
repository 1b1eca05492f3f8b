"""Groups of rows with equal values, and what they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

AGGREGATES = ("count", "sum", "mean", "min", "max")


class Groups:
    """Rows of a selection in groups, in order of their values; in a group by row number.

    Made by `group_by`. Sums go over the rows of a group in order, so they are the same bits for the same rows.
    """

    def __init__(self, by: dict[str, NDArray[Any]], columns: Any) -> None:
        import numpy as np

        self._by, self._columns = by, columns
        values = list(by.values())
        self._order = np.lexsort(values[::-1]) if len(values[0]) else np.zeros(0, np.int64)
        ordered = [value[self._order] for value in values]
        differs = np.zeros(len(self._order), bool)
        differs[:1] = True
        for value in ordered:
            differs[1:] |= value[1:] != value[:-1]
        self._first = np.flatnonzero(differs)
        self._ordered = dict(zip(by, ordered, strict=True))

    def __len__(self) -> int:
        return len(self._first)

    def aggregate(self, **wanted: str | tuple[str, str]) -> dict[str, NDArray[Any]]:
        """Return columns with an entry a group: those grouped by, then those asked for.

        Each is asked for as `energy="mean"`, of the column of that name, or as `oldest=("age", "max")`; `n="count"`
        counts rows. Known: count, sum, mean, min, max. Raises InputError for another, or an unknown column.
        """
        found = {name: values[self._first] for name, values in self._ordered.items()}
        for name, asked in wanted.items():
            column, how = asked if isinstance(asked, tuple) else (name, asked)
            if how not in AGGREGATES:
                raise InputError(
                    f"{name}={how!r}: there is no such aggregate.{nearest(str(how), AGGREGATES)} "
                    f"Known: {', '.join(AGGREGATES)}."
                )
            found[name] = self._one(column, how)
        return found

    def _one(self, column: str, how: str) -> NDArray[Any]:
        import numpy as np

        ends = np.append(self._first[1:], len(self._order))
        counts: NDArray[Any] = (ends - self._first).astype(np.int64)
        if how == "count":
            return counts
        try:
            values = self._columns[column][self._order]
        except KeyError as error:
            raise InputError(error.args[0]) from None
        if not len(values):
            return np.zeros(0, np.float64 if how == "mean" else values.dtype)
        if how in ("min", "max"):
            extremes: NDArray[Any] = (np.minimum if how == "min" else np.maximum).reduceat(values, self._first)
            return extremes
        wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        sums: NDArray[Any] = np.add.reduceat(wide, self._first)
        return sums if how == "sum" else sums / counts
