"""Systems: what happens to every row of an entity at each tick."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from tocsin.errors import ModelError
from tocsin.schema._action import Carrier
from tocsin.schema._annotations import where

Mode = Literal["sequential", "synchronous"]
Order = Literal["shuffled", "key"]
ROWS, KEYS, SHUFFLED, SYNCHRONOUS = 1, 2, 3, 4
"""How a system goes about: rows by number; keys by number, or shuffled; all rows at once."""
INDEX_STEPS = {1: "index", 2: "find_cells", 3: "count", 4: "add_up", 5: "sort"}
"""Methods of a space that can be found by an index: the whole, or the steps that threads share."""


@dataclass(frozen=True)
class TickPlan:
    """What a synchronous system needs, by name, where its tick is part of the event loop (a browser)."""

    ordinal: int
    """Which of the model's synchronous systems it is."""
    emptied: tuple[str, ...]
    """Entities of messages that it is the first to send: they are removed as its tick begins."""
    spaces: tuple[str, ...]
    copied: str
    """Its own entity, if it sees of other rows what it writes."""
    by_place: str
    leaving: str
    """Its own entity, if it may remove its row."""
    spawned: tuple[str, ...]
    gives: tuple[str, ...]
    is_flagged: bool


@dataclass(frozen=True)
class Alone:
    """Ticks that are part of the event loop: what each synchronous system needs, by number, and what they are made of."""

    plans: Mapping[int, TickPlan]
    pieces: Any
    """The functions of `kernel/_tick.py`."""


class System(Carrier):
    """Base of all systems.

    Annotate the entity that is visited (`sheep: Sheep`); without one, `update` is called once a
    tick for the world. A system is a world clock that rings at start + every, start + 2 every, ...

    Attributes
    ----------
    mode : "sequential" rows are updated one after another and see what those before them did;
        "synchronous" all rows see the world as it was when the tick began, and each writes only its
        own row, so threads share the work and the result does not depend on their number
    order : of a sequential system: "shuffled" anew at each tick, or "key" (row numbers)
    every : time between two ticks, > 0
    before, after : names of systems that this one precedes or follows within a tick; otherwise the
        order is that in which the model lists them, or drawn anew at each tick (`Shuffled`)

    Rows that are removed during a tick are skipped from then on; rows that are spawned during a
    tick act from the next one.
    """

    mode: ClassVar[Mode] = "sequential"
    order: ClassVar[Order] = "shuffled"
    every: ClassVar[float] = 1.0
    before: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:

        def update(self, *given: Any, **named: Any) -> None: ...

    else:

        def update(self, world: Any, now: float, rng: Any) -> None:
            """Change a row (and in a sequential system anything else).

            May take a fourth argument, `touched`, as `fire` does: for rows that have clocks or are observed.
            """
            raise NotImplementedError


def takes_touched(cls: type[System]) -> bool:
    """Say whether `update` asks for `touched`."""
    return cls.update.__code__.co_argcount == 5  # type: ignore[attr-defined,no-any-return]


def check_system(cls: type[System]) -> None:
    """Raise ModelError if a system lacks what it needs, or says what does not fit."""
    if cls.update is System.update:
        raise ModelError(f"{where(cls)}: define update(self, world, now, rng)")
    code = cls.update.__code__  # type: ignore[attr-defined]
    got = code.co_varnames[: code.co_argcount]
    if len(got) not in (4, 5):
        raise ModelError(
            f"{where(cls)}.update must take (self, world, now, rng) or (self, world, now, rng, touched), "
            f"got ({', '.join(got)})"
        )
    for name, known in (("mode", get_args(Mode)), ("order", get_args(Order))):
        value = getattr(cls, name)
        if value not in known:
            raise ModelError(f"{where(cls)}.{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
    every = cls.every
    if isinstance(every, bool) or not isinstance(every, (int, float)) or not 0.0 < every < math.inf:
        raise ModelError(f"{where(cls)}.every must be a time > 0, got {every!r}")
    for name in ("before", "after"):
        if isinstance(getattr(cls, name), str):
            raise ModelError(f"{where(cls)}.{name} must be a tuple of names, got {getattr(cls, name)!r}")
