"""Scenarios with `compat = "lcm"` are the LCM simulator's runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tocsin import InputError, Simulation
from tocsin.cli._app import app
from tocsin.models.swarm.lcm import lcm_simulation
from tocsin.models.swarm.lcm.replay import next_event, read_trace
from tocsin.scenario import load_scenario

TRACES = Path(__file__).parent / "traces"


def scenario(path, init, rules="", seed=1):
    """Write a scenario with the original's rules, and load it."""
    path.write_text(
        f'model = "swarm"\n[params]\nrules.tick = 0.5\nrules.tolerance = 1e-3\n{rules}\n[init]\ncompat = "lcm"\n{init}\n'
        f"[run]\nseed = {seed}\nuntil = 1e6\n"
    )
    return load_scenario(path)


def started(loaded):
    """Start a scenario as plain Python."""
    world, context = loaded.build()
    variant = loaded.variant()
    simulation = Simulation(variant.model, world, seed=loaded.run.seed, source=variant.options["source"], jit=False)
    variant.begin(simulation, context)
    return simulation


def test_a_trace_from_a_scenario(tmp_path):
    """What a scenario says in Tocsin's words is the run that the original recorded."""
    trace = read_trace(TRACES / "g02_n2_splitmix64.json")
    simulation = started(scenario(tmp_path / "a.toml", "n = 2\nspeed = 30.0", seed=11))
    for wanted in trace["events"]:
        found = next_event(simulation)
        assert (found.time, simulation.world.code) == (wanted["t"], wanted["code"])
    assert next_event(simulation) is None


SCENARIOS = [
    ('n = 7\nalgorithm = "SEC"\ndraws = "numpy-pcg64"\nfaults = {mixed = 4}', "", {"algorithm": "SEC", "num_of_robots": 7,
     "num_of_faults": 4, "fault_type": "mixed", "turn_gap": "none"}, "numpy-pcg64"),
    ('positions = [[0.0, 0.0], [90.0, 0.0], [90.0, 80.0], [0.0, 9.0]]\nalgorithm = "GoToCenter"\nscheduler = "sequential"\n'
     'order = "shuffled"\nmoves = "fraction"\nhas_box = true\nschedule = [1, [2, 0.5]]\nhas_turn_gaps = true\nmax_turns = 30',
     "rules.visibility = 100.0\nrules.delta = 1.0\nrules.stop_share = 0.25\nrules.gap = 0.5",
     {"algorithm": "GoToCenter", "num_of_robots": 4, "initial_positions": [[0, 0], [90, 0], [90, 80], [0, 9]],
      "scheduler": "sequential", "activation_order": "random", "schedule": [1, {"robot": 2, "stop": 0.5}], "delta": 1.0,
      "rigid_movement": False, "stop_policy": "fraction", "stop_fraction": 0.25, "visibility_radius": 100,
      "turn_gap": "random", "max_turns": 30, "lambda_rate": 2.0}, "splitmix64"),
]  # fmt: skip


@pytest.mark.parametrize(("init", "rules", "config", "rng"), SCENARIOS, ids=["async", "sequential"])
def test_scenario_is_configuration(tmp_path, init, rules, config, rng):
    """A scenario and the configuration that says the same run alike, to the bit."""
    base = {"random_seed": 5, "sampling_rate": 0.5, "threshold_precision": 3, "width_bound": 600, "height_bound": 600}
    ours = started(scenario(tmp_path / "a.toml", init, rules, seed=5))
    theirs = lcm_simulation({**base, **config}, rng=rng, jit=False, trail=20_000)
    for simulation in (ours, theirs):
        simulation.run(events=120)
    assert ours.state_hash() == theirs.state_hash()
    assert ours.world.n_trail > 0


@pytest.mark.parametrize(
    ("init", "rules", "message"),
    [
        ('scheduler = "ssync"', "", "init.scheduler must be 'async' or 'sequential' with compat"),
        ('algorithm = "LocalAverage"', "", "init.algorithm must be 'Gathering' or .* with compat"),
        ('frames = "private"', "", "init.frames must be 'shared'"),
        ("is_watched = true", "", "init.is_watched must be False"),
        ('faults = {"1" = "omission"}', "", "init.faults must be one kind and a number"),
        ("faults = {crash = 1, delay = 1}", "", "init.faults must be one kind and a number"),
        ("", "rules.k = 2", r"leave params\.rules\.k out"),
        ("schedule = [[1, 0.0, 2.0]]", "", r"a turn must be a robot or \[robot, stop\]"),
        ("speed = [1.0]", "", "speed must be one number or one for each of 3 robots"),
        ('algorithm = "SqGathering"', "", "SqGathering needs scheduler 'sequential'"),
    ],
)
def test_what_the_original_does_not_know(tmp_path, init, rules, message):
    """What the original cannot do is refused by name, not left out."""
    with pytest.raises(InputError, match=message):
        scenario(tmp_path / "a.toml", f"n = 3\n{init}", rules).build()


def test_tolerance_is_a_number_of_decimals(tmp_path):
    """The original's tolerance is a power of ten."""
    loaded = scenario(tmp_path / "a.toml", "n = 3")
    loaded.params["rules"].tolerance = 2e-3
    with pytest.raises(InputError, match=r"rules\.tolerance must be 1, 0\.1"):
        loaded.build()


@pytest.mark.slow
def test_command(tmp_path):
    """`tocsin run` runs it, with summary and picture."""
    scenario(tmp_path / "a.toml", "n = 2\nspeed = 30.0", seed=11)
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["run", str(tmp_path / "a.toml"), "--out", str(out), "--plot", "--no-progress"])
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["n_events"], summary["summary"]["outcome"]) == (25, "all terminated")
    assert (out / "plot.png").stat().st_size > 10_000
