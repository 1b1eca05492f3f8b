"""Sensitivity: which axes matter. Sobol indices and Morris screening (SALib) over any function of the axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import InputError
from tocsin.experiment._axes import Axis, read_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("sobol", "morris")


class Index(NamedTuple):
    """How much one axis matters, with the half-width of a 95 % interval.

    Sobol: `first` is the share of the variance that the axis alone explains, `total` the share that
    it has a part in. Morris: `first` is the mean absolute elementary effect over the whole range,
    `total` the deviation of the effects.
    """

    path: str
    first: float
    first_half_width: float
    total: float
    total_half_width: float


class Design:
    """The points at which a sensitivity analysis looks.

    Parameters
    ----------
    axes : by path, ranges such as {"range": [0.1, 10], "log": True}
    method : 'sobol' (Saltelli's sample, n * (axes + 2) points) or 'morris' (n * (axes + 1) points)
    n : base sample, a power of two for sobol; trajectories for morris
    seed : of the sample

    Raises InputError for an axis that is no range, or another method.
    """

    def __init__(self, axes: Mapping[str, Any], method: str = "sobol", n: int = 1024, seed: int = 0) -> None:
        self.axes: list[Axis] = [read_axis(path, given, "sensitivity") for path, given in axes.items()]
        if not self.axes or not all(axis.is_range for axis in self.axes):
            raise InputError("sensitivity needs ranges: axes={'params.rates.step': {'range': [0.5, 2.0]}}")
        if method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        if isinstance(n, bool) or not isinstance(n, int) or n < 2:
            raise InputError(f"n must be a whole number >= 2, got {n!r}")
        if method == "sobol" and n & (n - 1):
            raise InputError(f"n must be a power of two for sobol, got {n}; take {1 << n.bit_length()}")
        self.method, self.seed = method, seed
        names = [axis.path for axis in self.axes]
        self._problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
        self._shares = self._sampled(n)

    def _sampled(self, n: int) -> NDArray[Any]:
        import numpy as np

        try:
            from SALib.sample import morris, sobol
        except ImportError:
            raise InputError(
                "sensitivity needs SALib, which is not installed; run: pip install 'tocsin[experiment]'"
            ) from None
        if self.method == "sobol":
            return np.asarray(sobol.sample(self._problem, n, calc_second_order=False, seed=self.seed))
        return np.asarray(morris.sample(self._problem, n, seed=self.seed))

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The points, each with one value an axis: the candidates of an experiment."""
        return [tuple(axis.at(u) for axis, u in zip(self.axes, row, strict=True)) for row in self._shares.tolist()]

    def indices(self, values: Any) -> list[Index]:
        """Return the index of each axis from the values at the points. Raises InputError if some are missing."""
        import numpy as np
        from SALib.analyze import morris, sobol

        y = np.asarray(values, np.float64)
        n = len(self._shares)
        if y.shape != (n,):
            raise InputError(f"sensitivity needs a value at each of the {n:,} points, got an array of shape {y.shape}")
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            raise InputError(
                f"sensitivity needs a finite value at each of the {n:,} points, and {len(bad):,} of them have none; "
                f"the first is point {bad[0]}, with {y[bad[0]]}, at {self.rows[bad[0]]}"
            )
        if self.method == "sobol":
            found = sobol.analyze(self._problem, y, calc_second_order=False, seed=self.seed)
            columns = found["S1"], found["S1_conf"], found["ST"], found["ST_conf"]
        else:
            found = morris.analyze(self._problem, self._shares, y, seed=self.seed)
            columns = found["mu_star"], found["mu_star_conf"], found["sigma"], np.full(len(self.axes), np.nan)
        return [
            Index(axis.path, *map(float, row))
            for axis, *row in zip(self.axes, *(np.asarray(c).tolist() for c in columns), strict=True)
        ]


def sensitivity(
    function: Callable[..., float], axes: Mapping[str, Any], method: str = "sobol", n: int = 1024, seed: int = 0
) -> list[Index]:
    """Return the indices of a function that takes one number an axis, in their order; arguments as `Design`."""
    design = Design(axes, method, n, seed)
    return design.indices([function(*row) for row in design.rows])
