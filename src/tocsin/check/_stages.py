"""Stages: which systems of a tick could go at once, and what makes one wait for another.

Two systems are in conflict over a field that one writes and the other reads or writes. A system is in the first
stage after all those before it with which it is in conflict, or that it names in `before` or `after`. Systems
run one after another, each on all threads, which gives the same result; stages say how much depends on the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.compile import Access
    from tocsin.schema._order import Turn


@dataclass(frozen=True)
class Wait:
    """One system that waits for another of the same tick: for the fields of a conflict, or because it says so."""

    first: str
    second: str
    fields: tuple[str, ...]
    """Labels such as 'Sheep.energy', in order of name."""
    is_said: bool
    """Whether `before` or `after` names the other."""
    is_shuffled: bool = False
    """Whether they take turns in an order that is drawn: at some ticks the second is first."""

    @property
    def causes(self) -> str:
        """The fields, and 'before' if the author said so, 'shuffled' if either may be first."""
        words = (["before"] if self.is_said else []) + (["shuffled"] if self.is_shuffled else [])
        return ", ".join((*words, *self.fields))


def waits_of(systems: Sequence[Any], access: Mapping[str, Access], turns: Sequence[Turn]) -> tuple[Wait, ...]:
    """Return which systems wait for which, in their order within a tick; `turns` is for each its place in a shuffle."""
    found = []
    for k, second in enumerate(systems):
        for first in systems[:k]:
            fields = _conflict(access[f"{first.name}.update"], access[f"{second.name}.update"])
            is_said = second.name in first.cls.before or first.name in second.cls.after
            one, other = turns[systems.index(first)], turns[k]
            is_shuffled = one.size > 0 and one.first == other.first and one.stage != other.stage
            if fields or is_said:
                found.append(Wait(first.name, second.name, fields, is_said, is_shuffled))
    return tuple(found)


def stages_of(systems: Sequence[Any], waits: Sequence[Wait]) -> tuple[tuple[str, ...], ...]:
    """Return the names of the systems in each stage."""
    stage: dict[str, int] = {}
    for system in systems:
        before = [stage[wait.first] for wait in waits if wait.second == system.name]
        stage[system.name] = 1 + max(before, default=-1)
    n_stages = 1 + max(stage.values(), default=-1)
    return tuple(tuple(name for name, k in stage.items() if k == number) for number in range(n_stages))


def _conflict(first: Access, second: Access) -> tuple[str, ...]:
    one, other = set(first.writes), set(second.writes)
    return tuple(sorted(one & (other | second.reads) | other & first.reads))
