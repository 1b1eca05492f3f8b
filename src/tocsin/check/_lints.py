"""Static lints: what the read and write sets of a model's functions say without a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tocsin.run import access_of
from tocsin.schema import Model
from tocsin.schema._model import Member

if TYPE_CHECKING:
    from tocsin.compile import Access


@dataclass(frozen=True)
class Lint:
    """A warning, and the label by which it can be allowed."""

    label: str
    text: str


def lints(model: Model) -> tuple[Lint, ...]:
    """Return the warnings on a model. Compiles it, unless that is cached.

    'Leave.fire/Serve.rate': this `fire` writes what that `rate`, `schedule` or `value` reads,
    and never touches a row of the entity that it belongs to, so it is not asked again.
    'Desk.colour': no function of the model reads or writes this field.
    'Evict.fire': it changes nothing and touches nothing.

    Raises CompileError and PurityError for a model that does not compile.
    """
    access = access_of(model)
    return (*_untouched(model, access), *_unused(model, access), *_idle(model, access))


def _untouched(model: Model, access: Mapping[str, Access]) -> Iterator[Lint]:
    for firing in model.actions:
        does = access[f"{firing.name}.{firing.method}"]
        for member in (*model.actions, *model.observables):
            asked = "value" if member in model.observables else member.asked
            if _is_asked_again(model, firing, member, does):
                continue
            reads = access[f"{member.name}.{asked}"].reads
            both = sorted(label for label in does.writes if _concerns(label, reads))
            if both:
                places = ", ".join(sorted({_place(does.writes[label]) for label in both}))
                yield Lint(
                    f"{firing.name}.{firing.method}/{member.name}.{asked}",
                    f"{firing.name}.{firing.method} writes {', '.join(both)} ({places}), which {member.name}.{asked} reads, and "
                    f"never touches a {_entity(model, member)}: then {member.name} is not asked again. Call "
                    f"touched.add with the {_entity(model, member)} whose {member.name} this is.",
                )


def _is_asked_again(model: Model, firing: Member, member: Member, does: Access) -> bool:
    """Say whether an event may, or always does, have a clock or observable asked again."""
    if member is firing or _entity(model, member) in does.touches:
        return True
    if member in model.observables:  # read after each event are those of the world, and the fired row's
        return member.code in (0, firing.code)
    return False


def _concerns(written: str, reads: set[str]) -> bool:
    """Say whether a write is of what is read; spawning and removing change which rows are live."""
    entity, _, how = written.partition(" ")
    return written in reads or (bool(how) and f"{entity} (live)" in reads)


def _unused(model: Model, access: Mapping[str, Access]) -> Iterator[Lint]:
    used = {label for one in access.values() for label in (*one.reads, *one.writes)}
    for entity in model.schema.entities:
        for name in entity.fields:
            label = f"{entity.name}.{name}"
            if label not in used:
                yield Lint(label, f"{label} is neither read nor written by any function of the model.")


def _idle(model: Model, access: Mapping[str, Access]) -> Iterator[Lint]:
    for member in model.actions:
        does = access[f"{member.name}.{member.method}"]
        if not does.writes and not does.touches:
            label = f"{member.name}.{member.method}"
            yield Lint(label, f"{label} changes nothing and touches nothing.")


def _entity(model: Model, member: Member) -> str:
    return model.schema.by_code(member.code).name if member.code else model.schema.name


def _place(place: str) -> str:
    """Return 'file.py:12' without the folder."""
    return place.replace("\\", "/").rpartition("/")[2]
