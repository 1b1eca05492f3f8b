"""Goals and constraints as text: 'maximise LoopSize.mean', 'Blocked.mean <= 0.2', 'LoopSize.mean = 200 ±5%'."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tocsin.errors import InputError

_GOAL = re.compile(r"(max|min)(?:imi[sz]e)?\s+(.+)")
_NUMBER = r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)"
_BOUND = re.compile(rf"(.+?)\s*(<=|>=)\s*{_NUMBER}")
_NEAR = re.compile(rf"(.+?)\s*=\s*{_NUMBER}\s*(?:±|\+-|\+/-)\s*{_NUMBER}\s*(%?)")


@dataclass(frozen=True)
class Goal:
    """A metric whose mean is to be as large, or as small, as can be."""

    metric: str
    is_max: bool

    def better(self, a: float, b: float) -> bool:
        """Say whether `a` is better than `b`."""
        return a > b if self.is_max else a < b

    def __str__(self) -> str:
        return f"{'maximise' if self.is_max else 'minimise'} {self.metric}"


@dataclass(frozen=True)
class Constraint:
    """Bounds that the mean of a metric must keep: low <= mean <= high."""

    metric: str
    low: float
    high: float
    text: str

    def violation(self, mean: float) -> float:
        """Return by how much a mean is out of bounds; <= 0 if it is not, infinite if it is unknown."""
        return math.inf if math.isnan(mean) else max(self.low - mean, mean - self.high)


def parse_goal(text: str, where: str) -> Goal:
    """Read 'maximise METRIC' or 'minimise METRIC'. Raises InputError."""
    match = _GOAL.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{where}: a goal reads 'maximise METRIC' or 'minimise METRIC', got {text!r}")
    return Goal(match[2].strip(), match[1] == "max")


def parse_constraint(text: str, where: str) -> Constraint:
    """Read 'METRIC <= 0.2', 'METRIC >= 3' or 'METRIC = 200 ±5%'. Raises InputError."""
    try:
        if match := _BOUND.fullmatch(text.strip()):
            bound, inf = float(match[3]), float("inf")
            return Constraint(match[1], *((-inf, bound) if match[2] == "<=" else (bound, inf)), text.strip())
        if match := _NEAR.fullmatch(text.strip()):
            middle, width = float(match[2]), float(match[3])
            width = abs(middle) * width / 100.0 if match[4] else width
            return Constraint(match[1], middle - width, middle + width, text.strip())
    except ValueError:
        pass
    raise InputError(f"{where}: a constraint reads 'METRIC <= 0.2', 'METRIC >= 3' or 'METRIC = 200 ±5%', got {text!r}")
