"""Samplers that move all coordinates together: Zig-Zag, Bouncy Particle, Boomerang, Factorised Boomerang."""

import numpy as np
import pytest
from scipy import stats

from tocsin import FireError, InputError, Simulation
from tocsin.models.sampling import Gaussian, LogDensity, sample
from tocsin.models.sampling._flight import SAMPLERS, first_velocity, flight
from tocsin.models.sampling.particle import AFFINE, CONSTANT, GRID, MODEL, ROOT

from ._laws import LEAST_P, fly

COVARIANCE = np.array([[1.0, 0.6], [0.6, 2.0]])
PRECISION = np.linalg.inv(COVARIANCE)


def gate(sampler, n, seed, time=3.0):
    """Start n particles in the stationary law of a correlated Gaussian; return the least p of where they are then."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal([0.0, 0.0], COVARIANCE, n)
    is_circle = SAMPLERS[sampler][0]
    x, world = fly(
        sampler, z, first_velocity(sampler, (n, 2), rng), time, seed=seed, is_quadratic=1,
        curvature=PRECISION - is_circle * np.eye(2), bound=CONSTANT if is_circle else AFFINE,
    )  # fmt: skip
    assert world.n_violations == 0
    along = [x[:, 0], x[:, 1] / np.sqrt(2.0), (x[:, 0] + x[:, 1]) / np.sqrt(4.2)]
    return min(stats.kstest(a, "norm").pvalue for a in along), world


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_stationarity_gate(sampler):
    """Particles that start in the stationary law are in it later, for each sampler."""
    p, _ = gate(sampler, 20_000, 20)
    assert p > LEAST_P


def test_boomerang_bounces():
    """Reference N(0, I) and a correlated target: 0.306 bounces a unit of time (measured elsewhere)."""
    _, world = gate("boomerang", 20_000, 22, time=5.0)
    assert abs(world.n_bounces / 100_000.0 - 0.306) < 0.01


@pytest.mark.parametrize(("d", "bounces"), [(2, 0.5), (10, 1.230469)])
def test_bouncy_particle_bounces(d, bounces):
    """N(0, I) with normal velocities: Gamma((d + 1) / 2) / (sqrt(pi) Gamma(d / 2)) bounces a unit of time."""
    n, time = 4_000, 5.0
    rng = np.random.default_rng(23)
    z, v = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    _, world = fly("bouncy", z, v, time, is_quadratic=1, curvature=np.eye(d), bound=AFFINE)
    assert abs(world.n_bounces / (n * time) - bounces) < 4.5 * 2.0 * np.sqrt(bounces / (n * time))


def test_boomerang_at_its_reference_only_refreshes():
    """Reference = target: no bounces, and a time average of x has variance 2 lambda / T (ESS T / (2 lambda))."""
    n, time, rate = 4_000, 60.0, 1.0
    rng = np.random.default_rng(24)
    z, v = rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
    _, world = fly("boomerang", z, v, time, is_quadratic=1, bound=CONSTANT, refresh=rate)
    assert world.n_bounces == 0
    t = time - world.particles["at"]
    area = world.area.values[:, 0] + world.z.values[:, 0] * np.sin(t) + world.v.values[:, 0] * (1.0 - np.cos(t))
    squares = (area / time) ** 2 * time
    expected = 2.0 * rate / (1.0 + rate**2) * (1.0 + rate**2)  # = 2 lambda
    assert abs(squares.mean() - expected) < 4.5 * squares.std() / np.sqrt(n) + 4.0 * expected / time


def banana(x):
    """Return the gradient of the log density of x0 ~ N(0, 1), x1 = x0^2 - 1 + z."""
    z = x[1] - x[0] * x[0] + 1.0
    return np.array([-x[0] + 2.0 * x[0] * z, -z])


def log_banana(x):
    z = x[1] - x[0] * x[0] + 1.0
    return -0.5 * (x[0] * x[0] + z * z)


BANANA = LogDensity(banana, 2, logp=log_banana, names=["a", "b"])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_gate_with_bounds_from_a_grid(sampler):
    """Approximate bounds leave the banana as it is, as far as 10,000 replicas can tell."""
    n, rng = 10_000, np.random.default_rng(25)
    x0 = rng.normal(size=n)
    z = np.stack([x0, x0**2 - 1.0 + rng.normal(size=n)], axis=1)
    v = first_velocity(sampler, (n, 2), rng)
    x, world = fly(sampler, z, v, 3.0, target=BANANA, bound=GRID, horizon=0.5)
    noise = x[:, 1] - x[:, 0] ** 2 + 1.0
    assert min(stats.kstest(x[:, 0], "norm").pvalue, stats.kstest(noise, "norm").pvalue) > LEAST_P
    assert world.n_violations < 1e-3 * world.n_proposals


def normal(x):
    return -(PRECISION @ x)


def log_normal(x):
    return -0.5 * (x @ (PRECISION @ x))


NORMAL = LogDensity(normal, 2, logp=log_normal, is_log_concave=True, curvature=np.abs(PRECISION))


def test_gate_by_root_finding():
    """The Bouncy Particle Sampler on a concave log density: exact events without a bound."""
    n, rng = 5_000, np.random.default_rng(26)
    z = rng.multivariate_normal([0.0, 0.0], COVARIANCE, n)
    x, world = fly("bouncy", z, rng.normal(size=(n, 2)), 3.0, target=NORMAL, bound=ROOT)
    assert stats.kstest(x[:, 0], "norm").pvalue > LEAST_P
    assert stats.kstest(x[:, 1] / np.sqrt(2.0), "norm").pvalue > LEAST_P
    assert world.n_bounces == world.n_proposals


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_sample_finds_a_gaussian(sampler):
    """Means and variances from a far start, within 4.5 standard errors by the effective sample size."""
    target = Gaussian(PRECISION, [1.0, -2.0])
    found = sample(target, sampler=sampler, draws=4_000, chains=2, seed=3, start=[4.0, 4.0])
    error = np.sqrt(np.diag(COVARIANCE) / found.path["ess"].values)
    assert np.all(np.abs(found.path["mean"].values.mean(axis=0) - [1.0, -2.0]) < 4.5 * error)
    assert found.posterior.attrs["bounds"] == "exact"


def student(x):
    return -6.0 * x / (5.0 + x * x)


def test_certified_student():
    """Student's t with 5 degrees of freedom, second derivative at most 6 / 5: variance 5 / 3, no violation."""
    target = LogDensity(student, 1, curvature=[[1.2]])
    found = sample(target, draws=20_000, chains=4, seed=4)
    x = found.path["second_moment"].values.mean()
    error = np.sqrt((25.0 - (5.0 / 3.0) ** 2) / found.path["ess"].values[0] * 2.0)
    assert abs(x - 5.0 / 3.0) < 4.5 * error
    assert found.posterior.attrs["bounds"] == "certified"
    assert int(found.sample_stats["n_violations"][:, -1].sum()) == 0


def test_violated_certificate_is_an_error():
    """A bound that was declared as certified and does not hold stops the run, with the point."""
    target = LogDensity(banana, 2, curvature=np.full((2, 2), 0.3), scale=[1.0, 1.0])
    with pytest.raises(FireError, match=r"exceeds its bound, which was declared as certified"):
        sample(target, draws=5_000, chains=1, seed=5)


@pytest.mark.parametrize("sampler", ["zigzag", "bouncy"])
def test_violated_certificate_is_found_without_a_proposal(sampler):
    """A bound of 0 lets a path that goes downhill fly on for ever: it is checked though nothing is proposed."""
    target = LogDensity(flat_at_its_mode, 2, curvature=np.zeros((2, 2)))
    with pytest.raises(FireError, match=r"exceeds its bound, which was declared as certified"):
        sample(target, sampler=sampler, draws=300, chains=1, tune=5, seed=1)


def flat_at_its_mode(x):
    return -4.0 * x**3


def sharp_at_its_mode(x):
    return -np.sign(x)


@pytest.mark.parametrize(
    ("gradient", "sd"), [(flat_at_its_mode, 0.5813683), (sharp_at_its_mode, np.sqrt(2.0))], ids=["flat", "sharp"]
)
def test_scale_where_the_mode_tells_none(gradient, sd):
    """exp(-x^4) has no curvature at its mode and exp(-|x|) has too much: the first scale is of the size of the deviation."""
    target = LogDensity(gradient, 2)
    lengths = np.sqrt(np.diag(target.laplace()[1]))
    assert ((lengths > 0.2 * sd) & (lengths < 2.0 * sd)).all()
    found = sample(target, draws=4_000, chains=4, seed=9)
    error = found.path["sd"].values / np.sqrt(found.path["ess"].values)
    assert (np.abs(found.path["mean"].values.mean(axis=0)) < 4.5 * error).all()
    squares = found.path["second_moment"] if "second_moment" in found.path else found.posterior["x"] ** 2
    by_chain = squares.values.reshape(4, -1, 2).mean(axis=1)
    assert (np.abs(by_chain.mean(axis=0) - sd**2) < 4.5 * by_chain.std(axis=0, ddof=1) / 2.0).all()


def test_broken_approximate_bounds_are_told():
    """A kink lies between the points that a grid looks at: what was seen is counted, and said."""
    with pytest.warns(UserWarning, match="rates were seen above their approximate bounds"):
        found = sample(LogDensity(sharp_at_its_mode, 1), sampler="boomerang", draws=2_000, chains=2, seed=10)
    assert int(found.sample_stats["n_violations"][:, -1].sum()) > 0


def half_a_square(x):
    return -0.5 * (x @ x)


@pytest.mark.parametrize("factor", [-1.0, 2.0])
def test_gradient_of_another_density(factor):
    """A gradient that is not that of logp, by its sign or a factor, is refused; the right one is taken."""

    def gradient(x):
        return -factor * x

    def right(x):
        return -x

    with pytest.raises(InputError, match="gradient is not that of logp"):
        LogDensity(gradient, 3, logp=half_a_square, is_log_concave=True)
    assert LogDensity(right, 3, logp=half_a_square, is_log_concave=True, lower=0.0).bounds["bouncy"] == "exact"


def cut(x):
    return np.array([np.nan]) if x[0] > 1.5 else -x


def test_gradient_that_is_not_finite():
    """The error names the point and the gradient."""
    target = LogDensity(cut, 1, scale=[1.0])
    with pytest.raises(FireError, match=r"the gradient is not finite at x = \[1\.[5-9].*nan"):
        sample(target, draws=5_000, chains=1, seed=6)


def test_start_outside_the_walls():
    target = LogDensity(banana, 2, lower=[0.0, -5.0], start=[1.0, 0.0])
    with pytest.raises(InputError, match="start must lie within the walls, got -1 for coordinate 0"):
        sample(target, draws=10, chains=1, start=[-1.0, 0.0])


def test_plain_python_gives_the_same_bits():
    """Compiled and interpreted runs agree, the outside function included."""
    rng = np.random.default_rng(28)
    z, v = rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    hashes = []
    for jit in (True, False):
        world = flight(z, v, np.zeros((2, 2)), is_circle=1, bound=GRID, horizon=0.5, refresh=0.5)
        simulation = Simulation(MODEL, world, seed=7, jit=jit)
        simulation.world.attach(BANANA._function, BANANA._address)
        simulation.run(until=20.0)
        hashes.append(simulation.state_hash())
    assert hashes[0] == hashes[1]


def test_without_its_function_a_world_stops():
    """A world that was copied has no outside function: an error, not a call to nowhere."""
    world = flight(np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), bound=GRID)
    with pytest.raises(FireError, match="gradient is not finite"):
        Simulation(MODEL, world, seed=8).run(until=5.0)
