"""The world: all state of a simulation, in plain memory that compiled code shares."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tocsin.errors import InputError, PurityError
from tocsin.schema import _layout as layout
from tocsin.schema._annotations import defining_locals, nearest, own_annotations
from tocsin.schema._array import Array, Array2, Array3, as_dtype, as_numbers, make_array
from tocsin.schema._memory import copied, zeros
from tocsin.schema._params import Params
from tocsin.schema._part import checked_part
from tocsin.schema._table import Arena, Pool, Table

if TYPE_CHECKING:
    from typing import Self

    from tocsin.schema._fields import FieldSpec
    from tocsin.schema._part import PartSchema

_ARRAY_CLASSES = {1: Array, 2: Array2, 3: Array3}


class _Scalar:
    """Read or write one scalar of the world."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, world: Any, owner: type | None = None) -> Any:
        return self if world is None else world._globals[self.name].item()

    def __set__(self, world: Any, value: Any) -> None:
        if world._frozen:
            world._refuse(self.name)
        if isinstance(value, float) and world.schema().scalars[self.name].kind != "float":
            raise TypeError(f"{self.name} holds whole numbers, got {value!r}; write int(...)")
        world._globals[self.name] = value


class World:
    """Base of all worlds. Annotate tables, arrays, scalars, params and parts (spaces).

    Construct with keywords: a table from its number of rows, from columns
    (`legs={"site": [...], "facing": 1}`), or from a structured array; an array from anything
    array-like; a scalar from a number, by default what the class says (`n: int64 = 5`) or 0; params from an instance or a mapping, or not at all
    for the defaults; a part from its description (`plane=Plane(100.0, 100.0)`). Raises InputError for anything that breaks a rule.
    """

    _own_names: ClassVar[list[str]] = []
    _locals: ClassVar[dict[str, Any] | None] = None
    _schema: ClassVar[Any] = None
    _own_defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_names, cls._schema = own_annotations(cls), None
        cls._own_defaults = {n: cls.__dict__[n] for n in cls._own_names if n in cls.__dict__}
        cls._locals = defining_locals(sys._getframe(1))

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        bases = [b for b in reversed(cls.__mro__) if issubclass(b, World)]
        return {n: v for b in bases for n, v in b._own_defaults.items()}

    @classmethod
    def schema(cls) -> layout.WorldSchema:
        """Return the resolved declaration. Raises ModelError if it does not hold together."""
        if cls._schema is None:
            cls._schema = found = layout.resolve_world(cls)
            for name in found.scalars:
                setattr(cls, name, _Scalar(name))
        return cls._schema  # type: ignore[no-any-return]

    def __init__(self, **values: Any) -> None:
        schema = self.schema()
        known = schema.names()
        for name in values:
            if name not in known:
                raise InputError(
                    f"{schema.name} has no part {name!r}.{nearest(name, known)} It has: {', '.join(known)}."
                )
        self._allocate(schema)
        for entity in schema.entities:
            values[entity.table] = _rows_given(entity, values.get(entity.table, 0))
            n_rows = _count_rows(entity.table, values[entity.table])
            kind: type[Table[Any]] = Pool if entity.pooled else Arena
            self._tables[entity.name] = self.__dict__[entity.table] = kind(self, entity, n_rows)
        self._fill_tables(schema, values)
        for array in schema.own_arrays().values():
            if array.name in values:
                self._set_array(array, values[array.name])
            else:
                self._adopt_array(array, zeros((0,) * array.ndim, array.field.dtype))
        for name, value in {**dict.fromkeys(schema.scalars, 0), **self._defaults()}.items():
            given = values.get(name, value)
            if type(given) is not int or given != 0:  # it is 0 already
                self._set_scalar(name, schema.scalars[name], given)
        for name, cls in schema.params.items():
            self._set_params(name, cls, values.get(name))
        for part in schema.parts.values():
            self._set_part(part, values.get(part.name))

    def _allocate(self, schema: layout.WorldSchema) -> None:
        import numpy as np

        self._header = np.zeros(schema.n_words, np.int64)
        dtype = schema.globals_dtype()
        self._globals = np.zeros((), dtype if dtype.names else np.dtype([("_blank", "i8")]))
        self._header[layout.GLOBALS] = self._globals.ctypes.data
        self._tables: dict[str, Any] = {}
        self._frozen = ""
        self._kernel: Any = None
        self._on_grow: Any = None
        self._on_tick: Any = None
        self._seen: Any = None  # what a synchronous system sees, and where it marks rows, in plain Python
        self._flags: Any = None
        self._outside: Any = None

    def _fill_tables(self, schema: layout.WorldSchema, values: dict[str, Any]) -> None:
        for entity in schema.entities:
            given, table = values[entity.table], self._tables[entity.name]
            if not isinstance(given, int):
                table.fill(given)
            missing = [n for n, f in entity.fields.items() if f.nullable and not _names(given, n)]
            for name in missing:
                table._columns[name][:] = -1

    def _set_array(self, array: layout.ArraySchema, given: Any) -> None:
        self._adopt_array(array, make_array(array.name, given, array.field.dtype, array.ndim))

    def _adopt_array(self, array: layout.ArraySchema, values: Any) -> None:
        self._header[array.slot] = values.ctypes.data
        self._header[array.slot + 1 : array.slot + 1 + array.ndim] = values.shape
        self.__dict__[array.name] = _ARRAY_CLASSES[array.ndim](values, self, array.name)

    def _set_scalar(self, name: str, spec: FieldSpec, value: Any) -> None:
        label, is_array = f"{type(self).__name__}.{name}", getattr(value, "shape", ()) != ()
        value = value.item() if hasattr(value, "item") and not is_array else value
        if not isinstance(value, (int, float)):
            raise InputError(f"{label} must be {_A[spec.kind]}, got {value!r}")
        if spec.kind != "float" and isinstance(value, float) and not value.is_integer():
            raise InputError(f"{label} must be {_A[spec.kind]}, got {value!r}")
        setattr(self, name, as_dtype(label, as_numbers(label, value), spec.dtype).item())

    def _set_params(self, name: str, cls: type[Params], given: Any) -> None:
        if not (given is None or isinstance(given, (cls, Mapping))):
            raise InputError(f"{name} must be {cls.__name__} or a mapping, got {given!r}")
        made = given if isinstance(given, Params) else cls(**(given or {}))
        if type(made) is not cls:
            raise InputError(f"{name} must be {cls.__name__}, got {type(made).__name__}")
        view = cls.bound(self._globals, f"{name}.", self)
        for key, value in made.to_dict().items():
            setattr(view, key, value)
        self.__dict__[name] = view

    def _set_part(self, part: PartSchema, given: Any) -> None:
        described = checked_part(part, given)
        table = self._tables[part.entity] if part.entity else None
        contents = described.contents(len(table.rows) if table is not None else 0)
        for name, (field, ndim) in part.arrays.items():
            self._set_array(self.schema().arrays[field.name], contents.get(name, _no_entries(ndim)))
        for name, spec in part.scalars.items():
            self._globals[spec.name] = contents.get(name, 0)
        self._bind_part(part)
        self.__dict__[part.name].begin()

    def _bind_part(self, part: PartSchema) -> None:
        table = self._tables[part.entity] if part.entity else None
        self.__dict__[part.name] = part.cls._on(self, part.name, table)

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and not isinstance(getattr(type(self), name, None), (_Scalar, property)):
            schema = self.schema()
            if name in schema.names():
                raise AttributeError(f"{schema.name}.{name} cannot be replaced; set its rows or entries")
            raise AttributeError(f"{schema.name} has no part {name!r}.{nearest(name, schema.names())}")
        object.__setattr__(self, name, value)

    def _refuse(self, what: str) -> None:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__", "").startswith("tocsin.schema."):
            frame = frame.f_back
        raise PurityError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: {self._frozen} writes {what}: it may "
            f"only read the world. Move the change to a `fire`."
        )

    def _grow(self, code: int) -> None:
        """Double the capacity of a pool; the row numbers and all values stay."""
        table = self._tables[self.schema().by_code(code).name]
        rows = zeros(max(16, 2 * len(table.rows)), table.rows.dtype)
        rows[: len(table.rows)] = table.rows
        table._adopt(rows)
        for part in self.schema().parts.values():
            if part.entity == table.schema.name:
                self.__dict__[part.name].resize(len(rows))
        if self._on_grow is not None:
            try:
                self._on_grow()
            except BaseException:
                table._counts[4] = len(table)  # so that no row is used that has no clocks
                raise

    def attach(self, function: Any, address: int) -> None:
        """Give the world a function from outside: as Python, and compiled at an address (0: none).

        It is no part of the state: copies and saves are without.
        """
        self._outside = function
        self._header[layout.OUTSIDE] = address

    def copy(self) -> Self:
        """Return an independent copy of the whole state."""
        return self._restore(self._state())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._state())

    def _state(self) -> dict[str, Any]:
        """Return all that makes this world: tables with their counts, arrays, scalars and params."""
        tables = {t: (self.__dict__[t].rows, self.__dict__[t]._counts[1:4]) for t in self.schema().tables()}
        arrays = {name: self.__dict__[name].values for name in self.schema().arrays}
        return {"globals": self._globals, "tables": tables, "arrays": arrays}

    @classmethod
    def _restore(cls, state: dict[str, Any]) -> Self:
        schema, other = cls.schema(), cls.__new__(cls)
        other._allocate(schema)
        other._globals[...] = state["globals"]
        for entity in schema.entities:
            rows, counts = state["tables"][entity.table]
            kind: type[Table[Any]] = Pool if entity.pooled else Arena
            table = kind(other, entity, 0, copied(rows))
            table._counts[1:4] = counts
            other._tables[entity.name] = other.__dict__[entity.table] = table
        for array in schema.arrays.values():
            other._adopt_array(array, copied(state["arrays"][array.name]))
        for name, params in schema.params.items():
            other.__dict__[name] = params.bound(other._globals, f"{name}.", other)
        for part in schema.parts.values():
            other._bind_part(part)
        return other

    @property
    def _code(self) -> int:
        return layout.WORLD_CODE

    @property
    def index(self) -> int:
        """Row number 0: the world can be touched like a row."""
        return 0

    def __repr__(self) -> str:
        schema = self.schema()
        tables = ((t, self._tables[e.name]) for t, e in schema.tables().items())
        parts = [f"{t}={table.n_live if isinstance(table, Pool) else len(table)}" for t, table in tables]
        parts += [f"{n}={self.__dict__[n].shape}" for n in schema.own_arrays()]
        parts += [f"{n}={getattr(self, n)!r}" for n in (*schema.scalars, *schema.params, *schema.parts)]
        return f"{schema.name}({', '.join(parts)})"


def _names(given: Any, column: str) -> bool:
    return not isinstance(given, int) and column in given


def _no_entries(ndim: int) -> Any:
    import numpy as np

    return np.zeros((0,) * ndim)


def _rows_given(entity: layout.EntitySchema, given: Any) -> Any:
    """Return a number of rows, or the columns by name."""
    import numpy as np

    if isinstance(given, Table):
        columns = {name: given[name] for name in entity.fields}
        keyed = {n: np.where(v < 0, -1, v & 0xFFFFFFFF) for n, v in columns.items() if entity.fields[n].keyed}
        return {**columns, **keyed}
    if getattr(getattr(given, "dtype", None), "names", None):
        return {name: given[name] for name in given.dtype.names}
    if hasattr(given, "items"):
        return given
    try:
        return operator.index("" if isinstance(given, bool) else given)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{entity.table} must be a number of rows or columns of values, got {given!r}") from None


def _restored(cls: type[World], state: dict[str, Any]) -> World:
    return cls._restore(state)


def _count_rows(table: str, given: Any) -> int:
    if isinstance(given, int):
        if given < 0:
            raise InputError(f"{table} must be >= 0 rows, got {given}")
        if given >= MOST_ROWS:
            raise InputError(f"{table} must be < {MOST_ROWS:,} rows, got {given}")
        return given
    if not given:
        return 0
    lengths = {len(v) for _, v in given.items() if hasattr(v, "__len__")}
    if len(lengths) > 1:
        raise InputError(f"{table}: columns have different lengths {sorted(lengths)}")
    return lengths.pop() if lengths else 1


MOST_ROWS = 2**31 - 1
_A = {"int": "a whole number", "float": "a number", "bool": "true or false"}
