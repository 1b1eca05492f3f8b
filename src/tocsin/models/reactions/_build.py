"""From a network to a world: laws sorted by kind, dependency graph, formulas as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.formula import Node, Table, call, constant_of, name, number
from tocsin.models.reactions._crossings import crossings
from tocsin.models.reactions.model import COMBINATIONS, FORMULA, PRODUCT, Reactor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.models.reactions.network import Network, Reaction

MOST_DENSE = 8
"""Reactions and species up to which all propensities are worked out at every event (measured)."""
ONE = "1"
"""Stands for the reactants that there are not: an amount of 1, always."""


class _Builder:
    """Lists on their way into world arrays."""

    def __init__(self, network: Network) -> None:
        self.network = network
        names = [*network.species, ONE, *network.parameters]
        self.index = {key: k for k, key in enumerate(names)}
        self.values = [*network.species.values(), 1.0, *network.parameters.values()]
        self.table = Table(self.index, self.values)
        variable = {target for event in network.events for target in event.assign}
        self.constants = {k: v for k, v in network.parameters.items() if k not in variable}
        self.reactants: list[tuple[int, int]] = []
        self.changed: list[int] = []
        self.by: list[float] = []
        self.channels: list[dict[str, Any]] = []
        self.reads: list[set[str]] = []
        self.changes: list[set[str]] = []

    def add(self, reaction: Reaction) -> None:
        """Add a reaction."""
        row, reads = self.law(reaction)
        changes = {s: n for s, n in (reaction.changes or {}).items() if s not in self.network.fixed}
        row["first_change"] = len(self.changed)
        self.changed += [self.index[s] for s in changes]
        self.by += changes.values()
        row["last_change"] = len(self.changed)
        self.channels.append(row)
        self.reads.append(reads)
        self.changes.append(set(changes))

    def law(self, reaction: Reaction) -> tuple[dict[str, Any], set[str]]:
        """Return how the propensity of a reaction is found, and what it depends on."""
        if reaction.law is not None:
            assert isinstance(reaction.law, Node)
            return self.simple(factors(reaction.law, self.constants, self.network.species)) or self.formula(
                reaction.law
            )
        assert isinstance(reaction.rate, Node)
        constant = constant_of(reaction.rate, self.constants)
        if constant is None:
            return self.formula(call("mul", reaction.rate, combinations(reaction.reactants)))
        if not constant >= 0.0:
            raise InputError(f"reaction {reaction.label}: its rate must be >= 0, got {constant!r}")
        given = sorted(reaction.reactants.items(), key=lambda item: self.index[item[0]])
        if sum(n for _, n in given) > 2:
            return self.counted(constant, given)
        singles = [s for s, n in given for _ in range(n)]
        is_pair = len(singles) == 2 and singles[0] == singles[1]
        found = self.simple((constant / 2.0 if is_pair else constant, singles, is_pair))
        assert found is not None
        return found

    def simple(self, found: tuple[float, list[str], bool] | None) -> tuple[dict[str, Any], set[str]] | None:
        """Return the row of a law that is a constant times at most two amounts."""
        if found is None:
            return None
        constant, singles, is_pair = found
        x, y = (*singles, ONE, ONE)[:2]
        row = {"kind": PRODUCT, "constant": constant, "x": self.index[x], "y": self.index[y], "shift": float(is_pair)}
        return row, set(singles)

    def counted(self, constant: float, given: list[tuple[str, int]]) -> tuple[dict[str, Any], set[str]]:
        """Return the row of a law that counts the ways to pick three reactants or more."""
        first = len(self.reactants)
        self.reactants += [(self.index[s], n) for s, n in given]
        row = {"kind": COMBINATIONS, "constant": constant, "first_code": first, "last_code": len(self.reactants)}
        return row, {s for s, _ in given}

    def formula(self, node: Node) -> tuple[dict[str, Any], set[str]]:
        """Return the row of a law that is a formula."""
        first, last = self.table.add(node)
        return {"kind": FORMULA, "constant": 0.0, "first_code": first, "last_code": last}, node.names()

    def jumps(self) -> np.ndarray[Any, Any] | None:
        """Return what each channel changes, channels by species, for a small network of products; else None."""
        shape = len(self.channels), len(self.network.species)
        if not 0 < shape[0] <= MOST_DENSE or shape[1] > MOST_DENSE or any(r["kind"] != PRODUCT for r in self.channels):
            return None
        jumps = np.zeros(shape)
        for k, row in enumerate(self.channels):
            span = slice(row["first_change"], row["last_change"])
            jumps[k, self.changed[span]] = self.by[span]
        return jumps

    def depend(self) -> list[int]:
        """Note in each channel whose propensities it changes; return them all."""
        readers: dict[str, list[int]] = {}
        for k, reads in enumerate(self.reads):
            for species in reads:
                readers.setdefault(species, []).append(k)
        dependents: list[int] = []
        for row, changes in zip(self.channels, self.changes, strict=True):
            row["first_dependent"] = len(dependents)
            dependents += sorted({k for species in changes for k in readers.get(species, ())})
            row["last_dependent"] = len(dependents)
        return dependents

    def events(self) -> dict[str, Any]:
        """Return triggers, and what they need."""
        rows: list[dict[str, int]] = []
        gaps: list[tuple[int, ...]] = []
        sets: list[tuple[int, ...]] = []
        most = 0
        for event in self.network.events:
            assert isinstance(event.when, Node)
            first, last = self.table.add(event.when)
            row = {"first_code": first, "last_code": last, "first_gap": len(gaps), "first_assignment": len(sets)}
            for gap, slope in crossings(event.when, f"event {event.name}"):
                gaps.append((*self.table.add(gap), *self.table.add(slope)))
            for target, node in event.assign.items():
                assert isinstance(node, Node)
                sets.append((self.index[target], *self.table.add(node)))
            row |= {"last_gap": len(gaps), "last_assignment": len(sets), "was_true": int(event.was_true)}
            most = max(most, len(event.assign))
            rows.append(row)
        return {
            "triggers": _columns(rows), "gaps": np.reshape(gaps, (-1, 4)), "assignments": np.reshape(sets, (-1, 3)),
            "assigned": np.zeros(most), "was_true": [row["was_true"] for row in rows],
        }  # fmt: skip


def build(network: Network) -> Reactor:
    """Return the world of a network. Raises InputError for a propensity that cannot be."""
    builder = _Builder(network)
    for reaction in network.reactions:
        builder.add(reaction)
    dependents = builder.depend()
    events = builder.events()
    outputs = [builder.table.add(node) for node in network.outputs.values()]
    table = builder.table
    world = Reactor(
        channels=_columns(builder.channels), values=builder.values, propensities=np.zeros(len(builder.channels)),
        changed=builder.changed, by=builder.by, dependents=dependents, reactants=np.reshape(builder.reactants, (-1, 2)),
        ops=table.ops, args=table.args, stack=np.zeros(table.deepest + 4), outputs=np.reshape(outputs, (-1, 2)),
        initial=builder.values, at=-1, sums=np.zeros(len(builder.channels)), n_species=len(network.species), **events,
    )  # fmt: skip
    jumps = builder.jumps()
    if jumps is not None:
        world._set_array(world.schema().arrays["jumps"], jumps)
        world.is_dense = 1
    world.renew_all(0.0, None)  # type: ignore[arg-type]  # no law draws
    if world.bad:
        raise InputError(bad_propensity(network, world))
    return world


def bad_propensity(network: Network, world: Reactor) -> str:
    """Return the sentence about a propensity that is negative, infinite or NaN."""
    label = network.reactions[world.bad - 1].label
    amounts = ", ".join(f"{s}={world.values.values.item(k):g}" for k, s in enumerate([*network.species][:8]))
    p = world.propensities.values.item(world.bad - 1)
    return f"reaction {label}: its propensity is {p!r}; it must be finite and >= 0 (at {amounts})"


def _columns(rows: list[dict[str, Any]]) -> Any:
    """Return rows as columns; what a row does not say is 0."""
    if not rows:
        return 0
    names = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key, 0) for row in rows] for key in names}


def combinations(reactants: Mapping[str, int]) -> Node:
    """Return the number of ways to pick the reactants, as a formula."""
    product = number(1.0)
    for species, n in reactants.items():
        for m in range(n):
            left = call("max", call("sub", name(species), number(m)), number(0.0))
            product = call("mul", product, call("div", left, number(m + 1.0)))
    return product


def factors(
    law: Node, constants: Mapping[str, float], species: Mapping[str, float]
) -> tuple[float, list[str], bool] | None:
    """Return (constant, reactants, whether it is x (x - 1)) of a law of mass action; None for any other."""
    constant = 1.0
    singles: list[str] = []
    lowered: list[str] = []
    waiting = [(law, False)]
    while waiting:
        node, is_below = waiting.pop()
        value = constant_of(node, constants)
        if value is not None:
            if is_below and value == 0.0:
                return None
            constant = constant / value if is_below else constant * value
        elif node.op == "mul" or node.op == "div":
            waiting += [(node.args[0], is_below), (node.args[1], is_below != (node.op == "div"))]
        elif is_below:
            return None
        elif node.op == "name" and node.name in species:
            singles.append(node.name)
        elif node.op == "sub" and node.args[0].name in species and node.args[1] == number(1.0):
            lowered.append(node.args[0].name)
        else:
            return None
    if not constant >= 0.0:
        return None
    if not lowered and len(singles) == len(set(singles)) <= 2:
        return constant, singles, False
    if len(lowered) == 1 and singles == lowered:
        return constant, singles * 2, True
    return None
