"""Paths into a scenario: 'params.rates.step', 'init.ctcf[2].strength'."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.errors import InputError
from tocsin.scenario import AnyPreset, describe
from tocsin.schema._annotations import nearest

Path = tuple[str | int, ...]
_PART = re.compile(r"([^.\[\]]+)((?:\[\d+\])*)")
_OPEN = ("any", "table", "list")
"""Types of keys below which anything may be set."""


def parse_path(text: str) -> Path:
    """Return ('init', 'ctcf', 2, 'strength') for 'init.ctcf[2].strength'. Raises InputError."""
    parts: list[str | int] = []
    for word in text.split("."):
        match = _PART.fullmatch(word.strip())
        if match is None:
            raise InputError(
                f"{text!r} is no path into a scenario; write it as in params.rates.step or init.ctcf[2].site"
            )
        parts.append(match[1])
        parts += [int(number) for number in re.findall(r"\d+", match[2])]
    return tuple(parts)


class Paths:
    """The keys that a scenario of a model may have, and their types."""

    def __init__(self, preset: AnyPreset) -> None:
        facts = describe(preset)
        self.model = preset.name
        self._named = (
            preset.name if preset.source is None else f"{preset.source.name}:NAME, with the name in your scenario"
        )
        self.types = {"model": "str"}
        for table in ("params", "init", "run", "record"):
            self.types |= {f"{table}.{key['key']}": key["type"] for key in facts[table]}

    def kind(self, text: str, where: str) -> str:
        """Return the type of a path's key. Raises InputError if a scenario can have no such key."""
        plain = re.sub(r"\[\d+\]", "[]", text)
        if plain in self.types:
            return self.types[plain]
        if text == "run.seed":
            return "int"
        parents = [plain[: match.start()] for match in re.finditer(r"[.\[]", plain)]
        if any(self._is_open(parent) and not self._has_inner(parent) for parent in parents):
            return "any"
        raise InputError(
            f"{where}: a scenario of {self.model} has no key {text!r}.{self._hint(plain)} "
            f"See: tocsin models {self._named}"
        )

    def _is_open(self, parent: str) -> bool:
        return any(kind.startswith(_OPEN) for kind in self.types.get(parent, "").split(" or "))

    def _has_inner(self, parent: str) -> bool:
        return any(key.startswith((f"{parent}.", f"{parent}[].")) for key in self.types)

    def _hint(self, text: str) -> str:
        if hint := nearest(text, self.types):
            return hint
        last = text.rpartition(".")[2]
        match = next((key for key in self.types if key.rpartition(".")[2] == last), None)
        return "" if match is None else f" Did you mean {match!r}?"


def with_values(values: Mapping[str, Any], changes: Sequence[tuple[Path, Any]]) -> dict[str, Any]:
    """Return nested plain values with other values at some paths; tables that are missing are made.

    Raises InputError for a path through something that is no table, or past the end of a list.
    """
    made = copy.deepcopy(dict(values))
    for path, value in changes:
        place: Any = made
        for n, part in enumerate(path[:-1], 1):
            place = _into(place, part, path, n)
        if not isinstance(place, dict if isinstance(path[-1], str) else list):
            raise InputError(f"{path_text(path)}: {path_text(path[:-1])} is {place!r}, which is not a table")
        if isinstance(place, list) and int(path[-1]) >= len(place):
            raise _past_the_end(path, len(path), place)
        place[path[-1]] = value  # type: ignore[index]  # a table has names, a list has numbers
    return made


def path_text(path: Path) -> str:
    """Return a path as it is written."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _into(place: Any, part: str | int, path: Path, n: int) -> Any:
    if isinstance(part, str) and isinstance(place, dict):
        return place.setdefault(part, {})
    if isinstance(part, int) and isinstance(place, list):
        if part >= len(place):
            raise _past_the_end(path, n, place)
        return place[part]
    raise InputError(
        f"{path_text(path)}: {path_text(path[: n - 1]) or 'the scenario'} is {place!r}, which is not a table"
    )


def _past_the_end(path: Path, n: int, place: list[Any]) -> InputError:
    return InputError(f"{path_text(path)}: {path_text(path[: n - 1])} has {len(place)} entries, counted from 0")
