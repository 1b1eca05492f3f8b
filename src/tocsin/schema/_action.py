"""Actions: one small class for each kind of event, one clock for each (action, entity)."""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar

from tocsin.errors import ModelError
from tocsin.schema._annotations import defining_locals, own_annotations, where
from tocsin.schema._fields import NEVER


class Carrier:
    """Something that carries the key of one row: the base of actions and observables."""

    _own_names: ClassVar[list[str]] = []
    _locals: ClassVar[dict[str, Any] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_names = own_annotations(cls)
        cls._locals = defining_locals(sys._getframe(1))

    @classmethod
    def _on(cls, world: Any, table: Any, key: str | None, index: int) -> Any:
        made = cls.__new__(cls)
        made.__dict__["_world"] = world
        if key is not None:
            made.__dict__[key] = table._at(index)
        return made


class Action(Carrier):
    """Base of all actions.

    Annotate the entity that the action belongs to (`leg: Leg`); without one it belongs to
    the world. Define `fire`, and either `schedule` or `rate`.
    """

    def schedule(self, world: Any, now: float, rng: Any) -> float:
        """Return when this clock would ring next, as an absolute time, or NEVER. Pure."""
        return memoryless(self.rate(world), now, rng)

    def rate(self, world: Any) -> float:
        """Return the events per unit time of a memoryless clock. Pure. 0 means never."""
        raise NotImplementedError

    def fire(self, world: Any, now: float, rng: Any, touched: Any) -> None:
        """Change the world, and add to `touched` every row whose clocks may ring differently."""
        raise NotImplementedError


class Observable(Carrier):
    """Base of all observables: a number that is followed exactly, as events happen.

    Annotate an entity to sum `value` over its rows (a row is read again when it is touched),
    or none to read `value` after every event. `value` is pure.
    """

    def value(self, world: Any) -> float:
        """Return the number to follow."""
        raise NotImplementedError


def memoryless(rate: float, now: float, rng: Any) -> float:
    """Return the next time of a clock with constant rate; NaN for a rate that is none."""
    if 0.0 < rate < NEVER:
        return float(now + rng.exponential(rate))
    if rate == 0.0:
        return NEVER
    return math.nan


def check_methods(cls: type[Carrier]) -> None:
    """Raise ModelError if an action or an observable lacks what it needs."""
    if issubclass(cls, Action):
        if cls.fire is Action.fire:
            raise ModelError(f"{where(cls)}: define fire(self, world, now, rng, touched)")
        own_schedule = cls.schedule is not Action.schedule
        own_rate = cls.rate is not Action.rate
        if own_schedule == own_rate:
            raise ModelError(
                f"{where(cls)}: define either schedule(self, world, now, rng) or "
                f"rate(self, world), {'not both' if own_rate else 'it has neither'}"
            )
        for name, wanted in _SIGNATURES.items():
            _check_signature(cls, name, wanted)
    elif issubclass(cls, Observable):
        if cls.value is Observable.value:
            raise ModelError(f"{where(cls)}: define value(self, world)")
        _check_signature(cls, "value", ("self", "world"))


_SIGNATURES = {
    "schedule": ("self", "world", "now", "rng"),
    "rate": ("self", "world"),
    "fire": ("self", "world", "now", "rng", "touched"),
}


def _check_signature(cls: type, name: str, wanted: tuple[str, ...]) -> None:
    code = getattr(cls, name).__code__
    got = code.co_varnames[: code.co_argcount]
    if len(got) != len(wanted):
        raise ModelError(f"{where(cls)}.{name} must take ({', '.join(wanted)}), got ({', '.join(got)})")
