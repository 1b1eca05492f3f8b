"""A station with c servers and one line: M/M/c, M/G/1, M/G/c.

Customers come at a constant rate and are served in the order in which they came. M/M/c: Erlang 1917.
M/G/1: Pollaczek 1930, doi:10.1007/BF01194620; Khinchine 1932.
"""

from __future__ import annotations

import numpy as np

from tocsin import (
    Action,
    Arena,
    InputError,
    Model,
    Observable,
    Params,
    Pool,
    Rng,
    Touched,
    World,
    float64,
    int64,
    param,
)
from tocsin.export.marks import Bars, Histogram, View
from tocsin.models.queues._line import Customer, Line, Server


class Law(Params):
    """When customers come, and how long they are served; the unit of time is yours."""

    arrival: float64 = param(0.5, unit="1/time", ge=0, doc="arrivals of customers")
    service: float64 = param(1.0, unit="time", gt=0, doc="mean service time")
    shape: float64 = param(1.0, ge=0, doc="of the Gamma law of service; 1: exponential, 0: always the mean")


class Station(World):
    """Servers, and the line before them."""

    servers: Arena[Server]
    line: Arena[Line]
    customers: Pool[Customer]
    n_served: int64 = 0
    total_wait: float64 = 0.0  # of those whose service has begun
    law: Law

    def serve(self, server: Server, now: float, rng: Rng, touched: Touched) -> None:
        """Let a server take the first of the line, if there is one."""
        customer = self.line[0].take()
        server.customer = customer
        touched.add(server)
        if customer is not None:
            self.total_wait += now - customer.came_at
            server.done_at = now + self.service_time(rng)

    def service_time(self, rng: Rng) -> float:
        """Draw how long a service lasts."""
        shape, mean = self.law.shape, self.law.service
        if shape == 1.0:
            return rng.exponential(1.0 / mean)
        return mean if shape == 0.0 else rng.gamma(shape, mean / shape)


class Arrive(Action):
    """A customer comes, and goes to the first free server, if there is one."""

    def rate(self, world: Station) -> float:
        return world.law.arrival

    def fire(self, world: Station, now: float, rng: Rng, touched: Touched) -> None:
        customer = world.customers.spawn()
        customer.came_at = now
        world.line[0].join(customer)
        for server in world.servers:
            if server.customer is None:
                world.serve(server, now, rng, touched)
                return


class Finish(Action):
    """A service ends."""

    server: Server

    def schedule(self, world: Station, now: float, rng: Rng) -> float:
        return self.server.ends_at()

    def fire(self, world: Station, now: float, rng: Rng, touched: Touched) -> None:
        customer = self.server.customer
        if customer is not None:
            world.customers.remove(customer)
        world.n_served += 1
        world.serve(self.server, now, rng, touched)


class Waiting(Observable):
    """Number of customers in line."""

    def value(self, world: Station) -> float:
        return world.line[0].n


class Busy(Observable):
    """Number of servers that serve."""

    def value(self, world: Station) -> float:
        return world.customers.n_live - world.line[0].n


def make_world(n_servers: int = 1, law: Law | None = None) -> Station:
    """Return an empty station with `n_servers` >= 1 servers. Raises InputError for fewer, or for part of one."""
    if isinstance(n_servers, bool) or not isinstance(n_servers, int | np.integer) or n_servers < 1:
        raise InputError(f"n_servers must be a whole number >= 1, got {n_servers!r}")
    return Station(servers=int(n_servers), line=1, law=law or Law())


MODEL = Model(Station, [Arrive, Finish], observables=[Waiting, Busy], name="station")

VIEW = View((Bars(("line[0].n",), ("waiting",)), Histogram("customers", "work", "work of those present")), speed=10.0)
