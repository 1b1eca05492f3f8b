"""Laws of the Ehrenfest urns."""

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.classic.ehrenfest import MODEL, Rates, make_world

from ._statistics import assert_mean, assert_sum, stationary, values_at

pytestmark = pytest.mark.usefixtures("method")

SETTINGS = [(20, 1.0), (100, 0.5), (7, 3.0)]


@pytest.mark.parametrize(("n_balls", "hop"), SETTINGS)
def test_stationary_law_is_binomial(n_balls, hop):
    """In equilibrium, an urn holds Binomial(N, 1/2) balls: mean N / 2, variance N / 4."""
    world = make_world(n_balls, 0, Rates(hop=hop))
    means, squares = stationary(MODEL, world, n=64, burn=15 / hop, span=100 / hop)["Left"]
    assert_mean(means, n_balls / 2)
    assert_mean(squares, n_balls / 4 + n_balls**2 / 4)


@pytest.mark.parametrize(("n_balls", "hop"), SETTINGS)
def test_relaxation(n_balls, hop):
    """From all balls left, each is left at time t with probability (1 + exp(-2 hop t)) / 2."""
    n, time = 150, 0.4 / hop
    p = (1 + np.exp(-2 * hop * time)) / 2
    values = values_at(MODEL, make_world(n_balls, 0, Rates(hop=hop)), "Left", time, n=n)
    assert_sum(values.sum(), n * n_balls * p, n * n_balls * p * (1 - p))
    assert_mean((values - n_balls * p) ** 2, n_balls * p * (1 - p))


def test_balls_are_conserved():
    """No event makes or loses a ball."""
    simulation = Simulation(MODEL, make_world(30, 12), seed=3)
    for _ in range(50):
        simulation.run(events=11)
        assert simulation.world.urns["n_balls"].sum() == 42
        assert simulation.world.urns["n_balls"].min() >= 0
