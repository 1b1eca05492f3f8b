"""The stochastic cases of the SBML Test Suite (DSMTS): means and deviations of many trajectories.

Evans, Gillespie and Wilkinson 2008, doi:10.1093/bioinformatics/btm566. With n trajectories,
Z = sqrt(n) (mean - mu) / sigma and Y = sqrt(n / 2) (s^2 / sigma^2 - 1) at each time must lie in the case's
own ranges; a small share of the points may fall outside by chance. Where sigma is 0, both must be exact.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tocsin.errors import InputError
from tocsin.models.reactions.sbml import read_sbml

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.models.reactions._results import Ensemble

MOST_OUTSIDE = 0.06
"""Share of a column's points that may fall outside: 3 of 50, as neighbouring times miss together."""
_EXACT = 1e-9


@dataclass(frozen=True)
class Column:
    """One published column against ours."""

    label: str
    worst: float
    """The Z or Y farthest from 0; inf where an exact value is missed."""
    n_outside: int
    n_points: int

    @property
    def passed(self) -> bool:
        """Whether few enough points fall outside."""
        return self.n_outside <= MOST_OUTSIDE * self.n_points and math.isfinite(self.worst)


@dataclass(frozen=True)
class Outcome:
    """What came of one case."""

    case: str
    columns: tuple[Column, ...] = ()
    refused: str = ""
    """Why the model is not supported, or ''."""

    @property
    def passed(self) -> bool:
        """Whether every column passed (an unsupported case did not)."""
        return not self.refused and all(column.passed for column in self.columns)


@dataclass(frozen=True)
class Case:
    """One case: its model's text, its settings and the published results."""

    name: str
    model: str
    settings: dict[str, str]
    times: NDArray[np.float64]
    published: dict[str, NDArray[np.float64]]


def find_cases(folder: str | Path) -> list[Path]:
    """Return the folders of all cases below a folder, or that folder itself. Raises InputError if there is none."""
    root = Path(folder)
    found = sorted(path.parent for path in (*root.glob("*-settings.txt"), *root.glob("*/*-settings.txt")))
    if not found:
        raise InputError(f"{root} holds no case: a folder with files *-settings.txt, *-results.csv and *.xml")
    return found


def read_case(folder: Path) -> Case:
    """Read a case. Raises InputError for a file that is missing or malformed."""
    try:
        settings = (_one(folder, "*-settings.txt")).read_text(encoding="utf-8")
        model = _one(folder, "*-sbml-l3v*.xml").read_text(encoding="utf-8")
        with _one(folder, "*-results.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        table = np.array([[float(entry) for entry in row] for row in rows[1:]])
        published = {head.strip(): table[:, k] for k, head in enumerate(rows[0])}
    except (OSError, ValueError, IndexError) as error:
        raise InputError(f"{folder}: cannot be read as a case: {error}") from None
    keys = dict(re.findall(r"^(\w+):[ \t]*(.*?)[ \t]*$", settings, re.MULTILINE))
    if "time" not in published or len(table) < 1:
        raise InputError(f"{folder}: its results have no column 'time'")
    return Case(folder.name, model, keys, published.pop("time"), published)


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise InputError(f"{folder} has no {pattern}")
    return found[-1]


def run_case(case: Case, n: int, seed: int, method: str = "auto", threads: int = 1) -> Outcome:
    """Run a case with n trajectories and judge it. Raises SimulationError."""
    names = list(dict.fromkeys(head.rpartition("-")[0] for head in case.published))
    concentrations = _list(case.settings.get("concentration", ""))
    try:
        network = read_sbml(case.model, [f"[{k}]" if k in concentrations else k for k in names])
        network.world()
    except InputError as error:
        return Outcome(case.name, refused=str(error))
    found = network.ensemble(n, case.times.tolist(), seed, method, threads)
    return Outcome(case.name, tuple(judge(case, found, names)))


def judge(case: Case, found: Ensemble, names: list[str]) -> list[Column]:
    """Compare every published column with what was found.

    A formula that has no value at the start, such as ln(X) where X is 0, is not judged there.
    """
    ranges = {kind: _range(case, f"{kind}Range") for kind in ("mean", "sd")}
    columns = []
    for label, wanted in case.published.items():
        key, _, kind = label.rpartition("-")
        if kind not in ranges:
            raise InputError(f"case {case.name}: a column is called X-mean or X-sd, got {label!r}")
        k = names.index(key)
        sigma = case.published.get(f"{key}-sd", np.sqrt(found.variance[:, k]))  # ours, where none is published
        if kind == "mean":
            gap, scale = found.mean[:, k] - wanted, sigma / math.sqrt(found.n)
        else:
            gap, scale = found.variance[:, k] - wanted**2, wanted**2 / math.sqrt(found.n / 2.0)
        judged = slice(0 if key.isidentifier() or np.isfinite(found.mean[0, k]) else 1, None)
        columns.append(_column(label, gap[judged], scale[judged], ranges[kind]))
    return columns


def _column(label: str, gap: NDArray[np.float64], scale: NDArray[np.float64], bounds: tuple[float, float]) -> Column:
    is_exact = scale == 0.0
    statistic = np.where(np.abs(gap) <= _EXACT, 0.0, math.inf)
    statistic[~is_exact] = gap[~is_exact] / scale[~is_exact]
    outside = ~((statistic > bounds[0]) & (statistic < bounds[1]))
    return Column(label, float(statistic[np.abs(statistic).argmax()]), int(outside.sum()), len(gap))


def _range(case: Case, key: str) -> tuple[float, float]:
    found = re.fullmatch(r"\(\s*([-+.\d]+)\s*,\s*([-+.\d]+)\s*\)", case.settings.get(key, ""))
    if not found:
        raise InputError(f"case {case.name}: {key} must be '(low, high)', got {case.settings.get(key)!r}")
    return float(found[1]), float(found[2])


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
