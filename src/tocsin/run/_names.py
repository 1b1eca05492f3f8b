"""How a clock or an observed row is called in a sentence: 'Step(leg 7)', 'Mass(cell 7)', 'Tick()'."""

from __future__ import annotations

from tocsin.kernel import Clockwork
from tocsin.schema import Model
from tocsin.schema._model import Member


def named(member: Member, row: int) -> str:
    """Return the name of an action or an observable on a row."""
    return f"{member.name}({member.key} {row})" if member.key else f"{member.name}()"


def clock_in(model: Model, kernel: Clockwork, slot: int) -> tuple[Member, int]:
    """Return the action and the row of the clock in a slot."""
    owner = kernel.owners[slot]
    return model.actions[owner.action], owner.row


def observed_in(model: Model, kernel: Clockwork, place: int) -> tuple[Member, int]:
    """Return the observable and the row of a place in the list of observed rows."""
    number = int((kernel.series["base"] <= place).sum()) - 1
    return model.observables[number], place - kernel.series[number].base
