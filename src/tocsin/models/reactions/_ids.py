"""SBML's ids: each names one thing, and what is mentioned is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tocsin.errors import InputError


def check_ids(model: Any) -> None:
    """Raise InputError for an id given twice, or what is set by two rules, or a compartment or symbol that is not there."""
    kinds = {
        "function": model.getListOfFunctionDefinitions(), "compartment": model.getListOfCompartments(),
        "species": model.getListOfSpecies(), "parameter": model.getListOfParameters(),
        "reaction": model.getListOfReactions(), "event": model.getListOfEvents(),
    }  # fmt: skip
    seen: dict[str, str] = {}
    for kind, found in kinds.items():
        for one in found:
            key = one.getId()
            if key and key in seen:
                raise InputError(f"SBML: a {seen[key]} and a {kind} have the id {key!r}; an id is given once")
            seen[key] = kind
    species = {reference.getId() for reaction in model.getListOfReactions()
               for part in (reaction.getListOfReactants(), reaction.getListOfProducts()) for reference in part}  # fmt: skip
    rules = [rule.getVariable() for rule in model.getListOfRules() if not rule.isAlgebraic()]
    starts = [one.getSymbol() for one in model.getListOfInitialAssignments()]
    assigned = [rule.getVariable() for rule in model.getListOfRules() if rule.isAssignment()]
    _check_once("rule", rules)
    _check_once("initial assignment", starts)
    _check_once("assignment rule and an initial assignment", [*set(assigned), *set(starts)])
    for what, keys in (("a rule", rules), ("an initial assignment", starts)):
        for key in keys:
            if seen.get(key) not in ("compartment", "species", "parameter") and key not in species:
                raise InputError(f"SBML: {what} sets {key!r}, which is no compartment, species or parameter")
    for one in model.getListOfSpecies():
        if seen.get(one.getCompartment()) != "compartment":
            raise InputError(f"species {one.getId()}: there is no compartment {one.getCompartment()!r}")


def _check_once(what: str, keys: Iterable[str]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise InputError(f"SBML: {key!r} has more than one {what}")
        seen.add(key)
