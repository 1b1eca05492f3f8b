"""Walls, half-spaces and spikes of the samplers whose coordinates move together."""

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models.sampling import Gaussian, LogDensity, sample
from tocsin.models.sampling._flight import SAMPLERS, first_velocity, flight
from tocsin.models.sampling._room import Room
from tocsin.models.sampling.particle import AFFINE, CONSTANT, GRID, MODEL

from ._laws import assert_close, fly

ROOT_2_PI = np.sqrt(2.0 * np.pi)


def bound_of(sampler):
    return CONSTANT if SAMPLERS[sampler][0] else AFFINE


def behind_walls(sampler, covariance, room, n, seed, time=4.0):
    """Run n particles on a Gaussian from its law within a room; return where they are."""
    rng = np.random.default_rng(seed)
    pairs = rng.multivariate_normal([0.0, 0.0], covariance, 10 * n)
    z = pairs[
        ((pairs >= room.low) & (pairs <= room.high)).all(axis=1) & (pairs @ room.normals.T <= room.offsets).all(axis=1)
    ]
    normals, offsets = room.walls(np.zeros(2), np.eye(2))
    x, world = fly(
        sampler, z[:n], first_velocity(sampler, (n, 2), rng), time, seed=seed, is_quadratic=1, normals=normals,
        offsets=offsets, curvature=np.linalg.inv(covariance) - SAMPLERS[sampler][0] * np.eye(2), bound=bound_of(sampler),
    )  # fmt: skip
    assert len(x) == n
    assert world.n_reflections > n
    assert (x @ normals.T <= offsets + 1e-9).all()
    return x


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_walls(sampler):
    """A correlated pair in an orthant: mean and second moment (rho = 0.5)."""
    x = behind_walls(sampler, np.array([[1.0, 0.5], [0.5, 1.0]]), Room(2, 0.0, None), 6_000, 27)
    assert_close(x, 0.8976201309)
    assert_close(x**2, 1.2067483358)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_half_spaces(sampler):
    """N(0, I) in a wedge that no axis bounds: u = A x is a pair with rho = 0.5 in its orthant."""
    turn = 0.3
    rows = np.array([[np.cos(turn), np.sin(turn)], [np.cos(turn + np.pi / 3.0), np.sin(turn + np.pi / 3.0)]])
    x = behind_walls(sampler, np.eye(2), Room(2, None, None, (-rows, np.zeros(2))), 6_000, 28)
    assert_close(x @ rows.T, 0.8976201309)
    assert_close((x @ rows.T) ** 2, 1.2067483358)


def with_spikes(sampler, n, seed, time=4.0, **options):
    """Run n particles on N((1, 1), rho = 0.8) with atoms of kappa 1 at zero, from their law; return where they are."""
    rng = np.random.default_rng(seed)
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    z = np.zeros((n, 2))
    model = rng.choice(4, n, p=[0.0930197628, 0.1478917280, 0.1478917280, 0.6111967813 + 1e-10])
    z[model == 3] = rng.multivariate_normal([1.0, 1.0], covariance, (model == 3).sum())
    for k in (0, 1):  # given that the other is zero
        z[model == k + 1, k] = 1.0 - 0.8 + np.sqrt(1.0 - 0.64) * rng.normal(size=(model == k + 1).sum())
    is_circle = SAMPLERS[sampler][0]
    scale = np.array([0.7, 1.2]) if is_circle else np.ones(2)
    centre = np.array([0.4, 1.0])  # of the circles, where the target's own mean is not
    precision = np.linalg.inv(covariance)
    z = (z - centre) / scale
    z, world = fly(
        sampler, z, first_velocity(sampler, (n, 2), rng), time, seed=seed, is_quadratic=1, bound=bound_of(sampler),
        curvature=scale[:, None] * precision * scale - is_circle * np.eye(2),
        tilt=scale * (precision @ (centre - 1.0)), thaw=scale, zeros=-centre / scale, **options,
    )  # fmt: skip
    assert world.n_halts > n / 2
    return np.where(world.v.values == 0.0, 0.0, centre + scale * z)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_spikes(sampler):
    """Correlation 0.8, means 1, kappa 1: inclusion, moments, and the probabilities of the models."""
    x = with_spikes(sampler, 8_000, 29)
    assert_close(x != 0.0, 0.7590885093)
    assert_close(x, 0.6407751269)
    assert_close(x**2, 1.2815502537)
    assert_close((x == 0.0).all(axis=1), 0.0930197628)
    assert_close((x != 0.0).all(axis=1), 0.6111967813)


def wedge(d):
    """Return half-spaces x0 <= x1 <= ... and x0 >= 0 as one pair."""
    rows = -np.eye(d)
    rows[np.arange(1, d), np.arange(d - 1)] = 1.0
    return rows, np.zeros(d)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_sample_in_order(sampler):
    """Three independent normals, 0 <= x0 <= x1 <= x2, against order statistics of half-normals, by simulation."""
    expected = np.sort(np.abs(np.random.default_rng(30).normal(size=(400_000, 3))), axis=1).mean(axis=0)
    target = Gaussian(np.eye(3), half_spaces=wedge(3))
    found = sample(target, sampler=sampler, draws=8_000, chains=2, seed=31)
    x = found.posterior["x"].values
    assert (np.diff(x, axis=2) >= -1e-9).all()
    error = found.path["sd"].values * np.sqrt(1.0 / found.path["ess"].values + 1.0 / 400_000)
    assert np.all(np.abs(found.path["mean"].values.mean(axis=0) - expected) < 4.5 * error)


def slope(x):
    return np.array([2.0 * (0.9 - x[0]), 2.0 * (0.9 - x[1]), -x[2]])


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("curvature", [None, np.diag([2.0, 2.0, 1.0])])
def test_sample_with_spikes(sampler, curvature):
    """Slab N(0.9, 0.5), kappa 1.5, from a gradient: inclusion and mean; the third coordinate has no spike."""
    target = LogDensity(
        slope,
        3,
        curvature=curvature,
        inclusion=[0.5, 0.5, np.nan],
        slab_sd=1.0 / (1.5 * ROOT_2_PI),
        scale=[2.0, 0.3, 1.0],
    )
    found = sample(target, sampler=sampler, draws=8_000, chains=2, seed=32)
    mean, ess = found.path["mean"].values.mean(axis=0), found.path["ess"].values
    assert np.all(np.abs(mean - [0.7709949255, 0.7709949255, 0.0]) < 4.5 * found.path["sd"].values / np.sqrt(ess))
    is_in = (found.posterior["x"].values != 0.0).mean(axis=(0, 1))
    assert np.all(np.abs(is_in[:2] - 0.8566610283) < 4.5 * np.sqrt(0.86 * 0.14 / ess[:2]) * 1.5)
    assert is_in[2] == 1.0
    assert int(found.sample_stats["n_halts"][:, -1].sum()) > 100


@pytest.mark.parametrize("sampler", ["zigzag", *list(SAMPLERS)[1:]])
@pytest.mark.parametrize("lower", [0.0, -0.7])
def test_prior_inclusion_behind_a_wall(sampler, lower):
    """Slab and target N(0, 1), cut off: posterior inclusion is the prior's, at a wall and beside one."""
    target = Gaussian(np.eye(2), inclusion=0.3, slab_sd=1.0, lower=lower)
    found = sample(target, sampler=sampler, draws=10_000, chains=2, seed=33)
    is_in = found.posterior["x"].values != 0.0
    per_batch = is_in.reshape(2 * 40, 250, 2).mean(axis=(1, 2))
    assert_close(per_batch, 0.3)
    assert found.posterior["x"].values.min() >= lower - 1e-9


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_spikes_and_half_spaces_through_zero(sampler):
    """x0 <= x1 with atoms of weight 1 for both: the corner (0, 0) counts half, and nothing leaks through."""
    target = Gaussian(np.eye(2), inclusion=0.5, slab_sd=1.0 / ROOT_2_PI, half_spaces=([[1.0, -1.0]], [0.0]))
    found = sample(target, sampler=sampler, draws=20_000, chains=2, seed=34)
    x = found.posterior["x"].values
    assert (x[..., 0] <= x[..., 1] + 1e-9).all()
    total = np.pi + 0.5 * ROOT_2_PI * 2.0 + 0.5  # of exp(-x^2 / 2): half the plane, two half-lines, half an atom
    neither = (x == 0.0).all(axis=2).reshape(2 * 40, 500).mean(axis=1)
    assert_close(neither, 0.5 / total)
    both = (x != 0.0).all(axis=2).reshape(2 * 40, 500).mean(axis=1)
    assert_close(both, np.pi / total)


def test_plain_python_gives_the_same_bits():
    """Compiled and interpreted runs agree, with walls, half-spaces and spikes."""
    hashes = []
    for sampler, (is_circle, is_flip) in SAMPLERS.items():
        normals, offsets = Room(2, -1.0, None, ([[1.0, 1.0]], [2.0])).walls(np.zeros(2), np.eye(2))
        z = np.array([[0.3, -0.2]])
        v = first_velocity(sampler, (1, 2), np.random.default_rng(35))
        pair = []
        for jit in (True, False):
            world = flight(
                z, v, np.eye(2) - is_circle * 0.9 * np.eye(2), is_circle=is_circle, is_flip=is_flip, refresh=0.5, normals=normals,
                offsets=offsets, is_quadratic=1, bound=bound_of(sampler), thaw=np.array([1.0, np.inf]), zeros=np.zeros(2),
            )  # fmt: skip
            simulation = Simulation(MODEL, world, seed=7, jit=jit)
            simulation.run(until=30.0)
            pair.append(simulation.state_hash())
            assert simulation.world.n_halts > 2
            assert simulation.world.n_reflections > 2
        assert pair[0] == pair[1]
        hashes.append(pair[0])
    assert len(set(hashes)) == 4


def steep(x):
    return -x


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Gaussian(np.eye(2), half_spaces=np.eye(2)[0]), r"must be a pair \(A, b\)"),
        (lambda: Gaussian(np.eye(2), half_spaces=(np.eye(3), 0.0)), r"half_spaces\[0\] must have 2 columns"),
        (lambda: Gaussian(np.eye(2), half_spaces=([[0.0, 0.0]], [1.0])), r"rows of zeros \(row 0\)"),
        (lambda: Gaussian(np.eye(2), half_spaces=([[1.0, 0.0]], [np.inf])), r"half_spaces\[1\] must be finite"),
        (lambda: Gaussian(np.eye(2), half_spaces=([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0])), "leave no room"),
        (lambda: Gaussian(np.eye(2), half_spaces=([[1.0, 1.0]], [0.0]), lower=1.0), "leave no room"),
        (lambda: Gaussian(np.eye(2), inclusion=0.5, slab_sd=1.0, lower=[-1.0, 0.5]), "coordinate 1 has a spike at zero"),
        (lambda: Gaussian(np.eye(2), inclusion=[0.5], slab_sd=1.0), "inclusion must have 2 entries"),
        (lambda: LogDensity(steep, 2, inclusion=1.0, slab_sd=1.0), "inclusion must be > 0 and < 1, got 1"),
        (lambda: LogDensity(steep, 1, half_spaces=([[1.0]], [-1.0]), start=[0.0]), "half-space 0 has A x = 0, more than b = -1"),
    ],
)  # fmt: skip
def test_bad_walls(make, text):
    with pytest.raises(InputError, match=text):
        make()


def test_start_outside_a_half_space():
    target = Gaussian(np.eye(2), half_spaces=([[1.0, 1.0]], [0.0]))
    with pytest.raises(InputError, match="half-space 0 has A x = 2, more than b = 0"):
        sample(target, draws=10, chains=1, start=[1.0, 1.0])
    with pytest.raises(InputError, match="walls need another sampler"):
        sample(target, draws=10, chains=1, sampler="local-bouncy")


def test_grid_bounds_with_spikes_count_violations():
    """Bounds from a grid leave an atom as it is, as far as 10,000 draws can tell."""
    rng = np.random.default_rng(36)
    n = 8_000
    z = np.where(rng.random((n, 1)) < 0.7148257752, rng.normal(size=(n, 1)), 0.0)
    target = LogDensity(steep, 1, scale=[1.0])
    x, world = fly(
        "bouncy",
        z,
        rng.normal(size=(n, 1)),
        4.0,
        target=target,
        bound=GRID,
        horizon=0.5,
        thaw=np.ones(1),
        zeros=np.zeros(1),
    )
    assert_close(x != 0.0, 0.7148257752)
    assert world.n_halts > 1_000
