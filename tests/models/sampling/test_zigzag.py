"""The local Zig-Zag on Gaussians: closed forms of means, atoms at zero, walls, counts of events."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy import stats

from tocsin import Simulation
from tocsin.models.sampling import Gaussian, LinearRegression, _field
from tocsin.models.sampling.zigzag import MODEL

from ._laws import assert_close, path, replicated

AR1 = np.linalg.inv(0.9 ** np.abs(np.subtract.outer(np.arange(10), np.arange(10))))


def test_standard_normal():
    """N(0, 1): mean 0, variance 1, 1 / sqrt(2 pi) flips a unit of time, for every coordinate."""
    time = 400.0
    chain, mean, second, _ = path(Gaussian(sparse.identity(400)), time, seed=1)
    assert_close(mean, 0.0)
    assert_close(second, 1.0)
    assert_close(chain.world.trails["n_turns"] / time, 1.0 / np.sqrt(2.0 * np.pi))


def test_asymptotic_variance():
    """N(0, 1): time averages of x and x^2 have variance 2 sqrt(2 / pi) / T and twice that (spec of the estimators)."""
    time, n = 300.0, 4_000
    _, mean, second, _ = path(Gaussian(sparse.identity(n)), time, seed=2)
    for found, expected in ((mean, 2.0 * np.sqrt(2.0 / np.pi)), (second - 1.0, 4.0 * np.sqrt(2.0 / np.pi))):
        squares = time * found**2
        error = squares.std() / np.sqrt(n)
        assert abs(squares.mean() - expected) < 4.5 * error + 4.0 * expected / time


def test_correlated_chain():
    """AR(1) with correlation 0.9: flips of all coordinates, and the variance of the mean of coordinates."""
    n, time = 300, 60.0
    speeds = np.ones(10 * n)
    chain, _mean, second, _ = path(replicated(AR1, np.zeros(10), n), time, 3, speeds=speeds, burn=100.0)
    turns = chain.world.trails["n_turns"].reshape(n, 10).sum(axis=1) / time
    assert_close(turns, 11.681069)
    assert_close(second.reshape(n, 10), 1.0)
    x = _field.positions(chain.world, chain.simulation.now).reshape(n, 10).mean(axis=1)
    assert_close(x**2, 0.7276211922)


def test_grid_field_flips():
    """A 32 x 32 field: flips are half the sum of E |d phi / d x_i|, exactly known for a Gaussian."""
    side = sparse.diags([1.0], [1], shape=(32, 32))
    graph = side + side.T
    laplacian = sparse.diags(np.asarray(graph.sum(axis=1)).ravel()) - graph
    eye = sparse.identity(32)
    precision = 0.01 * sparse.identity(1024) + sparse.kron(laplacian, eye) + sparse.kron(eye, laplacian)
    counts = []
    for seed in range(12):
        chain, *_ = path(Gaussian(precision), 40.0, seed, speeds=np.ones(1024), burn=60.0)
        counts.append(chain.world.trails["n_turns"].sum() / 40.0)
    assert_close(counts, 804.3122)


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.0, 2.0])
def test_spike_in_one_dimension(speed):
    """Slab N(0.9, 0.5), kappa 1.5: inclusion, mean, second moment and halts, at every speed."""
    n, time = 1_000, 120.0
    slab_sd = 1.0 / (1.5 * np.sqrt(2.0 * np.pi))
    target = replicated([[2.0]], [0.9], n, inclusion=0.5, slab_sd=slab_sd)
    chain, mean, second, moving = path(target, time / speed, 4, speeds=np.full(n, speed), burn=20.0 / speed)
    assert_close(moving, 0.8566610283)
    assert_close(mean, 0.7709949255)
    assert_close(second, 1.1222259471)
    assert chain.world.n_halts > 1_000


def test_halts_a_unit_of_time():
    """Halts a unit of time are |v| w N(0; mean, variance), here 0.215008 |v|."""
    n, time, speed = 1_000, 100.0, 0.8
    slab_sd = 1.0 / (1.5 * np.sqrt(2.0 * np.pi))
    target = replicated([[2.0]], [0.9], n, inclusion=0.5, slab_sd=slab_sd)
    chain, *_ = path(target, time, 5, speeds=np.full(n, speed))
    n_halts = chain.world.n_halts * time / chain.simulation.now
    assert abs(n_halts / (n * time * speed) - 0.215008) < 4.5 * np.sqrt(0.215008 / (n * time * speed)) * 2.0


def test_spikes_in_two_dimensions():
    """Correlation 0.8, means 1, kappa 1: inclusion, mean and the probabilities of the four models."""
    n, time = 600, 150.0
    precision = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    target = replicated(precision, [1.0, 1.0], n, inclusion=0.5, slab_sd=1.0 / np.sqrt(2.0 * np.pi))
    chain, mean, second, moving = path(target, time, 6, speeds=np.ones(2 * n))
    assert_close(moving.reshape(n, 2), 0.7590885093)
    assert_close(mean.reshape(n, 2), 0.6407751269)
    assert_close(second.reshape(n, 2), 1.2815502537)
    is_in = (chain.world.coordinates["v"] != 0.0).reshape(n, 2)
    both, none = is_in.all(axis=1), ~is_in.any(axis=1)
    assert_close(both, 0.6111967813)
    assert_close(none, 0.0930197628)


def conjugate():
    """Return the deterministic regression whose 32 models are enumerated below."""
    i, k = np.arange(1, 41)[:, None], np.arange(1, 6)[None, :]
    X = np.cos(0.7 * i * k)
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    y = X @ np.array([1.0, 0.0, -0.5, 0.0, 0.25]) + 1.2 * np.sin(i[:, 0] ** 2)
    return X, y


def test_spike_and_slab_regression():
    """Conjugate regression: inclusion and mean of each coefficient, by enumeration of all models."""
    X, y = conjugate()
    one = LinearRegression(X, y, noise_sd=1.0, prior_sd=1.0, inclusion=0.5)
    n = 400
    target = replicated(one.precision.toarray(), one.mean, n, inclusion=0.5, slab_sd=1.0)
    _, mean, _, moving = path(target, 200.0, 7, burn=200.0)
    assert_close(moving.reshape(n, 5), [0.9690397957, 0.3554160650, 0.3357957187, 0.2853095091, 0.3317463652])
    assert_close(mean.reshape(n, 5), [0.8028174032, 0.1194463269, -0.0951687931, -0.0918145118, 0.1425330222])


def test_walls_of_a_box():
    """Half-normal, a box, and a half-line far from the mean."""
    n, time = 500, 150.0
    for mean, precision, low, high, first, variance in (
        (0.0, 1.0, 0.0, np.inf, 0.7978845608, 0.3633802276),
        (0.0, 1.0, -1.0, 0.5, -0.2066312181, 0.1727732591),
        (-1.0, 0.25, 0.0, np.inf, 1.2821555407, 1.0739216286),
    ):
        target = replicated([[precision]], [mean], n, lower=low, upper=high)
        _, average, second, _ = path(target, time, 8)
        assert_close(average, first)
        assert_close(second, variance + first**2)


@pytest.mark.parametrize(
    ("rho", "first", "second"),
    [(0.5, 0.8976201309, 1.2067483358), (0.9, 0.8850542975, 1.1458060973), (-0.5, 0.5984134206, 0.5865033284)],
)
def test_orthant(rho, first, second):
    """A correlated pair cut off at both axes: mean and second moment."""
    n = 500
    precision = np.linalg.inv([[1.0, rho], [rho, 1.0]])
    target = replicated(precision, [0.0, 0.0], n, lower=0.0)
    _, mean, squared, _ = path(target, 150.0, 9)
    assert_close(mean.reshape(n, 2), first)
    assert_close(squared.reshape(n, 2), second)


def stationary(n, seed, knots=0):
    """Return a chain of n pairs, each started in its stationary law, and that law's standard deviations."""
    covariance = np.array([[1.0, 0.8], [0.8, 2.0]])
    target = replicated(np.linalg.inv(covariance), [0.0, 0.0], n)
    x = np.random.default_rng(seed).multivariate_normal([0.0, 0.0], covariance, n).ravel()
    return target.zigzag(x, seed, speeds=np.ones(2 * n)), np.sqrt(np.diag(covariance))


def gate(n, seed):
    """Run n independent pairs from the stationary law, and compare where they are with it."""
    chain, sd = stationary(n, seed)
    chain.simulation.run(until=3.0)
    x = _field.positions(chain.world, 3.0).reshape(n, 2) / sd
    p = [stats.kstest(x[:, k], "norm").pvalue for k in (0, 1)]
    p.append(stats.kstest(x.sum(axis=1) / np.sqrt(2.0 + 1.6 / np.sqrt(2.0)), "norm").pvalue)
    return min(p)


def test_stationarity_gate():
    """Replicas that start in the stationary law are in it later (Kolmogorov-Smirnov, two-sided 4.5 sigma)."""
    assert gate(20_000, 10) > stats.norm.sf(4.5) * 2.0


def test_plain_python_gives_the_same_bits():
    """Compiled and interpreted runs agree, with spikes and walls."""
    target = replicated([[2.0, 0.5], [0.5, 1.0]], [0.9, 0.2], 2, inclusion=[0.5, np.nan] * 2, slab_sd=1.0, lower=-0.7)
    world = target.zigzag(np.full(4, 0.3), 12).world
    one, two = (Simulation(MODEL, world, seed=12, jit=jit) for jit in (True, False))
    for simulation in (one, two):
        simulation.run(until=40.0)
    assert one.state_hash() == two.state_hash()
    assert one.world.n_halts > 0
    assert one.world.n_reflections > 0


def test_gradient_does_not_drift():
    """The gradients kept in the rows stay those of the positions."""
    chain, *_ = path(replicated(AR1, np.zeros(10), 20), 2_000.0, 13)
    now = chain.simulation.now
    c = chain.world.coordinates
    x = _field.positions(chain.world, now)
    precision = replicated(AR1, np.zeros(10), 20).precision
    assert np.abs(c["g"] + c["h"] * (now - c["at"]) - precision @ x).max() < 1e-9


@pytest.mark.slow
def test_audit_finds_no_stale_clock():
    """No event changes what an untouched clock depends on."""
    world = replicated(AR1, np.zeros(10), 2, inclusion=0.5, slab_sd=1.0, lower=-2.0).zigzag(np.full(20, 0.5), 14).world
    Simulation(MODEL, world, seed=14, audit=True).run(events=400)
