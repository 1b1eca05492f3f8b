"""Laws of two-state switches."""

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.classic.switch import MODEL, Rates, make_world

from ._statistics import assert_mean, assert_sum, stationary

pytestmark = pytest.mark.usefixtures("method")

SETTINGS = [(1.0, 2.0), (0.2, 0.1), (5.0, 0.5)]
N = 4000


def board(opening, closing, seed, n=N):
    """Return a simulation of `n` switches that start off."""
    return Simulation(MODEL, make_world(n, False, Rates(opening=opening, closing=closing)), seed=seed)


@pytest.mark.parametrize(("opening", "closing"), SETTINGS)
def test_occupancy(opening, closing):
    """In equilibrium, a switch is on for opening / (opening + closing) of the time."""
    sum_of_rates = opening + closing
    world = make_world(50, False, Rates(opening=opening, closing=closing))
    means, squares = stationary(MODEL, world, n=48, burn=30 / sum_of_rates, span=60 / sum_of_rates)["On"]
    p = opening / sum_of_rates
    assert_mean(means, 50 * p)
    assert_mean(squares, 50 * p * (1 - p) + (50 * p) ** 2)


@pytest.mark.parametrize(("opening", "closing"), SETTINGS)
def test_approach(opening, closing):
    """A switch that is off is on at time t with probability p (1 - exp(-(opening + closing) t))."""
    simulation = board(opening, closing, seed=1)
    p = opening / (opening + closing)
    for x in (0.3, 1.0, 2.0):
        simulation.run(until=x / (opening + closing))
        q = p * (1 - np.exp(-x))
        assert_sum(simulation.world.switches["is_on"].sum(), N * q, N * q * (1 - q))


@pytest.mark.parametrize(("opening", "closing"), SETTINGS)
def test_autocorrelation(opening, closing):
    """In equilibrium, the covariance of a switch with itself is p (1 - p) exp(-(opening + closing) t)."""
    simulation, sum_of_rates = board(opening, closing, seed=2), opening + closing
    p = opening / sum_of_rates
    simulation.run(until=30 / sum_of_rates)
    before = simulation.world.switches["is_on"] - p
    for x in (0.5, 1.5):
        simulation.run(until=(30 + x) / sum_of_rates)
        now = simulation.world.switches["is_on"] - p
        assert_mean(before * now, p * (1 - p) * np.exp(-x))


@pytest.mark.parametrize(("opening", "closing"), SETTINGS)
def test_dwell_times(opening, closing):
    """A switch stays off for an exponential time of mean 1 / opening, and on for 1 / closing."""
    times = board(opening, closing, seed=3, n=1).record_events(events=8000).to_arrow()["time"].to_numpy()
    dwells = np.diff(times, prepend=0.0)
    for waits, rate in ((dwells[::2], opening), (dwells[1::2], closing)):
        assert_mean(waits, 1 / rate)
        assert_mean(waits**2, 2 / rate**2)
        assert_mean(waits > 2 / rate, np.exp(-2))


@pytest.mark.parametrize(("opening", "closing"), SETTINGS)
def test_flips(opening, closing):
    """In equilibrium, a switch flips 2 opening closing / (opening + closing) times per unit time."""
    simulation, sum_of_rates = board(opening, closing, seed=4), opening + closing
    simulation.run(until=30 / sum_of_rates)
    before = simulation.world.switches["n_flips"].copy()
    simulation.run(until=50 / sum_of_rates)
    flips = simulation.world.switches["n_flips"] - before
    assert_mean(flips, 2 * opening * closing / sum_of_rates * 20 / sum_of_rates)
    assert simulation.world.switches["n_flips"].sum() == simulation.n_events
