"""Runs of many independent copies, and tolerances of 4.5 standard errors computed from them."""

import numpy as np
import scipy.sparse as sparse

from tocsin.models.sampling import _field
from tocsin.models.sampling.gaussian import Gaussian

LIMIT = 4.5


def assert_close(samples, expected):
    """Assert that the mean of independent samples is `expected`, by their own standard error."""
    samples = np.asarray(samples, float)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    off = np.abs(samples.mean(axis=0) - expected) / error
    assert np.all(off <= LIMIT), f"mean {samples.mean(axis=0)}, expected {expected}, {off} standard errors off"


def path(target, time, seed, speeds=None, burn=20.0):
    """Run a Zig-Zag; return it with the path averages of x, x^2 and of not being at zero, (d,) each."""
    rng = np.random.default_rng(seed)
    chain = target.zigzag(target.first_position(rng), seed, speeds=speeds)
    chain.warm_up(burn)
    chain.record(2, 10.0 * time, [0])
    now = chain.simulation.now
    chain.simulation.run(until=now + time)
    area, squared, moving = _field.integrals(chain.world, chain.simulation.now)
    return chain, area / time, squared / time, moving / time


def copies(precision, n):
    """Return the precision matrix of n independent copies, each coordinate of which is next to its own copy's."""
    return sparse.kron(sparse.identity(n), sparse.csr_array(np.atleast_2d(precision)))


def replicated(precision, mean, n, **options):
    """Return the Gaussian of n independent copies."""
    return Gaussian(copies(precision, n), np.tile(mean, n), **options)
