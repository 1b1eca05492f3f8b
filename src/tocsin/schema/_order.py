"""The order of systems within a tick: as listed, by type, or shuffled anew at each tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tocsin.errors import ModelError
from tocsin.schema._annotations import nearest, raw_annotations, where
from tocsin.schema._system import System

Band = Sequence[type[System]]
"""Systems that stay together, in the order given."""


class Shuffled:
    """Systems whose order is drawn anew at each tick, all orders equally likely.

    A place in the `systems` of a model. The draw is keyed by seed and tick, so nothing else that is
    drawn depends on it.

    Parameters
    ----------
    stages : two or more, each a sequential System class, or a list of those that stay together in the
        order given. All have the same `every`

    Raises ModelError for fewer than two stages, an empty one, a synchronous system, or different paces.
    """

    def __init__(self, *stages: type[System] | Band) -> None:
        self.stages = tuple(tuple(stage) if isinstance(stage, (list, tuple)) else (stage,) for stage in stages)
        if len(self.stages) < 2 or not all(self.stages):
            raise ModelError(f"Shuffled takes two or more stages, none of them empty, got {self!r}")

    def __repr__(self) -> str:
        return f"Shuffled({', '.join(' then '.join(map(_name, stage)) or 'nothing' for stage in self.stages)})"

    def check(self) -> None:
        """Raise ModelError for systems that cannot take turns."""
        systems = [cls for stage in self.stages for cls in stage]
        for cls in systems:
            if cls.mode != "sequential":
                raise ModelError(
                    f"{where(cls)}: a synchronous system is not shuffled. List it before or after {self!r}, "
                    f"or make it sequential."
                )
            if cls.every != systems[0].every:
                raise ModelError(
                    f"{self!r}: systems that are shuffled tick together, but {systems[0].__name__}.every is "
                    f"{systems[0].every!r} and {cls.__name__}.every is {cls.every!r}. Give them one pace."
                )


Item = type[System] | Shuffled | Band
"""What the `systems` of a model may hold."""


@dataclass(frozen=True)
class Turn:
    """The place of a system among those that it is shuffled with."""

    first: int = 0
    """Number of the first of them: they are numbered one after another."""
    size: int = 0
    """How many there are; 0 for a system that is not shuffled."""
    stage: int = 0


def by_type(*systems: type[System], types: Sequence[str] = ()) -> list[list[type[System]]]:
    """Return systems put together by the entity that they visit: a stage for each type.

    Parameters
    ----------
    systems : System classes; those of one type stay in the order given
    types : names of the entities in the order in which their stages come, "World" for systems of the
        world; by default in the order in which the systems mention them

    The result is for the `systems` of a model, or for `Shuffled(*by_type(...))`. Raises ModelError for a
    type without a system, named twice, or not named.
    """
    stages: dict[str, list[type[System]]] = {}
    for cls in systems:
        stages.setdefault(_type_of(cls), []).append(cls)
    for name in types:
        if name not in stages:
            raise ModelError(f"by_type: there is no system of {name!r}.{nearest(name, list(stages))}")
    missing = [name for name in stages if types and name not in types]
    if missing or len(set(types)) < len(types):
        raise ModelError(f"by_type: types must name each type once, got {', '.join(types)} for {', '.join(stages)}")
    return [stages[name] for name in types or stages]


def _type_of(cls: type[System]) -> str:
    """Return the name of the entity that a system annotates, or 'World'."""
    if not (isinstance(cls, type) and issubclass(cls, System)):
        raise ModelError(f"by_type: {cls!r} is not a System class")
    hint = next((note for base in cls.__mro__ for note in raw_annotations(base).values()), "World")
    return str(getattr(hint, "__name__", hint)).rsplit(".", 1)[-1]


def all_of(items: Sequence[Item]) -> list[type[System]]:
    """Return all systems that a model holds, as they are listed."""
    return [cls for item in items for unit in _units(item) for stage in unit for cls in stage]


def in_order(items: Sequence[Item]) -> tuple[list[Any], list[Turn]]:
    """Return the systems in the order given, changed as little as `before` and `after` ask; and their turns.

    Those that are shuffled stay side by side. Raises ModelError for a name that is no system of the
    model, for a circle, and for two that are shuffled although one says that it precedes the other.
    """
    for item in items:
        if isinstance(item, Shuffled):
            item.check()
    units = [unit for item in items for unit in _units(item)]
    home = {_name(cls): k for k, unit in enumerate(units) for stage in unit for cls in stage}
    follows: list[set[int]] = [set() for _ in units]
    for unit in units:
        for first, second in _said(unit, home):
            if home[first] != home[second]:
                follows[home[second]].add(home[first])
            elif len(unit) > 1:
                _check_inside(unit, first, second)
            else:
                raise ModelError(f"before and after go in a circle among the systems {first}")
    ordered = _sorted(units, follows)
    systems: list[Any] = []
    turns: list[Turn] = []
    for unit in ordered:
        start, size = len(systems), sum(map(len, unit))
        for number, stage in enumerate(unit):
            systems += stage
            turns += [Turn(start, size, number) if len(unit) > 1 else Turn()] * len(stage)
    return systems, turns


def _name(cls: Any) -> str:
    return str(getattr(cls, "__name__", cls))


def _units(item: Item) -> list[tuple[tuple[Any, ...], ...]]:
    """Return what keeps its place: systems one by one, or all that are shuffled."""
    if isinstance(item, Shuffled):
        return [item.stages]
    return [((cls,),) for cls in (item if isinstance(item, (list, tuple)) else (item,))]


def _said(unit: tuple[tuple[Any, ...], ...], home: dict[str, int]) -> list[tuple[str, str]]:
    """Return which system precedes which, as those of a unit say."""
    found = []
    for cls in (cls for stage in unit for cls in stage):
        for word in ("before", "after"):
            for other in getattr(cls, word):
                if other not in home:
                    raise ModelError(f"{where(cls)}.{word}: there is no system {other!r}.{nearest(other, list(home))}")
                found.append((cls.__name__, other) if word == "before" else (other, cls.__name__))
    return found


def _check_inside(unit: tuple[tuple[Any, ...], ...], first: str, second: str) -> None:
    for stage in unit:
        names = [_name(cls) for cls in stage]
        if first in names and second in names and names.index(first) < names.index(second):
            return
    raise ModelError(
        f"{first} must precede {second}, but {Shuffled(*unit)!r} shuffles them. Put both into one list, "
        f"{first} first, or take them out."
    )


def _sorted(units: list[Any], follows: list[set[int]]) -> list[Any]:
    placed: list[int] = []
    while len(placed) < len(units):
        ready = [k for k in range(len(units)) if k not in placed and follows[k] <= set(placed)]
        if not ready:
            left = ", ".join(_name(c) for k, unit in enumerate(units) if k not in placed for s in unit for c in s)
            raise ModelError(f"before and after go in a circle among the systems {left}")
        placed.append(ready[0])
    return [units[k] for k in placed]
