"""Stations one after another, each with servers and a line: a Jackson network.

Customers come from outside at a constant rate, pass all stations in order and leave. In equilibrium
each station is an M/M/c queue of its own. Jackson 1957, doi:10.1287/opre.5.4.518.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tocsin import (
    Action,
    Arena,
    Entity,
    InputError,
    Model,
    Observable,
    Params,
    Rng,
    Touched,
    World,
    float64,
    int64,
    param,
)
from tocsin.export.marks import Bars, View
from tocsin.models.queues._line import numbers


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    arrival: float64 = param(0.5, unit="1/time", ge=0, doc="arrivals at the first station")


class Station(Entity):
    """Servers with exponential service, and those who are there."""

    n_servers: int64
    service: float64  # services of one server and unit of time
    n_present: int64


class Works(World):
    """Stations in the order in which customers pass them."""

    stations: Arena[Station]
    n_served: int64 = 0
    rates: Rates


class Arrive(Action):
    """A customer joins the first station."""

    def rate(self, world: Works) -> float:
        return world.rates.arrival

    def fire(self, world: Works, now: float, rng: Rng, touched: Touched) -> None:
        world.stations[0].n_present += 1
        touched.add(world.stations[0])


class Serve(Action):
    """A station is done with a customer, who goes on to the next."""

    station: Station

    def rate(self, world: Works) -> float:
        return self.station.service * min(self.station.n_present, self.station.n_servers)

    def fire(self, world: Works, now: float, rng: Rng, touched: Touched) -> None:
        self.station.n_present -= 1
        touched.add(self.station)
        if self.station.index + 1 < len(world.stations):
            following = world.stations[self.station.index + 1]
            following.n_present += 1
            touched.add(following)
        else:
            world.n_served += 1


class Present(Observable):
    """Number of customers at all stations."""

    station: Station

    def value(self, world: Works) -> float:
        return self.station.n_present


class Idle(Observable):
    """Number of stations without customers."""

    station: Station

    def value(self, world: Works) -> float:
        return self.station.n_present == 0


def make_world(
    services: Sequence[float] = (1.0, 1.0), n_servers: Sequence[int] | None = None, rates: Rates | None = None
) -> Works:
    """Return empty stations, one for each rate of service (1/time, > 0), with one server each by default.

    Raises InputError without stations, for another number of `n_servers`, or a value out of bounds.
    """
    services = numbers("services", services)
    n_servers = [1] * len(services) if n_servers is None else numbers("n_servers", n_servers)
    if not len(services) == len(n_servers) > 0:
        raise InputError(
            f"give each station a service and a number of servers, got {len(services)} and {len(n_servers)}"
        )
    if not (all(0 < s < math.inf for s in services) and all(n >= 1 for n in n_servers)):
        raise InputError(f"services must be > 0 and finite, n_servers >= 1, got {list(services)} and {list(n_servers)}")
    return Works(stations={"service": services, "n_servers": n_servers}, rates=rates or Rates())


MODEL = Model(Works, [Arrive, Serve], observables=[Present, Idle], name="tandem")

VIEW = View((Bars(table="stations", value="n_present", label="customers at each station"),), speed=10.0)
