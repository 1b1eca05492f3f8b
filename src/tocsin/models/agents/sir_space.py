"""SIR in space: people who walk about infect those near to them; recovery is an event of its own.

At each tick all walk, by a normal step along each axis of a torus. Then whoever is susceptible is infected by each
infected person within `radius` with probability `infection`, all at once. An infection lasts a time of its own, not
a number of ticks: the deadline is drawn at infection (gamma distributed) and a clock rings then, between two ticks. Kermack
and McKendrick 1927, doi:10.1098/rspa.1927.0118.
"""

from __future__ import annotations

import numpy as np

from tocsin import (
    NEVER,
    Action,
    Arena,
    Entity,
    InputError,
    Model,
    Observable,
    Params,
    Rng,
    System,
    Touched,
    World,
    float64,
    int8,
    param,
)
from tocsin.export.marks import Points, View
from tocsin.kernel import uniforms
from tocsin.space import Plane

SUSCEPTIBLE, INFECTED, RECOVERED = 0, 1, 2


class Disease(Params):
    """How people move, and how the disease spreads."""

    step: float64 = param(0.5, unit="length", ge=0, doc="standard deviation of a step along each axis")
    radius: float64 = param(1.0, unit="length", ge=0, doc="distance up to which a disease is passed on, inclusive")
    infection: float64 = param(
        0.2, ge=0, le=1, doc="chance at each tick that one infected person infects another in reach"
    )
    duration: float64 = param(5.0, unit="ticks", gt=0, doc="mean time until recovery")
    shape: float64 = param(4.0, gt=0, doc="shape of the gamma distribution of that time; 1 is memoryless")


class Person(Entity):
    """Somebody."""

    x: float64
    y: float64
    state: int8  # SUSCEPTIBLE, INFECTED or RECOVERED
    recovers_at: float64


class Town(World):
    """People on a torus."""

    people: Arena[Person]
    plane: Plane[Person]
    disease: Disease


class Walk(System):
    """A person takes a step."""

    person: Person
    mode = "synchronous"

    def update(self, world: Town, now: float, rng: Rng) -> None:
        person, step = self.person, world.disease.step
        world.plane.move(person, person.x + rng.normal(0.0, step), person.y + rng.normal(0.0, step))


class Infect(System):
    """Who is susceptible may be infected by those near."""

    person: Person
    mode = "synchronous"

    def update(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        person, disease = self.person, world.disease
        if person.state != SUSCEPTIBLE:
            return
        escape = 1.0
        for other in world.plane.within(person, disease.radius):
            if other.state == INFECTED:
                escape *= 1.0 - disease.infection
        if rng.random() >= escape:
            person.state = INFECTED
            person.recovers_at = now + rng.gamma(disease.shape, disease.duration / disease.shape)
            touched.add(person)


class Recover(Action):
    """An infected person recovers at its own time."""

    person: Person

    def schedule(self, world: Town, now: float, rng: Rng) -> float:
        return self.person.recovers_at if self.person.state == INFECTED else NEVER

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = RECOVERED
        touched.add(self.person)


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


def make_world(
    width: float = 30.0, height: float = 30.0, n_people: int = 500, n_infected: int = 5, seed: int = 0,
    disease: Disease | None = None,
) -> Town:  # fmt: skip
    """Return people at random places, the first `n_infected` of them infected for `duration` from time 0.

    Raises InputError for numbers out of range.
    """
    if not 0 <= n_infected <= n_people:
        raise InputError(f"n_infected must be in 0..{n_people}, got {n_infected}")
    disease = disease or Disease()
    is_infected = np.arange(n_people) < n_infected
    return Town(
        people={"x": width * uniforms(seed, n_people, 0), "y": height * uniforms(seed, n_people, 1),
                "state": np.where(is_infected, INFECTED, SUSCEPTIBLE), "recovers_at": disease.duration},
        plane=Plane(width, height, torus=True, reach=disease.radius), disease=disease,
    )  # fmt: skip


MODEL = Model(Town, [Recover], systems=[Walk, Infect], observables=[Infected, EverInfected], name="sir_space")

VIEW = View(
    (Points("people", "x", "y", colour="state", size=5.0),),
    box=("plane.width", "plane.height"), labels=("susceptible", "infected", "recovered"),
    colours=("#7f97b8", "#c23b3b", "#2f9367"), speed=4.0,
)  # fmt: skip
