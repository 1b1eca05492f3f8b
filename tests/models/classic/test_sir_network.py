"""Laws of the SIR epidemic on a network."""

import numpy as np
import pytest

from tocsin import InputError, Simulation, Stop
from tocsin.models.classic.sir_network import (
    INFECTED,
    MODEL,
    RECOVERED,
    SUSCEPTIBLE,
    Rates,
    make_world,
    random_contacts,
)

from ._statistics import assert_mean, assert_sum

pytestmark = pytest.mark.usefixtures("method")

SETTINGS = [(0.5, 1.0), (2.0, 1.0), (0.1, 0.7)]


@pytest.mark.parametrize(("transmission", "recovery"), SETTINGS)
def test_one_contact_transmits(transmission, recovery):
    """Along one contact, an infection passes before recovery with probability b / (b + g)."""
    n = 5000
    pairs = np.arange(2 * n).reshape(n, 2)
    rates = Rates(transmission=transmission, recovery=recovery)
    simulation = Simulation(MODEL, make_world(2 * n, pairs, pairs[:, 0], rates), seed=1)
    assert simulation.run(until=1e9).stopped is Stop.EXHAUSTED
    p = transmission / (transmission + recovery)
    assert_sum(simulation.counts["Catch"], n * p, n * p * (1 - p))
    assert simulation.counts["Recover"] == n + simulation.counts["Catch"]


@pytest.mark.parametrize(("transmission", "recovery"), SETTINGS)
def test_two_infected_neighbours(transmission, recovery):
    """Beside two infected people, one stays well until a time t with probability of no hazard.

    Each neighbour has transmitted before t with probability b / (b + g) (1 - exp(-(b + g) t)).
    """
    n, x = 5000, 0.8
    middle = 3 * np.arange(n)
    contacts = np.concatenate([np.stack([middle, middle + k], axis=1) for k in (1, 2)])
    cases = np.concatenate([middle + 1, middle + 2])
    rates = Rates(transmission=transmission, recovery=recovery)
    simulation = Simulation(MODEL, make_world(3 * n, contacts, cases, rates), seed=2)
    both = transmission + recovery
    simulation.run(until=x / both)
    escaped = 1 - transmission / both * (1 - np.exp(-x))
    n_well = (simulation.world.people["state"][middle] == SUSCEPTIBLE).sum()
    assert_sum(n_well, n * escaped**2, n * escaped**2 * (1 - escaped**2))


@pytest.mark.parametrize("recovery", [1.0, 0.2, 4.0])
def test_recovery_times(recovery):
    """People whom nobody can infect recover after an exponential time."""
    world = make_world(3000, [], np.arange(3000), Rates(recovery=recovery))
    times = Simulation(MODEL, world, seed=3).record_events(until=1e9).to_arrow()["time"].to_numpy()
    assert len(times) == 3000
    assert_mean(times, 1 / recovery)
    assert_mean(times**2, 2 / recovery**2)


def test_counts_of_neighbours_are_true():
    """After any number of events, each person knows how many neighbours are infected."""
    contacts = random_contacts(300, 900, seed=4)
    simulation = Simulation(MODEL, make_world(300, contacts, [0, 1, 2]), seed=5)
    while simulation.run(events=23).stopped is Stop.REACHED_EVENTS:
        state = simulation.world.people["state"]
        expected = np.zeros(300, int)
        for i, j in (*contacts, *contacts[:, ::-1]):
            expected[i] += state[j] == INFECTED
        assert (simulation.world.people["n_infected_neighbours"] == expected).all()
    assert set(simulation.world.people["state"]) <= {SUSCEPTIBLE, RECOVERED}


def test_random_contacts_are_different_pairs():
    """Asking for all pairs gives each pair once; asking for more is refused."""
    found = random_contacts(40, 780, seed=6)
    assert sorted(map(tuple, found.tolist())) == [(i, j) for i in range(40) for j in range(i + 1, 40)]
    with pytest.raises(InputError, match=r"n_contacts must be in 0\.\.780 for 40 people, got 781"):
        random_contacts(40, 781, seed=6)


@pytest.mark.parametrize(
    ("contacts", "infected", "text"),
    [
        ([(0, 5)], [0], r"people are numbered 0\.\.4, got 0\.\.5"),
        ([(0, 1)], [-1], r"people are numbered 0\.\.4, got -1\.\.-1"),
        ([(2, 2)], [0], "a contact needs two different people"),
    ],
)
def test_bad_contacts(contacts, infected, text):
    """People who do not exist, and contacts of a person with himself, are refused."""
    with pytest.raises(InputError, match=text):
        make_world(5, contacts, infected)
