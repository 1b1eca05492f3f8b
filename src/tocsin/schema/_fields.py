"""Field types: what an annotation on an entity, a world or a params class may say."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypeVar, overload

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")
NEVER = math.inf
"""The pending time of a clock that will not ring."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A machine type: NumPy code `dtype`, and what reading it gives in Python."""

    dtype: str
    kind: Literal["int", "float", "bool"]


int8: TypeAlias = Annotated[int, Scalar("i1", "int")]
int16: TypeAlias = Annotated[int, Scalar("i2", "int")]
int32: TypeAlias = Annotated[int, Scalar("i4", "int")]
int64: TypeAlias = Annotated[int, Scalar("i8", "int")]
uint8: TypeAlias = Annotated[int, Scalar("u1", "int")]
uint16: TypeAlias = Annotated[int, Scalar("u2", "int")]
uint32: TypeAlias = Annotated[int, Scalar("u4", "int")]
float32: TypeAlias = Annotated[float, Scalar("f4", "float")]
float64: TypeAlias = Annotated[float, Scalar("f8", "float")]
boolean: TypeAlias = Annotated[bool, Scalar("?", "bool")]

BUILTIN_SCALARS: dict[Any, Scalar] = {
    bool: Scalar("?", "bool"),
    int: Scalar("i8", "int"),
    float: Scalar("f8", "float"),
}


class Ref(Generic[T]):
    """A field that points to a row: `lef: Ref["Lef"]`; reading it gives the row."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, row: None, owner: type) -> Self: ...
        @overload
        def __get__(self, row: object, owner: type) -> T: ...
        def __get__(self, row: object, owner: type) -> Any: ...
        def __set__(self, row: object, value: T) -> None: ...


class OptionalRef(Generic[T]):
    """A field that points to a row or to none: test it with `is None`."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, row: None, owner: type) -> Self: ...
        @overload
        def __get__(self, row: object, owner: type) -> T | None: ...
        def __get__(self, row: object, owner: type) -> Any: ...
        def __set__(self, row: object, value: T | None) -> None: ...


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One resolved field: its machine type, and for a reference its target entity."""

    name: str
    dtype: str
    kind: Literal["int", "float", "bool", "ref"]
    target: str | None = None
    nullable: bool = False
    keyed: bool = False
    """True for a reference into a pool: stored as generation << 32 | index."""


@dataclass(frozen=True, slots=True)
class ParamSpec:
    """Default, unit, bounds and meaning of one parameter; see `param`."""

    default: Any
    unit: str = ""
    doc: str = ""
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None

    def breach(self, value: float) -> str | None:
        """Say which bound `value` breaks, as in 'must be > 0', or None."""
        if not math.isfinite(value):
            return "must be finite"
        checks = ((self.gt, ">", operator.gt), (self.ge, ">=", operator.ge),
                  (self.lt, "<", operator.lt), (self.le, "<=", operator.le))  # fmt: skip
        for bound, sign, holds in checks:
            if bound is not None and not holds(value, bound):
                return f"must be {sign} {bound:g}"
        return None


def param(
    default: Any,
    *,
    unit: str = "",
    doc: str = "",
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
) -> Any:
    """Declare a parameter: default, unit, one-line meaning, and bounds.

    Parameters
    ----------
    default : the value when none is given
    unit : for people and for `tocsin models`
    doc : one line
    gt, ge, lt, le : bounds; a value outside raises InputError
    """
    return ParamSpec(default, unit, doc, gt, ge, lt, le)
