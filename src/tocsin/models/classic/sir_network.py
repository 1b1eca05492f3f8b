"""SIR epidemic on a network: infected people infect their susceptible neighbours, then recover.

Each contact between an infected and a susceptible person transmits at a constant rate. Kermack and
McKendrick 1927, doi:10.1098/rspa.1927.0118; on networks: Kiss, Miller and Simon 2017,
doi:10.1007/978-3-319-50806-1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin import (
    Action,
    Arena,
    Array,
    Entity,
    InputError,
    Model,
    Observable,
    Params,
    Rng,
    Touched,
    World,
    float64,
    int8,
    int32,
    param,
)
from tocsin.export.marks import Network, View

SUSCEPTIBLE, INFECTED, RECOVERED = 0, 1, 2


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    transmission: float64 = param(0.5, unit="1/time", ge=0, doc="transmissions along one contact")
    recovery: float64 = param(1.0, unit="1/time", ge=0, doc="recoveries of an infected person")


class Person(Entity):
    """One person."""

    state: int8  # SUSCEPTIBLE, INFECTED or RECOVERED
    n_infected_neighbours: int32


class Town(World):
    """People and who meets whom: `neighbours[first[i] : first[i + 1]]` are those of person i."""

    people: Arena[Person]
    first: Array[int32]
    neighbours: Array[int32]
    rates: Rates

    def tell_neighbours(self, person: Person, change: int, touched: Touched) -> None:
        """Correct the count of infected neighbours of all who meet a person."""
        for k in range(self.first[person.index], self.first[person.index + 1]):
            neighbour = self.people[self.neighbours[k]]
            neighbour.n_infected_neighbours += change
            touched.add(neighbour)


class Catch(Action):
    """A susceptible person is infected by a neighbour."""

    person: Person

    def rate(self, world: Town) -> float:
        if self.person.state != SUSCEPTIBLE:
            return 0.0
        return world.rates.transmission * self.person.n_infected_neighbours

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = INFECTED
        touched.add(self.person)
        world.tell_neighbours(self.person, +1, touched)


class Recover(Action):
    """An infected person recovers, for good."""

    person: Person

    def rate(self, world: Town) -> float:
        return world.rates.recovery if self.person.state == INFECTED else 0.0

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = RECOVERED
        touched.add(self.person)
        world.tell_neighbours(self.person, -1, touched)


def make_world(
    n_people: int,
    contacts: ArrayLike,
    infected: ArrayLike = (0,),
    rates: Rates | None = None,
) -> Town:
    """Return a town in which the people numbered in `infected` are infected.

    Parameters
    ----------
    n_people : number of people
    contacts : shape (n, 2), whole numbers: pairs of people who meet, each pair once
    infected : shape (k,), whole numbers: those infected at the start

    Raises InputError for a person who does not exist, or meets himself.
    """
    pairs = np.asarray(contacts, dtype=np.int64).reshape(-1, 2)
    cases = np.asarray(infected, dtype=np.int64)
    for who in (pairs, cases):
        if who.size and not (who.min() >= 0 and who.max() < n_people):
            raise InputError(f"people are numbered 0..{n_people - 1}, got {who.min()}..{who.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise InputError("a contact needs two different people")
    both_ways = np.concatenate([pairs, pairs[:, ::-1]])
    person, neighbour = both_ways[np.lexsort(both_ways.T[::-1])].T
    state = np.full(n_people, SUSCEPTIBLE)
    state[cases] = INFECTED
    n_infected = np.bincount(person, weights=state[neighbour] == INFECTED, minlength=n_people)
    return Town(
        people={"state": state, "n_infected_neighbours": n_infected},
        first=np.searchsorted(person, np.arange(n_people + 1)), neighbours=neighbour,
        rates=rates or Rates(),
    )  # fmt: skip


def random_contacts(n_people: int, n_contacts: int, seed: int) -> NDArray[np.int64]:
    """Return `n_contacts` different pairs, all sets of pairs equally likely (Erdős and Rényi).

    Shape (n_contacts, 2), int64. Raises InputError if there are fewer pairs than that.
    """
    most = n_people * (n_people - 1) // 2
    if not 0 <= n_contacts <= most:
        raise InputError(f"n_contacts must be in 0..{most} for {n_people} people, got {n_contacts}")
    number = np.random.default_rng(seed).choice(most, n_contacts, replace=False)
    larger = np.floor((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    return np.stack([number - larger * (larger - 1) // 2, larger], axis=1)


class Infected(Observable):
    """Number of people who are infected now."""

    person: Person

    def value(self, world: Town) -> float:
        return self.person.state == INFECTED


class EverInfected(Observable):
    """Number of people who are or were infected."""

    person: Person

    def value(self, world: Town) -> float:
        return self.person.state != SUSCEPTIBLE


MODEL = Model(Town, [Catch, Recover], observables=[Infected, EverInfected], name="sir_network")

VIEW = View(
    (Network("people", "first", "neighbours", colour="state"),), labels=("infected", "recovered"), blank="susceptible",
    colours=("#c23b3b", "#2f9367"), note="People stand in a ring; lines join those who may infect one another.", speed=0.5,
)  # fmt: skip
