"""Draws do not depend on the processor: nor on the order in which a library sums, nor on its fused operations."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tocsin.models.sampling import LogDensity, sample
from tocsin.models.sampling._steady import cholesky, inverse, product, rounded, solve, solve_lower

SCRIPT = """
import hashlib
import numpy as np
from tocsin.models.sampling import Gaussian, LinearRegression, LogisticRegression, sample
from tocsin.models.swarm.start import start_positions

rng = np.random.default_rng(7)
X = rng.normal(size=(200, 5))
precision = np.round(np.linalg.inv(np.cov(X.T)), 2)
targets = [
    (LinearRegression(X, np.round(X.sum(axis=1), 3), noise_sd=1.0, inclusion=0.3, prior_sd=1.0), "zigzag"),
    (LogisticRegression(X, (X[:, 0] > X[:, 1]) * 1.0), "zigzag"),
    (Gaussian(precision + precision.T), "boomerang"),
]
for target, sampler in targets:
    found = sample(target, sampler=sampler, draws=100, chains=2, tune=50, seed=3, progress=False)
    print(hashlib.sha256(next(iter(found.posterior.values())).values.tobytes()).hexdigest())
for shape in ("circle", "clusters", "web"):
    print(hashlib.sha256(start_positions(2000, shape, fill="edge", spacing="gaussian").tobytes()).hexdigest())
"""
NO_WIDE = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"


def test_draws_are_those_of_an_older_processor():
    """The same hash where linear algebra and NumPy are told to do without the instructions of newer processors."""
    old = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": NO_WIDE}
    found = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT],
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for more in ({}, old)
    ]
    assert len(found[0]) == 6
    assert found[0] == found[1]


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_linear_algebra(d: int):
    """Each function agrees with the library's to rounding."""
    rng = np.random.default_rng(d)
    tall, b = rng.normal(size=(d + 30, d)), rng.normal(size=d)
    a = tall.T @ tall
    size = np.abs(a).max()
    np.testing.assert_allclose(product(tall.T, tall), a, atol=1e-13 * size)
    np.testing.assert_allclose(product(tall, a), tall @ a, atol=1e-12 * size)
    np.testing.assert_allclose(product(tall, b), tall @ b, atol=1e-12)
    lower = np.linalg.cholesky(a)
    np.testing.assert_allclose(cholesky(a), lower, atol=1e-12 * size)
    np.testing.assert_allclose(solve_lower(lower, tall.T), np.linalg.solve(lower, tall.T), atol=1e-10)
    np.testing.assert_allclose(solve(a, b), np.linalg.solve(a, b), atol=1e-10)
    np.testing.assert_allclose(inverse(a), np.linalg.inv(a), atol=1e-10)


def test_no_root_of_an_indefinite_matrix():
    """As the library's, it says so."""
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_rounded_drops_what_is_noise():
    """Values that differ in the last bits become one; the change is at most half a place."""
    values = np.random.default_rng(1).normal(size=1000)
    size = np.full(1000, 3.0)
    near = rounded(values, size, 20)
    assert (rounded(values * (1.0 + 2e-16), size, 20) == near).all()
    assert np.abs(near - values).max() <= 0.5 * 4.0 * 2.0**-20


def test_the_sign_of_a_gradient():
    """A gradient of minus the log density is no density: the error asks whether the sign is right."""

    def uphill(x):
        return x * x * x

    with pytest.raises(ValueError, match=r"rises ever more steeply.*Is its sign right"):
        sample(LogDensity(uphill, 2, start=[0.1, 0.1]), draws=10, chains=1, tune=10, seed=1, progress=False)
