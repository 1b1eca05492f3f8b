"""How robots see and move, and what their faults do."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.swarm import make_swarm, swarm_model
from tocsin.models.swarm.robot import BYZANTINE, CRASHED, MOVE, QUIET, RUNNING
from tocsin.models.swarm.sight import gather
from tocsin.models.swarm.summary import positions

from ._swarms import events_of, places, rest, swarm

MIXES = [
    ("Gathering", {"scheduler": "async", "faults": {"mixed": 4}}),
    ("SEC", {"scheduler": "sequential", "order": "shuffled", "moves": "uniform", "rules": {"delta": 1.0}}),
    ("GoToCenter", {"scheduler": "ssync", "rules": {"visibility": 250.0, "k": 3}, "frames": "private"}),
    ("LocalAverage", {"scheduler": "async", "rules": {"visibility": 250.0, "k": 2}, "moves": "fraction"}),
    ("CircleFormation", {"scheduler": "fsync", "gaps": "gamma"}),
    ("PatternFormation", {"scheduler": "async", "gaps": "uniform", "is_watched": True}),
    ("Spreading", {"scheduler": "async", "box": (600.0, 600.0)}),
    ("SqGathering", {"scheduler": "sequential", "order": "fair", "frames": "private", "moves": "delta"}),
    ("TwoTask", {"scheduler": "async", "is_opaque": True, "multiplicity": "none", "trail": 50}),
]


@pytest.mark.parametrize(("algorithm", "options"), MIXES, ids=[name for name, _ in MIXES])
def test_compiled_equals_interpreted(algorithm, options):
    """Compiled and as plain Python a swarm goes the same way, bit for bit."""
    n = 5 if algorithm == "Spreading" else 7
    compiled, plain = (swarm(n, algorithm, jit=jit, seed=4, **options) for jit in (True, False))
    for one in (compiled, plain):
        one.run(events=12 if algorithm == "Spreading" else 60)
    assert compiled.state_hash() == plain.state_hash()


@pytest.mark.parametrize(("algorithm", "options"), [mix for mix in MIXES if mix[0] != "Spreading"])
def test_touches(algorithm, options):
    """No event changes what a clock depends on without touching its robot."""
    swarm(5, algorithm, jit=False, seed=5, audit=True, **options).run(events=40)


def test_copy_continues():
    """A copy of a swarm in mid-move continues bit for bit."""
    simulation = swarm(9, "GoToCenter", rules={"visibility": 300.0})
    simulation.run(events=57)
    other = simulation.copy()
    for one in (simulation, other):
        one.run(events=100)
    assert simulation.state_hash() == other.state_hash()


def seen_by(simulation, who):
    """Return which robots a robot would see now."""
    world, view = simulation.world, simulation.world.views[0]
    view.open(who, simulation.now)
    gather(world, view)
    return set(map(int, world.seen.values[: view.n_seen]))


@pytest.mark.parametrize("speed", [30.0, 3000.0])
def test_index_equals_search(speed):
    """With limited visibility a robot sees just those within the range, also those under way."""
    simulation = swarm(
        60, "SEC", rules={"visibility": 90.0, "tolerance": 1e-9}, speed=speed, seed=2, faults={"byzantine": 5}
    )
    for _ in range(12):
        simulation.run(events=40)
        here = positions(simulation.world, simulation.now)
        for who in range(0, 60, 7):
            me = simulation.world.robots[who]
            near = np.hypot(here[:, 0] - me.x, here[:, 1] - me.y) <= 90.0
            if me.state != MOVE:
                assert seen_by(simulation, who) == set(np.flatnonzero(near).tolist())
    assert simulation.world.n_active > 0


def test_long_moves_are_seen():
    """A robot on a way longer than the range is seen wherever it passes."""
    simulation = swarm(
        [[0, 0], [500, 0], [250, 30]], rules={"visibility": 600.0, "tolerance": 1e-6}, schedule=[(0, 0.0, 0.1)]
    )
    world = simulation.world
    simulation.run(events=2)
    world.rules.visibility = 40.0
    for robot in world.robots:
        robot.before = -2
    from tocsin.models.swarm import cells

    for robot in world.robots:
        cells.move_in(world, robot)
    assert world.n_far == 1
    robot = world.robots[0]
    times = [robot.left_at + share / robot.pace for share in (0.2, 0.9, 0.999)]
    seen = []
    for time in times:
        view = world.views[0]
        view.open(2, time)
        gather(world, view)
        x, y = robot.where(time)
        seen.append(0 in world.seen.values[: view.n_seen])
        assert seen[-1] == (math.hypot(x - 250, y - 30) <= 40.0)
    assert seen == [False, True, True]


def test_range_is_inclusive():
    """A robot exactly at the range is seen, one beyond is not."""
    simulation = swarm([[0, 0], [100, 0], [0, 100.0001]], rules={"visibility": 100.0})
    assert seen_by(simulation, 0) == {0, 1}


def test_robots_hide_others():
    """Opaque robots hide those behind them on the line of sight, and nobody else."""
    simulation = swarm([[0, 0], [1, 1], [2, 2], [2, 1], [-3, -3], [1, 1.1]], is_opaque=True)
    assert seen_by(simulation, 0) == {0, 1, 3, 4, 5}


def probe(function, given, jit=False, **options):
    """Run one look of robot 0 with an algorithm."""
    simulation = Simulation(swarm_model(function), make_swarm(given, scheduler="sequential", **options), jit=jit)
    events_of(simulation, 2)
    return simulation


@pytest.mark.parametrize(
    ("kind", "expected"), [("strong", (5, True, 3)), ("weak", (3, True, 1)), ("none", (3, False, 1))]
)
def test_multiplicity(kind, expected):
    """What a robot can tell of robots on one point: each, whether there are several, or nothing."""
    found = []

    def algorithm(view):
        near = [k for k in range(view.n) if view.x(k) == 4.0]
        found.append((view.n, view.is_many(near[0]), view.count(near[0])))
        return view.stay()

    probe(algorithm, [[0, 0], [4, 0], [4, 0], [4, 0], [1, 1]], multiplicity=kind)
    assert found == [expected]


@pytest.mark.parametrize(("same", "scale"), [(1e-9, 1.0), (0.0, 1.0), (1e-9, 1e7), (0.3, 1.0), (1e-3, 1e-3)])
def test_points_by_cells(same, scale):
    """Points found by their cells are those found by trying all, in the same order, also next to the borders of cells."""
    rng = np.random.default_rng(3)
    given = np.round(rng.uniform(-3, 3, (120, 2)), 1) * scale
    given[::3] += rng.normal(size=(40, 2)) * same
    simulation = swarm(given, multiplicity="weak", rules={"same_place": same}, jit=False)
    world, leaders, counts = simulation.world, [], []
    for place in given:
        near = [p for p, other in enumerate(leaders) if ((place - other) ** 2).sum() <= same * same]
        if near:
            counts[near[0]] += 1
        else:
            leaders.append(place)
            counts.append(1)
    for _ in range(2):  # the second look finds no leftovers of the first
        view = world.views[0]
        view.open(7, 0.0)
        gather(world, view)
        assert view.n_seen == len(leaders) < 120
        assert world.many.values[: view.n_seen].tolist() == counts
        assert world.at_x.values[: view.n_seen].tolist() == [x for x, _ in leaders]
        assert ((np.array(leaders[view.own]) - given[7]) ** 2).sum() <= same * same


def test_frames_change_nothing():
    """An algorithm that needs no axes goes to the same places in private frames, up to rounding."""
    ends = []
    for frames in ("shared", "private"):
        simulation = rest(swarm(7, "GoToCenter", scheduler="sequential", frames=frames, seed=3), events=60)
        ends.append(np.stack([simulation.world.robots["x"], simulation.world.robots["y"]]))
    assert abs(ends[0] - ends[1]).max() < 1e-9


def test_named_point_is_exact():
    """A robot that is sent to another's point in a private frame arrives on the very point."""
    simulation = probe(
        lambda view: view.to(1 if view.me != 1 else 0), [[0.1, 0.2], [0.3, 0.7]], frames="private", speed=1e9
    )
    robot = simulation.world.robots[0]
    assert (robot.goal_x, robot.goal_y) == (0.3, 0.7)


@pytest.mark.parametrize(
    ("moves", "low", "high"), [("delta", 5, 5), ("fraction", 25, 25), ("uniform", 5, 100), ("rigid", 100, 100)]
)
def test_stops(moves, low, high):
    """Moves end after delta, after a share, anywhere from delta on, or at the target."""
    lengths = []
    for seed in range(30):
        simulation = swarm(
            [[0, 0], [200, 0]], moves=moves, rules={"delta": 5.0, "stop_share": 0.25}, scheduler="sequential", seed=seed
        )
        events_of(simulation, 3)
        lengths.append(simulation.world.robots[0].travelled)
    assert low - 1e-9 <= min(lengths) <= max(lengths) <= high + 1e-9
    if moves == "uniform":
        mean, error = 52.5, 4.5 * 95.0 / math.sqrt(12 * 30)
        assert abs(np.mean(lengths) - mean) < error


def test_named_stop():
    """A schedule may say where a robot is stopped."""
    simulation = swarm(
        [[-300, 0], [300, 0]], scheduler="sequential", schedule=[(0, 0.5)], moves="delta", rules={"delta": 1.0}
    )
    events_of(simulation, 3)
    assert simulation.world.robots[0].x == -150.0


def test_crash():
    """A robot crashes at its time, in mid-move, stays there, and the others go on without it."""
    simulation = swarm([[-300, 0], [300, 0], [0, 200]], faults={0: ("crash", 2.0)}, speed=10.0, gaps="constant")
    rest(simulation)
    robot = simulation.world.robots[0]
    assert robot.state == CRASHED
    assert robot.travelled == pytest.approx(10.0 * 1.8, rel=1e-12)  # it set off at 0.2
    assert simulation.world.outcome == QUIET
    others = simulation.world.robots["x"][1:]
    assert abs(others - robot.x).max() < 0.1  # the centre of gravity counts it


def test_crash_ends_a_turn():
    """If the robot whose turn it is crashes, the next one has its turn."""
    simulation = swarm(4, scheduler="sequential", faults={0: ("crash", 0.5)}, speed=1.0)
    log = events_of(simulation, 4)
    assert [entry[1:] for entry in log] == [("Begin", 0), ("Look", 0), ("Crash", 0), ("Look", 1)]
    assert rest(simulation).world.outcome == QUIET


def test_all_crash():
    """When nobody is left, the run is over."""
    assert rest(swarm(3, faults={"crash": 3})).world.outcome == QUIET


def test_omission_delay_byzantine():
    """Omission: half of the moves. Delay: slower. Byzantine: never at rest, and nobody waits for it."""
    simulation = swarm(3, "SEC", faults={0: "omission", 1: "delay", 2: "byzantine"}, speed=10.0)
    assert simulation.world.robots["speed"].tolist() == [10.0, 4.0, 10.0]
    simulation.run(events=3_000)
    assert simulation.world.outcome == RUNNING
    assert simulation.world.robots[2].fault == BYZANTINE
    assert simulation.world.n_counted == 2
    omitting = swarm([[0, 0], [1e6, 0]], scheduler="sequential", faults={0: "omission"}, schedule=[0] * 400, moves="delta",
                     rules={"delta": 0.001})  # fmt: skip
    omitting.run(until=1e9, events=1 + 400 + 250)
    looks = omitting.world.n_turns
    moved = omitting.counts["Arrive"]
    assert abs(moved - looks / 2) < 4.5 * math.sqrt(looks / 4)


def test_two_lights_meet():
    """Two robots with two colours meet in the semi-synchronous model, also if moves are cut short."""
    for seed in range(40):
        options = {"moves": "uniform", "rules": {"delta": 3.0}} if seed % 2 else {}
        simulation = rest(swarm(2, "TwoLights", scheduler="ssync", seed=seed, **options))
        assert simulation.world.outcome == QUIET
        assert np.ptp(simulation.world.robots["x"]) <= 1e-5


def test_lights_of_one_instant():
    """Robots that look at one instant see the lights that were on before, not those set at that instant."""
    seen = []

    def algorithm(view):
        seen.append([view.light(k) for k in range(view.n)])
        view.set_light(7)
        return view.stay()

    simulation = Simulation(swarm_model(algorithm), make_swarm(places(3), scheduler="fsync"), jit=False)
    events_of(simulation, 8)
    assert seen[:3] == [[0, 0, 0]] * 3
    assert seen[3] == [7, 7, 7]


def test_sums_are_kept():
    """The centre of gravity from running sums is that of all positions."""
    simulation = swarm(50, "TwoTask", seed=8)
    for _ in range(20):
        simulation.run(events=997)
        world = simulation.world
        since = simulation.now - world.sum_at
        mean = positions(world, simulation.now).mean(axis=0)
        kept = [(world.sum_x + world.drift_x * since) / 50, (world.sum_y + world.drift_y * since) / 50]
        assert abs(mean - kept).max() < 1e-9


GOLDEN = {"GoToCenter": "efea09db30776111", "SEC": "4f77deb968310a21", "Gathering": "63288425a19996ed"}
"""Hashes of where the robots stand after 1,000 events; a change of one is a change of trajectories."""


def where_all_stand(algorithm):
    """Return a hash of time, places and ways after 1,000 events of a run of a fixed seed."""
    given = [[37 * k % 101 - 50.0, 53 * k % 97 - 48.0] for k in range(24)]
    rules = {"visibility": 60.0, "tolerance": 1e-6}
    simulation = swarm(given, algorithm, rules=rules, moves="uniform", faults={3: "omission"}, seed=9)
    simulation.run(events=1_000)
    robots = simulation.world.robots
    columns = [robots[name].tobytes() for name in ("x", "y", "travelled", "due")]
    return hashlib.sha256(b"".join([*columns, np.float64(simulation.now).tobytes()])).hexdigest()[:16]


@pytest.mark.parametrize("algorithm", GOLDEN)
def test_golden(algorithm):
    """A run of a fixed seed ends where it always ended, to the bit."""
    assert where_all_stand(algorithm) == GOLDEN[algorithm]
