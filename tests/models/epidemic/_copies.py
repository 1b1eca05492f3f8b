"""Many copies of a small network in one town, and the exact law of one of them."""

import itertools

import numpy as np
import scipy.linalg

from tocsin import Simulation
from tocsin.models.epidemic import BY_CONTACT, INFECTIOUS, MODEL, RECOVERED, SUSCEPTIBLE, Rates, make_town
from tocsin.space import Network

LIMIT = 4.5


def copies(n, edges, n_copies, weights=None, directed=False, **more):
    """Return a network of `n_copies` times the given one; copy c has nodes n c .. n c + n - 1."""
    edges = np.asarray(edges)
    shift = np.repeat(np.arange(n_copies) * n, len(edges))[:, None]
    all_weights = None if weights is None else np.tile(weights, n_copies)
    return Network.from_edges(
        n * n_copies, np.tile(edges, (n_copies, 1)) + shift, all_weights, directed=directed, **more
    )


def run(network, n, infectious, time, *, seed=1, by_contact=False, **given):
    """Run a town of copies in which the same people of each are infectious; return states, shape (copies, n)."""
    n_copies = network.n // n
    cases = (np.arange(n_copies)[:, None] * n + np.asarray(infectious)).ravel()
    town = make_town(network, cases, by_contact=by_contact, **given)
    simulation = Simulation(BY_CONTACT if by_contact else MODEL, town, seed=seed)
    simulation.run(until=time)
    counts = np.bincount(simulation.world.people["state"], minlength=5)
    assert simulation.world.n_in.values.tolist() == counts.tolist()
    return simulation.world.people["state"].reshape(n_copies, n)


def master(n, edges, weights, rates: Rates, course, start, time, directed=False):
    """Return the probability of each tuple of states at a time, from the Markov chain on all of them."""
    after = SUSCEPTIBLE if course == "SIS" else RECOVERED
    kinds = (SUSCEPTIBLE, INFECTIOUS) if course == "SIS" else (SUSCEPTIBLE, INFECTIOUS, RECOVERED)
    states = list(itertools.product(kinds, repeat=n))
    number = {state: k for k, state in enumerate(states)}
    q = np.zeros((len(states), len(states)))
    ways = [(a, b, w) for (a, b), w in zip(edges, weights, strict=True)]
    ways += [] if directed else [(b, a, w) for a, b, w in ways]

    def add(state, i, new, rate):
        q[number[state], number[(*state[:i], new, *state[i + 1 :])]] += rate

    for state in states:
        for a, b, w in ways:
            if state[a] == INFECTIOUS and state[b] == SUSCEPTIBLE:
                add(state, b, INFECTIOUS, rates.transmission * w)
        for i in range(n):
            if state[i] == INFECTIOUS:
                add(state, i, after, rates.recovery)
            if state[i] == RECOVERED:
                add(state, i, SUSCEPTIBLE, rates.waning)
            if state[i] == SUSCEPTIBLE:
                add(state, i, INFECTIOUS, rates.importation)
    q -= np.diag(q.sum(axis=1))
    p = scipy.linalg.expm(q * time)[number[tuple(start)]]
    return dict(zip(states, p, strict=True))


def assert_law(states, law):
    """Assert that each tuple of states is as frequent as the law says, within 4.5 standard errors."""
    n = len(states)
    seen = {}
    for state in map(tuple, states.tolist()):
        seen[state] = seen.get(state, 0) + 1
    assert set(seen) <= {state for state, p in law.items() if p > 0.0}
    for state, p in law.items():
        error = np.sqrt(n * p * (1 - p)) + 1.0  # 1: counts are whole
        assert abs(seen.get(state, 0) - n * p) <= LIMIT * error, (state, seen.get(state, 0), n * p)


def assert_part(hits, p):
    """Assert that independent events of probability p happened as often as they should."""
    n = len(hits)
    assert abs(np.sum(hits) - n * p) <= LIMIT * np.sqrt(n * p * (1 - p)), (np.mean(hits), p)
