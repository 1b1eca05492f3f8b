"""World arrays: typed, one to three dimensions, index checked when run as plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tocsin.errors import InputError
from tocsin.schema._memory import zeros

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")


class _Array(Generic[T]):
    """What arrays of any dimension share. `values` is the NumPy array, on the same memory."""

    def __init__(self, values: NDArray[Any], world: Any, name: str) -> None:
        self.values, self._world, self._name = values, world, name
        self._is_float = values.dtype.kind == "f"

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.values.shape

    def _checked(self, index: Any) -> Any:
        indices = index if isinstance(index, tuple) else (index,)
        for i, length in zip(indices, self.values.shape, strict=True):
            if not 0 <= i < length:
                raise IndexError(f"{self._name}[{index}]: index must be in 0..{length - 1}")
        return index

    def _read(self, index: Any) -> Any:
        return self.values.item(self._checked(index))

    def _write(self, index: Any, value: Any) -> None:
        if self._world._frozen:
            self._world._refuse(self._name)
        if isinstance(value, float) and not self._is_float:
            raise TypeError(f"{self._name} holds whole numbers, got {value!r}; write int(...)")
        self.values[self._checked(index)] = value

    if TYPE_CHECKING:

        def __set__(self, world: object, value: ArrayLike) -> None: ...

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self.values if dtype is None else self.values.astype(dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.values!r})"


class Array(_Array[T]):
    """One dimension: `world.weights[i]`."""

    def __getitem__(self, index: int) -> T:
        return self._read(index)  # type: ignore[no-any-return]

    def __setitem__(self, index: int, value: T) -> None:
        self._write(index, value)

    def __iter__(self) -> Iterator[T]:
        return iter(self.values.tolist())


class Array2(_Array[T]):
    """Two dimensions: `world.cells[i, j]`."""

    def __getitem__(self, index: tuple[int, int]) -> T:
        return self._read(index)  # type: ignore[no-any-return]

    def __setitem__(self, index: tuple[int, int], value: T) -> None:
        self._write(index, value)


class Array3(_Array[T]):
    """Three dimensions: `world.voxels[i, j, k]`."""

    def __getitem__(self, index: tuple[int, int, int]) -> T:
        return self._read(index)  # type: ignore[no-any-return]

    def __setitem__(self, index: tuple[int, int, int], value: T) -> None:
        self._write(index, value)


def make_array(label: str, given: Any, dtype: str, ndim: int) -> NDArray[Any]:
    """Return a fresh C-contiguous array made from what the user gave.

    Raises InputError if it is not of `ndim` dimensions or does not convert to `dtype`.
    """
    values = as_numbers(label, given)
    if values.ndim != ndim:
        raise InputError(f"{label} must have {ndim} dimension(s), got shape {values.shape}")
    out = zeros(values.shape, dtype)
    out[...] = as_dtype(label, values, dtype)
    return out


def as_numbers(label: str, given: Any) -> NDArray[Any]:
    """Return an array of what the user gave. Raises InputError if it is ragged."""
    import numpy as np

    try:
        return np.asarray(given)
    except ValueError:
        raise InputError(f"{label} must be an array of numbers, got {given!r}") from None


def as_dtype(label: str, values: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Convert without loss of whole numbers. Raises InputError naming the first bad entry."""
    import numpy as np

    target = np.dtype(dtype)
    if values.dtype == target:
        return values
    if values.dtype.kind not in "biuf":
        raise InputError(f"{label} must hold numbers, got {values.dtype}")
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            out = values.astype(target)
    else:
        out = values.astype(target)
    if target.kind in "iub" and (out != values).any():
        bad = int(np.flatnonzero(np.ravel(out != values))[0])
        raise InputError(f"{label}: entry {bad} is {np.ravel(values)[bad]}, which {target} cannot hold")
    return out
