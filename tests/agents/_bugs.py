"""A world for the laws of synchronous systems: bugs that look at their leader, breed, die, and ring."""

from __future__ import annotations

import numpy as np

from tocsin import (
    NEVER,
    Action,
    Entity,
    Model,
    Observable,
    OptionalRef,
    Pool,
    System,
    World,
    boolean,
    float64,
    int64,
)


class Bug(Entity):
    """A bug: a number, whom it follows, when it was born, when it rings."""

    x: float64
    leader: OptionalRef[Bug]
    parent: OptionalRef[Bug]
    born_at: float64
    rings_at: float64
    n_rung: int64
    child_number: int64


class Nest(World):
    """Bugs."""

    bugs: Pool[Bug]
    total: float64
    breed: boolean


class Follow(System):
    """A bug takes the number of its leader as it was; breeds twice, dies or sets its alarm, by chance."""

    bug: Bug
    mode = "synchronous"

    def update(self, world, now, rng, touched):
        bug = self.bug
        if bug.leader is not None:
            bug.x = bug.leader.x + 0.5 * rng.random()
        if world.breed:
            if rng.random() < 0.2:
                for number in range(2):
                    child = world.bugs.spawn()
                    child.x = bug.x
                    child.parent = bug
                    child.born_at = now
                    child.child_number = number
                    child.rings_at = -1.0
            elif rng.random() < 0.3:
                world.bugs.remove(bug)
        if rng.random() < 0.2:
            bug.rings_at = now + rng.random()
            touched.add(bug)


class Ring(Action):
    """An alarm that a tick has set."""

    bug: Bug

    def schedule(self, world, now, rng):
        return self.bug.rings_at if self.bug.rings_at >= now else NEVER

    def fire(self, world, now, rng, touched):
        self.bug.rings_at = -1.0
        self.bug.n_rung += 1


class Rung(Observable):
    """Alarms that rang, of those alive."""

    bug: Bug

    def value(self, world):
        return self.bug.n_rung


MODEL = Model(Nest, [Ring], systems=[Follow], observables=[Rung])


def nest(n, breed=False):
    """Return n bugs in a chain: each follows the one before."""
    return Nest(
        bugs={"x": np.arange(n), "leader": np.arange(n) - 1, "rings_at": np.full(n, -1.0), "n_rung": np.zeros(n)},
        breed=breed,
    )
