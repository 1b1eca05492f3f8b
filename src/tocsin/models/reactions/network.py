"""`Network`: species, reactions and events, as one writes them down."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.export.marks import Bars, View
from tocsin.formula import DRAWS, Node, formula, number
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin import Simulation
    from tocsin.compile import Assembled
    from tocsin.models.reactions._results import Ensemble, Trajectory
    from tocsin.models.reactions._seats import Seat
    from tocsin.models.reactions.model import Reactor

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_TERM = re.compile(r"\s*(?:(\d+)\s*\*?\s*)?([A-Za-z_]\w*)\s*\Z")
NOTHING = ("", "0", "∅")
MOST_EVENTS = 1_000_000_000
"""Events after which a trajectory is stopped, unless said otherwise: some 20 seconds of a small network."""
MOST_COPIES = 1000
"""The largest stoichiometric coefficient of a reactant."""
MOST_COUNTED = 2.0**53
"""The largest initial amount of a species that reacts: beyond, one molecule more or less is no change."""


@dataclass(frozen=True)
class Reaction:
    """One reaction: `Reaction("2 A + B -> C", 0.1)`.

    Parameters
    ----------
    equation : reactants and products, `0` for none; `A + B -> A + C` leaves A as it is
    rate : the stochastic rate constant c, a number or a formula of parameters. The propensity is c
        times the number of ways to pick the reactants: c A B, or c A (A - 1) / 2 for `2 A -> ...`
    law : the whole propensity as a formula, instead of `rate`: "V * S / (K + S)". Time may occur in rate and law
    bound : where time occurs, what the propensity never is above while the amounts stay: a formula without
        time; if none is given, bounds for a while ahead are worked out by interval arithmetic
    delay : a number or a formula, worked out (and drawn) when the reaction starts: reactants are used up then, and
        products come that much later
    name : how errors and tables call it; its equation by default

    Raises InputError for an equation or a formula that is none.
    """

    equation: str
    rate: float | str | Node | None = None
    name: str = ""
    law: str | Node | None = None
    bound: float | str | Node | None = None
    delay: float | str | Node | None = None
    reactants: Mapping[str, int] = field(default_factory=dict)
    products: Mapping[str, int] = field(default_factory=dict)
    changes: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if (self.rate is None) == (self.law is None):
            raise InputError(f"reaction {self.label}: give a rate or a law, one of the two")
        for part in ("rate", "law", "bound", "delay"):
            given = getattr(self, part)
            if given is not None:
                object.__setattr__(self, part, _tree(given, f"reaction {self.label}, {part}"))
        if self.changes is None:
            left, right = sides(self.equation, f"reaction {self.label}")
            changes = {s: right.get(s, 0) - left.get(s, 0) for s in (*left, *right)}
            object.__setattr__(self, "reactants", left)
            object.__setattr__(self, "products", right)
            object.__setattr__(self, "changes", {s: float(n) for s, n in changes.items() if n})

    @property
    def label(self) -> str:
        """Its name, or its equation."""
        return self.name or self.equation


@dataclass(frozen=True)
class Event:
    """Something that is set at the moment when a condition becomes true.

    Parameters
    ----------
    when : a formula: "time >= 25", "A > 30 and B < 2"; time may enter along straight lines
    assign : what is set to which formula, with the values from before; draws such as normal(0, 1) may occur
    name : how errors call it
    was_true : whether it counts as true before the start; if not, an event may be due at time 0
    priority : a formula, worked out when it is due: of events due at one instant the highest happens first
    persistent : whether it happens though another event of the same instant has made its condition false
    delay : a number or a formula, worked out when it is due: it happens that much later, with the values of then

    Events due at one instant happen by priority, those without one last, and else in the order in which they are
    listed; each sees what those before it have set.
    """

    when: str | Node
    assign: Mapping[str, float | str | Node]
    name: str = "event"
    was_true: bool = True
    priority: float | str | Node | None = None
    persistent: bool = True
    delay: float | str | Node | None = None

    def __post_init__(self) -> None:
        if self.delay is not None and not self.persistent:
            raise InputError(f"event {self.name}: one that is not persistent cannot have a delay")
        for part in ("priority", "delay"):
            given = getattr(self, part)
            if given is not None:
                object.__setattr__(self, part, _tree(given, f"{self.name}, {part}"))
        object.__setattr__(self, "when", _tree(self.when, f"{self.name}, when"))
        trees = {k: _tree(v, f"{self.name}, {k}") for k, v in self.assign.items()}
        object.__setattr__(self, "assign", trees)


class Network:
    """Species, reactions and events.

    Parameters
    ----------
    species : amount of each at the start; a list of names starts them at 0
    reactions : the reactions; `reversible` makes two of one equation
    parameters : numbers that rates and laws may mention
    events : what happens when a condition becomes true
    outputs : what is recorded, name and formula; the amount of every species by default
    fixed : species that reactions do not change

    Raises InputError for an unknown or a doubled name, or a number that cannot be.
    """

    def __init__(
        self,
        species: Mapping[str, float] | Sequence[str],
        reactions: Iterable[Reaction],
        parameters: Mapping[str, float] | None = None,
        events: Iterable[Event] = (),
        outputs: Mapping[str, str | Node] | Sequence[str] | None = None,
        fixed: Iterable[str] = (),
    ) -> None:
        self.species = _numbers("species", species if isinstance(species, Mapping) else dict.fromkeys(species, 0.0))
        self.parameters = _numbers("parameter", parameters or {})
        self.reactions, self.events, self.fixed = tuple(reactions), tuple(events), frozenset(fixed)
        asked = outputs if outputs is not None else list(self.species)
        named = asked.items() if isinstance(asked, Mapping) else ((text, text) for text in asked)
        self.outputs = {key: _tree(given, f"output {key!r}") for key, given in named}
        self._check()
        self._world: Reactor | None = None
        self._burst: Assembled | None = None
        self._seats: dict[tuple[str, bool], list[Seat]] = {}

    @classmethod
    def from_text(cls, text: str, source: str = "text") -> Network:
        """Read a network in Tocsin's own text format (see the guide). Raises InputError with line and column."""
        from tocsin.models.reactions.text import read_text

        return read_text(text, source)

    @classmethod
    def from_file(cls, path: str | Path) -> Network:
        """Read a file: SBML if its name ends in .xml or .sbml, else text. Raises InputError."""
        from tocsin.models.reactions.text import read_file

        return read_file(path)

    @classmethod
    def from_sbml(cls, text: str) -> Network:
        """Read SBML (needs `python-libsbml`). Raises InputError naming what is not supported."""
        from tocsin.models.reactions.sbml import read_sbml

        return read_sbml(text)

    def with_values(self, **values: float) -> Network:
        """Return the network with other parameters, or other amounts at the start: `with_values(k_on=0.1, S=500)`.

        What a file's reader worked out from a number (an initial assignment of SBML) stays as it was.
        Raises InputError for a name that is no species and no parameter, or a number that cannot be.
        """
        known = [*self.species, *self.parameters]
        for key in values:
            if key not in self.species and key not in self.parameters:
                raise InputError(f"no species and no parameter is called {key!r}.{nearest(key, known)}")
        given = [{key: values.get(key, old) for key, old in part.items()} for part in (self.species, self.parameters)]
        return Network(given[0], self.reactions, given[1], self.events, self.outputs, self.fixed)

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the network, without the places where it was run."""
        return self.__dict__ | {"_world": None, "_burst": None, "_seats": {}}

    def _check(self) -> None:
        both = set(self.species) & set(self.parameters)
        if both:
            raise InputError(f"{min(both)!r} is both a species and a parameter")
        labels = [r.label for r in self.reactions]
        seen: set[str] = set()
        for label in labels:
            if label in seen:
                raise InputError(f"two reactions are called {label!r}; give one another name")
            seen.add(label)
        for reaction in self.reactions:
            where = f"reaction {reaction.label}"
            for species in (*reaction.reactants, *(reaction.changes or {})):
                if species not in self.species:
                    raise InputError(f"{where}: no species {species!r}.{nearest(species, self.species)}")
            for species in sorted(set(reaction.changes or {}) - self.fixed):
                if self.species[species] > MOST_COUNTED:
                    raise InputError(
                        f"{where}: {self.species[species]:g} molecules of {species} are too many to count one by one; "
                        f"the most is 2**53. Make it a fixed species"
                    )
            laws = [node for node in (reaction.rate, reaction.law) if isinstance(node, Node)]
            for node in laws:
                self._check_formula(where, node, may_draw=False, may_time=True)
            if isinstance(reaction.bound, Node):
                self._check_formula(f"{where}, bound", reaction.bound, may_draw=False, may_time=False)
                if not laws[0].has("time"):
                    raise InputError(f"{where}: a bound is for a rate or a law in which time occurs")
            if isinstance(reaction.delay, Node):
                self._check_formula(f"{where}, delay", reaction.delay, may_draw=True, may_time=True)
        for event in self.events:
            self._check_event(event)
        for key, node in self.outputs.items():
            self._check_formula(f"output {key!r}", node, may_draw=False, may_time=True)
        for species in self.fixed - set(self.species):
            raise InputError(f"fixed: no species {species!r}")

    def _check_event(self, event: Event) -> None:
        assert isinstance(event.when, Node)
        self._check_formula(f"event {event.name}", event.when, may_draw=False, may_time=True)
        for part, may_draw in (("priority", False), ("delay", True)):
            node = getattr(event, part)
            if isinstance(node, Node):
                self._check_formula(f"event {event.name}, {part}", node, may_draw, may_time=True)
        for target, node in event.assign.items():
            if target not in self.species and target not in self.parameters:
                raise InputError(f"event {event.name}: cannot set {target!r}, which is no species and no parameter")
            assert isinstance(node, Node)
            self._check_formula(f"event {event.name}", node, may_draw=True, may_time=True)

    def _check_formula(self, where: str, node: Node, may_draw: bool, may_time: bool) -> None:
        known = [*self.species, *self.parameters]
        for wrong in sorted(node.names() - set(known)):
            raise InputError(f"{where}: {wrong!r} is no species and no parameter.{nearest(wrong, known)}")
        if not may_draw and node.has(*DRAWS):
            raise InputError(f"{where}: random draws may stand in the assignments of an event alone")
        if not may_time and node.has("time"):
            raise InputError(f"{where}: time may not occur here")

    def world(self) -> Reactor:
        """Return a fresh world of `tocsin.models.reactions.MODEL`. Raises InputError for a propensity that cannot be."""
        from tocsin.models.reactions._build import build

        if self._world is None:
            self._world = build(self)
        return self._world.copy()

    def simulation(self, seed: int = 0, method: str = "auto", **options: Any) -> Simulation[Reactor]:
        """Return a `Simulation` of the network, to be recorded, saved or audited like any other.

        `method` is "next-reaction", "composition-rejection" or "auto"; the direct method has no clocks.
        """
        from tocsin.models.reactions._ensemble import simulation

        return simulation(self, seed, method, **options)

    def view(self) -> View:
        """Return the picture of a live page of its simulation: amounts as bars, and over time."""
        names = tuple(self.species)
        paths = tuple(f"values[{k}]" for k in range(len(names)))
        return View((Bars(paths, names, label="amounts"),), series=tuple(zip(names, paths, strict=True)))

    def run(
        self,
        times: Sequence[float],
        seed: int = 0,
        method: str = "auto",
        jit: bool = True,
        most_events: int = MOST_EVENTS,
        parameters: Mapping[str, float] | None = None,
    ) -> Trajectory:
        """Run once and record the outputs at `times`, which ascend from 0 or later.

        `parameters` replace those of the network, or amounts at the start, as `with_values` does.

        Raises InputError; SimulationError for a propensity that cannot be, or more than `most_events` events.
        """
        from tocsin.models.reactions._ensemble import run

        return run(self._with(parameters), times, seed, method, jit, most_events)

    def ensemble(
        self,
        n: int,
        times: Sequence[float],
        seed: int = 0,
        method: str = "auto",
        threads: int = 1,
        keep: bool = False,
        jit: bool = True,
        most_events: int = MOST_EVENTS,
        parameters: Mapping[str, float] | None = None,
    ) -> Ensemble:
        """Run `n` trajectories with seeds seed, seed + 1, ...; return means and variances over them.

        `keep` keeps every trajectory too. The numbers do not depend on `threads`. Raises as `run` does, if
        any trajectory has more than `most_events` events: to drop it would bias the means. `parameters` as in `run`.
        """
        from tocsin.models.reactions._ensemble import run_ensemble

        return run_ensemble(self._with(parameters), n, times, seed, method, threads, keep, jit, most_events)

    def _with(self, parameters: Mapping[str, float] | None) -> Network:
        return self.with_values(**parameters) if parameters else self


def reversible(
    equation: str, forward: float | str | Node, backward: float | str | Node, name: str = ""
) -> tuple[Reaction, Reaction]:
    """Return the two reactions of `A + B <-> C`. Raises InputError."""
    left, arrow, right = equation.partition("<->")
    if not arrow:
        raise InputError(f"reaction {name or equation}: a reversible reaction has '<->'")
    names = (f"{name}_forward", f"{name}_backward") if name else ("", "")
    return (
        Reaction(f"{left.strip()} -> {right.strip()}", forward, names[0]),
        Reaction(f"{right.strip()} -> {left.strip()}", backward, names[1]),
    )


def sides(equation: str, where: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many of each species stand left and right of the arrow. Raises InputError."""
    left, arrow, right = equation.partition("->")
    if not arrow or left.rstrip().endswith("<"):
        hint = "; `reversible` makes two reactions" if arrow else ""
        raise InputError(f"{where}: an equation has one '->'{hint}, got {equation!r}")
    return _side(left, where), _side(right, where)


def _side(text: str, where: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    if text.strip() in NOTHING:
        return counts
    for term in text.split("+"):
        found = _TERM.match(term)
        if not found:
            raise InputError(f"{where}: {term.strip()!r} is no species with a count such as '2 A'")
        n = int(found[1][:9]) if found[1] else 1
        if not 1 <= n <= MOST_COPIES:
            raise InputError(f"{where}: a count must be in 1..{MOST_COPIES}, got {n}")
        counts[found[2]] = counts.get(found[2], 0) + n
    return counts


def _tree(given: float | str | Node, where: str) -> Node:
    if isinstance(given, Node):
        return given
    if isinstance(given, str):
        return formula(given, lambda column, rule: InputError(f"{where}: {given!r}, column {column + 1}: {rule}"))
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise InputError(f"{where} must be a finite number or a formula, got {given!r}")
    return number(given)


def _numbers(kind: str, given: Mapping[str, float]) -> dict[str, float]:
    made = {}
    for key, value in given.items():
        if not _NAME.match(key) or key in ("time", "and", "or", "not"):
            raise InputError(f"{key!r} cannot be the name of a {kind}: use letters, digits and _, not first a digit")
        try:
            made[key] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{kind} {key} must be a number, got {value!r}") from None
        if math.isnan(made[key]) or (kind == "species" and not 0 <= made[key] < math.inf):
            rule = "finite and >= 0" if kind == "species" else "a number"
            raise InputError(f"{kind} {key} must be {rule}, got {value!r}")
    return made
