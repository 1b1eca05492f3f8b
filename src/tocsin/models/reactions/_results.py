"""What runs of a network leave: one trajectory, or means and variances of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def _column(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise InputError(f"no output {name!r}; there are {', '.join(names)}")
    return names.index(name)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One run: outputs at the grid of times."""

    times: NDArray[Any]
    """Float64, shape (n_times,)."""
    names: tuple[str, ...]
    values: NDArray[Any]
    """Float64, shape (n_times, n_outputs): after all events up to and including each time."""
    n_events: int

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one output over time. Raises InputError for an unknown name."""
        return self.values[:, _column(self.names, name)]

    def to_arrow(self) -> pa.Table:
        """Return a table: time, then a column for each output."""
        import pyarrow as pa

        return pa.table({"time": self.times, **{name: self[name] for name in self.names}})


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Means and variances over trajectories, at the grid of times."""

    times: NDArray[Any]
    """Float64, shape (n_times,)."""
    names: tuple[str, ...]
    n: int
    mean: NDArray[Any]
    """Float64, shape (n_times, n_outputs)."""
    variance: NDArray[Any]
    """Float64, shape (n_times, n_outputs): of the sample, divisor n - 1; 0 for a single trajectory."""
    n_events: int
    values: NDArray[Any] | None = None
    """Float64, shape (n, n_times, n_outputs), if they were kept."""

    def mean_of(self, name: str) -> NDArray[Any]:
        """Return the mean of one output over time. Raises InputError for an unknown name."""
        return self.mean[:, _column(self.names, name)]

    def variance_of(self, name: str) -> NDArray[Any]:
        """Return the sample variance of one output over time. Raises InputError for an unknown name."""
        return self.variance[:, _column(self.names, name)]

    def to_arrow(self) -> pa.Table:
        """Return a table: time, then mean and variance of each output."""
        import pyarrow as pa

        columns = {"time": self.times}
        for name in self.names:
            columns |= {f"{name}_mean": self.mean_of(name), f"{name}_variance": self.variance_of(name)}
        return pa.table(columns)


class Moments:
    """Means and sums of squared deviations, merged piece by piece in a fixed order.

    Chan, Golub and LeVeque 1983, doi:10.1080/00031305.1983.10483115.
    """

    def __init__(self) -> None:
        self.n = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0

    def add(self, values: NDArray[Any]) -> None:
        """Merge trajectories, shape (n, n_times, n_outputs)."""
        with np.errstate(invalid="ignore", over="ignore"):  # log(0) has no mean, and 1e300 no finite square
            self._add(values)

    def _add(self, values: NDArray[Any]) -> None:
        n = len(values)
        mean = values.mean(axis=0)
        squares = ((values - mean) ** 2).sum(axis=0)
        if self.n == 0:  # an infinite gap times no trajectories would be NaN
            self.n, self.mean, self.squares = n, mean, squares
            return
        both = self.n + n
        gap = mean - self.mean
        self.squares = self.squares + squares + gap * gap * (self.n * n / both)
        self.mean = self.mean + gap * (n / both)
        self.n = both
