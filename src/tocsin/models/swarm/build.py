"""Make a swarm: where robots stand, how they see, move and wake, and which of them are faulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.kernel import each, sample_without_replacement, uniforms
from tocsin.kernel._elementary import cos, exp, sin
from tocsin.models.swarm import robot as terms
from tocsin.models.swarm.algorithms import ALGORITHMS, TWO_TASK
from tocsin.models.swarm.cells import NOWHERE
from tocsin.models.swarm.robot import Rules
from tocsin.models.swarm.rows import Turn, blank_robots, swarm_of
from tocsin.models.swarm.sight import NO_DETECTION, RANGE_SLACK, STRONG, WEAK
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SCHEDULERS = {"async": terms.ASYNC, "sequential": terms.SEQUENTIAL, "ssync": terms.ROUNDS, "fsync": terms.ROUNDS}
GAPS = {"exponential": terms.EXPONENTIAL, "constant": terms.CONSTANT, "uniform": terms.UNIFORM, "gamma": terms.GAMMA}
ORDERS = {"round_robin": terms.ROUND_ROBIN, "shuffled": terms.SHUFFLED, "fair": terms.FAIR}
MOVES = {"rigid": -1, "delta": terms.STOP_DELTA, "uniform": terms.STOP_UNIFORM, "fraction": terms.STOP_FRACTION}
FAULTS = {"crash": terms.CRASH, "byzantine": terms.BYZANTINE, "omission": terms.OMISSION, "delay": terms.DELAY}
DETECTION = {"strong": STRONG, "weak": WEAK, "none": NO_DETECTION}
FRAMES = ("shared", "private")
TASKS_STREAM, FRAMES_STREAM = 1 << 16, 2 << 16
"""Streams of the draws made here; who is faulty comes from stream 0 on."""

LOG_16 = 2.772588722239781
FARTHEST = 1e9
"""Coordinates over the range of visibility stay below this."""

Faults = Mapping[Any, Any]
Plan = Sequence[int | tuple[int, float] | tuple[int, float, float]]


def make_swarm(
    positions: ArrayLike,
    algorithm: str | None = None,
    *,
    rules: Rules | Mapping[str, Any] | None = None,
    speed: ArrayLike = 1.0,
    scheduler: str = "async",
    gaps: str = "exponential",
    order: str = "round_robin",
    schedule: Plan = (),
    schedule_end: str = "round_robin",
    has_turn_gaps: bool = False,
    max_turns: int = 0,
    moves: str = "rigid",
    faults: Faults | None = None,
    multiplicity: str | None = None,
    frames: str = "shared",
    is_opaque: bool = False,
    lights: ArrayLike = 0,
    box: tuple[float, float] | None = None,
    is_watched: bool = False,
    trail: int = 0,
    seed: int = 0,
) -> SwarmWorld:
    """Return a swarm at rest.

    Parameters
    ----------
    positions : n x 2
    algorithm : a shipped one, by name; none if the model runs one of your own
    rules : numbers, as in `Rules`
    speed : of all robots or of each, length over time, > 0
    scheduler : "async": each robot wakes by itself; "sequential": one at a time; "ssync": in rounds, some of
        them; "fsync": in rounds, all
    gaps : law of the time from the end of a cycle to the next Look ("async", and turns with gaps):
        "exponential", "constant", "uniform", "gamma"; mean and spread are in the rules
    order : of turns: "round_robin", "shuffled" (anew each epoch), "fair" (any, with `rules.k` bounded)
    schedule : explicit turns first: a robot, (robot, share of its way at which it is stopped, 0: by
        policy), or (robot, share, when). `when` is the wait before that turn or that Look; with rounds,
        the number of the round, from 1, and in rounds up to the last one named no others are active
    schedule_end : what follows: "round_robin", or "repeat" (then it has to name every robot)
    has_turn_gaps : whether time passes between turns
    max_turns : end after so many; 0: do not
    moves : "rigid", or where they are cut short: after "delta", "uniform" from delta on, after a "fraction"
    faults : how many, by kind: {"crash": 2}, or which robots: {4: "omission", 5: ("crash", 12.0)};
        kinds crash (at 0 or at a time), byzantine, omission, delay, and mixed, which takes them in turn
    multiplicity : what robots see of those on one point: "strong" (each), "weak" (whether there are
        several), "none"; by default what the algorithm is for, else "strong"
    frames : "shared", or "private": a turn, a unit of length and a handedness of its own for each robot
    is_opaque : whether robots hide those behind them
    lights : first colour of all lights or of each
    box : width and height of the world around (0, 0), for algorithms that cover it
    is_watched : whether invariants are checked at every event, see `watch`
    trail : how many ends of moves to remember, for pictures
    seed : of what is drawn here: who is faulty, frames, tasks

    Raises InputError for what does not fit together, naming the robot where it is one.
    """
    places = read_positions(positions)
    n = len(places)
    robots = blank_robots(places, read_speeds(speed, n))
    numbers = rules if isinstance(rules, Rules) else Rules(**(rules or {}))
    robots["task"] = read_tasks(algorithm, n, seed)
    robots["light"] = np.broadcast_to(np.asarray(lights, int), (n,))
    robots["light_before"] = robots["light"]
    set_faults(robots, faults or {}, numbers, seed)
    kind = one_of("scheduler", scheduler, SCHEDULERS)
    movement = one_of("moves", moves, MOVES)
    needs = ALGORITHMS.get(algorithm or "")
    detection = multiplicity or ("weak" if needs is not None and needs.is_weak else "strong")
    if one_of("frames", frames, dict.fromkeys(FRAMES, 0)) == 0 and frames == "private":
        set_frames(robots, n, seed)
    if scheduler == "fsync":
        numbers = Rules(**{**numbers.to_dict(), "chance": 1.0})
    plan = read_plan(schedule, n, schedule_end, kind, movement >= 0)
    check_fit(algorithm, n, kind, numbers, faults, frames, is_opaque, detection)
    world = swarm_of(
        robots, numbers, plan=plan, scheduler=kind, law=one_of("gaps", gaps, GAPS),
        turn_order=one_of("order", order, ORDERS), is_repeating=schedule_end == "repeat", has_gaps=has_turn_gaps,
        max_turns=read_count("max_turns", max_turns), is_rigid=movement < 0, stop_policy=max(movement, 0),
        multiplicity=one_of("multiplicity", detection, DETECTION), has_frames=frames == "private",
        is_opaque=is_opaque, box_x=box[0] if box else 0.0, box_y=box[1] if box else 0.0, n_unseen=n,
        n_counted=int((robots["fault"] != terms.BYZANTINE).sum()), sum_x=places[:, 0].sum(), sum_y=places[:, 1].sum(),
        is_watched=is_watched, trail=np.zeros((read_count("trail", trail), 3)), links=links_of(places, numbers.visibility, is_watched),
        last_planned=int(max((when for _, _, when in plan), default=0)) if kind == terms.ROUNDS else 0,
    )  # fmt: skip
    file_robots(world)
    return world


def one_of(name: str, value: str, known: Mapping[str, int]) -> int:
    """Return the number that a word stands for. Raises InputError for another word."""
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}.{nearest(str(value), known)}")
    return known[value]


def read_positions(given: ArrayLike) -> NDArray[np.float64]:
    """Return positions, n x 2. Raises InputError: another shape, none, NaN or infinite."""
    try:
        places = np.array(given, float)
    except (TypeError, ValueError):
        raise InputError("positions must be pairs of numbers (x, y), one for each robot") from None
    if places.ndim != 2 or places.shape[1] != 2 or len(places) == 0:
        raise InputError(f"positions must be pairs (x, y), one for each robot, got shape {places.shape}")
    bad = np.flatnonzero(~np.isfinite(places).all(axis=1))
    if len(bad):
        raise InputError(f"positions of robot {bad[0]} must be finite, got {tuple(map(float, places[bad[0]]))}")
    return places


def read_speeds(given: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return the speed of each robot. Raises InputError: another number of them, or not above 0."""
    speeds = np.asarray(given, float)
    if speeds.ndim and len(speeds) != n:
        raise InputError(f"speed must be one number or one for each of {n} robots, got {len(speeds)}")
    speeds = np.broadcast_to(speeds, (n,))
    bad = np.flatnonzero(~((speeds > 0.0) & np.isfinite(speeds)))
    if len(bad):
        raise InputError(f"speed of robot {bad[0]} must be > 0 and finite, got {float(speeds[bad[0]])}")
    return speeds


def read_count(name: str, value: int) -> int:
    """Return a whole number >= 0. Raises InputError for another."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{name} must be a whole number >= 0, got {value!r}")
    return value


def read_tasks(algorithm: str | None, n: int, seed: int) -> NDArray[np.int64]:
    """Return the number of each robot's algorithm. Raises InputError for an unknown one."""
    if algorithm is None:
        return np.zeros(n, int)
    if algorithm == TWO_TASK:
        pick = uniforms(seed, n, TASKS_STREAM) < 0.5
        return np.where(pick, ALGORITHMS["SEC"].task, ALGORITHMS["Gathering"].task)
    known = [*ALGORITHMS, TWO_TASK]
    if algorithm not in ALGORITHMS:
        raise InputError(f"algorithm must be one of {', '.join(known)}, got {algorithm!r}.{nearest(algorithm, known)}")
    return np.full(n, ALGORITHMS[algorithm].task)


def set_faults(robots: dict[str, Any], faults: Faults, rules: Rules, seed: int) -> None:
    """Mark the faulty robots. Raises InputError for an unknown kind or a robot that is not there."""
    n, speeds = len(robots["x"]), robots["speed"].copy()
    for i, (kind, when) in sorted(who_is_faulty(faults, n, seed).items()):
        robots["fault"][i] = one_of("faults", kind, FAULTS)
        if kind == "crash":
            robots["crash_at"][i] = when
        elif kind == "delay":
            speeds[i] *= rules.slowness
    robots["speed"] = speeds


def who_is_faulty(faults: Faults, n: int, seed: int) -> dict[int, tuple[str, float]]:
    """Return kind and time of the fault of each faulty robot."""
    found: dict[int, tuple[str, float]] = {}
    for key, value in faults.items():
        if isinstance(key, str):
            continue
        kind, when = value if isinstance(value, (tuple, list)) else (value, 0.0)
        if not 0 <= key < n:
            raise InputError(f"faults name robot {key}; there are robots 0 to {n - 1}")
        found[key] = (kind, float(when))
    wanted = [kind for kind, count in faults.items() if isinstance(kind, str) for kind in spelt(kind, count)]
    free = [i for i in range(n) if i not in found]
    if len(wanted) > len(free):
        raise InputError(f"faults ask for {len(wanted)} robots beside those named; there are {len(free)}")
    for kind, i in zip(wanted, sample_without_replacement(seed, len(free), len(wanted)), strict=True):
        found[free[int(i)]] = (kind, 0.0)
    return found


def spelt(kind: str, count: int) -> list[str]:
    """Return the kinds of `count` faults; "mixed" takes all kinds in turn."""
    kinds = list(FAULTS)
    return [kinds[j % len(kinds)] if kind == "mixed" else kind for j in range(read_count(f"faults.{kind}", count))]


def set_frames(robots: dict[str, Any], n: int, seed: int) -> None:
    """Draw a frame for each robot: any turn, a unit of 1/4 to 4, either handedness."""
    u = uniforms(seed, 3 * n, FRAMES_STREAM)
    angle = 2.0 * np.pi * u[:n]
    robots["frame_cos"], robots["frame_sin"] = each(cos, angle), each(sin, angle)
    robots["frame_scale"] = 0.25 * each(exp, LOG_16 * u[n : 2 * n])
    robots["frame_mirror"] = np.where(u[2 * n :] < 0.5, -1.0, 1.0)


def read_plan(schedule: Plan, n: int, end: str, scheduler: int, is_cut: bool) -> list[Turn]:
    """Return explicit turns. Raises InputError: no such robot, or a stop or a round that cannot be."""
    one_of("schedule_end", end, {"round_robin": 0, "repeat": 1})
    plan = [read_turn(turn, entry, scheduler) for turn, entry in enumerate(schedule)]
    for turn, (who, stop, _) in enumerate(plan):
        if not 0 <= who < n:
            raise InputError(f"turn {turn} of the schedule names robot {who}; there are robots 0 to {n - 1}")
        if not 0.0 <= stop <= 1.0:
            raise InputError(f"turn {turn} of the schedule stops at {stop}; a share of the way is in 0..1")
        if stop > 0.0 and not is_cut:
            raise InputError(f"turn {turn} of the schedule stops robot {who} on its way, but moves are 'rigid'")
    if end == "repeat" and len({who for who, _, _ in plan}) < n:
        raise InputError("a schedule that is repeated has to name every robot, or some would never look")
    return plan


def read_turn(turn: int, entry: Any, scheduler: int) -> Turn:
    """Return one turn with all its parts. Raises InputError if it is none."""
    parts = (entry,) if isinstance(entry, (int, np.integer)) else tuple(entry)
    if not 1 <= len(parts) <= 3 or not isinstance(parts[0], (int, np.integer)):
        raise InputError(
            f"turn {turn} of the schedule must be a robot, (robot, stop) or (robot, stop, when), got {entry!r}"
        )
    stop = float(parts[1]) if len(parts) > 1 else 0.0
    when = float(parts[2]) if len(parts) > 2 else -1.0
    if scheduler == terms.ROUNDS and when < 1.0:
        raise InputError(f"turn {turn} of the schedule must name its round, (robot, stop, round from 1), got {entry!r}")
    return int(parts[0]), stop, when


def check_fit(
    algorithm: str | None, n: int, scheduler: int, rules: Rules, faults: Faults | None, frames: str,
    is_opaque: bool, detection: str,
) -> None:  # fmt: skip
    """Raise InputError if an algorithm is given what its paper rules out."""
    needs = ALGORITHMS.get(algorithm or "")
    if needs is None:
        return
    breaches = {
        "scheduler 'sequential'": needs.is_sequential and scheduler != terms.SEQUENTIAL,
        "unlimited visibility": needs.sees_all and (rules.visibility > 0.0 or is_opaque),
        "shared frames": needs.has_shared_axes and frames == "private",
        "robots without faults": needs.is_faultless and bool(faults),
        "multiplicity detection": needs.is_weak and detection == "none",
        f"exactly {needs.n_robots} robots": 0 < needs.n_robots != n,
    }
    missing = [what for what, is_breach in breaches.items() if is_breach]
    if missing:
        raise InputError(f"{algorithm} needs {', '.join(missing)}")


def links_of(places: NDArray[np.float64], reach: float, is_watched: bool) -> NDArray[np.int64]:
    """Return the pairs of robots that see each other, m x 2; none if all see all or nobody asks."""
    if reach == 0.0 or not is_watched:
        return np.zeros((0, 2), np.int64)
    dx, dy = (places[:, k, None] - places[None, :, k] for k in (0, 1))
    first, second = np.nonzero(np.triu(dx * dx + dy * dy <= reach * reach * (1.0 + 2.0 * RANGE_SLACK), 1))
    return np.stack([first, second], axis=1)


def file_robots(world: SwarmWorld) -> None:
    """File all robots, which stand, in the index of cells. Raises InputError if they are too far out."""
    robots, reach = world.robots, world.rules.visibility
    robots["before"][:] = NOWHERE
    if reach == 0.0:
        return
    columns, rows = np.floor(robots["x"] / reach), np.floor(robots["y"] / reach)
    bad = np.flatnonzero(~(np.maximum(abs(columns), abs(rows)) < FARTHEST))
    if len(bad):
        raise InputError(f"robot {bad[0]} stands more than {FARTHEST:g} times the visibility from (0, 0)")
    robots["column"][:], robots["row"][:] = columns, rows
    mask = len(world.buckets) - 1
    places = (columns.astype(np.int64) * 73856093 ^ rows.astype(np.int64) * 19349663) & mask
    for i, place in enumerate(places.tolist()):
        first = int(world.buckets.values[place])
        robots["before"][i], robots["after"][i] = -1, first
        if first >= 0:
            robots["before"][first] = i
        world.buckets.values[place] = i
