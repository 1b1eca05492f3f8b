"""The tiny world of the tests of scenarios and of the command line: gates that open and close."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

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
    boolean,
    float64,
    int64,
    param,
)  # fmt: skip
from tocsin.models._preset import Init, Preset, Report, Start


class Rates(Params):
    """Both directions alike."""

    flip: float64 = param(1.0, unit="1/s", gt=0, doc="flips of one gate")
    limit: int64 = param(1 << 40, ge=0, doc="flips after which the model breaks down")


class Gate(Entity):
    """One gate."""

    is_open: boolean
    n_flips: int64


class Hall(World):
    """All gates."""

    gates: Arena[Gate]
    heights: Array[float64]
    n_flips: int64
    rates: Rates


class Flip(Action):
    """A gate opens or closes."""

    gate: Gate

    def rate(self, world: Hall) -> float:
        return world.rates.flip if world.n_flips < world.rates.limit else -1.0

    def fire(self, world: Hall, now: float, rng: Rng, touched: Touched) -> None:
        self.gate.is_open = not self.gate.is_open
        self.gate.n_flips += 1
        world.n_flips += 1


class Open(Observable):
    """Number of open gates."""

    gate: Gate

    def value(self, world: Hall) -> float:
        return self.gate.is_open


model = Model(Hall, [Flip], observables=[Open], name="gate")


def hall(n_gates: int = 3, is_open: bool = False, rates: Rates | None = None, seed: int = 0) -> Hall:
    """Gates that are all open or all closed."""
    if n_gates == 13:
        raise RuntimeError("thirteen is unlucky")
    return Hall(gates={"is_open": [is_open] * n_gates}, heights=[seed], n_flips=0, rates=rates or Rates())


def plain(n_gates: int = 2) -> Hall:
    """A builder that leaves the parameters to the scenario."""
    return Hall(gates=n_gates, heights=[], n_flips=0, rates=Rates())


def no_world(n_gates: int = 2) -> int:
    return n_gates


class GateInit(Init):
    """`[init]` of the preset."""

    n_gates: int = Field(4, gt=0, description="number of gates")
    speed: float | None = Field(None, gt=0, description="sets rates.flip")


def _build(start: Start[GateInit]) -> tuple[Hall, Path]:
    rates = start.params["rates"].to_dict()
    if start.init.speed is not None and "rates.flip" not in start.given:
        rates["flip"] = start.init.speed
    return Hall(gates=start.init.n_gates, heights=[], n_flips=0, rates=Rates(**rates)), start.folder


def _summarise(simulation: Simulation[Hall], context: Path) -> Mapping[str, Any]:
    return {"flips a gate": simulation.world.n_flips / len(simulation.world.gates)}


def _write(simulation: Simulation[Hall], context: Path, path: Path) -> None:
    path.write_text(f"{simulation.world.n_flips}\n")


WORLD: Preset[GateInit, Hall, Path] = Preset(
    "gate", "Gates that open and close.", model, GateInit, _build, _summarise,
    (Report("flips", "flips.txt", "how many flips there were", _write),), _write,
)  # fmt: skip
