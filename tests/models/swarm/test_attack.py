"""The search for bad schedules finds what there is, shortens it, and writes what replays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tocsin import InputError
from tocsin.cli._app import app
from tocsin.models.swarm.build import make_swarm
from tocsin.models.swarm.counterexample import Target
from tocsin.models.swarm.robot import ASYNC, ROUNDS, SEQUENTIAL
from tocsin.models.swarm.search import METHODS, Candidate, Choices, decoded
from tocsin.scenario import load_scenario
from tocsin.schema import NEVER

from ._swarms import rest, swarm

ROOT = Path(__file__).parents[3]
CHAIN = [[-100, 0], [0, 0], [20, 0], [120, 0], [215, 0]]


def target(path, goal, events=200):
    """Return a scenario file under attack."""
    loaded = load_scenario(path, [])
    return Target(
        loaded.model, loaded.preset, loaded.init, loaded.params, loaded.file.parent, loaded.run.seed, goal, events
    )


def scenario(tmp_path, **changes):
    """Write a scenario of a few robots, one of which holds two groups together, and return its path."""
    init = {
        "algorithm": '"Gathering"',
        "positions": "[[0.0, 0.0], [95.0, 0.0], [190.0, 0.0], [190.0, 5.0]]",
        "scheduler": '"ssync"',
        **changes,
    }
    lines = ['model = "swarm"', "[params]", "rules.visibility = 100.0", "[init]", *(f"{k} = {v}" for k, v in init.items()),
             "[run]", "seed = 1", "until = 50.0"]  # fmt: skip
    path = tmp_path / "swarm.toml"
    path.write_text("\n".join(lines))
    return path


def test_lost_link_is_found_and_replayed(tmp_path):
    """Going to the centre of gravity loses a link; what is written breaks it again, event for event."""
    attacked = target(scenario(tmp_path), "links")
    found = attacked.search(runs=60, seed=3)
    assert found.verdict.is_broken
    assert len(found.candidate.plan) <= 4
    path = tmp_path / "bad.toml"
    path.write_text(attacked.scenario(found))
    simulation, _ = load_scenario(path, []).start()
    simulation.run(events=found.verdict.n_events)
    assert simulation.world.lost_at < NEVER
    assert simulation.world.longest_link / 100.0 == found.verdict.score


def test_cma_es_finds_it_too(tmp_path):
    """CMA-ES finds a lost link, the same one for a seed, and what it finds replays."""
    attacked = target(scenario(tmp_path), "links")
    found = attacked.search(runs=60, seed=2, method="cmaes")
    assert found.verdict.is_broken
    assert found == attacked.search(runs=60, seed=2, method="cmaes")
    path = tmp_path / "bad.toml"
    path.write_text(attacked.scenario(found))
    simulation, _ = load_scenario(path, []).start()
    simulation.run(events=found.verdict.n_events)
    assert simulation.world.longest_link / 100.0 == found.verdict.score > 1.0


@pytest.mark.parametrize(("scheduler", "is_cut"), [(ASYNC, True), (SEQUENTIAL, True), (ROUNDS, False)])
def test_points_are_candidates(scheduler, is_cut):
    """Every corner of the cube, and what is between, is a schedule that can be played."""
    choices = Choices(n=4, scheduler=scheduler, is_cut=is_cut, gap=0.2, length=6)
    size = (2 + is_cut) * 6 + 8
    for seed in range(40):
        u = np.random.default_rng(seed).random(size)
        candidate = decoded(choices, (u if seed % 2 else np.round(u)).tolist())
        assert all(0 <= who < 4 and 0.0 <= stop <= 1.0 and (is_cut or stop == 0.0) for who, stop, _ in candidate.plan)
        assert all(0.0 < share <= 1.0 for share in candidate.slowness)
        make_swarm(
            CHAIN[:4], schedule=candidate.plan, scheduler=("async", "sequential", "ssync")[scheduler],
            moves="uniform" if is_cut else "rigid",
        )  # fmt: skip


def test_search_improves():
    """CMA-ES learns: the sum of waits, asked to be large, is larger in later runs."""
    search = METHODS["cmaes"](Choices(n=2, scheduler=ASYNC, is_cut=False, gap=1.0, length=2), 1)
    scores = []
    for _ in range(90):
        candidate = search.ask()
        scores.append(sum(np.log(when) for _, _, when in candidate.plan))
        search.tell(candidate, scores[-1])
    assert np.mean(scores[-15:]) > np.mean(scores[:15]) + 1.0


def test_shortened_is_minimal(tmp_path):
    """No turn of the schedule found can be left out."""
    attacked = target(scenario(tmp_path, scheduler='"sequential"'), "links")
    found = attacked.search(runs=60, seed=1)
    assert found.verdict.is_broken
    plan = found.candidate.plan
    for k in range(len(plan)):
        less = Candidate(plan[:k] + plan[k + 1 :], found.candidate.slowness)
        assert not attacked.game.play(less).is_broken


@pytest.mark.parametrize("scheduler", ["ssync", "sequential"])
def test_go_to_center_holds_out(tmp_path, scheduler):
    """Where Go-To-Center is proved to keep links, no schedule that breaks it is found."""
    path = scenario(tmp_path, algorithm='"GoToCenter"', scheduler=f'"{scheduler}"', moves='"uniform"')
    found = target(path, "links").search(runs=40)
    assert not found.verdict.is_broken
    assert found.verdict.score <= 1.0 + 1e-9


def test_go_to_center_breaks_when_asynchronous():
    """A slow robot goes to a target that is stale, while its neighbour is led away: a link is lost."""
    plan = [(1, 0, 0.1), (2, 0, 0.2), (3, 0, 0.4), (2, 0, 0.3), *[(i, 0, 99.0) for i in (0, 2, 3, 4)]]
    speed = [1000.0, 1.0, 1000.0, 1000.0, 1000.0]
    options = {"rules": {"visibility": 100.0, "tolerance": 1e-3}, "speed": speed, "is_watched": True}
    simulation = rest(swarm(CHAIN, "GoToCenter", schedule=plan, **options))
    assert simulation.world.lost_at < 50.0
    assert simulation.world.longest_link > 105.0
    bounded = {**options, "rules": {**options["rules"], "k": 1}}
    later = rest(swarm(CHAIN, "GoToCenter", schedule=plan, **bounded))
    assert later.world.longest_link < simulation.world.longest_link


def test_growing_diameter_is_found(tmp_path):
    """Robots that go onto a circle in limited sight move apart; those that go to the middle of all do not."""
    path = scenario(
        tmp_path, algorithm='"SEC"', positions="[[0.0, 0.0], [90.0, 0.0], [45.0, 80.0], [45.0, 170.0], [45.0, 10.0]]"
    )
    assert target(path, "diameter").search(runs=20).verdict.is_broken


def test_gathering_that_fails_is_found(tmp_path):
    """Robots out of sight of one another never gather."""
    path = scenario(tmp_path, positions="[[0.0, 0.0], [500.0, 0.0]]")
    found = target(path, "gather", events=2_000).search(runs=3)
    assert found.verdict.is_broken
    assert found.candidate.plan == ()


def test_commands(tmp_path):
    """`tocsin swarm attack` exits 1 and writes a scenario; 2 for goals that cannot be."""
    out = tmp_path / "bad.toml"
    command = [
        "swarm",
        "attack",
        str(scenario(tmp_path)),
        "--runs",
        "60",
        "--seed",
        "3",
        "--events",
        "200",
        "--out",
        str(out),
    ]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "links: broken by" in result.output
    assert load_scenario(out, []).init.is_watched
    result = CliRunner().invoke(app, [*command, "--goal", "beauty"])
    assert (result.exit_code, "goal must be one of" in result.output) == (2, True)
    result = CliRunner().invoke(app, [*command, "--method", "cma"])
    assert (result.exit_code, "Did you mean 'cmaes'" in result.output) == (2, True)


def test_what_cannot_be_attacked(tmp_path):
    """Links need a range of visibility, and the model has to be a swarm."""
    path = scenario(tmp_path)
    path.write_text(path.read_text().replace("100.0\n[init]", "0.0\n[init]"))
    with pytest.raises(InputError, match=r"needs rules\.visibility > 0"):
        target(path, "links")
    with pytest.raises(InputError, match=r"leave init\.compat out"):
        target(scenario(tmp_path, compat='"lcm"', scheduler='"sequential"'), "links")
    loaded = load_scenario(ROOT / "scenarios" / "swarm-chain.toml", [])
    with pytest.raises(InputError, match="only swarms can be attacked"):
        Target("x", loaded.preset, None, loaded.params, ROOT, 1, "links", 10)


@pytest.mark.slow
def test_own_algorithm(tmp_path):
    """An algorithm in a user's file runs from a scenario, is attacked, and its counterexample replays."""
    (tmp_path / "own.py").write_text(
        "from tocsin.models.swarm import View, swarm_model\n"
        "from tocsin.models.swarm.preset import swarm_preset\n"
        "def middle(view: View) -> tuple[float, float]:\n    return view.centroid()\n"
        "SWARM = swarm_preset(swarm_model(middle))\n"
    )
    path = scenario(tmp_path)
    path.write_text(path.read_text().replace('model = "swarm"', 'model = "own.py:SWARM"'))
    with pytest.raises(InputError, match=r"leave init\.algorithm out: this model has an algorithm of its own"):
        load_scenario(path, []).start()
    path.write_text(path.read_text().replace('algorithm = "Gathering"\n', ""))
    attacked = target(path, "links")
    found = attacked.search(runs=60, seed=3)
    assert found.verdict.is_broken
    (tmp_path / "bad.toml").write_text(attacked.scenario(found))
    simulation, _ = load_scenario(tmp_path / "bad.toml", []).start()
    simulation.run(events=found.verdict.n_events)
    assert simulation.world.lost_at < NEVER
