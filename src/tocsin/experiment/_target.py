"""Targets of precision: 'mean loop, kb ±1%'."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tocsin.errors import InputError

_TARGET = re.compile(r"(.+?)\s*(?:±|\+-|\+/-)\s*([0-9.eE+-]+)\s*(%?)")


@dataclass(frozen=True)
class Target:
    """A half-width that the confidence interval of a metric should have, at most."""

    metric: str
    half_width: float
    is_relative: bool
    """Whether it is a part of the mean: 0.01 for 1 %."""

    def allowed(self, mean: float) -> float:
        """Return the largest half-width that meets it."""
        return self.half_width * abs(mean) if self.is_relative else self.half_width


def parse_target(text: str, where: str = "target") -> Target:
    """Read 'METRIC ±1%' or 'METRIC ±0.5' (or +- for ±). Raises InputError."""
    match = _TARGET.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        value = float(match[2])
        if not 0.0 < value < float("inf"):
            raise ValueError
    except ValueError:
        raise InputError(f"{where}: a target reads 'METRIC ±1%' or 'METRIC ±0.5', got {text!r}") from None
    return Target(match[1], value / 100.0 if match[3] else value, bool(match[3]))
