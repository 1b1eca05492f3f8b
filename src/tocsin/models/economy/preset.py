"""Economies by name: from `[init]` to the world of a declared design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tocsin.errors import InputError
from tocsin.export.marks import Bars, Histogram, View
from tocsin.models._preset import Init, Preset, Start, Variant
from tocsin.models.economy.build import Plan, arrivals, plan_of, world_of
from tocsin.models.economy.config import Design
from tocsin.models.economy.model import MODEL
from tocsin.models.economy.read import read_design
from tocsin.models.economy.result import EconomyResult, counts_of
from tocsin.models.economy.sandtable import build as sandtable
from tocsin.models.economy.sandtable.model import MODEL as SANDTABLE
from tocsin.models.economy.sandtable.run import result_of
from tocsin.models.economy.world import ACTIVE, CENTS
from tocsin.run import Simulation


class EconomyInit(Init):
    """What `[init]` says of an economy."""

    design: str | dict[str, Any] = Field(
        description="a design: a file beside the scenario, or tables under [init.design]"
    )
    players: Annotated[int, Field(ge=1, le=1_000_000)] = Field(1000, description="number of players")
    days: Annotated[int, Field(ge=1, le=1000)] = Field(30, description="days that are counted; run.until is in days")


@dataclass(frozen=True)
class Setting:
    """The compiled design; none for the sandtable rules, which are compiled as they are."""

    plan: Plan | None


def _build(start: Start[EconomyInit]) -> tuple[Any, Setting]:
    init = start.init
    is_file = isinstance(init.design, str) and not init.design.startswith("package:")
    design = read_design(start.folder / str(init.design) if is_file else init.design)
    if isinstance(design, Design):
        plan = plan_of(design)
        personas, days = arrivals(design, init.players, start.seed)
        return world_of(plan, personas, days.astype(np.int32), 0, init.days), Setting(plan)
    if not _is_sandtable(init):
        raise InputError(
            'init.design: write the tables of a design with preset = "sandtable" under [init.design], or run the file by '
            f"itself: tocsin run {init.design}"
        )
    kinds = sandtable.cohorts(design, init.players, start.seed, False)
    return sandtable.world_of(design, kinds, 0, init.days), Setting(None)


def _is_sandtable(init: EconomyInit) -> bool:
    return isinstance(init.design, dict) and init.design.get("preset") == "sandtable"


def _variant(init: EconomyInit) -> Variant:
    return Variant(SANDTABLE if _is_sandtable(init) else MODEL)


def _summarise(simulation: Simulation[Any], setting: Setting) -> Mapping[str, Any]:
    if setting.plan is None:
        return result_of(simulation).summary()
    return EconomyResult(setting.plan, counts_of(simulation.world), simulation.n_events).summary()


VIEW = View(
    (
        Bars(array="days", column=ACTIVE, label="players active, day by day"),
        Bars(array="days", column=CENTS, label="revenue in cents, day by day"),
        Histogram("players", "progress", "progress of a player"),
        Histogram("players", "n_turns", "activities of a player today"),
    ),
)  # fmt: skip

WORLD: Preset[EconomyInit, Any, Setting] = Preset(
    name="economy",
    summary="Game economies: designs as data, players with sessions through the day, loot with pity, churn.",
    model=MODEL,
    init=EconomyInit,
    build=_build,
    summarise=_summarise,
    variant=_variant,
    view=VIEW,
)
