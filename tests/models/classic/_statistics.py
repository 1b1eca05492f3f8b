"""Laws hold within 4.5 standard errors, which are computed, never guessed."""

import numpy as np

from tocsin import Simulation

LIMIT = 4.5


def assert_mean(samples, expected):
    """Assert that the mean of independent samples is `expected`, by their own standard error."""
    samples = np.asarray(samples, float)
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    assert abs(samples.mean() - expected) <= LIMIT * error, (
        f"mean {samples.mean():.6g}, expected {expected:.6g}, standard error {error:.3g}"
    )


def assert_sum(total, expected, variance):
    """Assert that a sum of known variance is `expected`."""
    error = np.sqrt(variance)
    assert abs(total - expected) <= LIMIT * error, (
        f"sum {total:.6g}, expected {expected:.6g}, standard error {error:.3g}"
    )


def stationary(model, world, *, n, burn, span):
    """Observe `n` independent runs for `span` after `burn`: {observable: (means, mean squares)}."""
    seen = {m.name: ([], []) for m in model.observables}
    for seed in range(n):
        simulation = Simulation(model, world, seed=seed)
        simulation.run(until=burn)
        simulation.reset_observables()
        simulation.run(until=burn + span)
        for name, (means, squares) in seen.items():
            observed = simulation.observe()[name]
            means.append(observed.mean)
            squares.append(observed.variance + observed.mean**2)
    return seen


def values_at(model, world, name, time, *, n):
    """Return the value of an observable at one time in `n` independent runs."""
    found = []
    for seed in range(n):
        simulation = Simulation(model, world, seed=seed)
        simulation.run(until=time)
        found.append(simulation.observe()[name].value)
    return np.array(found)
