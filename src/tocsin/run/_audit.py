"""What the audit found, in a sentence."""

from __future__ import annotations

from tocsin.errors import AuditError, CompileError
from tocsin.kernel import Clockwork
from tocsin.kernel._audit import STALE_CLOCK, STALE_VALUE
from tocsin.run._compiled import access_of
from tocsin.run._names import clock_in, named, observed_in
from tocsin.schema import Model
from tocsin.schema._model import Member


def audit_error(model: Model, kernel: Clockwork) -> AuditError:
    """Return the error for what the kernel's audit stopped on."""
    member, row, asked = _stale(model, kernel)
    name = named(member, row)
    cause = f"At t={kernel.now!r} (event {kernel.n_events}) "
    if kernel.n_events == 0 or kernel.fired_slot < 0:
        firing, cause = None, cause + f"a change made by hand altered what {name} depends on"
    else:
        firing, fired_row = clock_in(model, kernel, kernel.fired_slot)
        cause += f"{named(firing, fired_row)} changed what {name} depends on"
    shared = _shared_fields(model, firing, member, asked)
    return AuditError(
        f"{cause}, and did not touch it: {_difference(kernel)}.{shared} Remedy: {_remedy(member, firing)}"
    )


def _stale(model: Model, kernel: Clockwork) -> tuple[Member, int, str]:
    if kernel.stale == STALE_VALUE:
        return (*observed_in(model, kernel, kernel.stop_slot), "value")
    member, row = clock_in(model, kernel, kernel.stop_slot)
    return member, row, member.asked


def _difference(kernel: Clockwork) -> str:
    now = kernel.stop_time
    if kernel.stale == STALE_VALUE:
        return f"its value was {kernel.observed[kernel.stop_slot]!r} and is {now!r}"
    if kernel.stale == STALE_CLOCK:
        return f"its pending time is {kernel.clocks[kernel.stop_slot].time!r}, and asked again it is {now!r}"
    return f"its rate was {kernel.rated[kernel.stop_slot].rate!r} and is {now!r}"


def _shared_fields(model: Model, firing: Member | None, member: Member, asked: str) -> str:
    """Say which fields the event writes and the clock reads."""
    try:
        access = access_of(model)
    except CompileError:  # interpreted, a model may do what compiled code cannot
        return ""
    reads = access[f"{member.name}.{asked}"].reads
    if firing is None:
        return f" It reads {', '.join(sorted(reads))}."
    writes = access[f"{firing.name}.{firing.method}"].writes
    both = sorted(field for field in writes if _is_read(field, reads))
    if not both:
        return ""
    places = sorted({writes[field] for field in both})
    return f" {firing.name}.{firing.method} writes {', '.join(both)} ({', '.join(places)}), which {member.name}.{asked} reads."


def _is_read(written: str, reads: set[str]) -> bool:
    """Say whether a write is of a field that is read; spawning and removing are of all of a row."""
    entity = written.split(" (")[0]
    return written in reads or (entity != written and any(r.startswith((f"{entity}.", f"{entity} (")) for r in reads))


def _remedy(member: Member, firing: Member | None) -> str:
    row = f"the {member.key}" if member.key else "the world"
    if firing is None:
        return f"call simulation.touch with {row} after changing the world by hand."
    return f"in {firing.name}.{firing.method}, call touched.add with {row} whose {member.name} this is."
