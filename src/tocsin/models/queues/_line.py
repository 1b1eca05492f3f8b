"""Customers, the lines in which they wait (a linked list of rows, O(1) at both ends), and who serves them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tocsin import NEVER, Entity, InputError, OptionalRef, float64, int32, int64


class Customer(Entity):
    """Somebody who waits or is served."""

    next: OptionalRef[Customer]  # behind him in line
    kind: int32
    came_at: float64
    work: float64  # service that is still to be done


class Line(Entity):
    """A waiting line."""

    first: OptionalRef[Customer]
    last: OptionalRef[Customer]
    n: int64

    def join(self, customer: Customer) -> None:
        """Add a customer at the end."""
        last = self.last
        if last is None:
            self.first = customer
        else:
            last.next = customer
        self.last = customer
        self.n += 1

    def join_in_front(self, customer: Customer) -> None:
        """Add a customer before all others."""
        customer.next = self.first
        self.first = customer
        if self.last is None:
            self.last = customer
        self.n += 1

    def take(self) -> Customer | None:
        """Remove and return the first customer, if there is one."""
        customer = self.first
        if customer is not None:
            self.first = customer.next
            customer.next = None
            if self.first is None:
                self.last = None
            self.n -= 1
        return customer


class Server(Entity):
    """Somebody who serves one customer at a time."""

    customer: OptionalRef[Customer]
    done_at: float64

    def ends_at(self) -> float:
        """Return when the service ends; NEVER while there is none."""
        return NEVER if self.customer is None else self.done_at


def numbers(label: str, given: Any) -> list[Any]:
    """Return a list of numbers. Raises InputError for anything else."""
    try:
        found = list(given)
    except TypeError:
        found = [given, None]
    if not all(isinstance(x, (int, float, np.number)) and not isinstance(x, bool) for x in found):
        raise InputError(f"{label} must be a list of numbers, got {given!r}")
    return found
