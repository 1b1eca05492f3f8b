"""`sample` as users call it: estimates, files, threads, bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy import stats

from tocsin import InputError, Simulation
from tocsin.models.sampling import (
    Gaussian,
    LinearRegression,
    LogDensity,
    LogisticRegression,
    PoissonRegression,
    batch_ess,
    sample,
)
from tocsin.models.sampling._alias import alias_table
from tocsin.models.sampling._factors import factors, factors_of
from tocsin.models.sampling.bouncy import MODEL as LOCAL

from ._laws import assert_close

i = np.arange(1, 51)
SMALL_X = np.stack([np.ones(50), np.cos(i)], axis=1)
SMALL_Y = (np.sin(1.7 * i) + 0.5 * np.cos(i) + 0.2 > 0.0).astype(float)


def means_and_errors(found):
    ess = found.path["ess"].values
    sd = found.path["sd"].values
    return found.path["mean"].values.mean(axis=0), sd, sd / np.sqrt(ess), sd / np.sqrt(2.0 * ess)


def test_logistic_regression_small():
    """50 data points, 2 coefficients: posterior means and deviations by quadrature."""
    found = sample(LogisticRegression(SMALL_X, SMALL_Y), draws=30_000, chains=2, seed=1)
    mean, sd, error, _ = means_and_errors(found)
    assert np.all(np.abs(mean - [0.3616659386, 0.7387869815]) < 4.5 * error)
    assert np.all(np.abs(sd / [0.3029644742, 0.4374604870] - 1.0) < 4.5 / np.sqrt(found.path["ess"].values))
    assert found.posterior.attrs["bounds"] == "certified"


@pytest.mark.parametrize("inclusion", [None, 0.5])
def test_logistic_regression_of_four(inclusion):
    """200 data points, 4 coefficients: by quadrature; along the axes, with spikes, a strong one stays in."""
    k = np.arange(1, 201)
    X = np.stack([np.ones(200), np.cos(k), np.sin(1.3 * k), np.cos(2.1 * k + 0.4)], axis=1)
    y = (X @ [0.3, 1.0, -0.8, 0.5] + 2.0 * np.sin(2.9 * k**2) > 0.0).astype(float)
    target = LogisticRegression(X, y, prior_sd=2.5, inclusion=inclusion)
    found = sample(target, draws=10_000, chains=2, tune=1_000, seed=2)
    mean, sd, error, _ = means_and_errors(found)
    if inclusion is None:
        assert np.all(np.abs(mean - [-0.0367959, 1.2808596, -0.9261588, 0.3310018]) < 4.5 * error + 1e-6)
        assert np.all(np.abs(sd / [0.1604235, 0.2451570, 0.2377787, 0.2282210] - 1.0) < 0.05)
    else:
        x = found.posterior["x"].values
        assert (x[..., 1] != 0.0).mean() > 0.99
        assert 0.02 < (x[..., 0] != 0.0).mean() < 0.5


def test_walls_of_a_regression():
    """Coefficients that must not be negative: against the density on a grid."""
    found = sample(LogisticRegression(SMALL_X, SMALL_Y, lower=0.0), draws=10_000, chains=2, seed=3)
    a, b = np.meshgrid(np.linspace(0.0, 3.0, 601), np.linspace(0.0, 4.0, 601), indexing="ij")
    eta = a[..., None] + b[..., None] * np.cos(i)
    log = (SMALL_Y * eta - np.logaddexp(0.0, eta)).sum(axis=-1) - (a**2 + b**2) / 200.0
    weight = np.exp(log - log.max())
    expected = np.array([(weight * a).sum(), (weight * b).sum()]) / weight.sum()
    mean, _, error, _ = means_and_errors(found)
    assert np.all(np.abs(mean - expected) < 4.5 * error + 0.005)


def test_poisson_regression():
    """One coefficient, conjugate by quadrature."""
    x = np.linspace(-1.0, 1.0, 40)
    y = np.array([k % 4 for k in range(40)], float)
    grid = np.linspace(-2.0, 2.0, 20_001)
    log = np.array([(y * b * x - np.exp(b * x)).sum() for b in grid]) - grid**2 / 2.0
    weight = np.exp(log - log.max())
    expected = (weight * grid).sum() / weight.sum()
    found = sample(PoissonRegression(x[:, None], y, prior_sd=1.0), draws=20_000, chains=2, seed=4)
    mean, sd, error, _ = means_and_errors(found)
    assert abs(mean[0] - expected) < 4.5 * error[0]
    spread = np.sqrt((weight * (grid - expected) ** 2).sum() / weight.sum())
    assert abs(sd[0] / spread - 1.0) < 4.5 / np.sqrt(found.path["ess"].values[0])


def test_data_points_an_effective_sample_fall_with_n():
    """Tall data: what is read of them for an effective sample does not grow with n."""
    needed = []
    for n in (2_000, 20_000):
        rng = np.random.default_rng(5)
        X = np.column_stack([np.ones(n), rng.normal(size=(n, 4))])
        y = (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ [0.5, -1.0, 0.8, 0.3, -0.4]))).astype(float)
        found = sample(LogisticRegression(X, y), draws=5_000, chains=1, seed=6)
        needed.append(int(found.sample_stats["n_data_points"][0, -1]) / found.path["ess"].values.min())
    assert needed[1] < needed[0]


def test_alias_tables():
    """Each place gets its probability exactly, also with few heavy places and with zeros."""
    for weights in (np.array([1.0, 0.0, 1e6, 3.0]), np.random.default_rng(7).pareto(1.0, 1_000), np.ones(5)):
        keeps, alias = alias_table(weights)
        got = keeps.copy()
        np.add.at(got, alias, 1.0 - keeps)
        np.testing.assert_allclose(got / len(weights), weights / weights.sum(), atol=1e-12)


def test_ess_of_a_standard_normal():
    """N(0, 1) at unit speed: T sqrt(2 pi) / 4 independent draws, in the mean of 200 coordinates."""
    found = sample(Gaussian(sparse.identity(200)), draws=4_000, chains=1, seed=8, skeleton=False)
    ess = found.path["ess"].values
    assert abs(ess.mean() / (4_000 * np.sqrt(2.0 * np.pi) / 4.0) - 1.0) < 0.1
    assert (found.path["batch_length"].values >= 4.0).all()


def test_short_runs_say_so():
    """Where even the longest batches are correlated the effective sample size is NaN, with a warning."""
    target = Gaussian(np.linalg.inv(0.999 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))))
    with pytest.warns(UserWarning, match="their effective sample size is not known"):
        found = sample(target, draws=50, chains=1, seed=9)
    assert np.isnan(found.path["ess"].values).any()
    slow = np.cumsum(np.random.default_rng(10).normal(size=(1, 400, 1)), axis=1)
    assert np.isnan(batch_ess(np.cumsum(slow, axis=1), np.ones(1))[0]).all()


def local(n, time, seed):
    """Run a local Bouncy Particle Sampler on n copies of a correlated pair, from its stationary law."""
    covariance = np.array([[1.0, -0.6], [-0.6, 2.0]])
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal([0.5, -1.0], covariance, n).ravel()
    matrix = factors_of(sparse.kron(sparse.identity(n), sparse.csr_array(np.linalg.inv(covariance))).tocsr())
    world = factors(matrix, matrix @ np.tile([0.5, -1.0], n), x, rng.normal(size=2 * n), 0.3)
    simulation = Simulation(LOCAL, world, seed=seed)
    simulation.run(until=time)
    sites = simulation.world.sites
    return (sites["x"] + sites["v"] * (time - sites["since"])).reshape(n, 2), simulation


def test_local_bouncy_gate():
    """20,000 pairs that start in the stationary law are in it later."""
    x, simulation = local(20_000, 3.0, 11)
    for k, (mean, sd) in enumerate([(0.5, 1.0), (-1.0, np.sqrt(2.0))]):
        assert stats.kstest((x[:, k] - mean) / sd, "norm").pvalue > 2.0 * stats.norm.sf(4.5)
    assert_close((x[:, 0] - 0.5) * (x[:, 1] + 1.0), -0.6)
    assert simulation.counts["Bounce"] > 20_000


def test_local_bouncy_sample():
    """Through `sample`, on a chain of neighbours with a mean, and with its skeleton."""
    target = Gaussian(sparse.diags([-0.4, 1.0, -0.4], [-1, 0, 1], shape=(6, 6)), np.arange(6.0))
    found = sample(target, sampler="local-bouncy", draws=4_000, chains=2, seed=12)
    mean, _, error, _ = means_and_errors(found)
    assert np.all(np.abs(mean - np.arange(6.0)) < 4.5 * error)
    assert set(found.skeleton) >= {"time", "x", "v", "coordinate"}


def test_factors_give_the_precision_back():
    for precision in (np.array([[2.0, 0.5], [0.5, 1.0]]), np.linalg.inv([[1.0, 0.9], [0.9, 1.0]]), np.eye(3)):
        matrix = factors_of(sparse.csr_array(precision))
        np.testing.assert_allclose((matrix.T @ matrix).toarray(), precision, atol=1e-12)


def test_skeleton_is_the_path():
    """The exact mean along the path is that of its turns."""
    found = sample(Gaussian([[2.0]], [1.0]), draws=200, chains=1, seed=13)
    turns = found.skeleton.isel(chain=0)
    end = float(turns.time[0]) + 200.0
    t, x, v = (turns[name].values for name in ("time", "x", "v"))
    dt = np.diff(np.append(t, end))
    assert abs((dt * (x + 0.5 * v * dt)).sum() / 200.0 - float(found.path["mean"][0, 0])) < 1e-9


def test_threads_do_not_matter():
    """One thread or four: the same draws."""
    target = Gaussian([[1.0, 0.5], [0.5, 1.0]])
    one, four = (sample(target, draws=200, seed=14, threads=n).posterior["x"].values for n in (1, 4))
    assert np.array_equal(one, four)


def test_checkpoint_goes_on(tmp_path):
    """A run that was carried on has the draws of one that was not; another run's files are refused."""
    target = LogisticRegression(SMALL_X, SMALL_Y)
    straight = sample(target, draws=400, chains=2, seed=15)
    sample(target, draws=150, chains=2, seed=15, checkpoint=tmp_path)
    longer = sample(target, draws=400, chains=2, seed=15, checkpoint=tmp_path)
    assert np.array_equal(straight.posterior["x"].values, longer.posterior["x"].values)
    assert np.array_equal(straight.skeleton["time"].values, longer.skeleton["time"].values, equal_nan=True)
    with pytest.raises(InputError, match="is of another run: target, seed"):
        sample(target, draws=400, chains=2, seed=16, checkpoint=tmp_path)


def normal(x):
    return -x


def first_only(x):
    return -x[:1]


def test_checkpoint_of_a_function_from_outside(tmp_path):
    """The function is attached again: it is never in the file."""
    target = LogDensity(normal, 2)
    straight = sample(target, draws=300, chains=1, seed=17)
    sample(target, draws=100, chains=1, seed=17, checkpoint=tmp_path)
    longer = sample(target, draws=300, chains=1, seed=17, checkpoint=tmp_path)
    assert np.array_equal(straight.posterior["x"].values, longer.posterior["x"].values)


def test_data_frames_name_the_coefficients():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SMALL_X, columns=["one", "cosine"])
    found = sample(LogisticRegression(frame, SMALL_Y), draws=50, chains=1, seed=18)
    assert found.posterior["x_dim"].values.tolist() == ["one", "cosine"]


def test_progress_goes_to_stderr(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample(Gaussian([[1.0]]), draws=100, chains=2, seed=19, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "R-hat" in err


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Gaussian([[1.0, 0.5], [0.4, 1.0]]), r"must be symmetric, got 0.5 at \(0, 1\) and 0.4 at \(1, 0\)"),
        (lambda: Gaussian([[1.0, 2.0], [2.0, 1.0]]), "must be positive definite"),
        (lambda: Gaussian(sparse.diags([[-1.0] * 2999, [0.5] * 3000, [-1.0] * 2999], [-1, 0, 1])), "positive definite"),
        (lambda: Gaussian([[1.0, np.nan], [np.nan, 1.0]]), "precision must be finite"),
        (lambda: Gaussian(np.ones((2, 3))), "precision must be square"),
        (lambda: Gaussian(np.eye(2), lower=[0.0, 3.0], upper=1.0), r"lower must be < upper, got 3 and 1 \(entry 1\)"),
        (lambda: Gaussian(np.eye(2), inclusion=1.0, slab_sd=1.0), "inclusion must be > 0 and < 1, got 1"),
        (lambda: Gaussian(np.eye(2), inclusion=[0.5, 0.0], slab_sd=1.0), r"got 0 \(entry 1\)"),
        (lambda: Gaussian(np.eye(2), inclusion=0.5), "slab_sd is needed"),
        (lambda: Gaussian(np.eye(2), inclusion=0.5, slab_sd=-1.0), "slab_sd must be > 0"),
        (lambda: Gaussian(np.eye(2), slab_sd=1.0), "give inclusion"),
        (lambda: Gaussian(np.eye(2), [0.0, 0.0, 0.0]), "mean must have 2 entries"),
        (lambda: Gaussian(np.eye(2), names=["a", "a"]), "names must differ"),
        (lambda: LogisticRegression(SMALL_X, SMALL_Y + 1.0), "y must hold 0 and 1 for a logistic regression, got 2"),
        (lambda: LogisticRegression(SMALL_X[:3], SMALL_Y), "y must have 3 entries"),
        (lambda: LogisticRegression(SMALL_X * np.nan, SMALL_Y), "X must be finite"),
        (lambda: LogisticRegression([["a"]], [1.0]), "encode categories first"),
        (lambda: LogisticRegression(SMALL_X, SMALL_Y, prior_sd=0.0), "prior_sd must be > 0"),
        (lambda: PoissonRegression(SMALL_X, SMALL_Y - 0.5), "whole numbers >= 0"),
        (lambda: LinearRegression(SMALL_X, SMALL_Y, noise_sd=0.0), "noise_sd must be > 0"),
        (lambda: Gaussian(np.eye(2), inclusion="half", slab_sd=1.0), "inclusion must be numbers"),
        (lambda: LogDensity(3, 2), "gradient must be a function of x, got int"),
        (lambda: LogDensity(first_only, 2), r"must return an array of shape \(2,\), got shape \(1,\)"),
        (lambda: LogDensity(normal, 2, scale=[0.0, 1.0]), "scale must be > 0"),
        (lambda: LogDensity(normal, 2, scale=[[1.0, 2.0], [2.0, 1.0]]), "scale must be a positive definite covariance"),
        (lambda: LogDensity(normal, 0), "d must be a whole number >= 1"),
        (lambda: LogDensity(normal, 1, is_log_concave=True), "is_log_concave needs logp"),
        (lambda: LogDensity(normal, 2, curvature=[[1.0, -1.0], [-1.0, 1.0]]), "bounds on sizes"),
        (lambda: LogDensity(normal, 1, curvature="flat"), "curvature must hold numbers"),
        (lambda: LogDensity(normal, 1, start=[np.inf]), "start must be finite"),
        (lambda: Gaussian(sparse.csr_array((0, 0))), "real and have at least one entry"),
        (lambda: Gaussian(sparse.csr_array(1j * np.eye(2))), "precision must be real"),
        (lambda: Gaussian(1j * np.eye(2)), "precision must be real"),
        (lambda: LogisticRegression(SMALL_X, 1.0), "entries, got one number"),
        (lambda: PoissonRegression(SMALL_X, np.full(len(SMALL_X), np.inf)), "y must be finite"),
        (lambda: LinearRegression(SMALL_X, SMALL_Y, noise_sd="a"), "noise_sd must be > 0 and finite, one number"),
        (lambda: LinearRegression(SMALL_X, SMALL_Y, noise_sd=1e-200), "noise_sd must be > 0"),
        (lambda: LinearRegression([[1.0, 1.0]] * 3, [1.0] * 3, noise_sd=1.0, prior_sd=1e12), "singular to rounding"),
        (lambda: LinearRegression(SMALL_X, SMALL_Y, noise_sd=1.0, prior_mean=np.inf), "prior_mean must be finite"),
    ],
)  # fmt: skip
def test_bad_targets(make, text):
    with pytest.raises(InputError, match=text):
        make()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"draws": 1}, "draws must be a whole number >= 2"),
        ({"chains": 0}, "chains must be a whole number >= 1"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"spacing": 0.0}, "spacing must be > 0"),
        ({"sampler": "nuts"}, "can be sampled by zigzag, local-bouncy, bouncy, boomerang, factorised-boomerang"),
        ({"start": [0.0, 9.0]}, "start must lie within the walls, got 9 for coordinate 1"),
        ({"start": [0.0]}, r"start must have shape \(2,\) or \(4, 2\)"),
        ({"start": [0.0, np.nan]}, "start must be finite"),
        ({"start": "zero"}, "start must be numbers"),
        ({"threads": 0}, "threads must be a whole number >= 1"),
        ({"keep": [0.5]}, "keep must be numbers of coordinates"),
        ({"sampler": ["zigzag"]}, "can be sampled by zigzag"),
        ({"keep": 3}, "keep must be a list of numbers"),
        ({"keep": [0, 0]}, "must not name a coordinate twice"),
        ({"checkpoint": 3}, "checkpoint must be the path of a folder"),
        ({"keep": [2]}, r"keep must name coordinates in 0\.\.1"),
        ({"draws": 200_000_000}, "ask for fewer draws, or keep fewer coordinates"),
        ({"sampler": "local-bouncy"}, "walls need another sampler"),
    ],
)
def test_bad_options(options, text):
    with pytest.raises(InputError, match=text):
        sample(Gaussian(np.eye(2), upper=5.0), **options)


def test_what_is_no_target():
    with pytest.raises(InputError, match="target must be a Gaussian, a regression"):
        sample("x")


def broken(x):
    return undefined(x)  # noqa: F821


def test_gradient_that_does_not_compile():
    from tocsin import CompileError

    with pytest.raises(CompileError, match="the gradient does not compile"):
        LogDensity(broken, 1)


def test_plots_follow_the_path():
    """The corners of the path are those of the skeleton, and lie on the draws' own path."""
    from tocsin.models.sampling.plots import path_of, plot_pair, plot_phase, plot_trace

    found = sample(Gaussian([[1.0, 0.5], [0.5, 1.0]]), draws=100, chains=1, seed=20)
    times, x = path_of(found, 1)
    at = times[0] + 1.0 + np.arange(100)
    is_inside = at < times[-1]
    np.testing.assert_allclose(np.interp(at, times, x)[is_inside], found.posterior["x"].values[0, is_inside, 1])
    for plot in (plot_trace, plot_phase, plot_pair):
        assert plot(found).get_xlabel()
    with pytest.raises(InputError, match="sample with skeleton=True"):
        path_of(sample(Gaussian([[1.0]]), draws=100, chains=1, seed=20, skeleton=False), 0)


def test_poisson_too_far_from_normal():
    """One count with a huge predictor: refused, with what to do."""
    with pytest.raises(InputError, match="too far from normal for certified bounds"):
        sample(PoissonRegression([[100.0]], [0.0], prior_sd=1.0), draws=10)


def test_separated_data_with_a_flat_prior():
    """The posterior is far from normal and no bound is of use: refused, with what to do."""
    x = np.linspace(-1.0, 1.0, 20)[:, None]
    with pytest.raises(InputError, match=r"too far from normal for certified bounds to be of use .*tighter prior_sd"):
        sample(LogisticRegression(x, x[:, 0] > 0.0, prior_sd=1e6), draws=10)


def test_inputs_of_other_kinds():
    """Single precision, whole numbers, one chain, no warm-up, two draws: taken as they are meant."""
    for precision in (np.eye(2, dtype=np.float32), np.eye(2, dtype=int), sparse.identity(2, dtype=np.float32)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sample(Gaussian(precision), draws=2, chains=1, tune=0, seed=21, spacing=np.float32(0.5))
        assert found.posterior["x"].shape == (1, 2, 2)
        assert found.posterior["x"].dtype == np.float64


def test_coordinates_that_never_move_are_told_apart():
    """A coordinate that stays at its spike has no effective sample size; the warning says how many, and is not that of a short run."""
    precision = np.diag([1.0, 400.0])
    target = Gaussian(precision, inclusion=[0.5, 1e-9], slab_sd=[1.0, 0.05])
    with pytest.warns(UserWarning, match="1 of 2 coordinates never left one point"):
        found = sample(target, draws=400, chains=2, seed=1, start=[0.0, 0.0])
    assert np.isnan(found.path["ess"].values).tolist() == [False, True]
