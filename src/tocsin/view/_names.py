"""Refuse a picture that names what the model does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tocsin.errors import InputError
from tocsin.export.marks import Mark, View
from tocsin.schema import WorldSchema
from tocsin.schema._annotations import nearest

PATHS = ("start", "end", "x", "y", "colour", "value", "radius")


def check_names(view: View, schema: WorldSchema) -> None:
    """Raise InputError for an unknown table, column, array or scalar, with the nearest name."""
    if view.line:
        _known("View.line", view.line, schema.tables(), "table")
    for name in view.box or ():
        _known("View.box", name, schema.globals_fields(), "scalar or param")
    for mark in view.marks:
        label = type(mark).__name__
        if getattr(mark, "array", ""):
            _known(f"{label}.array", mark.array, schema.arrays, "array")  # type: ignore[union-attr]
            continue
        _known(f"{label}.table", mark.table, schema.tables(), "table")
        for path in _paths(mark):
            _check_path(label, mark.table, path, schema)


def _paths(mark: Mark) -> Iterator[str]:
    yield from (getattr(mark, name) for name in PATHS if getattr(mark, name, ""))
    motion: Any = getattr(mark, "motion", None)
    if motion is not None:
        yield from (p for p in (motion.since, *motion.velocity, *motion.goal, motion.pace) if p)
        if motion.only is not None:
            yield motion.only[0]


def _check_path(label: str, table: str, path: str, schema: WorldSchema) -> None:
    entity = schema.tables()[table]
    *heads, last = path.split(".")
    for head in heads:
        _known(f"{label}: {path!r}", head, entity.fields, f"column of {entity.name}")
        target = entity.fields[head].target
        if target is None:
            raise InputError(f"{label}: {path!r}: {head} is no reference, so nothing follows it")
        entity = schema.entity(target)
    _known(f"{label}: {path!r}", last, entity.fields, f"column of {entity.name}")


def _known(where: str, name: str, known: Collection[str], what: str) -> None:
    if name not in known:
        has = ", ".join(known) or "none"
        raise InputError(f"{where}: there is no {what} {name!r}.{nearest(name, known)} There is: {has}.")
