"""The M/M/1 queue: Poisson arrivals, one server, exponential service, first come first served.

With load rho = arrival / service < 1 the number present is geometric: mean rho / (1 - rho), empty
with probability 1 - rho. Kendall 1953, doi:10.1214/aoms/1177728975.
"""

from __future__ import annotations

from tocsin import Action, InputError, Model, Observable, Params, Rng, Touched, World, float64, int64, param
from tocsin.export.marks import Bars, View


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    arrival: float64 = param(0.5, unit="1/time", ge=0, doc="arrivals of customers")
    service: float64 = param(1.0, unit="1/time", gt=0, doc="services while someone is there")


class Queue(World):
    """A server and its customers."""

    n_present: int64 = 0  # waiting and in service
    n_served: int64 = 0
    rates: Rates


class Arrive(Action):
    """A customer joins the queue."""

    def rate(self, world: Queue) -> float:
        return world.rates.arrival

    def fire(self, world: Queue, now: float, rng: Rng, touched: Touched) -> None:
        world.n_present += 1
        touched.add(world)


class Serve(Action):
    """The server is done with a customer."""

    def rate(self, world: Queue) -> float:
        return world.rates.service if world.n_present > 0 else 0.0

    def fire(self, world: Queue, now: float, rng: Rng, touched: Touched) -> None:
        world.n_present -= 1
        world.n_served += 1
        touched.add(world)


def make_world(n_present: int = 0, rates: Rates | None = None) -> Queue:
    """Return a queue of `n_present` >= 0 customers, none served yet. Raises InputError for fewer."""
    if isinstance(n_present, int) and n_present < 0:
        raise InputError(f"n_present must be >= 0, got {n_present}")
    return Queue(n_present=n_present, rates=rates or Rates())


class Present(Observable):
    """Number of customers, waiting and in service."""

    def value(self, world: Queue) -> float:
        return world.n_present


class Idle(Observable):
    """1 while nobody is there: its mean is the part of time that the server is idle."""

    def value(self, world: Queue) -> float:
        return world.n_present == 0


MODEL = Model(Queue, [Arrive, Serve], observables=[Present, Idle], name="mm1")

VIEW = View((Bars(("n_present",), ("customers",)),), speed=10.0)
