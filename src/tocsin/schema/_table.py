"""Tables of rows: `Arena` (fixed number) and `Pool` (rows are spawned and removed)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from tocsin.errors import InputError
from tocsin.schema._annotations import nearest
from tocsin.schema._array import as_dtype, as_numbers
from tocsin.schema._memory import zeros
from tocsin.schema._selection import Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.schema._groups import Groups
    from tocsin.schema._layout import EntitySchema
    from tocsin.schema._selection import Condition

E = TypeVar("E")
GENERATION_SHIFT = 32


class Table(Generic[E]):
    """What arenas and pools share: a structured array, its counts, and row proxies."""

    is_unborn = False
    """Whether its rows join the world only when a tick ends, so that nothing can refer to them."""

    def __init__(self, world: Any, schema: EntitySchema, n_rows: int, rows: NDArray[Any] | None = None) -> None:
        self.world, self.schema = world, schema
        self.origin: Table[Any] = self  # the table that this is a view of
        self._counts = world._header[schema.slot : schema.slot + 5]
        self._adopt(zeros(max(n_rows, 1), schema.dtype()) if rows is None else rows)
        self._counts[1:4] = n_rows, n_rows, -1

    def _adopt(self, rows: NDArray[Any]) -> None:
        self.rows = rows
        self._counts[0], self._counts[4] = rows.ctypes.data, len(rows)
        self.__dict__.pop("_columns", None)

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """Each column of the rows, made when one is asked for: most tables of the kernel never are."""
        return {name: self.rows[name] for name in self.rows.dtype.names or ()}

    @property
    def _code(self) -> int:
        return self.schema.code

    def __len__(self) -> int:
        return int(self._counts[1])

    @overload
    def __getitem__(self, which: int) -> E: ...
    @overload
    def __getitem__(self, which: str) -> NDArray[Any]: ...
    def __getitem__(self, which: int | str) -> Any:
        if isinstance(which, str):
            return self._column(which)
        n = self._counts.item(1)
        if not 0 <= which < n:
            raise IndexError(f"{self.schema.table}[{which}]: index must be in 0..{n - 1}")
        return self._at(which)

    def _at(self, index: int) -> Any:
        return self.schema.cls(self, index)

    def __iter__(self) -> Iterator[E]:
        return (self._at(i) for i in range(len(self)))

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self.schema.fields:
            raise KeyError(
                f"{self.schema.table} has no column {name!r}."
                f"{nearest(name, self.schema.fields)} It has: {', '.join(self.schema.fields)}."
            )
        return self._columns[name][: len(self)]

    if TYPE_CHECKING:

        def __set__(self, world: object, value: int | Mapping[str, Any] | NDArray[Any] | Table[E]) -> None: ...

    def read(self, name: str, index: int) -> Any:
        """Return a field of a row: a number, or for a reference the row it points to."""
        spec = self.schema.fields.get(name)
        value = self._columns[name].item(index)
        if spec is None or spec.kind != "ref":
            return value
        if value < 0 or not self.world._tables[spec.target].holds(value):
            if spec.nullable:
                return None
            raise IndexError(f"{self.schema.name}[{index}].{name} points to no {'live ' * spec.keyed}row")
        return self.world._tables[spec.target]._at(value & 0xFFFFFFFF)

    def is_live(self, index: int) -> bool:
        """Say whether row `index` is in use: always, as rows of an arena are never removed."""
        return True

    def holds(self, key: int) -> bool:
        """Say whether a key is that of a row: always, as rows of an arena are never removed."""
        return True

    def pick(self, rng: Any) -> E:
        """Return any row, each equally likely. Cost: one draw. Raises IndexError if there is none."""
        row: E = pick_any(self, rng)
        return row

    def write(self, name: str, index: int, value: Any) -> None:
        """Set a field of a row. Raises TypeError for a value of the wrong kind."""
        if self.world._frozen:
            self.world._refuse(f"{self.schema.name}.{name}")
        spec = self.schema.fields.get(name)
        if spec is not None and spec.kind == "ref":
            value = self._reference(name, spec, value)
        elif isinstance(value, float) and spec is not None and spec.kind != "float":
            raise TypeError(f"{self.schema.name}.{name} holds {spec.kind}, got {value!r}; write int(...)")
        self._columns[name][index] = value

    def _reference(self, name: str, spec: Any, row: Any) -> int:
        if row is None and spec.nullable:
            return -1
        target = self.world._tables[spec.target]
        given = getattr(row, "_table", None)
        if given is None or given.origin is not target.origin or given.is_unborn:
            raise TypeError(f"{self.schema.name}.{name} refers to {spec.target}, got {row!r}")
        return row.key if spec.keyed else row.index  # type: ignore[no-any-return]

    def target(self, name: str, index: int) -> str:
        """Return where a reference points, for display."""
        value = self._columns[name].item(index)
        return "none" if value < 0 else f"{self.schema.fields[name].target}[{value & 0xFFFFFFFF}]"

    def key_of(self, index: int) -> int:
        """Return the key of a row: its number, as rows of an arena are never removed."""
        return index

    def fill(self, given: Any) -> None:
        """Set columns from a mapping or a structured array, checked.

        Raises InputError for an unknown column, a wrong length, a value that the type cannot
        hold, or a reference to a row that does not exist.
        """
        for name in given:
            if name not in self.schema.fields:
                raise InputError(
                    f"{self.schema.table} has no column {name!r}.{nearest(name, self.schema.fields)} "
                    f"It has: {', '.join(self.schema.fields)}."
                )
        for name, values in given.items():
            self._columns[name][: len(self)] = self._convert(name, values)

    def _convert(self, name: str, values: Any, n: int | None = None) -> Any:
        import numpy as np

        n = len(self) if n is None else n
        spec, label = self.schema.fields[name], f"{self.schema.table}.{name}"
        values = as_numbers(label, values)
        if values.ndim > 1:
            raise InputError(f"{label} must have 1 dimension, got shape {values.shape}")
        if values.ndim and len(values) != n:
            raise InputError(f"{label} has {len(values)} entries for {n} rows")
        out = as_dtype(label, values, spec.dtype)
        if spec.kind == "ref":
            low, high = (-1 if spec.nullable else 0), len(self.world._tables[spec.target]) - 1
            if out.size and not (low <= out.min() and out.max() <= high):
                raise InputError(f"{label} must refer to rows {low}..{high} of {spec.target}")
            if spec.keyed:
                generations = self.world._tables[spec.target]._columns["_generation"]
                keys = (generations[np.maximum(out, 0)].astype("i8") << GENERATION_SHIFT) | out
                out = np.where(out < 0, -1, keys)
        return out

    def where(self, condition: Condition | None = None, /, **equal: Any) -> Selection[E]:
        """Return the live rows for which a condition holds, and whose columns equal `equal`; all without any.

        `condition` is asked once, with the columns: `world.sheep.where(lambda sheep: sheep.energy < 2.0)`. For
        Python, between events: a model loops over rows. Raises InputError as `Selection.where` does.
        """
        return Selection(self, self._live_rows()).where(condition, **equal)

    def group_by(self, *names: str) -> Groups:
        """Return the live rows in groups of equal values of columns. Raises InputError for an unknown column."""
        return self.where().group_by(*names)

    def _live_rows(self) -> NDArray[Any]:
        """Return the numbers of the live rows, int64."""
        import numpy as np

        return np.arange(len(self))

    def _keys_of(self, index: NDArray[Any]) -> NDArray[Any]:
        """Return the keys of rows, int64."""
        return index.copy()

    def __repr__(self) -> str:
        return f"{type(self).__name__}[{self.schema.name}]({len(self)} rows)"


class Arena(Table[E]):
    """A table whose number of rows is fixed when the world is made."""


class Pool(Table[E]):
    """A table whose rows are spawned and removed while the simulation runs.

    A row that is removed may be used again; its key then has a new generation. So an
    `OptionalRef` to a removed row reads as None, used again or not; a `Ref` to it raises
    IndexError, and so does a field of a removed row. `len` is the number of
    rows in use or free (0 .. len-1 are valid numbers); `n_live` counts the live ones.
    """

    def __init__(self, world: Any, schema: EntitySchema, n_rows: int, rows: NDArray[Any] | None = None) -> None:
        super().__init__(world, schema, n_rows, rows)
        if rows is None:
            self._columns["_generation"][:n_rows] = 1

    @property
    def n_live(self) -> int:
        """Number of live rows."""
        return int(self._counts[2])

    def is_live(self, index: int) -> bool:
        """Say whether row `index` is in use."""
        return bool(self._columns["_generation"].item(index) & 1)

    def holds(self, key: int) -> bool:
        """Say whether the row that a key was made for is still the one in its place."""
        return bool(self._columns["_generation"].item(key & 0xFFFFFFFF) == key >> GENERATION_SHIFT)

    def read(self, name: str, index: int) -> Any:
        """Return a field of a live row. Raises IndexError for one that was removed."""
        self._refuse_removed(name, index)
        return super().read(name, index)

    def write(self, name: str, index: int, value: Any) -> None:
        """Set a field of a live row. Raises IndexError for one that was removed."""
        self._refuse_removed(name, index)
        super().write(name, index, value)

    def _refuse_removed(self, name: str, index: int) -> None:
        if name in self.schema.fields and not self.is_live(index):
            raise IndexError(f"{self.schema.name}.{name} of a row that was removed")

    def pick(self, rng: Any) -> E:
        """Return any live row, each equally likely. Cost: len / n_live draws, on average. Raises IndexError if there is none."""
        row: E = pick_live(self, rng)
        return row

    def spawn(self) -> E:
        """Return a fresh row, all zeros (references: none), and touch it. Cost O(1)."""
        row: E = spawn(self)
        return row

    def remove(self, row: E) -> None:
        """Free a row; its clocks never ring again. Cost O(1).

        Raises ValueError if the row is not live.
        """
        remove(self, row)

    def add(self, n: int = 1, /, **columns: Any) -> Selection[E]:
        """Spawn `n` rows from Python, between events, with columns as `Selection.set` takes them; return them.

        Raises InputError for a number below 0, and as `set`; no row is spawned then.
        """
        import numpy as np

        if isinstance(n, bool) or not hasattr(n, "__index__") or int(n) < 0:
            raise InputError(f"{self.schema.table}.add: the number of rows must be >= 0, got {n!r}")
        for name, values in columns.items():
            self.where()._known(name)
            self._convert(name, values, int(n))
        rows = [self.spawn() for _ in range(int(n))]
        added = Selection(self, np.array([row._index for row in rows], np.int64))  # type: ignore[attr-defined]
        added.set(**columns)
        return added

    def _live_rows(self) -> NDArray[Any]:
        """Return the numbers of the live rows, int64."""
        import numpy as np

        return np.flatnonzero(self._columns["_generation"][: len(self)] & 1 == 1)

    def _keys_of(self, index: NDArray[Any]) -> NDArray[Any]:
        """Return the keys of rows, int64: generation << 32 | row number; -1 for a row that is not live."""
        import numpy as np

        generation = self._columns["_generation"][index].astype(np.int64)
        return np.where(generation & 1 == 1, (generation << GENERATION_SHIFT) | index, -1)

    def __iter__(self) -> Iterator[E]:
        return (self._at(i) for i in range(len(self)) if self.is_live(i))

    def key_of(self, index: int) -> int:
        """Return generation << 32 | row number."""
        return int(self._columns["_generation"].item(index)) << GENERATION_SHIFT | index

    def _clear(self, index: int) -> None:
        generation = self._columns["_generation"].item(index)
        self.rows[index] = 0
        self._columns["_generation"][index] = generation
        for name, spec in self.schema.fields.items():
            if spec.kind == "ref":
                self._columns[name][index] = -1

    def _grow(self) -> None:
        self.world._grow(self.schema.code)

    def _touch(self, row: Any) -> None:
        if self.world._kernel is not None:
            self.world._kernel.add(row)

    def _get(self, word: int) -> int:
        return int(self._counts[word])

    def _set(self, word: int, value: int) -> None:
        if self.world._frozen:
            self.world._refuse(self.schema.table)
        self._counts[word] = value

    _n_rows = property(lambda self: self._get(1), lambda self, v: self._set(1, v))
    _n_live = property(lambda self: self._get(2), lambda self, v: self._set(2, v))
    _free = property(lambda self: self._get(3), lambda self, v: self._set(3, v))
    _capacity = property(lambda self: self._get(4))


def pick_any(arena: Any, rng: Any) -> Any:
    """Take any row; compiled and interpreted alike."""
    if len(arena) == 0:
        raise IndexError("there is no row to pick")
    return arena[rng.integers(0, len(arena))]


def pick_live(pool: Any, rng: Any) -> Any:
    """Try rows until one is in use; compiled and interpreted alike."""
    if pool.n_live == 0:
        raise IndexError("there is no row to pick")
    while True:
        index = rng.integers(0, len(pool))
        if pool.is_live(index):
            return pool[index]


def spawn(pool: Any) -> Any:
    """Take the row freed last, or a new one at the end; compiled and interpreted alike."""
    index = pool._free
    if index >= 0:
        pool._free = pool._at(index)._next
    else:
        index = pool._n_rows
        if index >= pool._capacity:
            pool._grow()
            if index >= pool._capacity:
                raise MemoryError("there is no room for another row")
        pool._n_rows = index + 1
    row = pool._at(index)
    pool._clear(index)
    row._generation = row._generation + 1
    pool._n_live = pool._n_live + 1
    pool._touch(row)
    return row


def remove(pool: Any, row: Any) -> None:
    """Free a row, which makes its generation even; compiled and interpreted alike."""
    if row._generation % 2 == 0:
        raise ValueError("this row was removed before: a reference to it was kept too long")
    row._generation = row._generation + 1
    row._next = pool._free
    pool._free = row.index
    pool._n_live = pool._n_live - 1
    pool._touch(row)
