"""Params: named scalars with default, unit, bounds and meaning, fixed during a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from tocsin.errors import InputError, ModelError
from tocsin.schema._annotations import (
    as_scalar,
    defining_locals,
    hints,
    nearest,
    own_annotations,
    unknown_annotation,
    where,
)  # fmt: skip
from tocsin.schema._fields import FieldSpec, ParamSpec

if TYPE_CHECKING:
    from typing import Self


class _Param:
    """Read or write one parameter; every write is checked against its bounds."""

    __slots__ = ("name", "spec")

    def __init__(self, name: str, spec: ParamSpec) -> None:
        self.name, self.spec = name, spec

    def __get__(self, params: Any, owner: type | None = None) -> Any:
        if params is None:
            return self
        return params._values[params._prefix + self.name].item()

    def __set__(self, params: Any, value: Any) -> None:
        world = params._world
        if world is not None and world._frozen:
            world._refuse(params._prefix + self.name)
        if world is not None and world._kernel is not None and world._kernel.phase != 0:
            raise AttributeError(
                f"{type(params).__name__}.{self.name} cannot be set while a model runs; use a scalar of the world"
            )
        checked = params.check(self.name, value)
        params._values[params._prefix + self.name] = checked


@dataclass_transform(kw_only_default=True)
class Params:
    """Base of parameter classes: `step: float64 = param(1.0, unit="1/s", gt=0, doc="...")`.

    Raises InputError for an unknown name, a value of the wrong type or out of bounds.
    """

    _own_names: ClassVar[list[str]] = []
    _locals: ClassVar[dict[str, Any] | None] = None
    _fields: ClassVar[dict[str, FieldSpec] | None] = None
    _world: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_names, cls._fields = own_annotations(cls), None
        cls._locals = defining_locals(sys._getframe(1))
        for name in cls._own_names:
            if name.startswith("_") or hasattr(Params, name):
                raise ModelError(f"{where(cls)}.{name}: this name is taken by every Params.")
            given = cls.__dict__.get(name)
            if given is None:
                raise ModelError(f"{where(cls)}.{name}: give it a default: {name}: ... = param(1.0)")
            spec = given if isinstance(given, ParamSpec) else ParamSpec(given)
            setattr(cls, name, _Param(name, spec))

    def __init__(self, **values: Any) -> None:
        import numpy as np

        fields = self.fields()
        self._prefix = ""
        self._values = np.zeros((), np.dtype([(f.name, f.dtype) for f in fields.values()]))
        for name in values:
            if name not in fields:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}.{nearest(name, fields)} "
                    f"It has: {', '.join(fields)}."
                )
        for name in fields:
            setattr(self, name, values.get(name, self.spec(name).default))

    @classmethod
    def bound(cls, values: Any, prefix: str, world: Any) -> Params:
        """Return the parameters that live in the record `values` of a world under `prefix`."""
        view = cls.__new__(cls)
        view.__dict__["_world"] = world
        view._values, view._prefix = values, prefix
        return view

    @classmethod
    def fields(cls) -> dict[str, FieldSpec]:
        """Return the parameters by name. Raises ModelError for a type that is not scalar."""
        if cls._fields is None:
            cls._fields = {}
            for name, hint in hints(cls, {}).items():
                scalar = as_scalar(hint)
                if scalar is None:
                    raise unknown_annotation(cls, name, hint, "int64, float64 or bool")
                cls._fields[name] = FieldSpec(name, scalar.dtype, scalar.kind)
        return cls._fields

    @classmethod
    def spec(cls, name: str) -> ParamSpec:
        """Return default, unit, bounds and meaning of one parameter."""
        found: ParamSpec = getattr(cls, name).spec
        return found

    @classmethod
    def check(cls, name: str, value: Any) -> Any:
        """Return `value` as the parameter's type. Raises InputError if it breaks a rule."""
        kind = cls.fields()[name].kind
        label = f"{cls.__name__}.{name}"
        allowed: Any = {"int": int, "float": (int, float), "bool": bool}[kind]
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, allowed) or (kind != "bool" and isinstance(value, bool)):
            raise InputError(f"{label} must be {_A[kind]}, got {value!r}")
        if kind == "bool":
            return value
        breach = _overflow(cls.fields()[name], value) or cls.spec(name).breach(value)
        if breach:
            raise InputError(f"{label} {breach}, got {value!r}")
        return float(value) if kind == "float" else value

    def __copy__(self) -> Self:
        return type(self)(**self.to_dict())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(**self.to_dict())

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return {name: getattr(self, name) for name in self.fields()}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        body = ", ".join(f"{k}={v!r}" for k, v in self.to_dict().items())
        return f"{type(self).__name__}({body})"


def _remade(cls: type[Params], values: dict[str, Any]) -> Params:
    return cls(**values)


def _overflow(field: FieldSpec, value: Any) -> str | None:
    """Say that a number does not fit its machine type, or None."""
    import numpy as np

    if field.kind == "int":
        info: Any = np.iinfo(field.dtype)
        fits = info.min <= value <= info.max
    else:
        info = np.finfo(field.dtype)
        fits = value != value or abs(value) == np.inf or abs(value) <= float(info.max)
    return None if fits else f"must be in {info.min} .. {info.max}"


_A = {"int": "a whole number", "float": "a number", "bool": "true or false"}
