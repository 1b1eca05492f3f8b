"""The urns of Ehrenfest: each ball waits an exponential time, then changes its urn.

The number of balls in an urn tends to Binomial(N, 1/2), and its mean tends to N / 2 as
exp(-2 hop t). P. and T. Ehrenfest 1907, Physikalische Zeitschrift 8, 311; Kac 1947,
doi:10.2307/2304386.
"""

from __future__ import annotations

from tocsin import Action, Arena, Entity, Model, Observable, Params, Ref, Rng, Touched, World, float64, int64, param
from tocsin.export.marks import Bars, View


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    hop: float64 = param(1.0, unit="1/time", ge=0, doc="hops of one ball")


class Urn(Entity):
    """One of the two urns."""

    n_balls: int64
    other: Ref[Urn]


class Urns(World):
    """Two urns."""

    urns: Arena[Urn]
    rates: Rates


class Hop(Action):
    """One of the balls of an urn goes to the other urn."""

    urn: Urn

    def rate(self, world: Urns) -> float:
        return world.rates.hop * self.urn.n_balls

    def fire(self, world: Urns, now: float, rng: Rng, touched: Touched) -> None:
        self.urn.n_balls -= 1
        self.urn.other.n_balls += 1
        touched.add(self.urn)
        touched.add(self.urn.other)


def make_world(n_left: int = 100, n_right: int = 0, rates: Rates | None = None) -> Urns:
    """Return two urns with `n_left` and `n_right` balls."""
    return Urns(urns={"n_balls": [n_left, n_right], "other": [1, 0]}, rates=rates or Rates())


class Left(Observable):
    """Number of balls in the left urn."""

    def value(self, world: Urns) -> float:
        return world.urns[0].n_balls


MODEL = Model(Urns, [Hop], observables=[Left], name="ehrenfest")

VIEW = View((Bars(table="urns", value="n_balls", label="balls in each urn"),), speed=0.5)
