"""Run a sandtable design, and put the results of its shards together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.economy.sandtable import world as w
from tocsin.models.economy.sandtable.build import cohorts, world_of
from tocsin.models.economy.sandtable.config import SandtableDesign
from tocsin.models.economy.sandtable.model import MODEL
from tocsin.models.economy.shards import check_count, each_shard
from tocsin.run import Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

COHORTS = ("casual", "core", "whale")
RETENTION_DAYS = (1, 3, 7, 14, 30)
RNGS = {"tocsin": "philox", "sandtable": "keyed-hash"}


@dataclass(frozen=True)
class SandtableResult:
    """What a run counted.

    Attributes
    ----------
    days : shape (n_days, counters), int64: see `world`
    snapshots : power of every player on each of `snapshot_days`, shape (n, n_players)
    cohorts : by name: count, churned, power, gold, level, earned, all summed over players
    pulls, hits : of the gacha
    n_events : of the kernel
    """

    days: NDArray[Any]
    snapshot_days: tuple[int, ...]
    snapshots: NDArray[Any]
    cohorts: dict[str, dict[str, int]]
    pulls: int
    hits: int
    n_events: int

    def summary(self) -> dict[str, Any]:
        """Return the figures of a run by name."""
        total = self.days.sum(axis=0)
        day1 = max(int(self.days[0, w.DAY1]), 1)
        n_players = sum(c["count"] for c in self.cohorts.values())
        found: dict[str, Any] = {"day1_cohort": int(self.days[0, w.DAY1])}
        for day in RETENTION_DAYS:
            if day <= len(self.days):
                found[f"retention_d{day}"] = int(self.days[day - 1, w.DAY1]) / day1
        churned = int(total[w.CHURNED])
        earned = sum(c["earned"] for c in self.cohorts.values())
        rows = self.day_rows()
        found |= {
            "churn_total": churned, "churn_rate": churned / max(n_players, 1),
            "win_rate": int(total[w.WINS]) / max(int(total[w.BATTLES]), 1), "gold_earned": int(total[w.EARNED]),
            "gold_spent": int(total[w.SPENT]), "gold_per_player": earned / max(n_players, 1),
            "whale_gold_share": self.cohorts["whale"]["earned"] / max(earned, 1),
            "inflation_daily_mean": float(np.mean([r["inflation"] for r in rows[1:]] or [0.0])),
            "inflation_last": rows[-1]["inflation"], "sink_ratio_mean": float(np.mean([r["sink_ratio"] for r in rows])),
        }  # fmt: skip
        if self.hits:
            found["gacha_pulls_to_hit"] = self.pulls / self.hits
        for day, values in zip(self.snapshot_days, self.snapshots, strict=True):
            for q in (50, 90, 99):
                found[f"power_p{q}_d{day}"] = float(np.percentile(values, q))
        return found

    def day_rows(self) -> list[dict[str, Any]]:
        """Return the table of days, one dictionary a day."""
        rows, before = [], 0
        for n, c in enumerate(self.days.tolist()):
            active, alive, supply = max(c[w.ACTIVE], 1), c[w.ALIVE], c[w.SUPPLY]
            rows.append({
                "day": n + 1, "active": c[w.ACTIVE], "alive_at_start": c[w.AT_START], "new_churned": c[w.CHURNED],
                "churn_rate": c[w.CHURNED] / max(c[w.AT_START], 1), "battles": c[w.BATTLES], "wins": c[w.WINS],
                "win_rate": c[w.WINS] / max(c[w.BATTLES], 1), "gold_earned": c[w.EARNED], "gold_spent": c[w.SPENT],
                "sink_ratio": c[w.SPENT] / max(c[w.EARNED], 1), "gold_supply": supply,
                "inflation": (supply - before) / max(before, 1), "income_per_active": c[w.EARNED] / active,
                "spending_per_active": c[w.SPENT] / active, "mean_power": c[w.POWER] / max(alive, 1),
                "levelups": c[w.LEVELS], "upgrades": c[w.UPGRADES],
            })  # fmt: skip
            before = supply
        return rows


def run_sandtable(
    design: SandtableDesign, players: int = 10_000, days: int = 30, seed: int = 0, *, threads: int | None = None,
    shards: int | None = None, rng: str = "tocsin", battles: str = "rounds", jit: bool = True,
) -> SandtableResult:  # fmt: skip
    """Run a design.

    Parameters
    ----------
    players, days : how many
    seed : 0 .. 2**64 - 1
    threads, shards : how the work is divided; the result does not depend on it
    rng : 'tocsin', or 'sandtable' for the draws of published runs
    battles : 'rounds', or 'exact' to settle a battle by its probability
    jit : False runs as plain Python

    Raises InputError.
    """
    check_count("players", players, 100_000_000)
    check_count("days", days, 10_000)
    for label, value, known in (("rng", rng, [*RNGS]), ("battles", battles, ["rounds", "exact"])):
        if value not in known:
            raise InputError(f"{label} must be {' or '.join(map(repr, known))}, got {value!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise InputError(f"seed must be in 0..2**64-1, got {seed!r}")
    kinds = cohorts(design, players, seed, rng == "sandtable")

    def one(first: int, last: int) -> SandtableResult:
        world = world_of(design, kinds[first:last], first, days, rng == "sandtable", battles == "exact")
        simulation = Simulation(MODEL, world, seed=seed, jit=jit, source=RNGS[rng])
        simulation.run(until=float(days))
        return result_of(simulation)

    return _merged(each_shard(one, players, threads, shards))


def result_of(simulation: Simulation[w.Sandtable]) -> SandtableResult:
    """Return what a simulation has counted."""
    world = simulation.world
    rows = world.players
    slices = {}
    for kind, name in enumerate(COHORTS):
        chosen = rows["cohort"] == kind
        slices[name] = {"count": int(chosen.sum())} | {
            key: int(rows[column][chosen].sum())
            for key, column in (("churned", "is_churned"), ("power", "power"), ("gold", "gold"), ("level", "level"),
                                ("earned", "earned"))
        }  # fmt: skip
    pulls, hits = int(rows["n_pulls"].sum()), int(((rows["n_pulls"] > 0) & (rows["n_pulls"] < w.MOST_PULLS)).sum())
    days = tuple(world.snapshot_days.values.tolist())
    return SandtableResult(
        world.days.values.copy(), days, world.snapshots.values.copy(), slices, pulls, hits, simulation.n_events
    )


def _merged(parts: Any) -> SandtableResult:
    found = None
    snapshots = []
    for part in parts:
        snapshots.append(part.snapshots)
        if found is None:
            found = part
            continue
        slices = {n: {k: v + part.cohorts[n][k] for k, v in c.items()} for n, c in found.cohorts.items()}
        found = SandtableResult(
            found.days + part.days, part.snapshot_days, part.snapshots, slices, found.pulls + part.pulls,
            found.hits + part.hits, found.n_events + part.n_events,
        )  # fmt: skip
    assert found is not None
    return SandtableResult(
        found.days,
        found.snapshot_days,
        np.concatenate(snapshots, axis=1),
        found.cohorts,
        found.pulls,
        found.hits,
        found.n_events,
    )
