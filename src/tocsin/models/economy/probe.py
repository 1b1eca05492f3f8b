"""Find at load what would never end at run time: automatic activities that cost nothing."""

from __future__ import annotations

from tocsin.errors import InputError
from tocsin.formula import total_value
from tocsin.models.economy.config import ActivityTable, Design
from tocsin.models.economy.names import Names, trait_names

PROBES = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Values of what an activity raises, at which its cost is looked at."""


def check_automatic(design: Design, names: Names) -> None:
    """Raise InputError for an automatic activity without limit that costs nothing at some level it leads to.

    The cost is worked out with what the activity raises at each of PROBES from the start on, the calendar off,
    and everything else as it is for a new player.
    """
    start = dict.fromkeys(names.columns, 0.0)
    start |= {name: float(int(r.start)) for name, r in design.resources.items()}
    start |= dict.fromkeys(trait_names(design), 1.0)
    start |= {name: names.values[k] for name, k in names.shared.items()}
    for name, one in design.activities.items():
        if one.at == "automatic" and not one.per_day and not one.in_total:
            _check_one(f"activities.{name}", one, design, names, start)


def _check_one(where: str, one: ActivityTable, design: Design, names: Names, start: dict[str, float]) -> None:
    costs = {key: names.read(text, f"{where}.cost.{key}") for key, text in one.cost.items()}
    gate = None if one.when is None else names.read(one.when, f"{where}.when")
    if not costs and gate is not None and _closes(one, gate.names()):
        return
    raised = [key for key in one.gain if key in design.resources]
    for probe in PROBES:
        values = start | {key: max(probe, start[key]) for key in raised}
        paid = {key: total_value(node, values, names.points) for key, node in costs.items()}
        is_open = gate is None or total_value(gate, values, names.points) != 0.0
        if any(value > 0.0 for value in paid.values()) or (costs and not is_open):
            continue
        at = ", ".join(f"{key} = {values[key]:g}" for key in raised) or "the start"
        shown = ", ".join(f"{key} = {one.cost[key]!r} is {paid[key]:g}" for key in one.cost) or "there is no cost"
        raise InputError(
            f"{where}: done automatically and without a limit, it costs nothing at {at} ({shown}), so it would never end. "
            f"Write max(1, ...) in the cost, or set per_day or in_total"
        )


def _closes(one: ActivityTable, names: set[str]) -> bool:
    """Whether the gate looks at something that the activity changes, so that it can close."""
    return bool(names & {*one.gain, *one.reset}) or any(name.startswith(("n_", "today_")) for name in names)
