"""Swarms for the tests: one compiled model for all of them."""

from __future__ import annotations

import numpy as np

from tocsin import Simulation
from tocsin.models.swarm import make_swarm
from tocsin.models.swarm.preset import MODEL


def places(n, seed=0, size=600.0):
    """Return n random positions in a box."""
    return np.random.default_rng(seed).uniform(-size / 2, size / 2, (n, 2))


def swarm(n=8, algorithm="Gathering", *, seed=0, jit=True, speed=30.0, audit=False, **options):
    """Return a simulation of n robots at random places, or at the places given."""
    given = places(n, seed) if isinstance(n, int) else n
    world = make_swarm(given, algorithm, speed=speed, seed=seed, **options)
    return Simulation(MODEL, world, seed=seed, jit=jit, audit=audit)


def events_of(simulation, n):
    """Fire n events and return them as (time, action, robot)."""
    found = []
    for _ in range(n):
        event = simulation.step()
        if event is None:
            break
        found.append(tuple(event))
    return found


def looks_of(simulation, n):
    """Return the robots that look in the next n events."""
    return [who for _, action, who in events_of(simulation, n) if action == "Look"]


def rest(simulation, events=200_000):
    """Run until all is at rest, and return the simulation."""
    simulation.run(events=events, until=1e9)
    return simulation
