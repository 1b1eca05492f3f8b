"""From a network to a world: laws sorted by kind, dependency graph, formulas as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.formula import Node, Table, call, constant_of, name, number
from tocsin.kernel._rates import LEAST_RATE, MOST_RATE
from tocsin.models.reactions._crossings import crossings
from tocsin.models.reactions._kinds import (
    BAD_AMOUNT,
    BAD_DELAY,
    BAD_LAW,
    FACTORS,
    FORMULA,
    NO_BOUND,
    PRODUCT,
    TIMED,
    TOO_MANY_DUE,
)
from tocsin.models.reactions._thinning import open_window
from tocsin.models.reactions._unrolled import is_unrollable
from tocsin.models.reactions.model import Reactor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.models.reactions.network import Network, Reaction

MOST_BY_LEVELS = f"composition-rejection takes 0 and {LEAST_RATE:.3g} .. {MOST_RATE:.3g}; take another method"
MOST_DUE = 1 << 16
"""Delayed firings that may be on their way at a time."""
MOST_FACTOR = 1000
"""The largest shift or power in a law of mass action."""
MOST_WAYS = 10**300
"""Orders of the reactants of one reaction: a float64 ends near 10^308."""
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
        self.factors: list[tuple[int, int]] = []
        self.changed: list[int] = []
        self.by: list[float] = []
        self.channels: list[dict[str, Any]] = []
        self.reads: list[set[str]] = []
        self.changes: list[set[str]] = []
        self.delays: list[tuple[int, int, int, int]] = []

    def add(self, reaction: Reaction) -> None:
        """Add a reaction."""
        row, reads = self.law(reaction)
        changes, later = dict(reaction.changes or {}), dict[str, float]()
        delay = (0, 0)
        if isinstance(reaction.delay, Node):
            changes = {s: -float(n) for s, n in reaction.reactants.items()}
            later = {s: float(n) for s, n in reaction.products.items()}
            delay, row["is_delayed"] = self.table.add(reaction.delay), 1
        if isinstance(reaction.bound, Node):
            row["first_bound"], row["last_bound"] = self.table.add(reaction.bound)
            reads = reads | reaction.bound.names()
        row["first_change"], row["last_change"] = self.moves(changes)
        self.delays.append((*delay, *self.moves(later)))
        self.channels.append(row)
        self.reads.append(reads)
        self.changes.append({*changes, *later} - self.network.fixed)

    def moves(self, changes: Mapping[str, float]) -> tuple[int, int]:
        """Write what changes by how much; return the first place and the one after the last."""
        first = len(self.changed)
        moving = {s: n for s, n in changes.items() if n and s not in self.network.fixed}
        self.changed += [self.index[s] for s in moving]
        self.by += moving.values()
        return first, len(self.changed)

    def law(self, reaction: Reaction) -> tuple[dict[str, Any], set[str]]:
        """Return how the propensity of a reaction is found, and what it depends on."""
        if isinstance(reaction.law, Node):
            found = factors(reaction.law, self.constants, self.index)
            return self.formula(reaction.law) if found is None else self.product(*found)
        assert isinstance(reaction.rate, Node)
        constant = constant_of(reaction.rate, self.constants)
        if constant is not None and not constant >= 0.0:
            raise InputError(f"reaction {reaction.label}: its rate must be >= 0, got {constant!r}")
        given = sorted(reaction.reactants.items(), key=lambda item: self.index[item[0]])
        picked = [(s, m) for s, n in given for m in range(n)]
        ways = math.prod(math.factorial(n) for _, n in given)
        if ways > MOST_WAYS:
            raise InputError(f"reaction {reaction.label}: too many reactants at once, {sum(n for _, n in given):,}")
        if constant is not None:
            return self.product(constant / ways, picked)
        rate = factors(reaction.rate, self.constants, self.index)
        if rate is None:
            return self.formula(call("mul", reaction.rate, combinations(reaction.reactants)))
        return self.product(rate[0] / ways, [*rate[1], *picked])

    def product(self, constant: float, found: list[tuple[str, int]]) -> tuple[dict[str, Any], set[str]]:
        """Return the row of a law that is a constant times factors, each a name less a shift."""
        reads = {s for s, _ in found}
        places = [(self.index[s], shift) for s, shift in found]
        if len(places) <= 2 and all(shift == 0 for _, shift in places[:1]):
            (x, _), (y, shift) = (*places, (self.index[ONE], 0), (self.index[ONE], 0))[:2]
            return {"kind": PRODUCT, "constant": constant, "x": x, "y": y, "shift": float(shift)}, reads
        first = len(self.factors)
        self.factors += places
        row = {"kind": FACTORS, "constant": constant, "first_code": first, "last_code": len(self.factors)}
        return row, reads

    def formula(self, node: Node) -> tuple[dict[str, Any], set[str]]:
        """Return the row of a law that is a formula."""
        first, last = self.table.add(node)
        kind = TIMED if node.has("time") else FORMULA
        return {"kind": kind, "constant": 0.0, "first_code": first, "last_code": last}, node.names()

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

    def varies(self, condition: Node) -> bool:
        """Whether a reaction can change what a condition depends on."""
        return bool(condition.names() & set(self.network.species))

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
            if isinstance(event.priority, Node):
                row["first_priority"], row["last_priority"] = self.table.add(event.priority)
            if isinstance(event.delay, Node):
                row["first_delay"], row["last_delay"] = self.table.add(event.delay)
            row["is_persistent"] = int(event.persistent)
            for target, node in event.assign.items():
                assert isinstance(node, Node)
                sets.append((self.index[target], *self.table.add(node)))
            row |= {"last_gap": len(gaps), "last_assignment": len(sets), "was_true": int(event.was_true)}
            most = max(most, len(event.assign))
            rows.append(row)
        return {
            "triggers": _columns(rows), "gaps": np.reshape(gaps, (-1, 4)), "assignments": np.reshape(sets, (-1, 3)),
            "assigned": np.zeros(most), "was_true": [row["was_true"] for row in rows],
            "looks": int(any(self.varies(event.when) for event in self.network.events)),  # type: ignore[arg-type]
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
    timed = [row for row in builder.channels if row["kind"] == TIMED]
    delayed = any(row.get("is_delayed") for row in builder.channels)
    may_wait = delayed or any(event.delay is not None for event in network.events)
    n_leaves = 1 << max(len(builder.channels) - 1, 1).bit_length()
    world = Reactor(
        channels=_columns(builder.channels), values=builder.values, propensities=np.zeros(len(builder.channels)),
        changed=builder.changed, by=builder.by, dependents=dependents, factors=np.reshape(builder.factors, (-1, 2)),
        ops=table.ops, args=table.args, stack=np.zeros(2 * table.deepest + 8), outputs=np.reshape(outputs, (-1, 2)),
        initial=builder.values, at=-1, n_species=len(network.species), limits=np.zeros(3),
        delays=np.reshape(builder.delays if delayed else [], (-1, 4)), due=np.zeros(MOST_DUE if may_wait else 0),
        due_index=np.zeros(MOST_DUE if may_wait else 0, "i4"), next_due=math.inf, window=1.0,
        is_special=int(delayed or bool(timed)), is_timed=int(any("last_bound" not in row for row in timed)),
        n_leaves=n_leaves, n_levels=n_leaves.bit_length() - 1, sums=np.zeros(2 * n_leaves), **events,
    )  # fmt: skip
    world.is_flat = int(is_unrollable(world))
    if world.is_timed:
        open_window(world, 0.0, None)  # type: ignore[arg-type]  # no law draws
    else:
        world.renew_all(0.0, None)  # type: ignore[arg-type]
    if world.bad:
        raise InputError(bad_propensity(network, world))
    return world


def bad_propensity(network: Network, world: Reactor) -> str:
    """Return the sentence about a propensity that is negative, infinite or NaN, or about their sum."""
    amounts = ", ".join(f"{s}={world.values.values.item(k):g}" for k, s in enumerate([*network.species][:8]))
    propensities = world.propensities.values
    if world.wrong:
        what = {
            NO_BOUND: "its propensity is {!r}, which is more than its bound",
            BAD_LAW: "its propensity is {!r}; it must be finite and >= 0",
            BAD_DELAY: "its delay is {!r}; it must be finite and >= 0",
            BAD_AMOUNT: "it would set a species to {!r}; an amount must be finite",
            TOO_MANY_DUE: f"more than {MOST_DUE:,} of its kind or others are on their way",
        }[world.wrong]
        bad = world.bad
        label = f"event {network.events[-1 - bad].name}" if bad < 0 else f"reaction {network.reactions[bad - 1].label}"
        return f"{label}: {what.format(world.wrong_value)} (at {amounts})"
    if not world.bad:
        worst = int(propensities.argmax())
        what = "their sum must be finite" if propensities.sum() == math.inf else MOST_BY_LEVELS
        return f"reaction {network.reactions[worst].label}: its propensity is {propensities.item(worst)!r}; {what} (at {amounts})"
    label, p = network.reactions[world.bad - 1].label, propensities.item(world.bad - 1)
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
    law: Node, constants: Mapping[str, float], names: Mapping[str, int]
) -> tuple[float, list[tuple[str, int]]] | None:
    """Return (constant, [(name, shift), ...]) of a law of mass action; None for any other.

    The law is the constant times all factors name - shift: c A B, c A (A - 1) / 2, c A A, c k A.
    """
    constant = 1.0
    found: list[tuple[str, int]] = []
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
        else:
            factor = _factor(node, names)
            if not factor:
                return None
            found += factor
    if not 0.0 <= constant < math.inf:
        return None
    return constant, sorted(found, key=lambda factor: (names[factor[0]], factor[1]))


def _factor(node: Node, names: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the factors of `A`, `A - 1` or `A ^ 2`; none for any other formula."""
    if node.op == "name" and node.name in names:
        return [(node.name, 0)]
    if len(node.args) != 2 or node.args[0].name not in names or node.args[1].op != "number":
        return []
    value = node.args[1].value
    if math.isnan(value) or value != int(min(max(value, -MOST_FACTOR), MOST_FACTOR)):
        return []
    if node.op == "sub":
        return [(node.args[0].name, int(value))]
    return [(node.args[0].name, 0)] * int(value) if node.op == "pow" and value > 0.0 else []
