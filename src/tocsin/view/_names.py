"""Refuse a picture that names what the model does not have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from tocsin.errors import InputError
from tocsin.export.marks import Along, Mark, View
from tocsin.schema import WorldSchema
from tocsin.schema._annotations import nearest

PATHS = ("start", "end", "x", "y", "cell", "colour", "value", "radius")
ARRAYS = ("array", "first", "neighbours")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
PLACE = re.compile(r"([\w.]+)\[(\d+(?:,\d+)*)\](?:\.([\w.]+))?")
"""A value in a table or an array: "legs[3].site", "z[0,1]"."""


def check_names(view: View, schema: WorldSchema) -> None:
    """Raise InputError for an unknown table, column, array or scalar, with the nearest name."""
    if not view.every > 0.0:
        raise InputError(f"View.every must be a time > 0, got {view.every!r}")
    for colour in view.colours:
        if not COLOUR.fullmatch(colour):
            raise InputError(f'View.colours: a colour is "#" and six hexadecimal digits, got {colour!r}')
    if view.line:
        _known("View.line", view.line, schema.tables(), "table")
    for name in view.box or ():
        _known("View.box", name, schema.globals_fields(), "scalar or param")
    for _, path in view.series:
        _check_value("View.series", path, schema)
    for mark in view.marks:
        label = type(mark).__name__
        for name in ARRAYS:
            if getattr(mark, name, ""):
                _known(f"{label}.{name}", getattr(mark, name), schema.arrays, "array")
        for path in _values(mark):
            _check_value(label, path, schema)
        table = getattr(mark, "table", "")
        if table or (hasattr(mark, "table") and not getattr(mark, "array", "") and not getattr(mark, "values", ())):
            _known(f"{label}.table", table, schema.tables(), "table")
            for path in _paths(mark):
                _check_path(label, table, path, schema)


def _paths(mark: Mark) -> Iterator[str]:
    yield from (getattr(mark, name) for name in PATHS if getattr(mark, name, ""))
    motion: Any = getattr(mark, "motion", None)
    if motion is not None:
        yield from (p for p in (motion.since, *motion.velocity, *motion.goal, motion.pace) if p)
        if motion.only is not None:
            yield motion.only[0]


def _values(mark: Mark) -> Iterator[str]:
    """Yield the paths of values of the world that a mark shows."""
    given = (*getattr(mark, "values", ()), getattr(mark, "x", None), getattr(mark, "y", None))
    for one in given:
        if isinstance(one, Along):
            paths = (one.place, one.velocity, one.since, one.centre, one.scale, one.circle)
            yield from (path for path in paths if isinstance(path, str) and path)
    motion: Any = getattr(mark, "motion", None)
    if motion is not None and motion.times:
        yield motion.times
    if type(mark).__name__ == "Bars":
        yield from getattr(mark, "values", ())


def _check_value(label: str, path: str, schema: WorldSchema) -> None:
    found = PLACE.fullmatch(path)
    if found is None:
        _known(label, path, schema.globals_fields(), "scalar or param")
    elif found[1] in schema.arrays:
        n, ndim = found[2].count(",") + 1, schema.arrays[found[1]].ndim
        if n != ndim or found[3]:
            raise InputError(f"{label}: {path!r}: the array {found[1]} has {ndim} dimension(s) and no columns")
    else:
        _known(f"{label}: {path!r}", found[1], [*schema.tables(), *schema.arrays], "table or array")
        _check_path(label, found[1], found[3] or "", schema)


def _check_path(label: str, table: str, path: str, schema: WorldSchema) -> None:
    if not path:
        return
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
