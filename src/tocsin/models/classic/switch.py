"""Two-state switches, such as ion channels: each opens and closes on its own, at constant rates.

A switch is on with probability opening / (opening + closing), which it forgets as
exp(-(opening + closing) t). Colquhoun and Hawkes 1977, doi:10.1098/rspb.1977.0085.
"""

from __future__ import annotations

from tocsin import Action, Arena, Entity, Model, Observable, Params, Rng, Touched, World, boolean, float64, int64, param
from tocsin.export.marks import Cells, View


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours."""

    opening: float64 = param(1.0, unit="1/time", ge=0, doc="openings of a switch that is off")
    closing: float64 = param(2.0, unit="1/time", ge=0, doc="closings of a switch that is on")


class Switch(Entity):
    """One switch."""

    is_on: boolean
    n_flips: int64


class Board(World):
    """Switches that know nothing of each other."""

    switches: Arena[Switch]
    rates: Rates


class Flip(Action):
    """A switch changes its state."""

    switch: Switch

    def rate(self, world: Board) -> float:
        return world.rates.closing if self.switch.is_on else world.rates.opening

    def fire(self, world: Board, now: float, rng: Rng, touched: Touched) -> None:
        self.switch.is_on = not self.switch.is_on
        self.switch.n_flips += 1


def make_world(n_switches: int = 100, is_on: bool = False, rates: Rates | None = None) -> Board:
    """Return `n_switches` switches, all on or all off."""
    return Board(switches={"is_on": [is_on] * n_switches}, rates=rates or Rates())


class On(Observable):
    """Number of switches that are on."""

    switch: Switch

    def value(self, world: Board) -> float:
        return self.switch.is_on


MODEL = Model(Board, [Flip], observables=[On], name="switch")

VIEW = View((Cells(table="switches", value="is_on"),), labels=("on",), blank="off")
