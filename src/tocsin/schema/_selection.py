"""Selections: some live rows of a table, to read, change, remove or group from Python, between events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tocsin.errors import InputError
from tocsin.schema._annotations import nearest
from tocsin.schema._groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.schema._table import Table

E = TypeVar("E")
Condition = Callable[[Any], Any]


class Columns:
    """What a condition is given: the columns of the rows in question as attributes, and `index` and `key`."""

    def __init__(self, selection: Selection[Any]) -> None:
        self._selection = selection

    def __getattr__(self, name: str) -> NDArray[Any]:
        return self._selection[name]

    @property
    def index(self) -> NDArray[Any]:
        """Row numbers, int64."""
        return self._selection.index

    @property
    def key(self) -> NDArray[Any]:
        """Keys, int64: never used again."""
        return self._selection.keys


class Selection(Generic[E]):
    """Some live rows of a table, by number, as they were chosen. Rows that were removed since are left out.

    `len`, a loop over rows, and `selection["x"]`, a copy of a column (references as row numbers, -1 for none).
    """

    def __init__(self, table: Table[E], index: NDArray[Any]) -> None:
        self.table = table
        self._index, self._keys = index, table._keys_of(index)

    def _refresh(self) -> None:
        holds = self.table._keys_of(self._index) == self._keys
        if not holds.all():
            self._index, self._keys = self._index[holds], self._keys[holds]

    @property
    def index(self) -> NDArray[Any]:
        """Row numbers, int64."""
        self._refresh()
        return self._index.copy()

    @property
    def keys(self) -> NDArray[Any]:
        """Keys, int64: those of pools are never used again."""
        self._refresh()
        return self._keys.copy()

    def __len__(self) -> int:
        self._refresh()
        return len(self._index)

    def __iter__(self) -> Iterator[E]:
        self._refresh()
        for index, key in zip(self._index.tolist(), self._keys.tolist(), strict=True):
            if self.table.holds(key):  # not removed in this loop
                yield self.table[index]

    def __getitem__(self, name: str) -> NDArray[Any]:
        import numpy as np

        self._refresh()
        values: NDArray[Any] = self.table[name][self._index]
        spec = self.table.schema.fields[name]
        if spec.kind != "ref":
            return values
        rows = np.where(values < 0, -1, values & 0xFFFFFFFF)
        if spec.keyed:
            target = self.table.world._tables[spec.target]
            is_there = target._keys_of(np.maximum(rows, 0)) == values
            rows = np.where(is_there, rows, -1)
        return rows

    def where(self, condition: Condition | None = None, /, **equal: Any) -> Selection[E]:
        """Return those for which a condition holds, and whose columns equal `equal`.

        `condition` is asked once, with the columns: `lambda sheep: (sheep.energy < 2.0) & (sheep.x == 3)`; it
        returns a truth value for each row. Raises InputError for an unknown column or another answer.
        """
        import numpy as np

        chosen = np.ones(len(self), bool)
        for name, value in equal.items():
            self._known(name)
            chosen &= self[name] == value
        if condition is not None:
            chosen &= self._asked(condition)
        return Selection(self.table, self._index[chosen])

    def _asked(self, condition: Condition) -> NDArray[Any]:
        import numpy as np

        label = self.table.schema.table
        try:
            answer = np.asarray(condition(Columns(self)) if callable(condition) else condition)
        except KeyError as error:
            raise InputError(error.args[0]) from None
        except ValueError as error:
            raise InputError(
                f"the condition on {label} failed: {error}. It is given whole columns: join comparisons by & and |, "
                f"each in brackets, not by 'and' and 'or'"
            ) from None
        if answer.dtype != np.bool_ or answer.shape != (len(self._index),):
            raise InputError(
                f"the condition on {label} must return a truth value for each of {len(self._index)} rows, got "
                f"{answer.dtype} of shape {answer.shape}"
            )
        return answer

    def _known(self, name: str) -> None:
        fields = self.table.schema.fields
        if name not in fields:
            raise InputError(
                f"{self.table.schema.table} has no column {name!r}.{nearest(name, fields)} It has: {', '.join(fields)}."
            )

    def set(self, **values: Any) -> None:
        """Set columns, each to a number or an array with an entry a row; the clocks of the rows are touched.

        Raises InputError for an unknown column, a wrong length, or a value that the type cannot hold; nothing is
        set then.
        """
        table, n = self.table, len(self)
        if table.world._frozen:
            table.world._refuse(f"{table.schema.name}.{next(iter(values), '')}")
        for name in values:
            self._known(name)
        for name, column in {name: table._convert(name, given, n) for name, given in values.items()}.items():
            table._columns[name][self._index] = column
        if table.world._kernel is not None:
            for index in self._index.tolist():
                table.world._kernel.add(table[index])

    def remove(self) -> int:
        """Remove the rows from their pool, and return how many; their clocks never ring again.

        Rows on a grid or a live plane are taken off it first, by its own `remove`. Raises InputError for an arena.
        """
        remove = getattr(self.table, "remove", None)
        if remove is None:
            raise InputError(f"rows of {self.table.schema.table} cannot be removed: it is an Arena; make it a Pool")
        n = 0
        for row in self:
            remove(row)
            n += 1
        return n

    def group_by(self, *names: str) -> Groups:
        """Return the rows in groups of equal values of columns. Raises InputError for an unknown column, or none."""
        if not names:
            raise InputError(f"group_by needs a column of {self.table.schema.table}")
        for name in names:
            self._known(name)
        return Groups({name: self[name] for name in names}, self)

    def __repr__(self) -> str:
        return f"Selection[{self.table.schema.name}]({len(self)} rows)"
