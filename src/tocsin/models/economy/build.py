"""From a design to the world of some of its players: names become numbers, formulas tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.kernel import uniforms
from tocsin.models.economy import world as w
from tocsin.models.economy.bounds import AMOUNT, DRAWS, MINUTES, PROBABILITY, RATE, SESSIONS, WEIGHT, Bounds
from tocsin.models.economy.config import ActivityTable, Amounts, Design, Distribution
from tocsin.models.economy.loot import Rows, plan_loot
from tocsin.models.economy.names import Names, mapped, trait_names
from tocsin.models.economy.probe import check_automatic

if TYPE_CHECKING:
    from numpy.typing import NDArray

AT = {"choice": w.CHOICE, "session": w.SESSION, "day": w.DAY, "automatic": w.AUTOMATIC}
KINDS = {"constant": w.CONSTANT, "normal": w.NORMAL, "lognormal": w.LOGNORMAL, "uniform": w.UNIFORM,
         "exponential": w.EXPONENTIAL}  # fmt: skip
SKETCH_DAYS = (1, 3, 7, 14, 30, 60, 90)


@dataclass(frozen=True)
class Flow:
    """Where an amount comes from or goes to: an activity, a loot table, growth."""

    resource: str
    by: str
    is_source: bool


@dataclass
class Plan:
    """A design, compiled: everything of the world but the players."""

    design: Design
    names: Names
    stocks: dict[str, int] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    amounts: list[tuple[int, int, int]] = field(default_factory=list)
    resets: list[tuple[int, int]] = field(default_factory=list)
    needs: list[tuple[int, int, int]] = field(default_factory=list)
    tables: dict[str, Rows] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    _known: dict[Flow, int] = field(default_factory=dict)

    def flow(self, flow: Flow) -> int:
        """Return the number of a flow."""
        if flow not in self._known:
            self._known[flow] = len(self.flows)
            self.flows.append(flow)
        return self._known[flow]

    def add_amounts(self, given: Amounts, where: str, by: str, is_source: bool) -> tuple[int, int]:
        """Add costs or gains; return their places in `amounts`."""
        first = len(self.amounts)
        for resource, text in given.items():
            stock = mapped(self.stocks, resource, where, "resource")
            number = self.names.formula(text, f"{where}.{resource}", AMOUNT)
            self.amounts.append((stock, number, self.flow(Flow(resource, by, is_source))))
        return first, len(self.amounts)

    def add_resets(self, given: tuple[str, ...], where: str, by: str) -> tuple[int, int]:
        """Add resources that go back to their start; return their places in `resets`."""
        first = len(self.resets)
        for name in given:
            stock = mapped(self.stocks, name, where, "resource")
            self.resets.append((stock, self.flow(Flow(name, by, False))))
        return first, len(self.resets)


def plan_of(design: Design) -> Plan:
    """Compile a design. Raises InputError: a name that is not there, a formula that is none or never ends."""
    plan = Plan(design, Names(design))
    plan.stocks = {name: k for k, name in enumerate(design.resources)}
    check_automatic(design, plan.names)
    _stocks(plan)
    plan_loot(plan)
    _markets(plan)
    _activities(plan)
    _calendar(plan)
    _people(plan)
    _endings(plan)
    return plan


def _stocks(plan: Plan) -> None:
    names = plan.names
    rows: Rows = []
    for name, one in plan.design.resources.items():
        where = f"resources.{name}"
        grows = one.per_hour is not None
        rows.append({
            "column": names.columns[name], "cap": names.formula(one.cap, f"{where}.cap", Bounds(one.start, AMOUNT.most)),
            "rate": names.formula(one.per_hour, f"{where}.per_hour", RATE), "rest": names.column(f"~rest.{name}") if grows else -1,
            "flow": plan.flow(Flow(name, "growth", True)) if grows else -1, "boost": -1, "offline": one.offline_hours,
            "start": float(int(one.start)),
        })  # fmt: skip
    plan.tables["stocks"] = rows


def _markets(plan: Plan) -> None:
    rows: Rows = []
    for name, one in plan.design.markets.items():
        item, money = (mapped(plan.stocks, of, f"markets.{name}.{key}", "resource")
                       for key, of in (("item", one.item), ("money", one.money)))  # fmt: skip
        rows.append({
            "item": item, "money": money, "days": one.days, "fee": one.fee, "entry": plan.names.shared[f"{name}_price"],
            "fee_flow": plan.flow(Flow(one.money, name, False)), "lost_flow": plan.flow(Flow(one.item, name, False)),
        })  # fmt: skip
    plan.tables["markets"] = rows


def _side(one: ActivityTable) -> str:
    return "sell" if one.sell is not None else "buy"


def _activities(plan: Plan) -> None:
    names = plan.names
    rows: Rows = []
    numbers = {name: k for k, name in enumerate(plan.design.loot)}
    markets = {name: k for k, name in enumerate(plan.design.markets)}
    for name, one in plan.design.activities.items():
        where = f"activities.{name}"
        cost = plan.add_amounts(one.cost, f"{where}.cost", name, False)
        gains = plan.add_amounts(one.gain, f"{where}.gain", name, True)
        resets = plan.add_resets(one.reset, f"{where}.reset", name)
        bounds = {"when": None, "weight": WEIGHT if one.at == "choice" else PROBABILITY, "chance": PROBABILITY,
                  "minutes": MINUTES, "draws": DRAWS}  # fmt: skip
        keys = {key: names.formula(getattr(one, key), f"{where}.{key}", within) for key, within in bounds.items()}
        trade = one.sell or one.buy
        keys["amount"] = names.formula(trade and trade.amount, f"{where}.{_side(one)}.amount", AMOUNT)
        keys["price"] = names.formula(trade and trade.price, f"{where}.{_side(one)}.price", Bounds(1.0, AMOUNT.most))
        for side, given in (("sell", one.sell), ("buy", one.buy)):
            keys[side] = -1 if given is None else mapped(markets, given.market, f"{where}.{side}.market", "market")
        rows.append({
            "at": AT[one.at], **keys, "loot": -1 if one.loot is None else mapped(numbers, one.loot, f"{where}.loot", "loot table"),
            "per_day": one.per_day, "in_total": one.in_total, "cents": round(one.price * 100),
            "count": names.columns[f"n_{name}"], "today": names.columns[f"today_{name}"], "first_cost": cost[0],
            "last_cost": cost[1], "first_gain": gains[0], "last_gain": gains[1], "first_reset": resets[0],
            "last_reset": resets[1],
        })  # fmt: skip
    plan.tables["activities"] = rows


def _calendar(plan: Plan) -> None:
    names = plan.names
    rows: Rows = []
    boosts: list[tuple[int, float]] = []
    for name, one in plan.design.calendar.items():
        where, first = f"calendar.{name}", len(boosts)
        boosts += [
            (mapped(plan.stocks, r, f"{where}.multiply", "resource"), factor) for r, factor in one.multiply.items()
        ]
        resets = plan.add_resets(one.reset, f"{where}.reset", name)
        rows.append({
            "first": one.first_day - 1, "last": one.last_day - 1, "period": one.every, "flag": names.shared[name],
            "first_boost": first, "last_boost": len(boosts), "first_reset": resets[0], "last_reset": resets[1],
        })  # fmt: skip
    for name, stock in zip(plan.design.resources, plan.tables["stocks"], strict=True):
        stock["boost"] = names.entry(f"~boost.{name}", 1.0)
    plan.tables["dates"] = rows
    plan.arrays["boosts"] = np.array(boosts or np.zeros((0, 2)), np.float64).reshape(-1, 2)


def _people(plan: Plan) -> None:
    design = plan.design
    rows: Rows = []
    hours: list[tuple[float, float, float]] = []
    traits = trait_names(design)
    values = np.zeros((len(traits), len(design.personas), 6))
    factors = np.ones((len(design.personas), len(design.activities)))
    activities = {name: k for k, name in enumerate(design.activities)}
    for p, (name, one) in enumerate(design.personas.items()):
        where, first = f"personas.{name}", len(hours)
        ends = np.cumsum([(b - a) * weight for a, b, weight in one.hours])
        hours += [(a / 24.0, b / 24.0, end / ends[-1]) for (a, b, _), end in zip(one.hours, ends, strict=True)]
        sessions = plan.names.formula(one.sessions, f"{where}.sessions", SESSIONS)
        minutes = plan.names.formula(one.minutes, f"{where}.minutes", MINUTES)
        rows.append({"sessions": sessions, "minutes": minutes, "first_hour": first, "last_hour": len(hours)})
        for activity, weight in one.weights.items():
            factors[p, mapped(activities, activity, f"{where}.weights", "activity")] = weight
            if design.activities[activity].at == "automatic":
                raise InputError(
                    f"{where}.weights.{activity}: has no effect, as it is done automatically; leave it out"
                )
        for t, trait in enumerate(traits):
            given = one.traits.get(trait, design.traits.get(trait, 0.0))
            d = given if isinstance(given, Distribution) else Distribution(a=float(given))
            values[t, p] = plan.names.columns[trait], KINDS[d.kind], d.a, d.b, d.least, d.most
    plan.tables["personas"] = rows
    plan.arrays |= {"hours": np.array(hours), "traits": values, "factors": factors}


def _endings(plan: Plan) -> None:
    names, design = plan.names, plan.design
    plan.tables["milestones"] = [
        {"formula": names.formula(text, f"milestones.{name}"), "column": names.column(f"~met.{name}")}
        for name, text in design.milestones.items()
    ]
    levels = " + ".join(f"n_{name}" for name in list(design.activities)[:40])
    plan.arrays |= {
        "churn": names.formula(design.churn.rate, "churn.rate", PROBABILITY),
        "progress": names.formula(design.churn.progress if design.churn.progress is not None else levels, "churn.progress"),
        "stuck_days": design.churn.stuck_days,
        **{f"{key}_column": names.columns[column] for key, column in (
            ("age", "age"), ("hour", "hour"), ("idle", "idle"), ("streak", "streak"), ("session", "sessions"), ("spent", "spent"))},
        "day_entry": names.shared["day"],
    }  # fmt: skip


def arrivals(design: Design, n: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return persona and day of installation (from 0) of each player."""
    u, v = uniforms(seed, n, 1), uniforms(seed, n, 2)
    return _by_share([p.share for p in design.personas.values()], u), _by_share(list(design.installs), v)


def _by_share(shares: list[float], u: NDArray[Any]) -> NDArray[Any]:
    ends = np.cumsum(shares) / sum(shares)
    last = max(k for k, share in enumerate(shares) if share > 0.0)
    return np.minimum(np.searchsorted(ends, u, side="right"), last).astype(np.int32)


def world_of(plan: Plan, personas: NDArray[Any], days: NDArray[Any], first: int, n_days: int) -> w.Economy:
    """Return the world of players first, first + 1 ..., of these personas and days of installation."""
    n, n_stocks = len(personas), len(plan.stocks)
    own = np.zeros((n, len(plan.names.columns)))
    for row in plan.tables["stocks"]:
        own[:, row["column"]] = row["start"]
    sketch_days = [day - 1 for day in dict.fromkeys((*SKETCH_DAYS, n_days)) if day <= n_days]
    arrays = plan.names.table.arrays()
    tables = {name: columns_of(rows) for name, rows in plan.tables.items()}
    return w.Economy(
        players={"id": np.arange(first, first + n), "persona": personas, "install_day": days, "active_day": -1, "day": -1},
        own=own, offers={"place": np.full(n * len(plan.tables["markets"]), -1)} if plan.tables["markets"] else 0,
        queues=np.zeros((max(1, len(plan.tables["markets"])), n), np.int32), needs=_pairs(plan.needs, 3),
        drawn=np.zeros((max(1, len(plan.tables["targets"])), w.MOST_COUNTED + 1 if plan.needs else 1), np.int64),
        traded=np.zeros((n_days, len(plan.tables["markets"]), len(w.TRADED)), np.int64), amounts=_pairs(plan.amounts, 3), resets=_pairs(plan.resets, 2),
        odds=np.zeros(max(1, len(plan.design.activities))), days=np.zeros((n_days, len(w.COUNTERS)), np.int64),
        flows=np.zeros((n_days, max(1, len(plan.flows)), 2), np.int64), retained=np.zeros((n_days, n_days), np.int64),
        reached=np.zeros((max(1, len(plan.design.milestones)), n_days), np.int64),
        by_persona=np.zeros((len(plan.design.personas), len(w.COUNTERS)), np.int64), sketch_days=sketch_days,
        sketches=np.zeros((len(sketch_days), n_stocks, w.N_BUCKETS), np.int64),
        sums=np.zeros((n_days, n_stocks, 2), np.int64), day=-1, n_days=n_days, **arrays, **tables, **plan.arrays,
    )  # fmt: skip


def columns_of(rows: Rows) -> Any:
    """Return rows as columns; 0 where a row lacks one."""
    if not rows:
        return 0
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, 0) for row in rows]) for name in names}


def _pairs(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[Any]:
    return np.array(rows or np.zeros((1, width)), np.int64).reshape(-1, width)
