"""Run a design, whichever its rules, on shards and threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin.models.economy.build import Plan, arrivals, plan_of, world_of
from tocsin.models.economy.config import Design
from tocsin.models.economy.model import MODEL
from tocsin.models.economy.read import AnyDesign, read_design
from tocsin.models.economy.result import EconomyResult, counts_of
from tocsin.models.economy.sandtable.build import xp_table
from tocsin.models.economy.sandtable.config import SandtableDesign
from tocsin.models.economy.sandtable.run import SandtableResult, run_sandtable
from tocsin.models.economy.shards import check_count, each_shard
from tocsin.run import Simulation

Result = EconomyResult | SandtableResult
Source = str | Path | Mapping[str, Any] | AnyDesign


def load(source: Source, changes: Mapping[str, Any] | None = None) -> AnyDesign:
    """Return a checked design: every key, value, name and formula of it. Raises InputError."""
    if isinstance(source, (Design, SandtableDesign)):
        if changes:
            source = source.model_dump(mode="python", by_alias=True)
            return load(source, changes)
        design: AnyDesign = source
    else:
        design = read_design(source, changes)
    if isinstance(design, Design):
        plan_of(design)
    else:
        xp_table(design.model)
    return design


def meeting(design: AnyDesign) -> str:
    """Say whether the players of a design meet, and so how they run: in shards on threads, or all in one."""
    if isinstance(design, Design) and design.markets:
        return f"players meet in {', '.join(design.markets)}: they run in one shard"
    return "players do not meet: they run in shards on threads"


def run(
    source: Source, players: int = 10_000, days: int = 30, seed: int = 0, *, changes: Mapping[str, Any] | None = None,
    threads: int | None = None, shards: int | None = None, jit: bool = True, rng: str = "tocsin", battles: str = "rounds",
) -> Result:  # fmt: skip
    """Simulate an economy.

    Parameters
    ----------
    source : a design: a file, a mapping, or what `load` returned
    players, days : how many
    seed : 0 .. 2**64 - 1. The same player draws the same in every design: runs of two designs with one seed are a pair
    changes : values by path over the design's own, such as {"resources.gems.start": 3200}
    threads, shards : how the work is divided; the result does not depend on it
    rng, battles : of the sandtable rules: 'tocsin' or 'sandtable'; 'rounds' or 'exact'

    Raises InputError.
    """
    design = load(source, changes)
    if isinstance(design, SandtableDesign):
        return run_sandtable(
            design, players, days, seed, threads=threads, shards=shards, jit=jit, rng=rng, battles=battles
        )
    if (rng, battles) != ("tocsin", "rounds"):
        raise InputError('rng and battles are choices of preset = "sandtable"; leave them out')
    return run_plan(plan_of(design), players, days, seed, threads=threads, shards=shards, jit=jit)


def run_plan(
    plan: Plan,
    players: int,
    days: int,
    seed: int,
    *,
    threads: int | None = None,
    shards: int | None = None,
    jit: bool = True,
) -> EconomyResult:
    """Simulate a compiled design (see `run`)."""
    check_count("players", players, 100_000_000)
    check_count("days", days, 1000)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise InputError(f"seed must be in 0..2**64-1, got {seed!r}")
    personas, installed = arrivals(plan.design, players, seed)

    def one(first: int, last: int) -> EconomyResult:
        world = world_of(plan, personas[first:last], installed[first:last], first, days)
        simulation = Simulation(MODEL, world, seed=seed, jit=jit)
        simulation.run(until=float(days))
        return EconomyResult(plan, counts_of(simulation.world), simulation.n_events)

    found: EconomyResult | None = None
    for part in each_shard(one, players, threads, 1 if plan.design.markets else shards):
        found = part if found is None else found.merged(part)
    assert found is not None
    return found
