"""Loot tables of a design, as tables that compiled code reads; what can never be drawn is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.models.economy.config import Design, LootTable
from tocsin.models.economy.names import mapped

if TYPE_CHECKING:
    from tocsin.models.economy.build import Plan

Rows = list[dict[str, Any]]


def plan_loot(plan: Plan) -> None:
    """Write the loot tables of a design into `plan.tables`. Raises InputError."""
    loots: Rows = []
    classes: Rows = []
    rewards: Rows = []
    targets: Rows = []
    numbers = {name: k for k, name in enumerate(plan.design.loot)}
    _check_nesting(plan.design)
    for name, table in plan.design.loot.items():
        where = f"loot.{name}"
        first = len(classes)
        known = [one.name for one in table.classes]
        for entry in table.entries:
            if entry.in_class is not None and entry.in_class not in known:
                mapped(dict.fromkeys(known, 0), entry.in_class, f"{where}.entries", "class")
        for one in (*table.classes, None):
            begin = len(rewards)
            for k, entry in enumerate(table.entries):
                if entry.in_class != (one.name if one else None):
                    continue
                gains = plan.add_amounts(entry.gain, f"{where}.entries[{k}].gain", name, True)
                nested = (
                    -1
                    if entry.loot is None
                    else mapped(numbers, entry.loot, f"{where}.entries[{k}].loot", "loot table")
                )
                rewards.append({"weight": entry.weight, "is_featured": int(entry.featured), "table": nested,
                                "first_gain": gains[0], "last_gain": gains[1]})  # fmt: skip
            classes.append(_class_row(plan, name, one, begin, rewards))
        loots.append({"first_class": first, "last_class": len(classes), **_targets(plan, name, table, targets)})
        _check_rest(where, table, classes[first:], rewards)
    plan.tables |= {"loots": loots, "classes": classes, "rewards": rewards, "targets": targets}


def _targets(plan: Plan, table: str, one: LootTable, targets: Rows) -> dict[str, int]:
    """Add the targets of a table; return their places, and the column that counts its draws."""
    first = len(targets)
    for name, wanted in one.targets.items():
        where, begin = f"loot.{table}.targets.{name}", len(plan.needs)
        for resource, amount in wanted.items():
            stock = mapped(plan.stocks, resource, where, "resource")
            plan.needs.append((stock, amount, plan.names.column(f"~got.{table}.{name}.{resource}")))
        targets.append(
            {"column": plan.names.columns[f"{table}_{name}"], "first_need": begin, "last_need": len(plan.needs)}
        )
    draws = plan.names.column(f"~draws.{table}") if one.targets else -1
    return {"draws": draws, "first_target": first, "last_target": len(targets)}


def _class_row(plan: Plan, table: str, one: Any, begin: int, rewards: Rows) -> dict[str, Any]:
    row: dict[str, Any] = {"first_entry": begin, "last_entry": len(rewards), "is_last": int(one is None)}
    if one is None:
        return row | {"misses": -1, "pulls": -1, "owed": -1}
    where = f"loot.{table}.classes.{one.name}"
    mine = rewards[begin:]
    if not any(r["weight"] > 0.0 for r in mine):
        raise InputError(f'{where}: no entry with class = "{one.name}" and a weight > 0')
    for is_featured in (0, 1) if one.featured_share > 0.0 else ():
        needed = is_featured == 1 or one.featured_share < 1.0
        if needed and not any(r["weight"] > 0.0 and r["is_featured"] == is_featured for r in mine):
            what = "featured" if is_featured else "not featured"
            raise InputError(f"{where}: featured_share is {one.featured_share:g}, but no entry of the class is {what}")
    counter = one.counter or f"{table}.{one.name}"
    columns = {key: plan.names.column(f"~{key}.{counter}") for key in ("misses", "pulls", "owed")}
    return row | columns | {
        "rate": one.rate, "soft_start": float(one.soft_start), "soft_step": one.soft_step, "share": one.featured_share,
        "hard": one.hard, "every": one.every, "has_debt": int(one.carry_over),
    }  # fmt: skip


def _check_rest(where: str, table: LootTable, classes: Rows, rewards: Rows) -> None:
    rest = classes[-1]
    total = sum(one.rate for one in table.classes)
    if total > 1.0 + 1e-12:
        raise InputError(f"{where}.classes: the rates add up to {total:g}; they must be <= 1")
    mine = rewards[rest["first_entry"] : rest["last_entry"]]
    if not any(r["weight"] > 0.0 for r in mine) and total < 1.0 - 1e-12:
        raise InputError(
            f"{where}: the classes take {total:g} of the draws and no entry without a class takes the rest"
        )


def _check_nesting(design: Design) -> None:
    def depth(name: str, above: tuple[str, ...]) -> None:
        if name in above or len(above) >= 8:
            raise InputError(
                f"loot.{above[0]}: tables lead to each other in a circle, or more than 8 deep: {' > '.join((*above, name))}"
            )
        for entry in design.loot[name].entries if name in design.loot else ():
            if entry.loot is not None and entry.loot not in done:
                depth(entry.loot, (*above, name))
        done.add(name)

    done: set[str] = set()
    for name in design.loot:
        depth(name, ())
