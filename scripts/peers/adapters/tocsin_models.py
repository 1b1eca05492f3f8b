"""Models of the race: M/M/1 with the least work an event, that of the peer's model; and the epidemic."""

from __future__ import annotations

from cases import CASES_AT_START, PEOPLE, RECOVERY, TRANSMISSION, contacts

from tocsin import Action, Model, Rng, Touched, World, float64, int64


class Queue(World):
    """How many are there, and the integral of that over time until the last event."""

    n_present: int64 = 0
    n_served: int64 = 0
    area: float64 = 0.0
    last: float64 = 0.0

    def pass_time(self, now: float) -> None:
        """Take the time since the last event into the integral."""
        self.area += self.n_present * (now - self.last)
        self.last = now


class Arrive(Action):
    """A customer comes; the server's clock is told only if it stood still."""

    def rate(self, world: Queue) -> float:
        return 0.8

    def fire(self, world: Queue, now: float, rng: Rng, touched: Touched) -> None:
        world.pass_time(now)
        world.n_present += 1
        if world.n_present == 1:
            touched.add(world)


class Serve(Action):
    """The server is done with a customer."""

    def rate(self, world: Queue) -> float:
        return 1.0 if world.n_present > 0 else 0.0

    def fire(self, world: Queue, now: float, rng: Rng, touched: Touched) -> None:
        world.pass_time(now)
        world.n_present -= 1
        world.n_served += 1


def epidemic():
    """Return the model of the epidemic, and the town it begins in."""
    import numpy as np

    from tocsin.models.epidemic import MODEL, Rates, make_town
    from tocsin.space import Network

    network = Network.from_edges(PEOPLE, contacts())
    rates = Rates(transmission=TRANSMISSION, recovery=RECOVERY)
    return MODEL, make_town(network, np.arange(CASES_AT_START), rates=rates)


COUNTED = Model(Queue, [Arrive, Serve], name="counted")
