"""Means over time from one long run, with a standard error from its batches."""

import numpy as np

from tocsin import Simulation

LIMIT = 4.5


def batches(model, world, measure, *, burn, span, n=40, seed=1):
    """Run, and return what `measure(simulation)` says of each of `n` pieces of length `span`, shape (n, k).

    `measure` is called at the end of each piece, after `reset_observables` at its start.
    """
    simulation = Simulation(model, world, seed=seed)
    simulation.run(until=burn)
    found = []
    for k in range(n):
        simulation.reset_observables()
        measure(simulation)
        simulation.run(until=burn + (k + 1) * span)
        found.append(measure(simulation))
    return np.array(found, float)


def assert_mean(samples, expected):
    """Assert that the mean of batch means is `expected`, by their own standard error.

    The batches are long enough if neighbours are not correlated by more than chance.
    """
    samples = np.asarray(samples, float)
    n, centred = len(samples), samples - samples.mean()
    error = samples.std(ddof=1) / np.sqrt(n)
    assert abs((centred[1:] * centred[:-1]).sum() / (centred**2).sum()) <= LIMIT / np.sqrt(n)
    assert abs(samples.mean() - expected) <= LIMIT * error, (samples.mean(), expected, error)
