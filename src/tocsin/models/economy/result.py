"""What a run of a declared economy counted, and the tables that people read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.models.economy import world as w
from tocsin.models.economy.config import Design
from tocsin.stats import Sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.models.economy.build import Plan
    from tocsin.models.economy.read import AnyDesign

RETENTION_AGES = (1, 3, 7, 14, 30, 60, 90)
QUANTILES = (0.1, 0.5, 0.9, 0.99)
MONEY = ("revenue_per_install", "payer_share", "arpdau")
"""Figures that say nothing of a design without prices."""


@dataclass(frozen=True)
class EconomyResult:
    """Counts of a run: whole numbers, so parts add up to the whole in any order.

    Attributes
    ----------
    plan : the compiled design
    counts : by name, arrays as in `world.Economy`; sums of amounts as Python integers
    n_events : of the kernel
    """

    plan: Plan
    counts: dict[str, NDArray[Any]]
    n_events: int

    @property
    def n_days(self) -> int:
        """How many days were simulated."""
        return len(self.counts["days"])

    def merged(self, other: EconomyResult) -> EconomyResult:
        """Return the counts of both parts of a population."""
        counts = {name: values + other.counts[name] for name, values in self.counts.items()}
        return EconomyResult(self.plan, counts, self.n_events + other.n_events)

    def day_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary a day: counters, rates, and what players hold of each resource."""
        rows = []
        before = dict.fromkeys(self.plan.stocks, 0)
        flows = self.flow_days()
        for n, counters in enumerate(self.counts["days"].tolist()):
            row: dict[str, Any] = {"day": n + 1, **dict(zip(w.COUNTERS, counters, strict=True))}
            active = max(row["active"], 1)
            row["revenue"] = row.pop("revenue_cents") / 100.0
            row["arpdau"] = row["revenue"] / active
            row["churn_rate"] = row["churned"] / active
            for name, stock in self.plan.stocks.items():
                supply = int(self.counts["sums"][n, stock])
                gained, spent = flows[name][0][n], flows[name][1][n]
                row |= {f"{name}_supply": supply, f"{name}_gained": gained, f"{name}_spent": spent,
                        f"{name}_inflation": (supply - before[name]) / max(before[name], 1) if n else 0.0}  # fmt: skip
                before[name] = supply
            rows.append(row)
        return rows

    def flow_days(self) -> dict[str, tuple[list[int], list[int]]]:
        """Return for each resource how much was gained and spent on each day."""
        found: dict[str, tuple[list[int], list[int]]] = {
            name: ([0] * self.n_days, [0] * self.n_days) for name in self.plan.stocks
        }
        for k, flow in enumerate(self.plan.flows):
            side = found[flow.resource][0 if flow.is_source else 1]
            for n in range(self.n_days):
                side[n] += int(self.counts["flows"][n, k])
        return found

    def flow_rows(self) -> list[dict[str, Any]]:
        """Return the total of every source and sink: resource, by (an activity, a loot table, growth), kind, amount."""
        totals = self.counts["flows"].sum(axis=0)
        return [
            {"resource": f.resource, "by": f.by, "kind": "source" if f.is_source else "sink", "amount": int(totals[k])}
            for k, f in enumerate(self.plan.flows)
        ]

    def retention(self, definition: str = "install") -> list[dict[str, Any]]:
        """Return retention by age.

        'install': players active n days after the day they installed, over all whose n-th day lies within the run;
        'calendar': players of day 1 active on calendar day n, as sandtable counts (its d1 is 1 by definition).
        """
        retained = self.counts["retained"]
        rows = []
        for age in range(self.n_days):
            first = 1 if definition == "calendar" else self.n_days - age
            installed = int(retained[:first, 0].sum())
            active = int(retained[:first, age].sum())
            if installed:
                rows.append({"day": age + 1 if definition == "calendar" else age, "installed": installed,
                             "active": active, "retention": active / installed})  # fmt: skip
        return rows

    def cohort_rows(self) -> list[dict[str, Any]]:
        """Return active players by day of installation and age."""
        return [
            {"installed_on": day + 1, "age": age, "active": int(self.counts["retained"][day, age])}
            for day in range(self.n_days) for age in range(self.n_days - day) if self.counts["retained"][day, 0]
        ]  # fmt: skip

    def sketch(self, resource: str) -> Sketch:
        """Return how many players hold how much of a resource at the end."""
        return Sketch(self.counts["sketches"][-1, self.plan.stocks[resource]])

    def distribution_rows(self) -> list[dict[str, Any]]:
        """Return quantiles (within 2 %), mean and Gini coefficient of each resource on the sketch days."""
        rows = []
        for s, day in enumerate(_sketch_days(self.n_days)):
            for name, stock in self.plan.stocks.items():
                sketch = Sketch(self.counts["sketches"][s, stock])
                n = int(self.counts["days"][day - 1, w.ALIVE])
                held = int(self.counts["sums"][day - 1, stock])
                rows.append({"day": day, "resource": name, "players": n, "mean": held / max(n, 1),
                             **{f"p{100 * q:g}": round(sketch.quantile(q)) if n else 0 for q in QUANTILES},
                             "gini": sketch.gini()})  # fmt: skip
        return rows

    def milestone_rows(self) -> list[dict[str, Any]]:
        """Return how many players met each milestone, and after how many days half and 90 % of those did."""
        installed = max(int(self.counts["days"][:, w.INSTALLS].sum()), 1)
        rows = []
        for k, name in enumerate(self.plan.design.milestones):
            by_age = self.counts["reached"][k]
            n = int(by_age.sum())
            total = np.cumsum(by_age)
            half, most = (int(np.searchsorted(total, q * n)) if n else None for q in (0.5, 0.9))
            rows.append({"milestone": name, "reached": n, "share": n / installed, "days_p50": half, "days_p90": most})
        return rows

    def target_rows(self) -> list[dict[str, Any]]:
        """Return for each target of a loot table how many players met it, and with how many draws of the table.

        Draws beyond `world.MOST_COUNTED` count as so many.
        """
        named = [(table, name) for table, one in self.plan.design.loot.items() for name in one.targets]
        installed = max(int(self.counts["days"][:, w.INSTALLS].sum()), 1)
        rows = []
        for (table, name), counts in zip(named, self.counts["drawn"], strict=False):
            n = int(counts.sum())
            total = np.cumsum(counts)
            row: dict[str, Any] = {"loot": table, "target": name, "reached": n, "share": n / installed}
            row["draws_mean"] = float((counts * np.arange(len(counts))).sum() / n) if n else None
            for q in QUANTILES:
                row[f"draws_p{100 * q:g}"] = int(np.searchsorted(total, q * n)) if n else None
            rows.append(row)
        return rows

    def market_rows(self) -> list[dict[str, Any]]:
        """Return one row a day and market: sales, units sold, what was paid, the price of one, and what is left on offer."""
        rows = []
        for day, markets in enumerate(self.counts["traded"].tolist()):
            for name, given in zip(self.plan.design.markets, markets, strict=True):
                c = dict(zip(w.TRADED, given, strict=True))
                units, paid = c["units"] + (c["units_high"] << 32), c["paid"] + (c["paid_high"] << 32)
                rows.append({"day": day + 1, "market": name, "sales": c["sales"], "units": units, "paid": paid,
                             "price_mean": paid / units if units else None, "price_last": c["last_price"],
                             "offered": c["offered"]})  # fmt: skip
        return rows

    def persona_rows(self) -> list[dict[str, Any]]:
        """Return counts by persona."""
        rows = []
        for p, name in enumerate(self.plan.design.personas):
            c = self.counts["by_persona"][p].tolist()
            n = max(c[w.INSTALLS], 1)
            rows.append({"persona": name, "installs": c[w.INSTALLS], "churned": c[w.CHURNED], "payers": c[w.PAYERS],
                         "revenue": c[w.CENTS] / 100.0, "revenue_per_install": c[w.CENTS] / 100.0 / n})  # fmt: skip
        return rows

    def summary(self) -> dict[str, Any]:
        """Return the figures of a run by name."""
        total = dict(zip(w.COUNTERS, self.counts["days"].sum(axis=0).tolist(), strict=True))
        installs = max(total["installs"], 1)
        found: dict[str, Any] = {
            "installs": total["installs"], "churned": total["churned"], "sessions_per_active": total["sessions"] / max(total["active"], 1),
            "revenue_per_install": total["revenue_cents"] / 100.0 / installs,
            "payer_share": total["new_payers"] / installs, "arpdau": total["revenue_cents"] / 100.0 / max(total["active"], 1),
        }  # fmt: skip
        by_age = {row["day"]: row["retention"] for row in self.retention()}
        found |= {f"retention_d{age}": by_age[age] for age in RETENTION_AGES if age in by_age}
        for row in self.distribution_rows():
            if row["day"] == self.n_days:
                found |= {f"{row['resource']}_mean": row["mean"], f"{row['resource']}_p50": row["p50"],
                          f"{row['resource']}_gini": row["gini"]}  # fmt: skip
        for name, (gained, spent) in self.flow_days().items():
            found[f"{name}_sink_ratio"] = sum(spent) / max(sum(gained), 1)
        found |= {f"share_{row['milestone']}": row["share"] for row in self.milestone_rows()}
        found |= {f"share_{row['loot']}_{row['target']}": row["share"] for row in self.target_rows()}
        for name in self.plan.design.markets:
            mine = [row for row in self.market_rows() if row["market"] == name]
            units = sum(row["units"] for row in mine)
            found |= {f"{name}_units": units, f"{name}_price_last": mine[-1]["price_last"],
                      f"{name}_price_mean": sum(row["paid"] for row in mine) / units if units else math.nan}  # fmt: skip
        return {name: value for name, value in found.items() if not (isinstance(value, float) and math.isnan(value))}


def sells(design: AnyDesign) -> bool:
    """Whether anything of a design has a price in real money."""
    return isinstance(design, Design) and any(one.price > 0.0 for one in design.activities.values())


def _sketch_days(n_days: int) -> list[int]:
    from tocsin.models.economy.build import SKETCH_DAYS

    return [day for day in dict.fromkeys((*SKETCH_DAYS, n_days)) if day <= n_days]


def counts_of(world: w.Economy) -> dict[str, NDArray[Any]]:
    """Return the counts of a world; amounts in two words become whole numbers of any size."""
    found = {
        name: world.__dict__[name].values.copy()
        for name in ("days", "retained", "reached", "by_persona", "sketches", "drawn", "traded")
    }
    for name in ("flows", "sums"):
        words = world.__dict__[name].values.astype(object)
        found[name] = words[..., 0] + words[..., 1] * (1 << 32)
    return found
