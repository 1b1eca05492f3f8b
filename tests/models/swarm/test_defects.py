"""Faults of the original that its rules keep, and that the default rules do not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tocsin import FireError, InputError, Simulation
from tocsin.models.swarm import make_swarm, swarm_model
from tocsin.models.swarm.circle import smallest_circle
from tocsin.models.swarm.lcm import lcm_simulation
from tocsin.models.swarm.lcm.circles import welzl
from tocsin.models.swarm.preset import SwarmInit, positions_of
from tocsin.models.swarm.robot import ALL_TERMINATED, CRASH, QUIET, RUNNING, STALLED, Robot
from tocsin.models.swarm.summary import diameter, positions, summarise

from ._swarms import events_of, rest, swarm

BASE = {
    "algorithm": "Gathering", "num_of_robots": 8, "robot_speeds": 1000.0, "visibility_radius": None, "num_of_faults": 0,
    "fault_type": "crash", "rigid_movement": True, "width_bound": 600, "height_bound": 600, "lambda_rate": 5.0,
    "sampling_rate": 1e6, "threshold_precision": 3, "random_seed": 1, "initial_positions": [],
}  # fmt: skip


def original(events=0, jit=False, **config):
    """Return a run with the original's rules, as plain Python."""
    simulation = lcm_simulation({**BASE, **config}, jit=jit)
    simulation.run(events=events, until=1e9)
    return simulation


def start_of(simulation):
    """Return where the robots stand."""
    return positions(simulation.world, simulation.now)


def rank_correlation(a, b):
    """Return Spearman's coefficient."""
    return np.corrcoef(*(np.argsort(np.argsort(values)) for values in (a, b)))[0, 1]


def test_starts_tell_who_wakes_first():
    """Original: the swarm wakes strictly from left to right. Default: where one stands says nothing."""
    theirs = original(num_of_robots=100)
    robots = theirs.world.robots
    assert rank_correlation(robots["x"], robots["due"]) == pytest.approx(1.0)
    ours = swarm(start_of(theirs))
    ours.step()
    assert abs(rank_correlation(robots["x"], ours.world.robots["due"])) < 4.5 / np.sqrt(99)


def test_a_thousand_robots():
    """Original: from 1,000 robots on, the recursion fails and all stay where they are. Default: they set off."""
    theirs = original(6, algorithm="SEC", num_of_robots=1000)
    assert theirs.counts["Look"] == 6
    assert theirs.world.robots["frozen"].sum() == 6
    ours = swarm(start_of(theirs), "SEC")
    events_of(ours, 7)
    assert ours.world.n_active + ours.counts["Arrive"] == 6


def test_circles_are_too_small():
    """Original: containment is rounded, so circles miss points by most of a tolerance. Default: none does."""
    worst = 0.0
    for seed in range(40):
        points = np.random.default_rng(seed).uniform(0, 0.02, (8, 2))
        simulation = original(initial_positions=points.tolist(), random_seed=seed)
        world = simulation.world
        world.at_x.values[:], world.at_y.values[:] = points.T
        _, _, radius = welzl(world, 8, simulation._kernel.rngs[0])
        _, _, exact = smallest_circle(points[:, 0], points[:, 1], 8)
        worst = max(worst, exact - radius)
    assert worst > 0.1 * 1e-3


def test_go_to_center_deadlocks():
    """Original: robots stand apart and nobody moves. Default: they come together."""
    theirs = original(400, algorithm="GoToCenter", scheduler="sequential", turn_gap="none", threshold_precision=5,
                      random_seed=386)  # fmt: skip
    assert theirs.world.outcome == STALLED
    assert diameter(start_of(theirs)) > 4e-5
    ours = rest(swarm(start_of(original(random_seed=386)), "GoToCenter", scheduler="sequential", speed=1000.0))
    assert ours.world.outcome == QUIET
    assert diameter(start_of(ours)) < 2e-5


def test_robots_stop_within_sight_of_others():
    """Original: all have terminated, two of them in sight of each other, but apart. Default: nobody is at rest then."""

    def is_apart(points):
        away = np.hypot(*(points[:, None] - points[None]).T)
        return bool(((away > 1.0) & (away < 149.0)).any())

    config = {"num_of_robots": 16, "visibility_radius": 150, "random_seed": 4, "robot_speeds": 30.0}
    theirs = original(600, **config)
    assert theirs.world.outcome == ALL_TERMINATED
    assert is_apart(start_of(theirs))
    start = start_of(original(**config))
    for seed in range(10):
        ours = rest(swarm(start, rules={"visibility": 150.0, "tolerance": 1e-3}, seed=seed))
        assert ours.world.outcome == QUIET
        assert not is_apart(start_of(ours))


def test_moves_that_are_not_rigid_are():
    """Original: without a delta, robots reach their targets all the same. Default: they are stopped on their way."""
    whole, cut = (original(30, rigid_movement=is_rigid) for is_rigid in (True, False))
    assert (start_of(whole) == start_of(cut)).all()
    ours = swarm([[0, 0], [200, 0]], moves="uniform", scheduler="sequential")
    events_of(ours, 3)
    assert 0.0 < ours.world.robots[0].travelled < 99.9


def test_speed_zero():
    """Original: a robot without speed is at its target at once. Default: an error."""
    theirs = original(1, robot_speeds=0.0)
    assert theirs.world.robots["travelled"].max() > 1.0
    with pytest.raises(InputError, match="speed of robot 0 must be > 0"):
        swarm(3, speed=0.0)


def test_positions_are_replaced():
    """Original: with a wrong number of positions others are drawn, silently. Default: robots are where one says."""
    theirs = original(initial_positions=[[1.0, 2.0]])
    assert len(theirs.world.robots) == 8
    assert not ((theirs.world.robots["x"] == 1.0) & (theirs.world.robots["y"] == 2.0)).any()
    ours = swarm([[1.0, 2.0]]).world.robots
    assert (len(ours), ours[0].x, ours[0].y) == (1, 1.0, 2.0)
    with pytest.raises(InputError, match=r"give one of init\.n"):
        positions_of(SwarmInit(n=8, positions=[[1.0, 2.0]]), Path(), 0.0, 1)


def test_errors_are_swallowed():
    """Original: an algorithm that fails looks like a robot that stays. Default: an error names robot and time."""
    theirs = original(1, algorithm="SEC", num_of_robots=1000)
    assert theirs.world.robots["frozen"].sum() == 1

    def fails(view):
        if view.n > 2:
            raise ValueError("too many")
        return view.stay()

    ours = Simulation(swarm_model(fails), make_swarm([[0, 0], [1, 0], [2, 0]]), jit=False)
    with pytest.raises(FireError, match=r"Look\(robot \d\).fire at t=0\.\d+ .*too many"):
        ours.run(events=5)


def test_crashed_robots_count_in_half_of_the_rule():
    """Original: crashed robots count in the mean, not in the end: all is done, it says, with robots 6 apart. Default: the
    run is over since nobody will move, and the summary says how far apart all are, and the live.
    """
    points = [[0.0, 0.0], [0.0, 0.0], [3.0, 0.0], [-3.0, 0.0]]
    theirs = original(30, initial_positions=points, num_of_robots=4, num_of_faults=2, random_seed=2)
    assert list(theirs.world.robots["fault"]) == [0, 0, CRASH, CRASH]
    assert theirs.world.outcome == ALL_TERMINATED
    assert diameter(start_of(theirs)) == 6.0
    ours = rest(swarm(points, faults={2: "crash", 3: "crash"}))
    found = summarise(ours.world, ours.now)
    assert (found["outcome"], found["diameter"], found["diameter of the live"]) == ("at rest", 6.0, 0.0)
    assert (found["clusters"], found["gathered"]) == (3, False)


def test_ticks_cost_nothing(monkeypatch):
    """Original: at every tick all pairs of robots are compared. Default: at a tick no robot is looked at at all."""
    ours = swarm(50, gaps="constant", rules={"gap": 1e3, "tick": 0.1}, jit=False)
    events_of(ours, 2)

    def looked_at(robot, now):
        raise AssertionError("a tick looked at a robot")

    monkeypatch.setattr(Robot, "where", looked_at)
    assert {action for _, action, _ in events_of(ours, 60)} == {"Tick"}


@pytest.mark.parametrize("tick", [0.0, 0.01])
def test_ticks_change_nothing(tick):
    """Default: with ticks, however many, robots go the same way to the bit."""
    runs = [rest(swarm(6, rules={"tick": t, "tolerance": 1e-3}), 100_000) for t in (0.0, tick)]
    assert (runs[0].world.robots["travelled"] == runs[1].world.robots["travelled"]).all()
    assert (runs[0].n_events < runs[1].n_events) == (tick > 0.0)


@pytest.mark.slow
def test_sec_idles():
    """Original: with limited visibility robots look for ever and nobody moves. Default: the run is over."""
    config = {"algorithm": "SEC", "num_of_robots": 6, "visibility_radius": 250, "random_seed": 2}
    theirs = original(4_000, jit=True, **config)
    before = start_of(theirs)
    theirs.run(events=500, until=1e9)
    assert theirs.world.outcome == RUNNING
    assert (start_of(theirs) == before).all()
    ours = rest(
        swarm(start_of(original(**config)), "SEC", rules={"visibility": 250.0, "tolerance": 1e-3}, speed=1000.0)
    )
    assert ours.world.outcome == QUIET


@pytest.mark.slow
def test_two_tasks():
    """Original: a swarm of two tasks never ends. Default: it is over when all are at rest."""
    theirs = original(20_000, jit=True, algorithm="TwoTask")
    assert theirs.world.outcome == RUNNING
    ours = rest(swarm(start_of(original()), "TwoTask", rules={"tolerance": 1e-3}, speed=1000.0), 20_000)
    assert ours.world.outcome == QUIET
