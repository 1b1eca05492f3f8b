"""A run as the LCM simulator's JSON configuration describes it, with all draws it makes beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.swarm.lcm import events
from tocsin.models.swarm.lcm.arithmetic import DRAWS_CONSTANT, DRAWS_NUMPY, DRAWS_SPLITMIX
from tocsin.models.swarm.lcm.fork import FORK_MODEL, ForkWorld
from tocsin.models.swarm.lcm.streams import NumpyStream, SplitMixStream
from tocsin.models.swarm.robot import (
    ASYNC,
    BYZANTINE,
    CRASH,
    CRASHED,
    DELAY,
    NO_FAULT,
    OMISSION,
    ROUND_ROBIN,
    SEQUENTIAL,
    SHUFFLED,
    STOP_DELTA,
    STOP_FRACTION,
    STOP_UNIFORM,
    Rules,
)
from tocsin.models.swarm.rows import Turn, blank_robots, swarm_of
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation
from tocsin.schema._annotations import nearest

TWO_TASK = "TwoTask"
TASKS = {
    "Gathering": events.GATHERING, "SEC": events.SEC, "GoToCenter": events.GO_TO_CENTER,
    "CircleFormation": events.CIRCLE_FORMATION, "Spreading": events.SPREADING,
    "PatternFormation": events.PATTERN_FORMATION, "SqGathering": events.SQ_GATHERING,
}  # fmt: skip
FAULTS = {"crash": CRASH, "byzantine": BYZANTINE, "omission": OMISSION, "delay": DELAY}
STOPS = {"delta": STOP_DELTA, "random": STOP_UNIFORM, "fraction": STOP_FRACTION}
ORDERS = {"round_robin": ROUND_ROBIN, "random": SHUFFLED}
SCHEDULERS = {"async": ASYNC, "sequential": SEQUENTIAL}
ENDS = {"round_robin": 0, "repeat": 1}
GAPS = {"none": 0, "random": 1}
SOURCES = {"numpy-pcg64": ("pcg64", DRAWS_NUMPY), "splitmix64": ("splitmix64", DRAWS_SPLITMIX)}
RECURSION = 992
"""Draws that the original's recursion makes before it passes Python's limit of 1000 frames, called from a plain
script; counted by running it."""


NO_LIMIT = 1_000_000_000
"""A recursion as deep as it goes."""

LEAST = 5e-324
"""A range of visibility of 0."""


class Stream(Protocol):
    """The draws made before the first event."""

    def random(self) -> float:
        """Uniform in [0, 1)."""

    def uniform(self, low: float, high: float, n: int) -> NDArray[np.float64]:
        """n uniform numbers."""

    def exponential(self, mean: float, n: int) -> NDArray[np.float64]:
        """n exponential waits."""

    def choice(self, n: int, k: int) -> list[int]:
        """k of 0..n-1 without repetition."""

    def words(self) -> dict[str, int]:
        """State, as the fields of the kernel's random source."""


@dataclass(frozen=True)
class Setup:
    """A run before its first event."""

    world: SwarmWorld
    source: str
    """The random source, as `Simulation` knows it."""
    words: Mapping[str, int]
    """Its state, after the draws that were made for the world."""

    def begin(self, simulation: Simulation[Any]) -> None:
        """Let a simulation of the world draw on from there."""
        for name, word in self.words.items():
            simulation._kernel.rngs[name][0] = word


def lcm_setup(
    config: Mapping[str, Any],
    *,
    rng: str = "splitmix64",
    constant_gap: float | None = None,
    speeds: Sequence[float] | None = None,
    is_compensated: bool = True,
    depth: int = RECURSION,
    trail: int = 0,
) -> Setup:
    """Return the world that the LCM simulator makes of a configuration; arguments as in `lcm_simulation`."""
    seed = _seed(config)
    make, source, draws = _source(rng)
    stream = make(seed)
    positions = _positions(config, make(seed))
    n = len(positions)
    robots = blank_robots(positions, _speeds(config, n) if speeds is None else speeds)
    robots["task"] = _tasks(config, n, stream)
    faults = _faults(config, robots, n, stream)
    gap = 1.0 / float(config.get("lambda_rate", 5.0)) if constant_gap is None else constant_gap
    if _scheduler(config) == ASYNC:
        robots["due"] = stream.exponential(gap, n) if draws != DRAWS_CONSTANT else np.full(n, gap)
    world = swarm_of(
        robots, _rules(config, gap), plan=_plan(config, n), **_choices(config), draws=draws, depth=depth,
        is_compensated=is_compensated, is_faultless=not faults, n_unseen=int((robots["state"] != CRASHED).sum()),
        trail=np.zeros((trail, 3)),
    )  # fmt: skip
    return Setup(world, source, stream.words())


def lcm_simulation(config: Mapping[str, Any], *, jit: bool = True, **options: Any) -> Simulation[SwarmWorld]:
    """Return the run that the LCM simulator makes of a configuration.

    Parameters
    ----------
    config : keys as in its JSON: algorithm, num_of_robots, initial_positions, robot_speeds, visibility_radius,
        num_of_faults, fault_type, rigid_movement, threshold_precision, sampling_rate, lambda_rate,
        random_seed, width_bound, height_bound; scheduler "sequential" with its keys; others are left out of
        account, as there
    jit : as in `Simulation`
    options : rng: "splitmix64" (the port's), "numpy-pcg64" (the original's), "constant" (every wait is `constant_gap`);
        speeds: of each robot, instead of robot_speeds; is_compensated: sums as in CPython 3.12 and later;
        depth: draws that the original's recursion survives; trail: ends of moves to remember, for pictures

    Raises InputError for an unknown algorithm or source, and for what the algorithm rules out.
    """
    setup = lcm_setup(config, **options)
    simulation = Simulation(events.LCM_MODEL, setup.world, seed=_seed(config), source=setup.source, jit=jit)
    setup.begin(simulation)
    return simulation


def fork_simulation(config: Mapping[str, Any], *, jit: bool = True) -> Simulation[SwarmWorld]:
    """Return the run that the simulator's older fork makes of its scheduler's arguments.

    Parameters
    ----------
    config : seed, num_of_robots, initial_positions, robot_speeds, algorithm (Gathering or SEC),
        visibility_radius, rigid_movement, threshold_precision, sampling_rate, labmda_rate (so spelt)
    jit : as in `Simulation`

    Raises InputError for another algorithm.
    """
    name = config.get("algorithm", "Gathering")
    if name not in ("Gathering", "SEC"):
        raise InputError(f"algorithm must be Gathering or SEC, got {name!r}")
    seed, stream = int(config["seed"]), NumpyStream(int(config["seed"]))
    positions = np.asarray(config["initial_positions"], float).reshape(-1, 2)
    n = len(positions)
    gap = 1.0 / float(config.get("labmda_rate", config.get("lambda_rate", 5.0)))
    robots = blank_robots(positions, config.get("robot_speeds", 1.0))
    robots["task"] = np.full(n, TASKS[name])
    robots["due"] = stream.exponential(gap, n)
    robots["from_x"], robots["from_y"] = robots["x"], robots["y"]
    rules = Rules(
        visibility=float(config.get("visibility_radius") or 1e300),
        tolerance=math.pow(10, -_precision(config)), gap=gap, tick=float(config.get("sampling_rate", 0.2)),
    )  # fmt: skip
    world = swarm_of(
        robots, rules, kind=ForkWorld, is_rigid=bool(config.get("rigid_movement", True)), n_busy=n,
        precision=_precision(config), depth=NO_LIMIT,
    )  # fmt: skip
    simulation = Simulation(FORK_MODEL, world, seed=seed, source="pcg64", jit=jit)
    for word, value in stream.words().items():
        simulation._kernel.rngs[word][0] = value
    return simulation


def _source(rng: str) -> tuple[Callable[[int], Stream], str, int]:
    if rng == "splitmix64":
        return SplitMixStream, "splitmix64", DRAWS_SPLITMIX
    if rng in ("numpy-pcg64", "constant"):
        return NumpyStream, "pcg64", DRAWS_NUMPY if rng == "numpy-pcg64" else DRAWS_CONSTANT
    raise InputError(f"rng must be 'splitmix64', 'numpy-pcg64' or 'constant', got {rng!r}")


def _seed(config: Mapping[str, Any]) -> int:
    return int(config.get("random_seed", 12345))


def _scheduler(config: Mapping[str, Any]) -> int:
    return _one_of(config, "scheduler", "async", SCHEDULERS)


def _positions(config: Mapping[str, Any], stream: Stream) -> NDArray[np.float64]:
    """Return the given positions; drawn ones if none are given or their number is wrong, as the original does.

    The original takes five robots if their number is not given; the port's sequential runs, as many as have positions.
    """
    given = config.get("initial_positions") or []
    n = int(config.get("num_of_robots", (len(given) or 5) if "scheduler" in config else 5))
    if len(given) == n:
        return np.asarray(given, float).reshape(n, 2)
    half_x, half_y = (float(config.get(key, 100)) / 2.0 for key in ("width_bound", "height_bound"))
    return np.stack([stream.uniform(-half_x, half_x, n), stream.uniform(-half_y, half_y, n)], axis=1)


def _speeds(config: Mapping[str, Any], n: int) -> Any:
    """Return one speed or one for each robot; the original takes 1 if their number is wrong."""
    given = config.get("robot_speeds", 1.0)
    if isinstance(given, list):
        return [float(speed) for speed in given] if len(given) == n else 1.0
    return float(given)


def _reach(config: Mapping[str, Any]) -> float:
    """Return the range of visibility, 0 without limit. A range of 0 is the least there is: one sees one's own point."""
    given = config.get("visibility_radius")
    return 0.0 if given is None or float(given) == math.inf else max(float(given), LEAST)


def _tasks(config: Mapping[str, Any], n: int, stream: Stream) -> NDArray[np.int64]:
    name = config.get("algorithm", "Gathering")
    if name == TWO_TASK:
        return np.array([TASKS["SEC" if stream.random() < 0.5 else "Gathering"] for _ in range(n)])
    if name not in TASKS:
        raise InputError(f"algorithm must be one of {', '.join([*TASKS, TWO_TASK])}, got {name!r}")
    is_fit = _scheduler(config) == SEQUENTIAL and _reach(config) == 0.0
    if name == "SqGathering" and not (is_fit and not config.get("num_of_faults")):
        raise InputError("SqGathering needs scheduler 'sequential', no visibility_radius and no faults")
    return np.full(n, TASKS[name])


def _faults(config: Mapping[str, Any], robots: dict[str, Any], n: int, stream: Stream) -> list[int]:
    wanted = min(int(config.get("num_of_faults", 0)), n)
    chosen = stream.choice(n, wanted) if wanted > 0 else []
    kind = config.get("fault_type", "crash")
    for j, i in enumerate(chosen):
        fault = list(FAULTS.values())[j % 4] if kind == "mixed" else FAULTS.get(kind, NO_FAULT)
        robots["fault"][i] = fault
        if fault == CRASH:
            robots["state"][i] = CRASHED
        elif fault == DELAY:
            robots["speed"] = robots["speed"].copy()
            robots["speed"][i] *= 0.4
    return chosen


def _precision(config: Mapping[str, Any]) -> int:
    return int(config.get("threshold_precision", 5))


def _rules(config: Mapping[str, Any], gap: float) -> Rules:
    return Rules(
        visibility=_reach(config), tolerance=math.pow(10, -_precision(config)), gap=gap,
        delta=float(config.get("delta") or 0.0), stop_share=float(config.get("stop_fraction", 0.5)),
        tick=float(config.get("sampling_rate", 0.1)),
    )  # fmt: skip


def _one_of(config: Mapping[str, Any], key: str, default: str, known: Mapping[str, int]) -> int:
    """Return what a word stands for; the default if the key is missing or null. Raises InputError for another word."""
    value = config.get(key) or default
    if value not in known:
        raise InputError(f"{key} must be one of {', '.join(known)}, got {value!r}.{nearest(str(value), known)}")
    return known[value]


def _choices(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "scheduler": _scheduler(config),
        "turn_order": _one_of(config, "activation_order", "round_robin", ORDERS),
        "stop_policy": _one_of(config, "stop_policy", "random", STOPS),
        "is_rigid": bool(config.get("rigid_movement", True)),
        "is_repeating": bool(_one_of(config, "schedule_end", "round_robin", ENDS)),
        "has_gaps": bool(_one_of(config, "turn_gap", "random", GAPS)),
        "max_turns": int(config.get("max_turns") or 0),
        "precision": _precision(config),
        "box_x": float(config.get("width_bound") or 0.0),
        "box_y": float(config.get("height_bound") or 0.0),
    }


def _plan(config: Mapping[str, Any], n: int) -> list[Turn]:
    plan = []
    for entry in config.get("schedule") or []:
        who, stop = (entry["robot"], entry.get("stop") or 0.0) if isinstance(entry, dict) else (entry, 0.0)
        if not 0 <= who < n:
            raise InputError(f"schedule names robot {who}; there are robots 0 to {n - 1}")
        plan.append((int(who), float(stop), -1.0))
    return plan
