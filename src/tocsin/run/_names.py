"""How a clock or an observed row is called in a sentence: 'Step(leg 7)', 'Mass(cell 7)', 'Tick()'."""

from __future__ import annotations

from tocsin.kernel import Clockwork
from tocsin.kernel._state import IN_FIRE
from tocsin.schema import Model
from tocsin.schema._model import Member


def named(member: Member, row: int) -> str:
    """Return the name of an action, a system or an observable on a row (-1: on none)."""
    return f"{member.name}({member.key} {row})" if member.key and row >= 0 else f"{member.name}()"


def clock_in(model: Model, kernel: Clockwork, slot: int) -> tuple[Member, int]:
    """Return the action and the row of the clock in a slot; of a system, the row that it updates, or -1."""
    owner = kernel.owners[slot]
    member = model.actions[owner.action]
    if member.asked == "tick":
        return member, kernel.visited if kernel.phase == IN_FIRE else -1
    return member, owner.row


def observed_in(model: Model, kernel: Clockwork, place: int) -> tuple[Member, int]:
    """Return the observable and the row of a place in the list of observed rows."""
    number = int((kernel.series["base"] <= place).sum()) - 1
    return model.observables[number], place - kernel.series[number].base
