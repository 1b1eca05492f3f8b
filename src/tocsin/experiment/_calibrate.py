"""Calibrate: which values of some keys could have given the data, by ABC-SMC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from tocsin.errors import InputError
from tocsin.experiment._abc import Generation, Population, Smc
from tocsin.experiment._axes import Axis
from tocsin.experiment._intervals import Interval, checked_level
from tocsin.experiment._observed import Observed, read_observed
from tocsin.experiment._paths import Paths
from tocsin.experiment._results import Results
from tocsin.experiment._subject import Given, check_twice, ranges, read_subject
from tocsin.experiment._trials import Place, Trials
from tocsin.scenario._tables import Table
from tocsin.scenario._toml import Override

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CalibrateTable(Table):
    """`[calibrate]`: the data, the prior, and how long to go on."""

    data: str | dict[str, list[Any]] = Field(description="CSV or Parquet file, or columns: conditions by path, metrics")
    particles: int = Field(200, ge=10, description="samples of the posterior")
    generations: int = Field(6, ge=1, description="tolerances, one after the other")
    quantile: float = Field(0.5, gt=0, lt=1, description="of the last distances: the next tolerance")
    tolerance: float = Field(0.0, ge=0, description="at which it ends")
    batch: int = Field(100, ge=1, description="points that are chosen at a time")
    most: int = Field(20_000, ge=1, description="points in all, at most")
    replicates: int | None = Field(
        None, ge=1, description="runs whose mean is compared; as many as there are data rows"
    )
    seed: int = Field(0, ge=0, le=(1 << 64) - 1, description="of the search and of all runs")
    axes: dict[str, Any] = Field({}, description="by path, the prior: {range = [low, high], log, integer}")


@dataclass(frozen=True, eq=False)
class Posterior:
    """Samples of the parameters, given the data."""

    axes: tuple[str, ...]
    values: NDArray[Any]
    """(particles, axes) float64."""
    weights: NDArray[Any]
    """(particles,) float64, sum 1."""
    distances: NDArray[Any]
    """(particles,) float64, from the data."""
    generations: tuple[Generation, ...]
    results: Results
    """All runs."""

    @property
    def effective(self) -> float:
        """Effective sample size."""
        return self.generations[-1].effective

    def column(self, path: str) -> NDArray[Any]:
        """Return the samples of one axis. Raises InputError for an unknown path."""
        if path not in self.axes:
            raise InputError(f"there is no axis {path!r}; there are: {', '.join(self.axes)}")
        found: NDArray[Any] = self.values[:, self.axes.index(path)]
        return found

    def interval(self, path: str, probability: float = 0.95) -> Interval:
        """Return the posterior mean of an axis and its central credible interval."""
        x, tail = self.column(path), (1.0 - checked_level(probability)) / 2.0
        low, high = (weighted_quantile(x, self.weights, q) for q in (tail, 1.0 - tail))
        return Interval(float(self.weights @ x), low, high, len(x))


def weighted_quantile(x: NDArray[Any], weights: NDArray[Any], q: float) -> float:
    """Return the smallest value that a share q of the weight does not exceed."""
    order = x.argsort(kind="stable")
    place = int(weights[order].cumsum().searchsorted(q * weights.sum()))
    return float(x[order[min(place, len(x) - 1)]])


def calibrate(
    scenario: Given,
    axes: Mapping[str, Any] | None = None,
    data: Any = None,
    *,
    out: str | Path | None = None,
    overrides: Sequence[Override] = (),
    **options: Any,
) -> Posterior:
    """Return samples of the values of some keys that could have given the data.

    Parameters
    ----------
    scenario : a file, which may have a table [calibrate], or nested plain values
    axes : by path, the prior: {"range": [0.1, 10], "log": True} is even in the logarithm
    data : a CSV or Parquet file, beside the scenario, columns by name, or a frame. A column whose name is a path, such as
        params.rates.arrival or run.until, is a condition; the others are metrics. An empty cell was not seen.
        Rows that differ in run.until only are times of one trajectory
    out : folder of the store; None keeps the results in memory only
    overrides : other values of the file's keys, as pairs (path, value)
    options : the other keys of [calibrate] (particles, generations, ...), and executor, workers, resume and
        progress as in `run_sweep`

    Raises InputError, also if not even one generation is whole.
    """
    place, given = Place.taken(out, options)
    given |= {"axes": axes} if axes is not None else {}
    given |= {"data": _plain(data)} if data is not None else {}
    subject, table = read_subject(scenario, "calibrate", CalibrateTable, given, overrides)
    where = subject.where
    observed = read_observed(table.data, subject.file.parent, where)
    found = ranges(subject.axes(table.axes), where)
    paths = Paths(subject.preset)
    for path in observed.paths:
        paths.kind(path, where)
    check_twice([*found, *map(Axis, observed.paths)], where)
    decisive = table.model_dump(exclude={"generations", "most", "tolerance"})
    with Trials(
        "calibrate", subject, [*(axis.path for axis in found), *observed.paths], {**decisive, "observed": observed.means},
        seed=table.seed, paired=False, total=0, place=place,
    ) as trials:  # fmt: skip
        return _Fit(found, observed, table, trials).run()


def _plain(data: Any) -> Any:
    """Return columns by name, or the name of a file; frames of Arrow, pandas and polars are columns too."""
    if isinstance(data, (str, Path)):
        return str(data)
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is None and not isinstance(data, Mapping):
        return data
    columns = data if isinstance(data, Mapping) or names is None else {str(name): data[name] for name in names}
    values = {
        name: [v.item() if hasattr(v, "item") else v.as_py() if hasattr(v, "as_py") else v for v in column]
        for name, column in columns.items()
    }
    return values


class _Fit:
    """From points of the cube to runs and back."""

    def __init__(self, axes: Sequence[Axis], observed: Observed, table: CalibrateTable, trials: Trials) -> None:
        self._axes, self._observed, self._table, self._trials = axes, observed, table, trials
        self._replicates = table.replicates or observed.n
        self._leaders = observed.leaders

    def run(self) -> Posterior:
        """Go through the generations. Raises InputError if not even the first becomes whole."""
        import numpy as np

        t = self._table
        smc = Smc(
            self._simulate, np.array([v for row in self._observed.means for v in row]), len(self._axes), n=t.particles,
            batch=t.batch, most=t.most, quantile=t.quantile, seed=t.seed,
        )  # fmt: skip
        found = smc.run(t.generations, t.tolerance)
        if found is None:
            why = self._trials.error(0)
            raise InputError(
                f"{smc.n_proposed} points did not give {t.particles} whose runs went well; "
                + (f"the first failed: {why}" if why else "raise most, or lower particles")
            )
        values = np.array([self._point(row) for row in found.shares], np.float64)
        outcome = _outcome(self._axes, values, found, smc)
        results = self._trials.finish(outcome)
        paths = tuple(axis.path for axis in self._axes)
        return Posterior(paths, values, found.weights, smc.distances(found.summaries), tuple(smc.history), results)

    def _point(self, shares: Any) -> tuple[Any, ...]:
        return tuple(axis.at(float(share)) for axis, share in zip(self._axes, shares, strict=True))

    def _simulate(self, shares: NDArray[Any]) -> NDArray[Any]:
        """Return the metrics of each point under all conditions, side by side."""
        import numpy as np

        conditions, n = self._observed.conditions, len(self._observed.conditions)
        points = [(*self._point(row), *condition) for row in shares for condition in conditions]
        leaders = [k * n + leader for k in range(len(shares)) for leader in self._leaders]
        candidates = self._trials.run(points, self._replicates, leaders)
        means = [
            float(self._trials.values(metric, candidate, 0, self._replicates).mean())
            for candidate in candidates
            for metric in self._observed.metrics
        ]
        return np.array(means).reshape(len(shares), -1)


def _outcome(axes: Sequence[Axis], values: NDArray[Any], found: Population, smc: Smc) -> dict[str, Any]:
    return {
        "axes": [axis.path for axis in axes], "values": values.tolist(), "weights": found.weights.tolist(),
        "distances": smc.distances(found.summaries).tolist(),
        "ranges": [[axis.low, axis.high, axis.is_log] for axis in axes],
        "generations": [g._asdict() for g in smc.history],
    }  # fmt: skip
