"""The stationarity gate: 100,000 independent replicas start in the target's law, run, and must still be in it.

No autocorrelation has to be allowed for, so a bias of half a per cent shows. Every sampler with every kind of bound,
walls and spikes; by Kolmogorov-Smirnov on what is continuous, by counts on atoms.
"""

import numpy as np
import pytest
from scipy import stats

from tocsin.models.sampling import LogDensity, LogisticRegression, PoissonRegression, _field
from tocsin.models.sampling._flight import SAMPLERS, first_velocity
from tocsin.models.sampling._room import Room
from tocsin.models.sampling.particle import AFFINE, CONSTANT, GRID, ROOT

from ._laws import LEAST_P, assert_close, fly, replicated
from .test_barriers import behind_walls, with_spikes
from .test_particle import BANANA, COVARIANCE, NORMAL, gate
from .test_sample import SMALL_X, SMALL_Y, local
from .test_zigzag import gate as local_gate

pytestmark = pytest.mark.slow
N = 100_000


def law(grid, density):
    """Return the distribution function of a density known on a grid."""
    steps = np.diff(grid) * 0.5 * (density[1:] + density[:-1])
    values = np.concatenate([[0.0], np.cumsum(steps)])
    return lambda x: np.interp(x, grid, values / values[-1])


def assert_law(x, cdf):
    """Assert that independent numbers come from a distribution, by Kolmogorov-Smirnov at 4.5 sigma."""
    p = stats.kstest(x, cdf).pvalue
    assert p > LEAST_P, f"p = {p}"


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_gaussian(sampler):
    """A correlated pair, exact events."""
    p, _ = gate(sampler, N, 21)
    assert p > LEAST_P


def test_gaussian_local():
    """The local Zig-Zag on correlated pairs."""
    assert local_gate(N, 11) > LEAST_P


def test_local_bouncy():
    """The local Bouncy Particle Sampler on correlated pairs."""
    x, _ = local(N, 3.0, 41)
    assert_law(x[:, 0] - 0.5, "norm")
    assert_law((x[:, 1] + 1.0) / np.sqrt(2.0), "norm")
    assert_law((x.sum(axis=1) + 0.5) / np.sqrt(3.0 - 1.2), "norm")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_banana_by_grids(sampler):
    """Approximate bounds: the banana."""
    rng = np.random.default_rng(42)
    x0 = rng.normal(size=N)
    z = np.stack([x0, x0**2 - 1.0 + rng.normal(size=N)], axis=1)
    x, _ = fly(sampler, z, first_velocity(sampler, (N, 2), rng), 3.0, seed=42, target=BANANA, bound=GRID, horizon=0.5)
    assert_law(x[:, 0], "norm")
    assert_law(x[:, 1] - x[:, 0] ** 2 + 1.0, "norm")


def test_root_finding():
    """A concave log density, events by root finding."""
    rng = np.random.default_rng(43)
    z = rng.multivariate_normal([0.0, 0.0], COVARIANCE, N)
    x, _ = fly("bouncy", z, rng.normal(size=(N, 2)), 3.0, seed=43, target=NORMAL, bound=ROOT)
    assert_law(x[:, 0], "norm")
    assert_law(x[:, 1] / np.sqrt(2.0), "norm")


def student(x):
    return -6.0 * x / (5.0 + x * x)


STUDENT = LogDensity(student, 2, curvature=1.2 * np.eye(2))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_certified_bounds(sampler):
    """Two independent Student's t with 5 degrees of freedom, thinned by bounds on second derivatives."""
    is_circle = SAMPLERS[sampler][0]
    rng = np.random.default_rng(44)
    z = rng.standard_t(5, size=(N, 2))
    x, world = fly(
        sampler, z, first_velocity(sampler, (N, 2), rng), 3.0, seed=44, target=STUDENT,
        curvature=(1.2 + is_circle) * np.eye(2), bound=CONSTANT if is_circle else AFFINE,
    )  # fmt: skip
    assert world.n_violations == 0
    for k in (0, 1):
        assert_law(x[:, k], stats.t(5).cdf)


ORTHANT = np.linspace(0.0, 8.0, 8_001)
IN_ORTHANT = law(ORTHANT, stats.norm.pdf(ORTHANT) * stats.norm.cdf(0.5 * ORTHANT / np.sqrt(0.75)))
"""One of a pair with correlation 0.5, given that both are positive."""


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_walls(sampler):
    """A correlated pair in its orthant."""
    x = behind_walls(sampler, np.array([[1.0, 0.5], [0.5, 1.0]]), Room(2, 0.0, None), N, 45)
    for k in (0, 1):
        assert_law(x[:, k], IN_ORTHANT)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_half_spaces(sampler):
    """N(0, I) in a wedge that no axis bounds."""
    angles = np.array([0.3, 0.3 + np.pi / 3.0])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    u = behind_walls(sampler, np.eye(2), Room(2, None, None, (-rows, np.zeros(2))), N, 46) @ rows.T
    for k in (0, 1):
        assert_law(u[:, k], IN_ORTHANT)


SLAB = np.linspace(-6.0, 8.0, 14_001)
NOT_ZERO = law(SLAB, stats.norm.pdf(SLAB - 1.0) * (1.0 + stats.norm.pdf((0.2 + 0.8 * SLAB) / 0.6) / 0.6))
"""One of a pair N((1, 1), 0.8) with atoms of weight 1, given that it is not zero."""


def assert_spikes(x):
    """Assert that pairs come from N((1, 1), 0.8) with atoms of weight 1 at zero."""
    assert_close(x != 0.0, 0.7590885093)
    assert_close((x == 0.0).all(axis=1), 0.0930197628)
    for k in (0, 1):
        assert_law(x[x[:, k] != 0.0, k], NOT_ZERO)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_spikes(sampler):
    """A correlated pair with atoms at zero, coordinates moving together."""
    assert_spikes(with_spikes(sampler, N, 47))


@pytest.mark.parametrize("speed", [0.6, 1.0, 1.7])
def test_spikes_local(speed):
    """The same by the local Zig-Zag, at several speeds."""
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    rng = np.random.default_rng(48)
    x = np.zeros((N, 2))
    model = rng.choice(4, N, p=[0.0930197628, 0.1478917280, 0.1478917280, 0.6111967813 + 1e-10])
    x[model == 3] = rng.multivariate_normal([1.0, 1.0], covariance, (model == 3).sum())
    for k in (0, 1):
        x[model == k + 1, k] = 0.2 + 0.6 * rng.normal(size=(model == k + 1).sum())
    target = replicated(np.linalg.inv(covariance), [1.0, 1.0], N, inclusion=0.5, slab_sd=1.0 / np.sqrt(2.0 * np.pi))
    chain = target.zigzag(x.ravel(), 48, speeds=np.full(2 * N, speed))
    chain.simulation.run(until=3.0)
    assert_spikes(_field.positions(chain.world, 3.0).reshape(N, 2))


def test_walls_local():
    """A correlated pair in its orthant, by the local Zig-Zag."""
    rng = np.random.default_rng(49)
    covariance = np.array([[1.0, 0.5], [0.5, 1.0]])
    pairs = rng.multivariate_normal([0.0, 0.0], covariance, 4 * N)
    x = pairs[(pairs > 0.0).all(axis=1)][:N]
    target = replicated(np.linalg.inv(covariance), [0.0, 0.0], N, lower=0.0)
    chain = target.zigzag(x.ravel(), 49, speeds=np.ones(2 * N))
    chain.simulation.run(until=3.0)
    x = _field.positions(chain.world, 3.0).reshape(N, 2)
    for k in (0, 1):
        assert_law(x[:, k], IN_ORTHANT)


def in_turn(target, x, seed, time=2.0):
    """Run one Zig-Zag on data again and again, from each row of x; return where it is after `time`."""
    mode, hessian = target.mode()
    chain = target.zigzag(mode, seed)
    simulation, world, rng = chain.simulation, chain.world, np.random.default_rng(seed)
    middle, precision, z = mode, hessian, x
    if chain.scale is not None:
        middle, precision, z = np.zeros(target.d), np.eye(target.d), np.linalg.solve(chain.scale, (x - mode).T).T
    v = rng.choice([-1.0, 1.0], z.shape) * np.abs(world.trails["speed"])
    moving = np.where((z == 0.0) & target.has_spikes, 0.0, v)
    ends = rng.exponential(size=z.shape) / world.trails["thaw"]
    c, rows = world.coordinates, list(world.coordinates)
    found = np.empty_like(z)
    for n in range(len(z)):
        now = simulation.now
        c["x"][:], c["v"][:], c["since"][:], c["at"][:] = z[n], moving[n], now, now
        c["g"][:], c["h"][:] = precision @ (z[n] - middle), precision @ moving[n]
        world.trails["speed"][:], world.bounds["until"][:] = v[n], now
        _field.look_ahead(world, now + ends[n])
        simulation.touch(*rows)
        simulation.run(until=now + time)
        found[n] = _field.positions(world, now + time)
    return found if chain.scale is None else mode + found @ chain.scale.T


def on_grid(target, first, second, n, seed):
    """Return n draws of two coefficients from their posterior on a grid, and the first one's distribution function."""
    a, b = np.meshgrid(first, second, indexing="ij")
    log = -np.array([target.potential(np.array(p)) for p in zip(a.ravel(), b.ravel(), strict=True)])
    weight = np.exp(log - log.max())
    rng = np.random.default_rng(seed)
    which = rng.choice(len(weight), n, p=weight / weight.sum())
    steps = np.array([first[1] - first[0], second[1] - second[0]])
    x = np.stack([a.ravel()[which], b.ravel()[which]], axis=1) + steps * (rng.random((n, 2)) - 0.5)
    return x, law(first, weight.reshape(a.shape).sum(axis=1))


@pytest.mark.parametrize("sampler", ["whitened", "walled"])
def test_logistic_regression(sampler):
    """Single data points, certified bounds: 50 observations, in the scale of the mode and along the axes."""
    lower = None if sampler == "whitened" else [-np.inf, -50.0]
    target = LogisticRegression(SMALL_X, SMALL_Y, lower=lower)
    x, cdf = on_grid(target, np.linspace(-1.4, 2.2, 400), np.linspace(-1.6, 3.2, 400), N, 50)
    assert_law(x[:, 0], cdf)
    assert_law(in_turn(target, x, 50)[:, 0], cdf)


def test_poisson_regression():
    """As above, for counts."""
    x = np.stack([np.ones(40), np.linspace(-1.0, 1.0, 40)], axis=1)
    target = PoissonRegression(x, np.arange(40) % 4, prior_sd=1.0)
    x, cdf = on_grid(target, np.linspace(-0.4, 1.1, 400), np.linspace(-1.2, 1.2, 400), N // 4, 51)
    assert_law(x[:, 0], cdf)
    assert_law(in_turn(target, x, 51)[:, 0], cdf)


def test_logistic_regression_with_a_spike():
    """One coefficient with an atom, on data: inclusion and law, from stationarity."""
    target = LogisticRegression(SMALL_X[:, 1:], SMALL_Y, inclusion=0.3, prior_sd=2.0)
    grid = np.linspace(-2.0, 3.5, 4_001)
    density = np.exp(-np.array([target.potential(np.array([b])) - target.potential(np.zeros(1)) for b in grid]))
    mass = density.sum() * (grid[1] - grid[0])
    inclusion = mass / (mass + 1.0 / target.kappa[0])
    rng = np.random.default_rng(52)
    n = N // 4
    x = np.interp(rng.random(n), law(grid, density)(grid), grid)
    found = in_turn(target, np.where(rng.random(n) < inclusion, x, 0.0)[:, None], 52)[:, 0]
    assert 0.2 < inclusion < 0.9
    assert_close(found != 0.0, inclusion)
    assert_law(found[found != 0.0], law(grid, density))
