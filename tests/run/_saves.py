"""Simulations that are saved, in the tests of saves."""

from __future__ import annotations

from tocsin import Simulation
from tocsin.models.classic import sir_network

from ._cells import MODEL, Dish

METHODS = ("next-reaction", "composition-rejection")


def town(jit=True, **options):
    """An epidemic: arrays, params, silent clocks, observables on rows."""
    n = 7_500 if jit else 100
    contacts = sir_network.random_contacts(n, 3 * n, seed=1)
    world = sir_network.make_world(n, contacts, range(n // 10))
    return Simulation(sir_network.MODEL, world, seed=2, jit=jit, **options)


def cells(jit=True, **options):
    """A pool that grows, with references, a free list and observables."""
    return Simulation(MODEL, Dish(cells={"mass": [1.0] * 20}), seed=3, jit=jit, **options)
