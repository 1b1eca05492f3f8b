"""Economies by name: from `[init]` to the world of a declared design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tocsin.errors import InputError
from tocsin.models._preset import Init, Preset, Start
from tocsin.models.economy.build import Plan, arrivals, plan_of, world_of
from tocsin.models.economy.config import Design
from tocsin.models.economy.model import MODEL
from tocsin.models.economy.read import read_design
from tocsin.models.economy.result import EconomyResult, counts_of
from tocsin.models.economy.world import Economy
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
    """The compiled design."""

    plan: Plan


def _build(start: Start[EconomyInit]) -> tuple[Economy, Setting]:
    init = start.init
    is_file = isinstance(init.design, str) and not init.design.startswith("package:")
    design = read_design(start.folder / str(init.design) if is_file else init.design)
    if not isinstance(design, Design):
        raise InputError("init.design: a sandtable design runs by `tocsin economy run`, not in a scenario")
    plan = plan_of(design)
    personas, days = arrivals(design, init.players, start.seed)
    return world_of(plan, personas, days.astype(np.int32), 0, init.days), Setting(plan)


def _summarise(simulation: Simulation[Economy], setting: Setting) -> Mapping[str, Any]:
    return EconomyResult(setting.plan, counts_of(simulation.world), simulation.n_events).summary()


WORLD: Preset[EconomyInit, Economy, Setting] = Preset(
    name="economy",
    summary="Game economies: designs as data, players with sessions through the day, loot with pity, churn.",
    model=MODEL,
    init=EconomyInit,
    build=_build,
    summarise=_summarise,
)
