"""What users say of LEFs: their species and rates, and how rates change with time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.chromatin.world import EITHER, NEITHER
from tocsin.models.extrusion.model import LEFT, RIGHT
from tocsin.schema._annotations import nearest

RATES = (
    "step_left", "step_right", "respawn", "respawn_blocked", "respawn_captured", "load", "release",
    "pause", "resume", "slide", "bypass",
)  # fmt: skip
CTCF_RATES = ("ctcf_binding", "ctcf_unbinding")
ANCHORS = {"none": NEITHER, "left": LEFT, "right": RIGHT, "either": EITHER}


@dataclass(frozen=True, kw_only=True)
class LefSpecies:
    """A kind of LEF. Rates are finite, >= 0, in events per unit time; what is off is 0.

    Attributes
    ----------
    name : to tell species apart
    share : of all LEFs, in proportion to the other species' shares, > 0
    step : steps of a free leg; `step_left` and `step_right` set one leg's alone
    respawn, respawn_blocked, respawn_captured : unloading of a LEF with both legs free, with a
        blocked leg, with a captured leg
    load : loading of an unbound LEF; inf: a LEF that falls off lands elsewhere at once
    release : a captured leg lets go of its CTCF and goes on
    pause, resume : a moving leg stops; a paused leg goes on. A leg that lands is moving
    slide : passive steps of a leg to each neighbouring site that is free
    bypass : a blocked leg jumps over the legs that block it onto the next free site (Z-loops)
    anchor : the leg that stays where it landed: 'none', 'left', 'right', or 'either', drawn at
        each landing
    bound : share of its LEFs that start on the chromatin, 0..1; less than 1 needs a finite `load`

    Raises InputError naming the species, the value and the rule that is broken.
    """

    name: str = "LEF"
    share: float = 1.0
    step: float = 1.0
    step_left: float | None = None
    step_right: float | None = None
    respawn: float = 1e-3
    respawn_blocked: float = 1e-2
    respawn_captured: float = 1e-3
    load: float = math.inf
    release: float = 0.0
    pause: float = 0.0
    resume: float = 0.0
    slide: float = 0.0
    bypass: float = 0.0
    anchor: Literal["none", "left", "right", "either"] = "none"
    bound: float = 1.0

    def __post_init__(self) -> None:
        where = f"species {self.name!r}"
        if _number(where, "share", self.share) <= 0.0:
            raise InputError(f"{where}: share must be > 0, got {self.share!r}")
        _number(where, "step", self.step)
        for name, value in self.rates().items():
            if not (name == "load" and value == math.inf):
                _number(where, name, value)
        if self.anchor not in ANCHORS:
            raise InputError(f"{where}: anchor must be one of {', '.join(ANCHORS)}, got {self.anchor!r}")
        if _number(where, "bound", self.bound) > 1.0:
            raise InputError(f"{where}: bound must be in 0..1, got {self.bound!r}")
        if self.bound < 1.0 and self.load == math.inf:
            raise InputError(f"{where}: bound < 1 needs a finite load: with load = inf no LEF is ever unbound")

    def rates(self) -> dict[str, float]:
        """Return the rates by name, one for each leg's steps."""
        own = {name: getattr(self, name) for name in RATES}
        steps = {name: self.step if own[name] is None else own[name] for name in ("step_left", "step_right")}
        return own | steps


@dataclass(frozen=True, kw_only=True)
class RateChange:
    """Rates that are other ones from a time on, until the next change.

    Attributes
    ----------
    at : time, finite; one before the start of a run holds from its first event on
    species : name of the species; all of them if None
    multiply : factors >= 0 on the rates that hold before, by name: those of `LefSpecies` (`step`
        for both legs), or `ctcf_binding` and `ctcf_unbinding` of all CTCF sites
    set : new rates, by name, of LEFs only

    Raises InputError for a number that is not finite or < 0, or a name that is unknown.
    """

    at: float
    species: str | None = None
    multiply: Mapping[str, float] = field(default_factory=dict)
    set: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _is_finite(self.at):
            raise InputError(f"at must be a finite time, got {self.at!r}")
        known = ("step", *RATES)
        for name, value in (*self.multiply.items(), *self.set.items()):
            _number(self._where, name, value)
        for name in self.set:
            _known(self._where, name, known)
        for name in self.multiply:
            _known(self._where, name, (*known, *CTCF_RATES) if self.species is None else known)

    @property
    def _where(self) -> str:
        return f"change at {self.at}"

    def applied(self, rates: Mapping[str, float]) -> dict[str, float]:
        """Return a species' rates as they are after the change, from those before."""
        after = dict(rates)
        for name, factor in _each_leg(self.multiply):
            after[name] = after[name] * factor
        after.update(_each_leg(self.set))
        if rates["load"] == math.inf and any("load" in given for given in (self.multiply, self.set)):
            raise InputError(f"{self._where}: load is inf, so no LEF ever waits; start from a finite load")
        return after


def read_species(given: Sequence[LefSpecies]) -> tuple[LefSpecies, ...]:
    """Return the species, one with all defaults if none is given. Raises InputError for equal names."""
    species = tuple(given) or (LefSpecies(),)
    names = [one.name for one in species]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two species are called {name!r}; give each a name of its own")
    return species


def share_out(n_lefs: int, shares: Sequence[float]) -> NDArray[np.int64]:
    """Return how many LEFs each species has: nearest to its share (largest remainders), adding up."""
    exact = n_lefs * np.asarray(shares, np.float64) / math.fsum(shares)
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: n_lefs - counts.sum()]] += 1
    return counts


def change_tables(
    species: Sequence[LefSpecies], changes: Sequence[RateChange]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the rates and of the changes: a row for each species that changes.

    The first rates are those with which the species start, in order.
    """
    rates = [one.rates() for one in species]
    now = list(range(len(species)))
    factor = dict.fromkeys(CTCF_RATES, 1.0)
    rows: list[tuple[float, int, int, float, float]] = []
    for change in sorted(changes, key=lambda change: change.at):
        for name in CTCF_RATES:
            factor[name] *= change.multiply.get(name, 1.0)
        for k in _concerned(species, change):
            rates.append(change.applied(rates[now[k]]))
            now[k] = len(rates) - 1
            rows.append((change.at, k, now[k], factor["ctcf_binding"], factor["ctcf_unbinding"]))
    columns = zip(("at", "species", "rates", "binding", "unbinding"), zip(*rows, strict=True), strict=False)
    return {name: [one[name] for one in rates] for name in RATES}, dict(columns)


def _concerned(species: Sequence[LefSpecies], change: RateChange) -> list[int]:
    names = [one.name for one in species]
    if change.species is None:
        return list(range(len(names)))
    if change.species not in names:
        raise InputError(
            f"change at {change.at}: there is no species {change.species!r}.{nearest(change.species, names)}"
        )
    return [names.index(change.species)]


def _each_leg(given: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return LEF rates by name, with `step` as the steps of each leg."""
    legs = [(name, given["step"]) for name in ("step_left", "step_right") if "step" in given]
    return legs + [(name, value) for name, value in given.items() if name in RATES]


def _known(where: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise InputError(
            f"{where}: there is no rate {name!r} to change.{nearest(name, known)} There are: {', '.join(known)}"
        )


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and math.isfinite(value)


def _number(where: str, name: str, value: Any) -> float:
    if not (_is_finite(value) and value >= 0):
        raise InputError(f"{where}: {name} must be a finite number >= 0, got {value!r}")
    return float(value)
