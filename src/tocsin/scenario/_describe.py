"""What can be set in a scenario of a model, read off the classes that check it."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tocsin.scenario._registry import AnyPreset
from tocsin.scenario._tables import RunTable, record_table
from tocsin.schema import Params

_NAMES = {int: "int", float: "float", bool: "bool", str: "str", type(None): "none"}
_BOUNDS = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))


def describe(preset: AnyPreset) -> dict[str, Any]:
    """Return name, summary, actions, observables, and every key of every table.

    A key has: key, type, default, required, unit, bounds, meaning.
    """
    return {
        "name": preset.name,
        "summary": preset.summary,
        "actions": [member.name for member in preset.model.actions],
        "observables": [member.name for member in preset.model.observables],
        "params": [key for block, cls in preset.params.items() for key in _params(block, cls)],
        "init": _keys(preset.init),
        "run": _keys(RunTable),
        "record": _keys(record_table(preset)),
    }


def _params(block: str, cls: type[Params]) -> list[dict[str, Any]]:
    found = []
    for name, field in cls.fields().items():
        spec = cls.spec(name)
        row = _key(f"{block}.{name}", field.kind, spec.default, spec.doc)
        found.append({**row, "unit": spec.unit, "bounds": _bounds(spec)})
    return found


def _keys(cls: type[BaseModel], prefix: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, field in cls.model_fields.items():
        inner, suffix = _inner(field.annotation)
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        row = _key(f"{prefix}{name}", _type_text(field.annotation), default, field.description or "")
        found.append({**row, "required": field.is_required(), "bounds": _field_bounds(field)})
        if inner is not None:
            found += _keys(inner, f"{prefix}{name}{suffix}.")
    return found


def _key(key: str, kind: str, default: Any, meaning: str) -> dict[str, Any]:
    if isinstance(default, BaseModel):
        default = default.model_dump(mode="json")
    return {
        "key": key, "type": kind, "default": default, "required": False, "unit": "", "bounds": "",
        "meaning": meaning,
    }  # fmt: skip


def _bounds(spec: Any) -> str:
    given = [(sign, getattr(spec, name, None)) for name, sign in _BOUNDS]
    texts = ((sign, f"{b:g}" if isinstance(b, float) else b) for sign, b in given if b is not None)
    return ", ".join(f"{sign} {bound}" for sign, bound in texts)


def _field_bounds(field: FieldInfo) -> str:
    return ", ".join(filter(None, (_bounds(rule) for rule in field.metadata)))


def _inner(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """Return the table class inside an annotation, and [] if it is a list of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    suffix = "[]" if get_origin(annotation) is list else ""
    for argument in get_args(annotation):
        found, more = _inner(argument)
        if found is not None:
            return found, suffix + more
    return None, ""


def _type_text(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " or ".join(_type_text(a) for a in arguments if a is not type(None))
    if origin is Literal:
        return " or ".join(repr(a) for a in arguments)
    if origin is list:
        inner = _type_text(arguments[0])
        return "list" if inner == "any" else f"list of {inner}"
    if origin is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return "table"
    if hasattr(annotation, "__metadata__"):
        return _type_text(arguments[0])
    return _NAMES.get(annotation, "any")
