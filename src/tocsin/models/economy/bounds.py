"""Between what a quantity must lie, where a design gives it as a number or as a formula that is always the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tocsin.errors import InputError

MOST_DRAWS = 100
"""Draws of loot at once."""


@dataclass(frozen=True)
class Bounds:
    """The least and the most that a quantity may be.

    A formula that follows the state of a player is cut to them at run time where that has a meaning: a chance of 1.3
    is certain, a cost below 0 is 0.
    """

    least: float
    most: float

    def check(self, value: float, text: Any, where: str) -> None:
        """Raise InputError unless the value of `text`, at `where`, lies within."""
        if not self.least <= value <= self.most:
            got = repr(text) if isinstance(text, float | int) else f"{value:g} from {text!r}"
            raise InputError(f"{where}: must be in {self.least:g}..{self.most:g}, got {got}"[:300])


PROBABILITY = Bounds(0.0, 1.0)
AMOUNT = Bounds(0.0, 9e15)
RATE = Bounds(0.0, 1e12)
WEIGHT = Bounds(0.0, 1e9)
MINUTES = Bounds(0.05, 1440.0)
DRAWS = Bounds(1.0, float(MOST_DRAWS))
SESSIONS = Bounds(0.0, 50.0)
