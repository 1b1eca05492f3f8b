"""SBML Level 3 (core, and distributions of the package `distrib`) through python-libsbml.

Hucka et al. 2003, doi:10.1093/bioinformatics/btg015; Level 3: Keating et al. 2020,
doi:10.15252/msb.20199110. Species count as amounts; where a formula means a concentration, it is
divided by the size of the compartment. What is not supported is refused by name.
"""

from __future__ import annotations

import functools
import graphlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.errors import InputError
from tocsin.formula import DRAWS, TIME, Node, call, name, number, value_of
from tocsin.models.reactions._expanded import Expanded
from tocsin.models.reactions._ids import check_ids
from tocsin.models.reactions._xml import checked_xml
from tocsin.models.reactions.network import Event, Network, Reaction


def read_sbml(text: str, outputs: Sequence[str] | None = None) -> Network:
    """Return the network of an SBML document.

    Parameters
    ----------
    text : the document
    outputs : what is recorded: ids, `[X]` for the concentration of a species; the amounts of all
        species and the parameters that change, by default

    Raises InputError: no python-libsbml, malformed, or a feature that is not supported, by name and id.
    """
    text = text.removeprefix("\ufeff")
    checked_xml(text)
    document = _document(text)  # its parts live as long as it does
    return _Reader(document.getModel()).network(outputs)


def _document(text: str) -> Any:
    try:
        import libsbml
    except ImportError:
        raise InputError("SBML needs python-libsbml: pip install 'tocsin[sbml]'") from None
    document = libsbml.readSBMLFromString(text)
    for k in range(document.getNumErrors()):
        error = document.getError(k)
        if error.getSeverity() >= libsbml.LIBSBML_SEV_ERROR and error.getErrorId() != libsbml.MissingXMLEncoding:
            raise InputError(f"SBML, line {error.getLine()}: {' '.join(error.getMessage().split())}"[:500])
    if document.getLevel() != 3:
        raise InputError(f"SBML Level {document.getLevel()} is not supported; convert the model to Level 3")
    for k in range(document.getNumPlugins()):
        package = document.getPlugin(k).getPackageName()
        if package not in ("distrib", "l3v2extendedmath") and document.getPackageRequired(package):
            raise InputError(f"the SBML package {package!r} is not supported")
    if document.getModel() is None:
        raise InputError("the SBML document has no model")
    return document


class _Reader:
    """One model on its way to a network."""

    def __init__(self, model: Any) -> None:
        self.model = model
        expanded = Expanded(model)
        self._tree, self._bounded = expanded.tree, expanded.bounded
        self.values: dict[str, float] = {}  # numbers at the start, by id
        self.meaning: dict[str, Node] = {}  # what an id in a formula stands for
        self.rates: dict[str, Node] = {}  # slope of a parameter that grows by a rate rule,
        self._since: dict[str, str] = {}  # and the name of when it was set last
        self.events: list[Event] = []
        self.species = {s.getId(): s for s in model.getListOfSpecies()}
        self._refuse()
        check_ids(model)
        self.drawn: dict[str, Node] = {}  # what is drawn at the start
        self.rules = {r.getVariable(): r for r in model.getListOfRules()}
        self.starts = {a.getSymbol(): a for a in model.getListOfInitialAssignments()}

    def _refuse(self) -> None:
        """Refuse what the model has and we have not."""
        model = self.model
        if model.getNumConstraints():
            raise InputError("constraints are not supported")
        if model.isSetConversionFactor():
            raise InputError("the model's conversionFactor is not supported")
        for rule in model.getListOfRules():
            if rule.isAlgebraic():
                raise InputError("algebraic rules are not supported")
        for key, species in self.species.items():
            if species.isSetConversionFactor():
                raise InputError(f"species {key}: conversionFactor is not supported")

    def network(self, outputs: Sequence[str] | None) -> Network:
        """Return the network."""
        self._read_values()
        self._read_rules()
        self._read_starts()
        for event in self.model.getListOfEvents():
            self.events.append(self._event(event))
        reactions = [self._reaction(r) for r in self.model.getListOfReactions()]
        amounts = {key: self._amount(key) for key in self.species if key not in self.rules}
        changing = {target for event in self.events for target in event.assign} | set(self.rates)
        shown = [*self.species, *(p.getId() for p in self.model.getListOfParameters()
                                  if p.getId() in self.rules or p.getId() in changing)]  # fmt: skip
        asked = list(outputs) if outputs is not None else shown
        fixed = [key for key in amounts if self.species[key].getBoundaryCondition() or self.species[key].getConstant()]
        used = {n for part in (reactions, self.events) for one in part for node in trees_of(one) for n in node.names()}
        parameters = {
            key: v for key, v in self.values.items()
            if key not in self.species and key not in self._sizes and not (math.isnan(v) and key not in used | changing)
        }  # fmt: skip
        return Network(amounts, reactions, parameters, self.events, {k: self._output(k) for k in asked}, fixed)

    # -- values -------------------------------------------------------------------------

    def _read_values(self) -> None:
        """Read compartments, parameters and species as far as numbers are given."""
        self._sizes: set[str] = set()
        for compartment in self.model.getListOfCompartments():
            key = compartment.getId()
            if key in self.rules:
                raise InputError(f"compartment {key}: a size that changes is not supported")
            self._sizes.add(key)
            self._value(key, compartment.getSize() if compartment.isSetSize() else math.nan)
            self.meaning[key] = name(key)
        for parameter in self.model.getListOfParameters():
            key = parameter.getId()
            self._value(key, parameter.getValue() if parameter.isSetValue() else math.nan)
            self.meaning[key] = name(key)
        for key, species in self.species.items():
            self.meaning[key] = name(key)
            if species.isSetInitialAmount():
                self._value(key, species.getInitialAmount())

    def _value(self, key: str, value: float) -> None:
        self.values[key] = float(value)

    def _read_rules(self) -> None:
        """Put formulas in the place of what assignment and rate rules set."""
        for key, rule in self.rules.items():
            if rule.isRate():
                self._rate_rule(key, self._tree(rule.getMath(), f"rate rule of {key}"))
        given = {
            key: self._tree(self.rules[key].getMath(), f"assignment rule of {key}")
            for key in sorted(self._assigned_ids())
        }
        for key in self._in_order(given):
            where = f"assignment rule of {key}"
            if given[key].has(*DRAWS):
                raise InputError(f"{where}: random draws are not supported here")
            self.meaning[key] = self._bounded(given[key].replaced(self.meaning), where)

    def _in_order(self, given: Mapping[str, Node]) -> list[str]:
        """Return the assigned ids, each after those its rule mentions. Raises InputError for a circle."""
        needs = {key: sorted(node.names() & given.keys()) for key, node in given.items()}
        try:
            return list(graphlib.TopologicalSorter(needs).static_order())
        except graphlib.CycleError as error:
            circle = sorted(set(error.args[1]))
        if len(circle) == 1:
            raise InputError(f"assignment rule of {circle[0]} depends on itself")
        raise InputError(f"assignment rules depend on each other in a circle: {', '.join(circle)}")

    @functools.cache  # noqa: B019 (a reader lives for one document)
    def _assigned_ids(self) -> frozenset[str]:
        return frozenset(key for key, rule in self.rules.items() if rule.isAssignment())

    def _rate_rule(self, key: str, slope: Node) -> None:
        """A parameter that grows at a constant rate is its last value and when that was set."""
        if key in self.species or slope.has("time", *DRAWS) or not slope.names() <= self._constant_ids():
            raise InputError(f"rate rule of {key}: only parameters that grow at a constant rate are supported")
        since = self._since[key] = self._free_name(f"_since_{key}")
        self.values[since] = 0.0
        self.rates[key] = slope
        self.meaning[key] = call("add", name(key), call("mul", slope, call("sub", TIME, name(since))))

    def _free_name(self, wanted: str) -> str:
        """Return a name that nothing in the model has."""
        while self.model.getElementBySId(wanted) is not None:
            wanted = f"_{wanted}"
        return wanted

    def _constant_ids(self) -> set[str]:
        """Return the parameters that nothing changes."""
        events = self.model.getListOfEvents()
        changed = {a.getVariable() for event in events for a in event.getListOfEventAssignments()} | set(self.rules)
        return {p.getId() for p in self.model.getListOfParameters()} - changed

    def _read_starts(self) -> None:
        """Work out initial assignments and concentrations, in whatever order they need each other."""
        waiting = {key: self._tree(a.getMath(), f"initial assignment of {key}") for key, a in self.starts.items()}
        for key in waiting:
            self.values.pop(key, None)
        lacks: dict[str, str] = {}  # a name that has no value yet, for those that cannot be worked out so far
        n_before = len(waiting) + 1
        while len(waiting) < n_before:
            n_before = len(waiting)
            self._concentrations(waiting)
            for key in list(waiting):
                if key in lacks and math.isnan(self.values.get(lacks[key], math.nan)):
                    continue
                if key in self.species and self.species[key].getCompartment() in waiting:
                    continue
                node = self._in_amounts(waiting[key])
                if node.has(*DRAWS):
                    self.events.append(self._drawn_start(key, waiting.pop(key), node))
                elif unknown := [n for n in node.names() if math.isnan(self.values.get(n, math.nan))]:
                    lacks[key] = unknown[0]
                else:
                    self._refuse_drawn(f"the initial assignment of {key}", node)
                    self._set_start(key, value_of(node, self.values))
                    del waiting[key]
        for key, node in self.drawn.items():
            self._refuse_drawn(f"the initial assignment of {key}", node)
        if waiting:
            raise InputError(f"the initial assignment of {min(waiting)} cannot be worked out: a circle, or no value")

    def _concentrations(self, waiting: dict[str, Node]) -> None:
        for key, species in self.species.items():
            is_open = key not in self.values and key not in waiting and species.isSetInitialConcentration()
            if is_open and species.getCompartment() not in waiting:
                self.values[key] = species.getInitialConcentration() * self._size(key)

    def _set_start(self, key: str, value: float) -> None:
        self.values[key] = value * self._scale(key)

    def _refuse_drawn(self, where: str, node: Node) -> None:
        """Refuse a formula of the start that mentions what is drawn only then."""
        for key in sorted(node.names() & self.drawn.keys()):
            raise InputError(f"{where} mentions {key}, whose own start is drawn at random; this is not supported")

    def _drawn_start(self, key: str, _given: Node, node: Node) -> Event:
        if key in self._sizes:
            raise InputError(f"compartment {key}: a size that is drawn at random is not supported")
        self.values[key] = 0.0
        self.drawn[key] = node
        scaled = call("mul", node, number(self._scale(key)))
        return Event(number(1.0), {key: scaled}, f"initial assignment of {key}", was_true=False)

    def _size(self, species: str) -> float:
        """Return the size of a species' compartment. Raises InputError if it has none."""
        compartment = self.species[species].getCompartment()
        size = self.values.get(compartment, math.nan)
        if not (math.isfinite(size) and size > 0.0):
            raise InputError(
                f"compartment {compartment}: species {species} counts as a concentration there, so its size must be "
                f"given and > 0, got {size!r}"
            )
        return size

    def _scale(self, key: str) -> float:
        """Return what turns the value that a formula gives an id into what we keep: an amount."""
        if key not in self.species or self.species[key].getHasOnlySubstanceUnits():
            return 1.0
        return self._size(key)

    def _amount(self, key: str) -> float:
        value = self.values.get(key, math.nan)
        if not (math.isfinite(value) and value >= 0.0):
            raise InputError(f"species {key}: its initial amount must be given, finite and >= 0, got {value!r}")
        return value

    # -- formulas -----------------------------------------------------------------------

    def _in_amounts(self, node: Node, local: dict[str, Node] | None = None) -> Node:
        """Return a formula of SBML's ids as one of amounts and parameters."""
        local = local or {}
        node = self._bounded(node.replaced({**self.meaning, **local}), "SBML")
        scaled = {}
        for key in node.names() & set(self.species):
            if key not in self.rules and not self.species[key].getHasOnlySubstanceUnits():
                scaled[key] = call("div", name(key), number(self._size(key)))
        for key in node.names() & self._sizes:
            scaled[key] = number(self._known(key))
        return node.replaced(scaled)

    def _known(self, key: str) -> float:
        value = self.values.get(key, math.nan)
        if math.isnan(value):
            raise InputError(f"{key} has no value, and a formula mentions it")
        return value

    def _output(self, asked: str) -> Node:
        """Return what `X` or `[X]` stands for: an amount, a parameter, or a concentration."""
        is_concentration = asked.startswith("[") and asked.endswith("]")
        key = asked[1:-1] if is_concentration else asked
        if not is_concentration and key not in self.meaning:
            return self._infix(key)
        if key not in self.meaning or (is_concentration and key not in self.species):
            raise InputError(f"the model has no species or parameter {key!r} to record")
        if key not in self.species:
            return self._in_amounts(name(key))
        is_amount = self.species[key].getHasOnlySubstanceUnits() or key not in self.rules
        node = self._in_amounts(name(key)) if key in self.rules else name(key)
        if is_amount == (not is_concentration):
            return node
        return call("div" if is_concentration else "mul", node, number(self._size(key)))

    def _infix(self, asked: str) -> Node:
        """Return a formula of what can be recorded, such as ln(X); species are amounts in it."""
        import libsbml

        parsed = libsbml.parseL3Formula(asked)
        if parsed is None or not parsed.getNumChildren():
            raise InputError(f"the model has no species or parameter {asked!r} to record")
        node = self._tree(parsed, f"output {asked!r}")
        return node.replaced({key: self._output(key) for key in node.names()})

    # -- reactions and events ----------------------------------------------------------

    def _reaction(self, reaction: Any) -> Reaction:
        key = reaction.getId()
        if reaction.isSetFast() and reaction.getFast():
            raise InputError(f"reaction {key}: fast reactions are not supported")
        law = reaction.getKineticLaw()
        if law is None or law.getMath() is None:
            raise InputError(f"reaction {key} has no kinetic law")
        local = {p.getId(): number(p.getValue()) for p in law.getListOfLocalParameters()}
        node = self._in_amounts(self._tree(law.getMath(), f"reaction {key}"), local)
        self._check_names(node, f"reaction {key}")
        changes: dict[str, float] = {}
        for part, sign in ((reaction.getListOfReactants(), -1.0), (reaction.getListOfProducts(), 1.0)):
            for reference in part:
                species = reference.getSpecies()
                changes[species] = changes.get(species, 0.0) + sign * self._stoichiometry(reference, key)
        changes = {s: n for s, n in changes.items() if n and s not in self.rules}
        return Reaction(key, law=node, name=key, changes=changes)

    def _stoichiometry(self, reference: Any, reaction: str) -> float:
        species = reference.getSpecies()
        if reference.isSetId() and (reference.getId() in self.rules or reference.getId() in self.starts):
            raise InputError(f"reaction {reaction}: a stoichiometry of {species} that is computed is not supported")
        if not reference.isSetStoichiometry() or not math.isfinite(reference.getStoichiometry()):
            raise InputError(f"reaction {reaction}: the stoichiometry of {species} must be given")
        return float(reference.getStoichiometry())

    def _check_names(self, node: Node, where: str) -> None:
        for key in sorted(node.names()):
            if key not in self.species:
                if key not in self.values:
                    raise InputError(f"{where} mentions {key!r}, which is no species, parameter or compartment")
                self._known(key)

    def _event(self, event: Any) -> Event:
        key = event.getId() or "without id"
        if not event.isSetTrigger():
            raise InputError(f"event {key} has no trigger")
        trigger = event.getTrigger()
        when = self._in_amounts(self._tree(trigger.getMath(), f"event {key}, trigger"))
        self._check_names(when, f"event {key}, trigger")
        self._refuse_drawn(f"the trigger of event {key}", when)
        assign: dict[str, float | str | Node] = {}
        for assignment in event.getListOfEventAssignments():
            target = assignment.getVariable()
            assign |= self._assignment(target, self._tree(assignment.getMath(), f"event {key}, {target}"), key)
        priority = None
        if event.isSetPriority():
            priority = self._in_amounts(self._tree(event.getPriority().getMath(), f"event {key}, priority"))
            self._check_names(priority, f"event {key}, priority")
        is_persistent = bool(trigger.getPersistent())
        delay = self._delay(event, key, assign, is_persistent) if event.isSetDelay() else None
        return Event(when, assign, key, bool(trigger.getInitialValue()), priority, is_persistent, delay)

    def _delay(self, event: Any, key: str, assign: Mapping[str, float | str | Node], is_persistent: bool) -> Node:
        """Return the delay of an event whose values are those of the end of the delay, or the same at all times."""
        if not is_persistent:
            raise InputError(f"event {key}: a delay is not supported where the trigger is not persistent")
        if event.getUseValuesFromTriggerTime() and any(
            node.names() or node.has("time") for node in assign.values() if isinstance(node, Node)
        ):
            raise InputError(
                f"event {key}: a delay is supported with useValuesFromTriggerTime false, or values that never change"
            )
        delay = self._in_amounts(self._tree(event.getDelay().getMath(), f"event {key}, delay"))
        self._check_names(delay, f"event {key}, delay")
        return delay

    def _assignment(self, target: str, given: Node, event: str) -> dict[str, Node]:
        if target not in self.meaning or target in self._sizes or target in self._assigned_ids():
            raise InputError(f"event {event}: setting {target!r} is not supported; it may set species and parameters")
        declared = self.species.get(target) or self.model.getParameter(target)
        if declared is not None and declared.getConstant():
            raise InputError(f"event {event}: {target!r} is constant, so it cannot be set")
        node = self._in_amounts(given)
        self._check_names(node, f"event {event}, {target}")
        scale = self._scale(target)
        if scale != 1.0:
            node = call("mul", node, number(scale))
        return {target: node, self._since[target]: TIME} if target in self.rates else {target: node}


def trees_of(part: Reaction | Event) -> list[Node]:
    """Return the formulas of a reaction or an event."""
    if isinstance(part, Reaction):
        return [node for node in (part.rate, part.law) if isinstance(node, Node)]
    return [node for node in (part.when, *part.assign.values()) if isinstance(node, Node)]
