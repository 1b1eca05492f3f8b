"""Laws of immigration and death."""

import numpy as np
import pytest

from tocsin.models.classic.birth_death import MODEL, Rates, make_world

from ._statistics import assert_mean, assert_sum, stationary, values_at

pytestmark = pytest.mark.usefixtures("method")

SETTINGS = [(10.0, 1.0), (0.5, 2.0), (60.0, 0.3)]


@pytest.mark.parametrize(("arrival", "departure"), SETTINGS)
def test_stationary_law_is_poisson(arrival, departure):
    """In equilibrium, mean and variance of the number present are arrival / departure."""
    load = arrival / departure
    world = make_world(round(load), Rates(arrival=arrival, departure=departure))
    seen = stationary(MODEL, world, n=64, burn=30 / departure, span=200 / departure)
    means, squares = seen["Individuals"]
    assert_mean(means, load)
    assert_mean(squares, load + load**2)


@pytest.mark.parametrize(("arrival", "departure"), SETTINGS)
def test_approach_from_zero(arrival, departure):
    """From 0, the number at time t is Poisson with mean k/g (1 - exp(-g t))."""
    world = make_world(0, Rates(arrival=arrival, departure=departure))
    time, n = 0.7 / departure, 200
    expected = arrival / departure * (1 - np.exp(-0.7))
    values = values_at(MODEL, world, "Individuals", time, n=n)
    assert_sum(values.sum(), n * expected, n * expected)
    assert_mean(values**2, expected + expected**2)


def test_nobody_arrives():
    """Without arrivals, individuals only leave, and the run ends when all have left."""
    from tocsin import Simulation, Stop

    simulation = Simulation(MODEL, make_world(25, Rates(arrival=0.0)), seed=5)
    report = simulation.run(until=1e9)
    assert report == (25, 1e9, Stop.EXHAUSTED)
    assert simulation.counts == {"Arrive": 0, "Depart": 25}
