"""PHOLD: messages that hop for ever between places, the common benchmark of event simulators.

Each message waits an exponential time, then goes to a place drawn uniformly. The hops are a Poisson
process of rate n_messages * hop. Fujimoto 1990, Proc. SCS Multiconf. Distributed Simulation 22, 23;
as a benchmark: Barnes et al. 2013, doi:10.1145/2486092.2486134.
"""

from __future__ import annotations

from tocsin import Action, Arena, Entity, Model, Observable, Params, Ref, Rng, Touched, World, float64, int64, param
from tocsin.export.marks import Cells, Histogram, View


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    hop: float64 = param(1.0, unit="1/time", gt=0, doc="hops of one message")


class Place(Entity):
    """A logical process: where messages are."""

    n_messages: int64
    n_visits: int64


class Message(Entity):
    """Something that travels."""

    place: Ref[Place]


class Machine(World):
    """Places and the messages between them."""

    places: Arena[Place]
    messages: Arena[Message]
    rates: Rates


class Hop(Action):
    """A message goes to another place, or to the same one."""

    message: Message

    def rate(self, world: Machine) -> float:
        return world.rates.hop

    def fire(self, world: Machine, now: float, rng: Rng, touched: Touched) -> None:
        target = world.places[rng.integers(0, len(world.places))]
        self.message.place.n_messages -= 1
        target.n_messages += 1
        target.n_visits += 1
        self.message.place = target


def make_world(n_places: int = 100, per_place: int = 1, rates: Rates | None = None) -> Machine:
    """Return `n_places` places that hold `per_place` messages each."""
    home = [i for i in range(n_places) for _ in range(per_place)]
    return Machine(
        places={"n_messages": [per_place] * n_places}, messages={"place": home},
        rates=rates or Rates(),
    )  # fmt: skip


class AtFirst(Observable):
    """Number of messages at the first place."""

    def value(self, world: Machine) -> float:
        return world.places[0].n_messages


MODEL = Model(Machine, [Hop], observables=[AtFirst], name="phold")

VIEW = View(
    (Cells(table="places", value="n_messages", shades=True), Histogram("places", "n_messages", "messages at a place")),
    note="Each cell is a place: the darker, the more messages.",
)
