"""How many draws of a loot table it takes until it has given all that is wanted: a design of its own, simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.economy.build import plan_of
from tocsin.models.economy.config import Design
from tocsin.models.economy.names import mapped
from tocsin.models.economy.read import read_design
from tocsin.models.economy.run import Source, load, run_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Draws:
    """Draws to a target: `counts[n]` players met it with exactly n, shape (MOST_COUNTED + 1,); the last entry: or more.

    Attributes
    ----------
    players : how many were simulated
    """

    counts: NDArray[Any]
    players: int

    @property
    def reached(self) -> int:
        """How many met it, within a day of one draw every three seconds."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean number of draws of those who met it; NaN if nobody did."""
        n = self.reached
        return float((self.counts * np.arange(len(self.counts))).sum() / n) if n else math.nan

    def draws_for(self, share: float) -> int | None:
        """Return how many draws are enough for a share of all players; None if fewer met it."""
        total = np.cumsum(self.counts)
        return int(np.searchsorted(total, share * self.players)) if share * self.players <= total[-1] else None


def draws_to_target(source: Source, table: str, wanted: Mapping[str, int], players: int = 2000, seed: int = 0,
                    threads: int | None = None) -> Draws:  # fmt: skip
    """Simulate players who draw from a loot table until it has given them what is wanted, each from fresh.

    Parameters
    ----------
    source : a design; nothing else of it happens
    table : name of the loot table; tables that it leads to count
    wanted : amounts by resource, all of which it must give

    Raises InputError.
    """
    design = load(source)
    if not isinstance(design, Design):
        raise InputError("a sandtable design has no loot tables to draw from")
    mapped(dict.fromkeys(design.loot, 0), table, "draws", "loot table")
    values = design.model_dump(mode="python", by_alias=True)
    for resource in values["resources"].values():
        resource |= {"cap": None, "per_hour": None}
    values |= {
        "activities": {name: {"when": 0} for name in design.activities}, "personas": {"one": {"minutes": 1440, "hours": ((0.0, 0.001, 1.0),)}},
        "installs": (1.0,), "milestones": {}, "churn": {},
        "calendar": {name: {"first_day": 1000, "last_day": 1000} for name in design.calendar},
    }  # fmt: skip
    values["traits"] = {
        **{t: v for p in design.personas.values() for t, v in p.model_dump()["traits"].items()},
        **values["traits"],
    }
    values["loot"][table]["targets"] = {"wanted": dict(wanted)}
    values["activities"]["draw"] = {"loot": table, "minutes": 0.05, "when": f"{table}_wanted == 0"}
    made = read_design(values)
    assert isinstance(made, Design)
    result = run_plan(plan_of(made), players, 1, seed, threads=threads)
    place = [name for name, one in made.loot.items() for _ in one.targets].index(table)
    return Draws(result.counts["drawn"][place], players)
