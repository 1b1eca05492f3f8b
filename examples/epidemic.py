"""An epidemic on a network, exact in continuous time: the model of docs/tutorial/first-model.md."""

from __future__ import annotations

import numpy as np

from tocsin import (
    Action,
    Arena,
    Array,
    Entity,
    Model,
    Observable,
    Params,
    Rng,
    Simulation,
    Touched,
    World,
    float64,
    int8,
    int32,
    param,
)

HEALTHY, ILL, IMMUNE = 0, 1, 2


class Rates(Params):
    """Rates in events per day."""

    infection: float64 = param(0.3, unit="1/day", ge=0, doc="infections along one contact")
    recovery: float64 = param(0.25, unit="1/day", gt=0, doc="recoveries of an ill person")


class Person(Entity):
    """Somebody."""

    state: int8
    ill_contacts: int32


class Town(World):
    """People; person i meets `contacts[first[i] : first[i + 1]]`."""

    people: Arena[Person]
    first: Array[int32]
    contacts: Array[int32]
    rates: Rates

    def tell_contacts(self, person: Person, change: int, touched: Touched) -> None:
        """Correct the count of ill contacts of everybody who meets a person."""
        for k in range(self.first[person.index], self.first[person.index + 1]):
            contact = self.people[self.contacts[k]]
            contact.ill_contacts += change
            touched.add(contact)


class Infect(Action):
    """A healthy person catches it from one of her contacts."""

    person: Person

    def rate(self, world: Town) -> float:
        if self.person.state != HEALTHY:
            return 0.0
        return world.rates.infection * self.person.ill_contacts

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = ILL
        touched.add(self.person)
        world.tell_contacts(self.person, 1, touched)


class Recover(Action):
    """An ill person gets well, and stays so."""

    person: Person

    def rate(self, world: Town) -> float:
        return world.rates.recovery if self.person.state == ILL else 0.0

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = IMMUNE
        touched.add(self.person)
        world.tell_contacts(self.person, -1, touched)


class Ill(Observable):
    """Number of ill people."""

    person: Person

    def value(self, world: Town) -> float:
        return self.person.state == ILL


model = Model(Town, [Infect, Recover], observables=[Ill], name="epidemic")


def make_town(n_people: int, n_contacts: int, n_ill: int, seed: int) -> Town:
    """Return a town with random contacts."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n_people, (n_people * n_contacts // 2, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    state = np.where(np.arange(n_people) < n_ill, ILL, HEALTHY)
    ill_contacts = np.bincount(both[:, 0], weights=state[both[:, 1]] == ILL, minlength=n_people)
    return Town(
        people={"state": state, "ill_contacts": ill_contacts},
        first=np.searchsorted(both[:, 0], np.arange(n_people + 1)),
        contacts=both[:, 1],
        rates=Rates(infection=0.1),
    )


def main() -> None:
    """One epidemic among ten thousand people, drawn as a curve of who is ill."""
    simulation = Simulation(model, make_town(10_000, 8, n_ill=10, seed=1), seed=42)
    for day in range(0, 61, 4):
        simulation.run(until=float(day))
        n_ill = simulation.observe()["Ill"].value
        print(f"day {day:2}  {n_ill:5.0f} ill  {'#' * round(n_ill / 50)}")
    peak = simulation.observe()["Ill"].high
    print(f"{simulation.counts['Infect']} people caught it; at most {peak:.0f} were ill at the same time")


if __name__ == "__main__":
    main()
