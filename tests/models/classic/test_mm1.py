"""Laws of the M/M/1 queue."""

import pytest

from tocsin import Simulation
from tocsin.models.classic.mm1 import MODEL, Rates, make_world

from ._statistics import assert_mean, assert_sum, stationary

pytestmark = pytest.mark.usefixtures("method")

SETTINGS = [(0.3, 1.0), (1.2, 2.0), (4.0, 5.0)]


@pytest.mark.parametrize(("arrival", "service"), SETTINGS)
def test_stationary_law_is_geometric(arrival, service):
    """With load rho, the number present has mean rho / (1 - rho), and is 0 for 1 - rho of the time."""
    rho = arrival / service
    relaxation = 1 / (service * (1 - rho**0.5) ** 2)
    world = make_world(0, Rates(arrival=arrival, service=service))
    seen = stationary(MODEL, world, n=48, burn=30 * relaxation, span=200 * relaxation)
    assert_mean(seen["Present"][0], rho / (1 - rho))
    assert_mean(seen["Present"][1], rho * (1 + rho) / (1 - rho) ** 2)
    assert_mean(seen["Idle"][0], 1 - rho)


@pytest.mark.parametrize(("arrival", "service"), SETTINGS)
def test_departures_are_poisson(arrival, service):
    """In equilibrium, customers leave as they come: a Poisson process (Burke 1956)."""
    rho = arrival / service
    burn, span, n = 30 / (service * (1 - rho**0.5) ** 2), 500 / arrival, 64
    served = []
    for seed in range(n):
        simulation = Simulation(MODEL, make_world(0, Rates(arrival=arrival, service=service)), seed=seed)
        simulation.run(until=burn)
        before = simulation.world.n_served
        simulation.run(until=burn + span)
        served.append(simulation.world.n_served - before)
    expected = arrival * span
    assert_sum(sum(served), n * expected, n * expected)
    assert_mean([(x - expected) ** 2 for x in served], expected)


def test_customers_are_conserved():
    """At every time: present = at the start + arrived - served."""
    simulation = Simulation(MODEL, make_world(3, Rates(arrival=0.9)), seed=1)
    for _ in range(20):
        simulation.run(events=137)
        world, counts = simulation.world, simulation.counts
        assert world.n_present == 3 + counts["Arrive"] - counts["Serve"]
        assert world.n_served == counts["Serve"]
