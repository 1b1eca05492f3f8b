"""What is wrong with an economy: named findings, each with its evidence and the day on which it starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tocsin.formula import total_value
from tocsin.models.economy import world as w
from tocsin.models.economy.config import ActivityTable, Design
from tocsin.models.economy.names import Names, trait_names
from tocsin.models.economy.result import MONEY, EconomyResult, sells
from tocsin.models.economy.sandtable.run import SandtableResult

STUCK_SHARE, SINK_RATIO, GROWTH, GAP, AT_CAP, RARE = 0.25, 0.8, 0.02, 3.0, 0.25, 0.005
PINNED = ("retention_", "share_", "win_rate", "payer_share")


@dataclass(frozen=True)
class Finding:
    """Something that a designer should know: its kind, what it is about, from which day on, and the figures."""

    kind: str
    subject: str
    day: int
    evidence: str


def findings(result: EconomyResult | SandtableResult) -> list[Finding]:
    """Return what the detectors find, in order of kind: stuck progression, inflation, reward imbalance, content
    exhaustion, dominated options, unused options, effects that cannot show, automatic activities broken off."""
    if isinstance(result, SandtableResult):
        return list(pinned(result))
    every = (stuck, inflation, imbalance, exhausted, dominated, unused, pinned, cut_off)
    return [finding for detector in every for finding in detector(result)]


def stuck(result: EconomyResult) -> Iterator[Finding]:
    """A quarter of those who play have made no progress for `churn.stuck_days` days, to the end of the run."""
    rows = result.day_rows()
    day = _lasting([r["active"] > 0 and r["stuck"] / r["active"] >= STUCK_SHARE for r in rows])
    if day:
        last = rows[-1]
        yield Finding("stuck progression", "players", day, f"{last['stuck']} of {last['active']} active players of the last "
                      f"day made no progress for {result.plan.design.churn.stuck_days} days played or more")  # fmt: skip


def inflation(result: EconomyResult) -> Iterator[Finding]:
    """A currency (it has sources and sinks) is earned faster than spent, and what a player holds grows day by day."""
    rows = result.day_rows()
    sinks = {f.resource for f in result.plan.flows if not f.is_source}
    for name, (gained, spent) in result.flow_days().items():
        if name not in sinks or len(rows) < 6:
            continue
        held = [r[f"{name}_supply"] / max(r["alive"], 1) for r in rows]
        is_high = [g > 0 and s < SINK_RATIO * g and held[n] > (1.0 + GROWTH) * held[n - 1] > 0.0
                   for n, (g, s) in enumerate(zip(gained, spent, strict=True)) if n]  # fmt: skip
        day = _lasting([False, *is_high], least=3)
        if day:
            yield Finding("inflation", name, day, f"{sum(spent[day - 1:]) / max(sum(gained[day - 1:]), 1):.0%} of what is earned from "
                          f"then on is spent; a player holds {held[day - 2]:,.0f} on the day before and {held[-1]:,.0f} at the end")  # fmt: skip


def imbalance(result: EconomyResult) -> Iterator[Finding]:
    """Of two things that cost the same and give the same, one gives three times as much for it."""
    totals: dict[str, dict[tuple[str, bool], int]] = {}
    for row in result.flow_rows():
        totals.setdefault(row["by"], {})[row["resource"], row["kind"] == "source"] = row["amount"]
    rates: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for by, flows in totals.items():
        for (cost, is_source), paid in flows.items():
            for (gain, is_gain), got in flows.items():
                if not is_source and is_gain and paid > 0 and by in result.plan.design.activities:
                    rates.setdefault((cost, gain), []).append((got / paid, by))
    for (cost, gain), found in rates.items():
        low, high = min(found), max(found)
        if len(found) > 1 and high[0] > GAP * low[0]:
            yield Finding(
                "reward imbalance",
                high[1],
                1,
                f"gives {high[0]:.3g} {gain} for each {cost}, {low[1]} gives {low[0]:.3g}",
            )


def exhausted(result: EconomyResult) -> Iterator[Finding]:
    """A quarter of the players hold all there is of something that does not grow by itself."""
    for name, resource in result.plan.design.resources.items():
        if not isinstance(resource.cap, (int, float)) or resource.per_hour is not None:
            continue
        for row in result.distribution_rows():
            if (
                row["resource"] == name
                and row["day"] < result.n_days
                and _at_most(result, row["day"], name, resource.cap) >= AT_CAP
            ):
                share = _at_most(result, row["day"], name, resource.cap)
                yield Finding("content exhaustion", name, row["day"], f"{share:.0%} of the players hold the cap of {resource.cap:g} on "
                              f"day {row['day']} of {result.n_days}")  # fmt: skip
                break


def dominated(result: EconomyResult) -> Iterator[Finding]:
    """Something that is chosen costs as much or more, and gives as much or less, than something else, wherever we look."""
    design = result.plan.design
    names = Names(design)
    chosen = {
        name: one
        for name, one in design.activities.items()
        if one.at == "choice" and not one.reset and one.chance is None
    }
    states = [_state(design, names, value) for value in (None, 10.0, 100.0, 1000.0)]
    for name, one in chosen.items():
        for other, better in chosen.items():
            if (
                name != other
                and _is_plain(better)
                and one.loot is None
                and all(_is_worse(one, better, names, s) for s in states)
            ):
                yield Finding(
                    "dominated option", name, 1, f"{other} costs no more and gives no less, with one of them better"
                )
                break


def _is_plain(one: ActivityTable) -> bool:
    return one.when is None and not one.per_day and not one.in_total and one.price == 0.0


def _state(design: Design, names: Names, value: float | None) -> dict[str, float]:
    start = dict.fromkeys(names.columns, 0.0) | dict.fromkeys(trait_names(design), 1.0)
    start |= {name: names.values[k] for name, k in names.shared.items()}
    return start | {name: r.start if value is None else value for name, r in design.resources.items()}


def _is_worse(one: ActivityTable, better: ActivityTable, names: Names, state: dict[str, float]) -> bool:
    def worth(text: Any) -> float:
        return total_value(names.read(text, "activity"), state, names.points)

    gaps = []
    for mine, theirs, sign in ((one.cost, better.cost, 1.0), (one.gain, better.gain, -1.0)):
        for key in {**mine, **theirs}:
            gaps.append(sign * (worth(mine.get(key, 0.0)) - worth(theirs.get(key, 0.0))))
    gaps.append(
        worth(one.minutes if one.minutes is not None else 1.0)
        - worth(better.minutes if better.minutes is not None else 1.0)
    )
    return all(gap >= 0.0 for gap in gaps) and any(gap > 0.0 for gap in gaps)


def unused(result: EconomyResult) -> Iterator[Finding]:
    """Something that nobody does, or hardly anybody: it leaves no trace in what flows."""
    done: dict[str, int] = {}
    for row in result.flow_rows():
        done[row["by"]] = done.get(row["by"], 0) + row["amount"]
    for name, one in result.plan.design.activities.items():
        if (one.cost or one.gain) and done.get(name, 0) == 0:
            yield Finding("unused option", name, 1, "nothing was ever gained or paid by it")


def pinned(result: EconomyResult | SandtableResult) -> Iterator[Finding]:
    """A share stands at its bound, so a change for the better (or the worse) cannot show in it."""
    has_prices = isinstance(result, EconomyResult) and sells(result.plan.design)
    for name, value in result.summary().items():
        if name in MONEY and not has_prices:
            continue
        if name.startswith(PINNED) and (value <= RARE or value >= (0.98 if name == "win_rate" else 1.0 - RARE)):
            yield Finding(
                "effect that cannot show",
                name,
                1,
                f"it is {value:.4g}, at its bound: no difference beyond that can be seen",
            )


def cut_off(result: EconomyResult) -> Iterator[Finding]:
    """Automatic activities did not come to an end within a turn."""
    rows = result.day_rows()
    day = next((r["day"] for r in rows if r["cut_off"]), 0)
    if day:
        n = sum(r["cut_off"] for r in rows)
        yield Finding(
            "endless automatic activity", "automatic activities", day, f"broken off {n} times after 100 in one turn"
        )


def _lasting(is_so: list[bool], least: int = 1) -> int:
    """Return the first day (from 1) from which it is so to the end, for at least so many days; 0 for never."""
    n = 0
    while n < len(is_so) and is_so[len(is_so) - 1 - n]:
        n += 1
    return len(is_so) - n + 1 if n >= least else 0


def _at_most(result: EconomyResult, day: int, name: str, cap: float) -> float:
    """Return the share of players who hold the cap, within the accuracy of a sketch."""
    from tocsin.models.economy.result import _sketch_days
    from tocsin.models.economy.rules import bucket

    counts = result.counts["sketches"][_sketch_days(result.n_days).index(day), result.plan.stocks[name]]
    n = int(result.counts["days"][day - 1, w.ALIVE])
    return float(counts[bucket(cap) :].sum() / max(n, 1))
