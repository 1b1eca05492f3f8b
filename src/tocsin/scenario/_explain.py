"""Check a table against its pydantic class, and say in one paragraph what is wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from tocsin.errors import InputError
from tocsin.schema._annotations import nearest

M = TypeVar("M", bound=BaseModel)
Key = tuple[str | int, ...]
_MOST = 3
_WANTED = {
    "int_type": "a whole number", "int_from_float": "a whole number", "float_type": "a number",
    "string_type": "text", "bool_type": "true or false", "list_type": "a list",
    "dict_type": "a table", "model_type": "a table", "finite_number": "finite",
    "greater_than": "> {gt}", "greater_than_equal": ">= {ge}", "less_than": "< {lt}",
    "less_than_equal": "<= {le}", "literal_error": "{expected}",
}  # fmt: skip


class Origin:
    """Where values come from: a file, but for those set on the command line."""

    def __init__(self, file: str, overrides: Collection[Key] = ()) -> None:
        self.file, self._overrides = file, overrides

    def of(self, path: Key) -> str:
        """Return 'chr21.toml, [run]' for a key, or 'command line, [run]' if it was set there."""
        is_set = any(path[: len(key)] == key for key in self._overrides)
        source, table = "command line" if is_set else self.file, key_text(path[:-1])
        return f"{source}, [{table}]" if table else source


def check(cls: type[M], values: Mapping[str, Any], origin: Origin, at: Key = ()) -> M:
    """Return `values` as a `cls`. Raises InputError with what is wrong, and where.

    Parameters
    ----------
    at : the path of the table in the file, () for the file itself
    """
    try:
        return cls.model_validate(values)
    except ValidationError as error:
        found = _gather(error, values)
    sentences = [_sentence(cls, path, items, origin, at) for path, items in found.items()]
    more = len(sentences) - _MOST
    tail = [f"({more} more {'errors' if more > 1 else 'error'}.)"] if more > 0 else []
    raise InputError(" ".join([*sentences[:_MOST], *tail])) from None


def key_text(path: Key) -> str:
    """Return 'init.ctcf[2].site' for ('init', 'ctcf', 2, 'site')."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _gather(error: ValidationError, values: Mapping[str, Any]) -> dict[Key, list[Any]]:
    """Group errors by key: a value that fits no member of a union has one for each member.

    Unknown keys come first: they are often why another key is missing.
    """
    found: dict[Key, list[Any]] = {}
    for item in error.errors(include_url=False, include_context=True):
        path = _inside(item["loc"], values, item["type"] == "missing")
        found.setdefault(path, []).append(item)
    order = sorted(found.items(), key=lambda pair: pair[1][0]["type"] != "extra_forbidden")
    return dict(order)


def _inside(loc: Key, values: Any, is_missing: bool) -> Key:
    """Cut off what pydantic adds to name the member of a union."""
    for n, part in enumerate(loc):
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return loc[: n + 1] if is_missing else loc[:n]
    return loc


def _sentence(cls: type[BaseModel], path: Key, items: list[Any], origin: Origin, at: Key) -> str:
    where, item = origin.of((*at, *path)), items[0]
    name = _name(path)
    if item["type"] == "extra_forbidden":
        return f"{where}: {_unknown(cls, path)}"
    if item["type"] == "missing":
        return f"{where}: the key {name!r} is missing."
    if item["type"] == "value_error":
        return f"{where if path else _table(origin, at)}: {item['ctx']['error']}."
    wanted = " or ".join(dict.fromkeys(_wanted(i) for i in items))
    return f"{where}: {name} must be {wanted}, got {item['input']!r}."


def _name(path: Key) -> str:
    cut = max((n for n, part in enumerate(path) if isinstance(part, str)), default=0)
    return key_text(path[cut:])


def _table(origin: Origin, at: Key) -> str:
    return origin.of((*at, ""))


def _wanted(item: Any) -> str:
    text = _WANTED.get(item["type"])
    if text is None:
        return str(item["msg"]).removeprefix("Input should be ")
    bounds = {k: f"{v:g}" if isinstance(v, float) else v for k, v in item.get("ctx", {}).items()}
    return text.format(**bounds)


def _unknown(cls: type[BaseModel], path: Key) -> str:
    known = _keys_at(cls, path[:-1])
    has = f"It has: {', '.join(known)}." if known else "It has no keys."
    return f"unknown key {path[-1]!r}.{nearest(str(path[-1]), known)} {has}"


def _keys_at(cls: Any, path: Key) -> list[str]:
    """Return the keys that the table at `path` inside `cls` may have."""
    for part in path:
        cls = _table_class(cls.model_fields[part].annotation) if isinstance(part, str) else cls
        if cls is None:
            return []
    return list(cls.model_fields)


def _table_class(annotation: Any) -> type[BaseModel] | None:
    """Return the table class in an annotation: Snapshots in `Snapshots | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_table_class(argument) for argument in get_args(annotation))
    return next((found for found in inner if found is not None), None)
