"""Compare a run with an event trace of the LCM simulator, event by event."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tocsin.errors import InputError, SimulationError, TocsinError
from tocsin.models.swarm.lcm.arithmetic import distance
from tocsin.models.swarm.lcm.config import RECURSION, fork_simulation, lcm_simulation
from tocsin.models.swarm.lcm.events import position
from tocsin.models.swarm.robot import ALL_TERMINATED, ENDED, MAX_TURNS, RUNNING, STALLED, Robot
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Event, Simulation

KINDS = {"Look": "LOOK", "Leave": "MOVE", "Arrive": "WAIT", "Crash": "CRASH", "Tick": "VISUALIZE"}
STATES = ("WAIT", "LOOK", "MOVE", "CRASH")
LAMPS = (None, "blue", "red", "green")
WHY = {ALL_TERMINATED: "all-terminated", STALLED: "stalled", MAX_TURNS: "max-turns"}
TOLERANCE = 1e-9
WITH_SUMS = ("CircleFormation", "PatternFormation")
SUMS_SLACK = 1e-12
"""These two add up with `sum`, which CPython does in two ways, and in a third if some of the numbers are NumPy's:
their times may differ in the last digits, those of all others may not."""
Sim = Simulation[SwarmWorld]


@dataclass(frozen=True)
class Comparison:
    """What came of it."""

    n_events: int
    """Events that agreed."""
    difference: str | None
    """The first difference, or None."""


def read_trace(path: Path) -> dict[str, Any]:
    """Return a trace. Raises InputError for a file that is none."""
    try:
        trace = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the trace {str(path)!r}: {error}") from None
    if not isinstance(trace, dict) or not {"config", "events"} <= trace.keys():
        raise InputError(f"{str(path)!r} is no event trace: it has no 'config' and 'events'")
    for fault in _malformed(trace):
        raise InputError(f"{str(path)!r} is no event trace: {fault}")
    return trace


def _malformed(trace: Mapping[str, Any]) -> Iterator[str]:
    """Yield what of a trace has not the form of one."""
    for key, kind, word in (("config", dict, "a table"), ("events", list, "a list")):
        if not isinstance(trace[key], kind):
            yield f"{key} must be {word}, got {trace[key]!r:.60}"
            return
    for k, event in enumerate(trace["events"]):
        if not isinstance(event, dict) or not {"t", "id", "code"} <= event.keys():
            yield f"event {k} must be a table with t, id and code, got {event!r:.60}"
        elif not all(isinstance(draw, list) and draw for draw in _listed(event.get("draws"))):
            yield f"draws of event {k} must be lists of a name and what came"
    final = trace.get("final")
    if final is None:
        return
    if not isinstance(final, dict):
        yield f"final must be a table, got {final!r:.60}"
    elif type(final.get("event_count", 0)) is not int:
        yield f"final.event_count must be a whole number, got {final['event_count']!r:.60}"
    elif not all(isinstance(robot, dict) for robot in _listed(final.get("robots"))):
        yield "final.robots must be a list of tables"


def _listed(given: Any) -> list[Any]:
    """Return a list as it is, nothing as an empty one, and anything else as a list of it."""
    return given if isinstance(given, list) else [] if given is None else [given]


def replay(trace: Mapping[str, Any], *, jit: bool = True) -> Comparison:
    """Run a trace's configuration and compare every recorded event, then the end.

    Times, robots, kinds and codes have to be equal (times of `WITH_SUMS` to 1e-12), other numbers to 1e-9 of their
    size. Raises InputError for a configuration that cannot be run.
    """
    simulation = _simulation(trace, jit)
    slack = SUMS_SLACK if trace["config"].get("algorithm") in WITH_SUMS else 0.0
    ticks = iter(_listed(trace.get("tick_positions")))
    for n, wanted in enumerate(trace["events"]):
        found = _next(simulation)
        difference = "the run has ended" if found is None else _compare(simulation.world, found, wanted, slack)
        if difference is None and found is not None and found.action == "Tick":
            difference = _compare_tick(simulation.world, found.time, next(ticks, None))
        if difference is not None:
            return Comparison(n, f"event {n} (t={wanted['t']!r}, robot {wanted['id']}): {difference}")
    n = len(trace["events"])
    return Comparison(n, _compare_end(simulation, trace))


def is_fork(config: Mapping[str, Any]) -> bool:
    """Say whether a configuration is that of the older fork: its scheduler's arguments."""
    return "labmda_rate" in config or ("seed" in config and "random_seed" not in config)


def _simulation(trace: Mapping[str, Any], jit: bool) -> Sim:
    try:
        if is_fork(trace["config"]):
            return fork_simulation(trace["config"], jit=jit)
        return lcm_simulation(
            trace["config"], rng=trace.get("rng", "splitmix64"), constant_gap=trace.get("constant_gap"),
            speeds=trace.get("speeds_list"), is_compensated=not str(trace.get("python", "3.12")).startswith("3.11"),
            depth=_depth(trace), jit=jit,
        )  # fmt: skip
    except TocsinError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the trace's configuration cannot be run: {type(error).__name__}: {error}") from None


def _depth(trace: Mapping[str, Any]) -> int:
    """Return how many draws the recursion of a look survived, if the trace shows where one failed: fewer than robots."""
    for event in trace["events"]:
        names = [name for name, *_ in event.get("draws", [])]
        if "shuffle" in names and names.count("integers") < event["draws"][names.index("shuffle")][1]:
            return names.count("integers")
    return RECURSION


def next_event(simulation: Sim) -> Event | None:
    """Fire one event and return it; None at the end. The start of sequential turns is passed over."""
    event = simulation.step()
    return simulation.step() if event is not None and event.action == "Begin" else event


def _next(simulation: Sim) -> Event | None:
    """Fire one event; an algorithm that fails, as the fork's may, ends the run."""
    try:
        return next_event(simulation)
    except SimulationError:
        return None


def _compare(world: SwarmWorld, found: Event, wanted: Mapping[str, Any], slack: float) -> str | None:
    is_tick = found.action == "Tick"
    is_last = world.outcome == ENDED  # the fork's last tick moved the last robot, under the tick's number
    who = -1 if is_tick or is_last else found.index
    got: dict[str, Any] = {"t": found.time, "id": who, "kind": KINDS[found.action], "code": world.code}
    given = {**wanted, "kind": _kind(wanted.get("kind"))}
    for key, value in got.items():
        is_time = key == "t" and slack > 0.0 and isinstance(given[key], float)
        if not (math.isclose(value, given[key], rel_tol=slack) if is_time else value == given[key]):
            return f"{key} is {value!r}, in the trace {given[key]!r}"
    if is_tick:
        return None
    who = found.index
    for key, value in _facts(world, found.time, world.robots[who], wanted):
        if not same(value, wanted[key]):
            return f"{key} is {value!r}, in the trace {wanted[key]!r}"
    return _compare_sight(world, wanted["observed"]) if "observed" in wanted and found.action == "Look" else None


def _compare_tick(world: SwarmWorld, now: float, wanted: Any) -> str | None:
    """Return the first difference between where robots are at a tick and where the trace has them, if it says so."""
    if not isinstance(wanted, Mapping):
        return None
    for robot, place in zip(world.robots, _listed(wanted.get("pos")), strict=False):
        here = list(position(world, robot, now))
        if not same(here, place):
            return f"at this tick robot {robot.index} is at {here!r}, in the trace at {place!r}"
    return None


def _kind(given: Any) -> str:
    """Return the kind of an event; the fork's ticks have none."""
    return KINDS["Tick"] if given is None else str(given).rpartition(".")[2]


def _facts(world: SwarmWorld, now: float, robot: Robot, wanted: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what the trace says of an event, as it is here."""
    is_look = _kind(wanted.get("kind")) == "LOOK"
    facts = {**_robot_facts(robot), "turn": world.n_turns, "epoch": world.n_epochs}
    facts["goal"] = [robot.goal_x, robot.goal_y]
    seen = list(world.seen.values[: world.views[0].n_seen]) if is_look else []
    facts["sees"] = seen
    if "multiplicity" in wanted:
        facts["multiplicity"] = _multiplicity(world, now, seen, wanted["code"])
    for key in wanted.keys() & facts.keys():
        yield key, facts[key]


def _compare_sight(world: SwarmWorld, wanted: Any) -> str | None:
    """Return a point that only the last look or only the trace's saw, if the trace has a list of them."""
    n = world.views[0].n_seen
    here = [[x, y] for x, y in zip(world.at_x.values[:n].tolist(), world.at_y.values[:n].tolist(), strict=True)]
    there = [list(place[:2]) if isinstance(place, list) else place for place in _listed(wanted)]
    for who, places, others in (("the look", here, there), ("the trace's look", there, here)):
        for place in places:
            if not any(same(place, other) for other in others):
                return f"only {who} saw something at {place!r}"
    return None


def _robot_facts(robot: Robot) -> dict[str, Any]:
    has_target, has_circle = robot.target_x == robot.target_x, robot.circle_r == robot.circle_r
    return {
        "pos": [robot.x, robot.y], "state": STATES[robot.state], "frozen": robot.frozen,
        "terminated": robot.terminated, "light": LAMPS[robot.lamp], "travelled": robot.travelled,
        "target": [robot.target_x, robot.target_y] if has_target else None,
        "circle": [robot.circle_x, robot.circle_y, robot.circle_r] if has_circle else None,
    }  # fmt: skip


def _multiplicity(world: SwarmWorld, now: float, seen: list[int], code: int) -> dict[str, int]:
    """Return how many stand where each robot in sight stood at the look, if more than one.

    Groups are made greedily over all robots, in order of (x, y): a leader and later ones within
    the tolerance.
    """
    places = {int(j): (float(x), float(y)) for j, x, y in zip(seen, world.at_x, world.at_y, strict=False)}
    for robot in world.robots:
        if robot.index not in places:
            places[robot.index] = position(world, robot, now)
    left = sorted(places, key=lambda j: places[j])
    counts: dict[int, int] = {}
    while left:
        near = [j for j in left if distance(*places[left[0]], *places[j]) < world.rules.tolerance]
        counts |= dict.fromkeys(near, len(near))
        left = [j for j in left if j not in near]
    return {str(j): counts[j] for j in map(int, seen) if counts[j] > 1}


def _compare_end(simulation: Sim, trace: Mapping[str, Any]) -> str | None:
    final = trace.get("final")
    if not final:
        return None
    world = simulation.world
    n_before = len(trace["events"])
    for _ in range(int(final.get("event_count", n_before)) - n_before):
        if _next(simulation) is None:
            break
    if "Error" in str(final.get("why")):
        _next(simulation)  # the event that failed
    if is_fork(trace["config"]):
        return _compare_robots(world, final)  # the fork does not say why it ended
    n_events = simulation.n_events - simulation.counts["Begin"]
    if n_events != final.get("event_count", n_events):
        return f"the run ended after {n_events} events, in the trace after {final['event_count']}"
    why = WHY.get(world.outcome, "running")
    if why == "stalled" and str(final.get("why")).startswith("stall"):
        why = final["why"]
    if (final.get("why") in WHY.values() or world.outcome != RUNNING) and why != final.get("why", why):
        return f"the run ended as {why!r}, in the trace {final['why']!r}"
    if not same(simulation.now, final.get("time", simulation.now)):
        return f"the run ended at t={simulation.now!r}, in the trace at {final['time']!r}"
    for key, value in (("turns", world.n_turns), ("epochs", world.n_epochs)):
        if value != final.get(key, value):
            return f"{key} at the end are {value}, in the trace {final[key]}"
    return _compare_robots(world, final)


def _compare_robots(world: SwarmWorld, final: Mapping[str, Any]) -> str | None:
    """Return the first difference between the robots at the end."""
    for i, wanted in enumerate(_listed(final.get("robots"))):
        if i >= len(world.robots):
            return f"there are {len(world.robots)} robots, in the trace more"
        facts = _robot_facts(world.robots[i])
        for key in facts.keys() & wanted.keys():
            if not same(facts[key], wanted[key]):
                return f"at the end {key} of robot {i} is {facts[key]!r}, in the trace {wanted[key]!r}"
    return None


def same(a: Any, b: Any) -> bool:
    """Say whether two values agree: floats to 1e-9 of their size, at least of 1e-9."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a == b
    if isinstance(a, float) or isinstance(b, float):
        are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (a, b))
        return are_numbers and math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-9)
    return bool(a == b)
