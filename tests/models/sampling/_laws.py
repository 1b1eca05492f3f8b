"""Runs of many independent copies, and tolerances of 4.5 standard errors computed from them."""

import numpy as np
import scipy.sparse as sparse
from scipy import stats

from tocsin import Simulation
from tocsin.models.sampling import _field
from tocsin.models.sampling._flight import SAMPLERS, flight
from tocsin.models.sampling.gaussian import Gaussian
from tocsin.models.sampling.particle import MODEL

LIMIT = 4.5
LEAST_P = 2.0 * stats.norm.sf(LIMIT)


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


def fly(sampler, z, v, time, *, seed=1, target=None, **options):
    """Run particles to a time; return where they are, and the world."""
    is_circle, is_flip = SAMPLERS[sampler]
    options.setdefault("curvature", np.zeros((z.shape[1], z.shape[1])))
    options.setdefault("refresh", 0.0 if sampler == "zigzag" else 1.0)
    world = flight(z, v, is_circle=is_circle, is_flip=is_flip, **options)
    simulation = Simulation(MODEL, world, seed=seed)
    if target is not None:
        simulation.world.attach(target._function, target._address)
    simulation.run(until=time)
    world = simulation.world
    t = (time - world.particles["at"])[:, None]
    z, v = world.z.values, world.v.values
    return np.where(v == 0.0, z, z * np.cos(t) + v * np.sin(t)) if is_circle else z + v * t, world


def copies(precision, n):
    """Return the precision matrix of n independent copies, each coordinate of which is next to its own copy's."""
    return sparse.kron(sparse.identity(n), sparse.csr_array(np.atleast_2d(precision)))


def replicated(precision, mean, n, **options):
    """Return the Gaussian of n independent copies."""
    return Gaussian(copies(precision, n), np.tile(mean, n), **options)
