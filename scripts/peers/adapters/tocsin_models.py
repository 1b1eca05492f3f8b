"""A model of ours that the package does not ship: M/M/1 with the least work an event."""

from __future__ import annotations

from tocsin import Action, Model, Observable, Rng, Touched, World, int64


class Queue(World):
    """How many are there."""

    n_present: int64 = 0
    n_served: int64 = 0


class Arrive(Action):
    """A customer comes; the server's clock is told only if it stood still."""

    def rate(self, world: Queue) -> float:
        return 0.8

    def fire(self, world: Queue, now: float, rng: Rng, touched: Touched) -> None:
        world.n_present += 1
        if world.n_present == 1:
            touched.add(world)


class Serve(Action):
    """The server is done with a customer."""

    def rate(self, world: Queue) -> float:
        return 1.0 if world.n_present > 0 else 0.0

    def fire(self, world: Queue, now: float, rng: Rng, touched: Touched) -> None:
        world.n_present -= 1
        world.n_served += 1


class Present(Observable):
    """Number of customers, waiting and in service."""

    def value(self, world: Queue) -> float:
        return world.n_present


COUNTED = Model(Queue, [Arrive, Serve], observables=[Present], name="counted")
