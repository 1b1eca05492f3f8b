"""Laws of PHOLD."""

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.classic.phold import MODEL, Rates, make_world

from ._statistics import LIMIT, assert_mean, assert_sum, stationary

pytestmark = pytest.mark.usefixtures("method")

SETTINGS = [(50, 2, 1.0), (8, 40, 0.25), (500, 1, 7.0)]


@pytest.mark.parametrize(("n_places", "per_place", "hop"), SETTINGS)
def test_hops_are_poisson(n_places, per_place, hop):
    """The number of hops up to t is Poisson with mean n_messages * hop * t."""
    n, time = 50, 5.0 / hop
    world = make_world(n_places, per_place, Rates(hop=hop))
    hops = [Simulation(MODEL, world, seed=s).run(until=time).n_events for s in range(n)]
    expected = n_places * per_place * 5.0
    assert_sum(sum(hops), n * expected, n * expected)
    assert_mean([(x - expected) ** 2 for x in hops], expected)


@pytest.mark.parametrize(("n_places", "per_place", "hop"), SETTINGS)
def test_places_are_visited_alike(n_places, per_place, hop):
    """Visits are multinomial: Pearson's statistic has mean k - 1 and variance near 2 (k - 1)."""
    simulation = Simulation(MODEL, make_world(n_places, per_place, Rates(hop=hop)), seed=7)
    simulation.run(events=100 * n_places)
    visits = simulation.world.places["n_visits"]
    assert visits.sum() == simulation.n_events
    statistic = ((visits - 100.0) ** 2 / 100.0).sum()
    assert abs(statistic - (n_places - 1)) <= LIMIT * np.sqrt(2.0 * (n_places - 1))


@pytest.mark.parametrize(("n_places", "per_place", "hop"), SETTINGS)
def test_messages_at_a_place_are_binomial(n_places, per_place, hop):
    """In equilibrium, a place holds Binomial(n_messages, 1 / n_places) messages."""
    world = make_world(n_places, per_place, Rates(hop=hop))
    means, squares = stationary(MODEL, world, n=48, burn=30 / hop, span=30 / hop)["AtFirst"]
    assert_mean(means, per_place)
    assert_mean(squares, per_place * (1 - 1 / n_places) + per_place**2)


def test_messages_are_conserved():
    """Each place holds the messages that say they are there."""
    simulation = Simulation(MODEL, make_world(10, 3), seed=8)
    for _ in range(20):
        simulation.run(events=17)
        world = simulation.world
        there = np.bincount(world.messages["place"], minlength=10)
        assert (world.places["n_messages"] == there).all()
