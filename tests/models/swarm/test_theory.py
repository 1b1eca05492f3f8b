"""What the papers prove holds in runs; smaller here, whole in the slow tests."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tocsin.models.swarm.algorithms.angles import angle_of
from tocsin.models.swarm.circle import smallest_circle
from tocsin.models.swarm.robot import QUIET
from tocsin.models.swarm.start import start_positions
from tocsin.models.swarm.summary import diameter, positions
from tocsin.schema import NEVER

from ._swarms import places, rest, swarm

MOVES = ("rigid", "delta", "uniform", "fraction")


def sq_gathers(seed, largest):
    """Run Algorithm 8 on a random start with duplicates; return whether it gathered."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, largest + 1))
    given = start_positions(n, n_shared=int(rng.integers(0, max(1, n // 3))), seed=seed)
    simulation = swarm(
        given, "SqGathering", scheduler="sequential", order=("round_robin", "shuffled", "fair")[seed % 3],
        frames=("shared", "private")[seed % 2], moves=MOVES[seed % 4], rules={"delta": 20.0, "tolerance": 1e-9}, seed=seed,
    )  # fmt: skip
    rest(simulation)
    return simulation.world.outcome == QUIET and diameter(positions(simulation.world, simulation.now)) <= 1e-9


def keeps_links(seed, scheduler):
    """Run Go-To-Center on a linked start; return (no link lost, gathered)."""
    n = 2 + seed % 19
    given = start_positions(n, "web", reach=100.0, seed=seed)
    options = {"order": ("round_robin", "shuffled")[seed % 2]} if scheduler == "sequential" else {}
    simulation = swarm(
        given, "GoToCenter", scheduler=scheduler, is_watched=True, moves=("rigid", "uniform")[seed // 2 % 2], speed=1000.0,
        rules={"visibility": 100.0, "delta": 2.0, "tolerance": 1e-4}, seed=seed, **options,
    )  # fmt: skip
    rest(simulation)
    world = simulation.world
    is_gathered = world.outcome == QUIET and diameter(positions(world, simulation.now)) < 2e-4
    return world.lost_at == NEVER, is_gathered


def test_sq_gathering_gathers():
    """Theorem 5 of arXiv:2412.10733: gathers from any start, duplicates included, wherever moves are cut short."""
    assert all(sq_gathers(seed, 20) for seed in range(120))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4))
def test_sq_gathering_gathers_always(first):
    """The same for 10,000 starts of 2 to 50 robots, a quarter for each of `MOVES`."""
    assert [seed for seed in range(first, 10_000, 4) if not sq_gathers(seed, 50)] == []


@pytest.mark.parametrize("scheduler", ["sequential", "ssync", "fsync"])
def test_go_to_center_keeps_links(scheduler):
    """Ando et al. 1999: no initial link is ever lost, and every linked start ends in one point."""
    found = [keeps_links(seed, scheduler) for seed in range(40)]
    assert all(is_kept for is_kept, _ in found)
    assert all(is_gathered for _, is_gathered in found)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["sequential", "ssync", "fsync"])
def test_go_to_center_keeps_links_always(scheduler):
    """The same for 10,000 starts in all."""
    found = [keeps_links(seed, scheduler) for seed in range(3_334)]
    assert [seed for seed, (is_kept, _) in enumerate(found) if not is_kept] == []
    assert [seed for seed, (_, is_gathered) in enumerate(found) if not is_gathered] == []


@pytest.mark.parametrize("scheduler", ["async", "sequential", "ssync"])
def test_gathering_converges_geometrically(scheduler):
    """Cohen and Peleg 2005: the diameter shrinks by a factor in every epoch, on average, down to rounding."""
    for seed in range(6):
        simulation = swarm(12, scheduler=scheduler, seed=seed, rules={"tolerance": 1e-9})
        sizes = [diameter(positions(simulation.world, simulation.now))]
        while simulation.world.outcome != QUIET:
            epoch = simulation.world.n_epochs
            while simulation.world.n_epochs < epoch + 4 and simulation.world.outcome != QUIET:
                simulation.run(events=1)
            sizes.append(diameter(positions(simulation.world, simulation.now)))
        assert sizes[-1] <= 2e-9
        assert max(b / a for a, b in itertools.pairwise(sizes[:-1])) < 0.7
        assert len(sizes) < 30


def test_diameter_never_grows_when_all_go_to_the_middle():
    """Robots that go to the centre of gravity stay within the hull, so the diameter never grows."""
    for scheduler in ("async", "sequential", "ssync", "fsync"):
        simulation = rest(swarm(10, scheduler=scheduler, is_watched=True, moves="uniform", rules={"delta": 1.0}))
        assert simulation.world.growth < 1e-9


def reference_circle(points):
    """Return the radius of the smallest circle, by trying all pairs and triples."""
    best = math.inf
    for group in itertools.chain(itertools.combinations(points, 2), itertools.combinations(points, 3)):
        a, *others = group
        if len(others) == 1:
            centre = (a + others[0]) / 2
        else:
            matrix = 2.0 * (np.array(others) - a)
            if abs(np.linalg.det(matrix)) < 1e-300:
                continue
            centre = a + np.linalg.solve(matrix, [((b - a) ** 2).sum() for b in others])
        radius = np.hypot(*(points - centre).T).max()
        best = min(best, radius)
    return best


KINDS = ("normal", "grid", "line", "circle", "tiny")


@pytest.mark.parametrize("kind", KINDS)
def test_smallest_circle(kind):
    """The circle holds all points and no smaller one does, for points at random, on a line, a circle, a grid."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(80):
        points = rng.normal(size=(int(rng.integers(2, 8)), 2))
        if kind == "grid":
            points = np.round(points)
        elif kind == "line":
            points[:, 1] = 0.5 * points[:, 0] + 1e-9 * points[:, 1]
        elif kind == "circle":
            points /= np.hypot(*points.T)[:, None]
        elif kind == "tiny":
            points *= 1e-7
        x, y, radius = smallest_circle(points[:, 0], points[:, 1], len(points))
        wanted = reference_circle(points) if np.ptp(points, axis=0).any() else 0.0
        assert np.hypot(*(points - [x, y]).T).max() <= radius * (1 + 1e-9) + 1e-300
        assert abs(radius - wanted) <= 1e-7 * wanted


def test_circle_far_out():
    """A small swarm far from (0, 0) loses nothing: its circle is that of the same swarm at (0, 0)."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        shape = rng.integers(-1000, 1000, (8, 2)) * 2.0**-30
        far = shape + 2.0**12
        near_circle = smallest_circle(shape[:, 0], shape[:, 1], 8)
        far_circle = smallest_circle(far[:, 0], far[:, 1], 8)
        assert far_circle[2] == near_circle[2]


def test_sec_of_ten_thousand():
    """Ten thousand robots find one circle, without recursion, and go onto it."""
    simulation = swarm(10_000, "SEC", seed=1)
    simulation.run(events=300)
    robots = simulation.world.robots
    radii = robots["circle_r"][np.isfinite(robots["circle_r"])]
    given = places(10_000, 1)
    x, y, radius = smallest_circle(given[:, 0], given[:, 1], 10_000)
    assert len(radii) > 200
    assert np.ptp(radii) < 1e-9
    assert radii[0] == pytest.approx(radius, rel=1e-12)
    sent = robots["target_x"] == robots["target_x"]
    away = np.hypot(robots["target_x"][sent] - x, robots["target_y"][sent] - y)
    assert abs(away - radius).max() < 1e-8


RIMS = [
    ("SEC", {"speed": 1.0}), ("GoToCenter", {"speed": 300.0}), ("SEC", {"scheduler": "ssync", "moves": "uniform", "speed": 50.0}),
    ("GoToCenter", {"scheduler": "sequential", "speed": 1000.0}), ("SEC", {"faults": {"byzantine": 6, "delay": 9}}),
    ("GoToCenter", {"frames": "private", "speed": 5.0}), ("TwoTask", {"speed": 1e9}),
]  # fmt: skip


@pytest.mark.parametrize(("algorithm", "options"), RIMS, ids=range(len(RIMS)))
def test_rim_is_enough(algorithm, options):
    """Looks at the robots near the rim alone change no bit of what looks at all robots give."""
    quick, whole = (swarm(90, algorithm, seed=5, **options) for _ in range(2))
    most = 0
    for _ in range(400):
        quick.run(events=3)
        for _ in range(3):
            whole.world.rim_inner = math.inf  # as if anybody could be anywhere
            whole.run(events=1)
        most = max(most, quick.world.rim_looks)
        assert whole.world.rim_looks == 0
    for name in ("x", "y", "goal_x", "goal_y", "circle_x", "circle_r", "travelled"):
        assert np.array_equal(quick.world.robots[name], whole.world.robots[name], equal_nan=True)
    assert most > 0 or algorithm == "TwoTask"


def test_angles():
    """Angles are those of `atan2`, to 1e-14, all around."""
    for k in range(1_000):
        x, y = math.cos(k * 0.1) * 10.0 ** (k % 7 - 3), math.sin(k * 0.1) * 10.0 ** (k % 7 - 3)
        difference = angle_of(x, y) - math.atan2(y, x) % (2 * math.pi)
        assert min(abs(difference), abs(abs(difference) - 2 * math.pi)) < 1e-14


def test_formations():
    """Robots on a circle are even at rest; on a pattern within 3 %; spread out, no two near."""
    simulation = rest(swarm(8, "CircleFormation", scheduler="sequential"))
    here = positions(simulation.world, simulation.now)
    middle = here.mean(axis=0)
    angles = np.sort(np.arctan2(*(here - middle).T))
    assert simulation.world.outcome == QUIET
    assert abs(np.diff(angles) - math.pi / 4).max() < 1e-3
    assert np.ptp(np.hypot(*(here - middle).T)) < 0.03 * np.hypot(*(here - middle).T).mean()
    for algorithm, events in (("PatternFormation", 20_000), ("Spreading", 4_000)):
        simulation = rest(swarm(10, algorithm, scheduler="sequential", box=(600.0, 600.0)), events)
        here = positions(simulation.world, simulation.now)
        apart = np.hypot(*(here[:, None] - here[None]).T) + 1e9 * np.eye(10)
        assert simulation.world.outcome == QUIET
        assert apart.min() > 40.0
