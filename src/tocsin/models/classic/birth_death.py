"""Immigration and death: individuals arrive at a constant rate, and each leaves at a constant rate.

The number present tends to a Poisson law with mean arrival / departure. Kendall 1948,
doi:10.1214/aoms/1177730285.
"""

from __future__ import annotations

from tocsin import Action, Model, Observable, Params, Rng, Touched, World, float64, int64, param
from tocsin.export.marks import Bars, View


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    arrival: float64 = param(10.0, unit="1/time", ge=0, doc="arrivals")
    departure: float64 = param(1.0, unit="1/time", ge=0, doc="departures of one individual")


class Population(World):
    """A number of individuals."""

    n_individuals: int64 = 0
    rates: Rates


class Arrive(Action):
    """An individual comes from outside."""

    def rate(self, world: Population) -> float:
        return world.rates.arrival

    def fire(self, world: Population, now: float, rng: Rng, touched: Touched) -> None:
        world.n_individuals += 1
        touched.add(world)


class Depart(Action):
    """One of the individuals leaves."""

    def rate(self, world: Population) -> float:
        return world.rates.departure * world.n_individuals

    def fire(self, world: Population, now: float, rng: Rng, touched: Touched) -> None:
        world.n_individuals -= 1
        touched.add(world)


def make_world(n_individuals: int = 0, rates: Rates | None = None) -> Population:
    """Return a population of `n_individuals` >= 0."""
    return Population(n_individuals=n_individuals, rates=rates or Rates())


class Individuals(Observable):
    """Number of individuals."""

    def value(self, world: Population) -> float:
        return world.n_individuals


MODEL = Model(Population, [Arrive, Depart], observables=[Individuals], name="birth_death")

VIEW = View((Bars(("n_individuals",), ("individuals",)),))
