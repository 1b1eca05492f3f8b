"""The graph of a model: what its actions and observables read, write and touch.

It is derived from the typed code of the functions (`tocsin.run.access_of`), so it cannot drift
from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tocsin.check._stages import Wait, stages_of, waits_of
from tocsin.run import access_of
from tocsin.schema import Model, WorldSchema

if TYPE_CHECKING:
    from tocsin.compile import Access

NodeKind = Literal["entity", "scalars", "array", "params", "part", "action", "system", "observable"]
EdgeKind = Literal["asks", "reads", "writes", "touches"]


@dataclass(frozen=True)
class Node:
    """A part of the world, an action or an observable.

    `key` is the entity that an action or an observable belongs to, '' for the world. `fields`
    are those of an entity, the world's scalars or the parameters of a block.
    """

    kind: NodeKind
    name: str
    key: str = ""
    fields: tuple[str, ...] = ()
    asked: str = ""
    """The method that sets the clock of an action, 'rate' or 'schedule'; 'tick' of a system; 'value' of an observable."""

    @property
    def method(self) -> str:
        """The method that changes the world."""
        return "update" if self.kind == "system" else "fire"

    @property
    def is_state(self) -> bool:
        """Say whether it is a part of the world."""
        return self.kind not in ("action", "system", "observable")


@dataclass(frozen=True)
class Edge:
    """One relation between a part of the world and an action or observable.

    asks: its `rate`, `schedule` or `value` reads the fields; reads: its `fire` does; writes: its
    `fire` writes them; touches: its `fire` marks rows to be asked again. Fields in order of name.
    """

    kind: EdgeKind
    state: Node
    member: Node
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelGraph:
    """Parts of the world, actions and observables, in the order of their declaration; edges; and systems by stage."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    stages: tuple[tuple[str, ...], ...] = ()
    """Names of the systems that could go at once, stage by stage."""
    waits: tuple[Wait, ...] = ()
    """Which systems wait for which, and why."""

    @property
    def state(self) -> tuple[Node, ...]:
        """The parts of the world."""
        return tuple(node for node in self.nodes if node.is_state)

    def node(self, name: str) -> Node:
        """Return an action, a system or an observable by name."""
        return next(node for node in self.members if node.name == name)

    @property
    def members(self) -> tuple[Node, ...]:
        """The actions, then the observables."""
        return tuple(node for node in self.nodes if not node.is_state)

    def of(self, *kinds: EdgeKind) -> tuple[Edge, ...]:
        """Return the edges of some kinds."""
        return tuple(edge for edge in self.edges if edge.kind in kinds)


def graph_of(model: Model) -> ModelGraph:
    """Return the graph of a model. Compiles it, unless that is cached.

    Raises CompileError and PurityError for a model that does not compile.
    """
    access = access_of(model)
    members, state = tuple(_members(model)), {node.name: node for node in _state(model.schema)}
    edges = tuple(edge for node in members for edge in _edges(model.schema, node, access, state))
    used = {edge.state for edge in edges}
    kept = (node for node in state.values() if node.kind != "scalars" or node.fields or node in used)
    waits = waits_of(model.systems, access, model.turns[-len(model.systems) :])
    return ModelGraph(model.name, (*kept, *members), edges, stages_of(model.systems, waits), waits)


def part_of(schema: WorldSchema, label: str) -> tuple[str, str]:
    """Return the node and the field that a label of the access sets names.

    'Leg.site' is ('Leg', 'site'), 'weights[]' is ('weights', ''), 'n_sites' is (the world's name,
    'n_sites'), 'Cell (live)' is ('Cell', '(live)'), 'plane.first[]' of a part is ('plane', 'first').
    """
    name, dot, field = label.removesuffix("[]").partition(".")
    if dot and name in schema.parts:
        return name, field
    if label.endswith("[]"):
        return label.removesuffix("[]"), ""
    if label.endswith(")"):
        name, _, what = label.partition(" ")
        return name, what
    return (name, field) if dot else (schema.name, label)


def _state(schema: WorldSchema) -> Iterator[Node]:
    for entity in schema.entities:
        yield Node("entity", entity.name, fields=tuple(entity.fields))
    yield Node("scalars", schema.name, fields=tuple(schema.scalars))
    for name in schema.own_arrays():
        yield Node("array", name)
    for name, params in schema.params.items():
        yield Node("params", name, fields=tuple(params.fields()))
    for name, part in schema.parts.items():
        yield Node("part", name, fields=(*part.scalars, *part.arrays))


def _members(model: Model) -> Iterator[Node]:
    names = {entity.code: entity.name for entity in model.schema.entities}
    for member in model.actions:
        kind: NodeKind = "system" if member.asked == "tick" else "action"
        yield Node(kind, member.name, names.get(member.rows, ""), asked=member.asked)
    for member in model.observables:
        yield Node("observable", member.name, names.get(member.code, ""), asked="value")


def _edges(
    schema: WorldSchema, member: Node, access: Mapping[str, Access], state: Mapping[str, Node]
) -> Iterator[Edge]:
    def grouped(kind: EdgeKind, labels: Iterable[str]) -> Iterator[Edge]:
        """Yield one edge for each part of the world, with the fields of it."""
        found: dict[str, list[str]] = {}
        for label in sorted(labels):
            name, field = part_of(schema, label)
            found.setdefault(name, []).extend([field] if field else [])
        for name, fields in found.items():
            yield Edge(kind, state[name], member, tuple(fields))

    yield from grouped("asks", access[f"{member.name}.{member.asked}"].reads)
    if member.kind in ("action", "system"):
        fire = access[f"{member.name}.{member.method}"]
        yield from grouped("reads", fire.reads)
        yield from grouped("writes", fire.writes)
        yield from (Edge("touches", state[name], member) for name in sorted(fire.touches))
