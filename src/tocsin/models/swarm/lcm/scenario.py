"""A scenario's swarm as a configuration of the LCM simulator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.models.swarm.build import read_speeds
from tocsin.models.swarm.lcm.config import FAULTS, TASKS, TWO_TASK
from tocsin.models.swarm.robot import Rules

if TYPE_CHECKING:
    from tocsin.models.swarm.preset import SwarmInit

STOPS = {"delta": "delta", "uniform": "random", "fraction": "fraction", "rigid": "random"}
ORDERS = {"round_robin": "round_robin", "shuffled": "random"}
ONLY: dict[str, tuple[Any, ...]] = {
    "algorithm": (*TASKS, TWO_TASK), "scheduler": ("async", "sequential"), "gaps": ("exponential",),
    "order": tuple(ORDERS), "multiplicity": (None, "strong", "weak"), "frames": ("shared",), "is_opaque": (False,),
    "is_watched": (False,),
}  # fmt: skip
"""What the original knows, where this model knows more."""
DEFAULTS = ("same_place", "gap_spread", "k", "chance", "period", "omission", "slowness")
"""Rules that it does not have, or that are fixed in it."""


def lcm_config(init: SwarmInit, rules: Rules, positions: Any, seed: int) -> dict[str, Any]:
    """Return the configuration that says what `[init]` and `[params]` say.

    Parameters
    ----------
    init, rules : of the scenario
    positions : where the robots stand, n x 2; None to let the original draw them
    seed : of the run

    Raises InputError for what the original does not know, naming the key.
    """
    for key, known in ONLY.items():
        if getattr(init, key) not in known:
            words = " or ".join(repr(value) for value in known if value is not None)
            raise InputError(f"init.{key} must be {words} with compat = 'lcm', got {getattr(init, key)!r}")
    default = Rules()
    for key in DEFAULTS:
        if getattr(rules, key) != getattr(default, key):
            raise InputError(f"leave params.rules.{key} out: compat = 'lcm' does not know it")
    kind, n_faults = _faults(init.faults)
    places = [] if positions is None else [[float(x), float(y)] for x, y in positions]
    n = len(places) or init.n or 0
    has_box = init.has_box or positions is None  # who draws in a box knows it
    return {
        "algorithm": init.algorithm, "num_of_robots": n, "initial_positions": places,
        "robot_speeds": read_speeds(init.speed, n).tolist(), "visibility_radius": rules.visibility or None, "num_of_faults": n_faults,
        "fault_type": kind, "rigid_movement": init.moves == "rigid", "delta": rules.delta, "stop_policy": STOPS[init.moves],
        "stop_fraction": rules.stop_share, "threshold_precision": _precision(rules.tolerance), "sampling_rate": rules.tick,
        "lambda_rate": 1.0 / rules.gap, "random_seed": seed, "width_bound": init.width if has_box else 0.0,
        "height_bound": init.height if has_box else 0.0,
        "scheduler": init.scheduler, "activation_order": ORDERS[init.order], "schedule": [_turn(t) for t in init.schedule],
        "schedule_end": init.schedule_end, "turn_gap": "random" if init.has_turn_gaps else "none",
        "max_turns": init.max_turns,
    }  # fmt: skip


def is_drawn(init: SwarmInit) -> bool:
    """Say whether the original draws the positions that `[init]` asks for: anywhere in the box."""
    is_cloud = (init.shape, init.fill, init.spacing, init.n_shared) == ("cloud", "filled", "uniform", 0)
    return init.n is not None and is_cloud


def _faults(given: Mapping[str, Any]) -> tuple[str, int]:
    """Return kind and number of the faulty robots. Raises InputError for more than one kind, or for named robots."""
    if not given:
        return "crash", 0
    (kind, count), *others = given.items()
    if others or kind not in (*FAULTS, "mixed") or not isinstance(count, int):
        raise InputError(
            f"init.faults must be one kind and a number, as in {{crash = 2}}, with compat = 'lcm', got {given!r}"
        )
    return kind, count


def _precision(tolerance: float) -> int:
    """Return the number of decimals. Raises InputError for a tolerance that is no power of ten."""
    precision = round(-math.log10(tolerance))
    if math.pow(10, -precision) != tolerance or precision < 0:
        raise InputError(f"params.rules.tolerance must be 1, 0.1, 0.01, ... with compat = 'lcm', got {tolerance!r}")
    return precision


def _turn(turn: int | list[float]) -> int | dict[str, Any]:
    if isinstance(turn, int):
        return turn
    who, *rest = turn
    if len(rest) > 1 or who != int(who):
        raise InputError(f"a turn must be a robot or [robot, stop] with compat = 'lcm', got {turn!r}")
    return {"robot": int(who), "stop": rest[0] if rest else None}
