"""What is followed exactly: loops, states of legs, occupied sites, bound LEFs and CTCFs.

`Simulation.row_means` gives each leg, LEF, site or CTCF by itself; sum it over the LEFs of a
species for the species.
"""

from __future__ import annotations

from tocsin.models.chromatin.world import (
    CAPTURED,
    UNBOUND,
    Chromatin,
    Ctcf,
    Lef,
    Leg,
    Site,
)  # fmt: skip
from tocsin.schema import Observable


class LoopSize(Observable):
    """Sum of all loop sizes, in sites."""

    leg: Leg

    def value(self, world: Chromatin) -> float:
        return self.leg.walked


class Captured(Observable):
    """Number of captured legs."""

    leg: Leg

    def value(self, world: Chromatin) -> float:
        return self.leg.state == CAPTURED


class Blocked(Observable):
    """Number of blocked legs."""

    leg: Leg

    def value(self, world: Chromatin) -> float:
        return world.is_blocked(self.leg)


class Bound(Observable):
    """Number of LEFs on the chromatin; of each LEF, the fraction of time that it is there."""

    lef: Lef

    def value(self, world: Chromatin) -> float:
        return self.lef.left.state != UNBOUND


class Occupancy(Observable):
    """Number of occupied sites; on each site, the fraction of time that a leg stands there."""

    site: Site

    def value(self, world: Chromatin) -> float:
        return self.site.leg is not None


class CtcfOn(Observable):
    """Number of CTCF sites with a protein; on each, the fraction of time."""

    ctcf: Ctcf

    def value(self, world: Chromatin) -> float:
        return self.ctcf.is_on


OBSERVABLES = (LoopSize, Captured, Blocked, Bound, Occupancy, CtcfOn)
