"""Runs agree with event traces of the LCM simulator: times, robots, kinds and codes exactly."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tocsin.cli._app import app
from tocsin.models.swarm.lcm import lcm_simulation
from tocsin.models.swarm.lcm.replay import next_event, read_trace, replay

TRACES = sorted((Path(__file__).parent / "traces").glob("*.json"))
SHORT = Path(__file__).parent / "traces" / "g02_n2_splitmix64.json"


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_trace(path):
    """Every recorded event of a trace comes out again, as plain Python."""
    trace = read_trace(path)
    found = replay(trace, jit=False)
    assert found.difference is None
    assert found.n_events == len(trace["events"])


@pytest.mark.slow
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_trace_compiled(path):
    """Every recorded event of a trace comes out again, compiled."""
    assert replay(read_trace(path)).difference is None


QUIRKS = [
    ({"visibility_radius": 0}, lambda world: (world.robots["terminated"].sum(), world.robots["travelled"].sum()), (5, 0.0)),
    ({"num_of_faults": 9, "fault_type": "none"}, lambda world: list(world.robots["fault"]), [0] * 5),
    ({"initial_positions": [[1, 2]] * 7}, lambda world: len(world.robots), 5),
    ({"initial_positions": [[1, 2]] * 7, "scheduler": "sequential"}, lambda world: len(world.robots), 7),
    ({"robot_speeds": [2.0, 3.0]}, lambda world: list(world.robots["speed"]), [1.0] * 5),
    ({"theme": "dark", "num_of_robots": "3", "threshold_precision": "2"}, lambda world: (len(world.robots), world.precision),
     (3, 2)),
]  # fmt: skip
"""What the original makes of odd configurations."""


@pytest.mark.parametrize(("config", "found", "wanted"), QUIRKS, ids=range(len(QUIRKS)))
def test_odd_configurations(config, found, wanted):
    """A range of 0, an unknown fault, a wrong number of positions or speeds, an unknown key: as the original does."""
    simulation = lcm_simulation(config, jit=False)
    simulation.run(events=60, until=3.0)
    assert found(simulation.world) == wanted


def test_depth_is_read_from_the_draws():
    """Where a trace shows that a recursion failed, it fails here after as many draws."""
    config = {"algorithm": "SEC", "num_of_robots": 6, "sampling_rate": 1e6}
    look = next_event(lcm_simulation(config, depth=4, jit=False))
    draws = [["shuffle", 6], *[["integers", 0]] * 4, ["exponential", 0.1]]
    trace = {
        "config": config,
        "events": [{"t": look.time, "id": look.index, "kind": "LOOK", "code": 3, "draws": draws}],
    }
    assert replay(trace, jit=False).difference is None
    del trace["events"][0]["draws"]
    assert "code is 2, in the trace 3" in replay(trace, jit=False).difference


CHANGES = [
    ("t", lambda t: t * (1 + 1e-15)), ("id", lambda i: 1 - i), ("code", lambda c: 5), ("light", lambda c: "pink"),
    ("pos", lambda p: [p[0] + 1e-3, p[1]]), ("travelled", lambda d: d + 1e-3), ("sees", lambda s: s[:1]),
]  # fmt: skip


@pytest.mark.parametrize(("key", "change"), CHANGES, ids=[key for key, _ in CHANGES])
def test_difference_is_found(key, change):
    """A trace that was changed in one place is refused there."""
    trace = read_trace(SHORT)
    trace["events"][0][key] = change(trace["events"][0][key])
    found = replay(trace, jit=False)
    assert found.n_events == 0
    assert f"{key} is" in found.difference


def test_end_is_compared():
    """A trace that says that the run went on is refused at its end."""
    trace = copy.deepcopy(read_trace(SHORT))
    trace["final"]["event_count"] += 1
    assert "the run ended after 25 events" in replay(trace, jit=False).difference


def test_command(tmp_path):
    """`tocsin swarm replay` says 'agrees' and exits 2 for what is no trace."""
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"a": 1}))
    result = CliRunner().invoke(app, ["swarm", "replay", str(bad)])
    assert result.exit_code == 2
    assert "no event trace" in result.output
    bad.write_text(json.dumps({"events": [], "config": {"algorithm": "Dance"}}))
    result = CliRunner().invoke(app, ["swarm", "replay", str(bad)])
    assert result.exit_code == 2
    assert "algorithm must be one of" in result.output


@pytest.mark.slow
def test_command_compares(tmp_path):
    """`tocsin swarm replay` exits 0 if a trace agrees and 1 if not, naming the first difference."""
    trace = read_trace(SHORT)
    result = CliRunner().invoke(app, ["swarm", "replay", str(SHORT)])
    assert (result.exit_code, "agrees, 25 events" in result.output) == (0, True)
    trace["events"][3]["code"] = 0
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(trace))
    result = CliRunner().invoke(app, ["swarm", "replay", str(bad)])
    assert result.exit_code == 1
    assert "event 3" in result.output


def test_positions_at_ticks_and_sights_are_compared():
    """A robot drawn elsewhere at a tick, or a point that nobody saw, is a difference."""
    trace = read_trace(SHORT)
    tick = next(event for event in trace["events"] if event["id"] == -1)
    trace["tick_positions"] = [{"t": tick["t"], "pos": [[9999.0, 0.0]]}]
    assert "at this tick robot" in (replay(trace, jit=False).difference or "")
    del trace["tick_positions"]
    look = next(event for event in trace["events"] if event["kind"] == "LOOK")
    look["observed"] = [[1.5, 2.5, 0]]
    assert "saw something at" in (replay(trace, jit=False).difference or "")


BAD = (None, -1, 1e308, float("nan"), "x", [], {}, True, 10**30, [[1]], {"a": 1})


@pytest.mark.parametrize("seed", range(3))
def test_a_mutated_trace_is_a_difference_or_bad_input(tmp_path, seed):
    """Anything else in a trace's place, or nothing: agreement, a difference or one sentence; never a traceback."""
    draw = random.Random(seed)
    codes = set()
    for _ in range(30):
        trace = json.loads(SHORT.read_text())
        place, key = draw.choice(list(places(trace)))
        if draw.random() < 0.25:
            del place[key]
        else:
            place[key] = draw.choice(BAD)
        (tmp_path / "trace.json").write_text(json.dumps(trace))
        result = CliRunner().invoke(app, ["swarm", "replay", str(tmp_path / "trace.json")])
        assert result.exception is None or isinstance(result.exception, SystemExit), (key, place, result.exception)
        codes.add(result.exit_code)
    assert codes == {0, 1, 2}


def places(given):
    """Yield each place in a tree of tables and lists, as (table or list, key)."""
    for key in list(given) if isinstance(given, dict) else range(len(given)):
        yield given, key
        if isinstance(given[key], (dict, list)):
            yield from places(given[key])
