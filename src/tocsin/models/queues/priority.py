"""One server and customers of several classes, the first class first: with preemption or without.

Cobham 1954, doi:10.1287/opre.2.1.70 (without); White and Christie 1958, doi:10.1287/opre.6.1.79
(preemptive resume: who was interrupted goes on where he was).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    boolean,
    float64,
    int64,
    param,
)
from tocsin.export.marks import Bars, Histogram, View
from tocsin.models.queues._line import Customer, Line, Server, numbers


class Rules(Params):
    """What a customer of a better class may do."""

    preemptive: boolean = param(False, doc="whether he interrupts a service of a worse class")


class Class(Line):
    """A class of customers with its line; class 0 is served first."""

    arrival: float64
    service: float64  # mean
    shape: float64  # of the Gamma law of service; 1: exponential, 0: always the mean
    n_served: int64
    total_time: float64  # from arrival to departure, of those served


class Clinic(World):
    """A server, and a line for each class."""

    classes: Arena[Class]
    server: Arena[Server]
    customers: Pool[Customer]
    rules: Rules

    def serve_next(self, now: float, touched: Touched) -> None:
        """Let the server take the first customer of the best class."""
        server = self.server[0]
        server.customer = None
        touched.add(server)
        for line in self.classes:
            customer = line.take()
            if customer is not None:
                server.customer = customer
                server.done_at = now + customer.work
                return

    def interrupt(self, now: float) -> None:
        """Send the customer at the server back to the front of his line, with what is left of his service."""
        customer = self.server[0].customer
        if customer is not None:
            customer.work = self.server[0].done_at - now
            self.classes[customer.kind].join_in_front(customer)


class Arrive(Action):
    """A customer of a class comes; he may be served at once."""

    line: Class

    def rate(self, world: Clinic) -> float:
        return self.line.arrival

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        shape, mean = self.line.shape, self.line.service
        customer = world.customers.spawn()
        customer.kind = self.line.index
        customer.came_at = now
        customer.work = mean if shape == 0.0 else rng.gamma(shape, mean / shape)
        self.line.join(customer)
        served = world.server[0].customer
        if served is None:
            world.serve_next(now, touched)
        elif world.rules.preemptive and served.kind > customer.kind:
            world.interrupt(now)
            world.serve_next(now, touched)


class Finish(Action):
    """A service ends."""

    server: Server

    def schedule(self, world: Clinic, now: float, rng: Rng) -> float:
        return self.server.ends_at()

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        customer = self.server.customer
        if customer is not None:
            line = world.classes[customer.kind]
            line.n_served += 1
            line.total_time += now - customer.came_at
            world.customers.remove(customer)
        world.serve_next(now, touched)


class Present(Observable):
    """Number of customers, waiting and in service."""

    def value(self, world: Clinic) -> float:
        return world.customers.n_live


def make_world(
    arrivals: Sequence[float] = (0.2, 0.3),
    services: Sequence[float] = (1.0, 1.0),
    shapes: Sequence[float] | None = None,
    rules: Rules | None = None,
) -> Clinic:
    """Return an empty clinic with one class for each rate of arrival.

    Parameters
    ----------
    arrivals : arrivals of each class, 1/time, >= 0
    services : mean service of each class, > 0
    shapes : of the Gamma laws of service, >= 0; 1, exponential, by default

    Raises InputError for another number of services, or a value out of bounds.
    """
    arrivals, services = numbers("arrivals", arrivals), numbers("services", services)
    shapes = [1.0] * len(arrivals) if shapes is None else numbers("shapes", shapes)
    if not len(arrivals) == len(services) == len(shapes) > 0:
        raise InputError(
            f"give each class an arrival, a service and a shape, got {len(arrivals)}, {len(services)}, {len(shapes)}"
        )
    if not all(
        0 <= a < math.inf and 0 < s < math.inf and 0 <= k < math.inf
        for a, s, k in zip(arrivals, services, shapes, strict=True)
    ):
        raise InputError(
            "arrivals must be >= 0, services > 0, shapes >= 0, all finite, "
            f"got {list(arrivals)}, {list(services)}, {list(shapes)}"
        )
    return Clinic(
        classes={"arrival": arrivals, "service": services, "shape": shapes}, server=1, rules=rules or Rules()
    )  # fmt: skip


MODEL = Model(Clinic, [Arrive, Finish], observables=[Present], name="priority")

VIEW = View(
    (Bars(table="classes", value="n", label="waiting, by class"), Histogram("customers", "work", "work of those present")), speed=10.0,
)  # fmt: skip
