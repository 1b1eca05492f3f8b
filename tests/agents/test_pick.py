"""A row picked by chance: of an arena, of a pool with gaps, and of one as it was when a tick began."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import Arena, Entity, Model, Pool, Simulation, System, World, int64
from tocsin.errors import FireError


class Bug(Entity):
    """Comes and goes."""

    n_picked: int64
    picked: int64


class Stone(Entity):
    """Stays."""

    n_picked: int64


class Garden(World):
    """Bugs and stones."""

    bugs: Pool[Bug]
    stones: Arena[Stone]


class Pick(System):
    """Picks one of each; removes nobody."""

    def update(self, world, now, rng):
        world.bugs.pick(rng).n_picked += 1
        world.stones.pick(rng).n_picked += 1


class Look(System):
    """Each bug picks one of the bugs that live as the tick begins."""

    bug: Bug
    mode = "synchronous"

    def update(self, world, now, rng):
        self.bug.picked = world.bugs.pick(rng).index


MODEL = Model(Garden, systems=[Pick, Look])


def garden(jit: bool = True, live: bool = True) -> Simulation:
    """Return ten bugs, of whom every other lives, and four stones."""
    simulation = Simulation(MODEL, Garden(bugs=10, stones=4), seed=7, jit=jit)
    simulation.world.bugs.where(np.arange(10) % (2 if live else 1) == 0).remove()
    return simulation


def test_each_live_row_is_equally_likely():
    """Of 2,000 picks all live bugs and all stones get their share (chi squared, 4.5 standard errors); no dead bug does."""
    simulation = garden()
    simulation.run(until=2000.0)
    bugs, stones = (table["n_picked"] for table in (simulation.world.bugs, simulation.world.stones))
    assert (bugs[::2] == 0).all()
    for counts in (bugs[1::2], stones):
        mean, freedom = 2000 / len(counts), len(counts) - 1
        assert ((counts - mean) ** 2 / mean).sum() < freedom + 4.5 * np.sqrt(2 * freedom)
    assert set(simulation.world.bugs["picked"][1::2].tolist()) <= {1, 3, 5, 7, 9}


def test_compiled_and_interpreted_pick_alike():
    """The same rows."""
    runs = [garden(jit) for jit in (True, False)]
    for simulation in runs:
        simulation.run(until=30.0)
    assert runs[0].state_hash() == runs[1].state_hash()


@pytest.mark.parametrize("jit", [True, False])
def test_nobody_to_pick(jit):
    """A pool without live rows is an error, not an endless search."""
    with pytest.raises(FireError, match=r"Pick\(\).update .* raised IndexError: there is no row to pick"):
        garden(jit, live=False).run(until=1.0)
