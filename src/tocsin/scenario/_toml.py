"""Read a TOML file, and put values from the command line over it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tocsin.errors import InputError

Override = tuple[tuple[str, ...], Any]


_NETWORKS = (".txt", ".xml", ".sbml")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises InputError if it cannot be read or parsed."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no scenario file {str(path)!r}") from None
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        hint = ". For a reaction network: tocsin reactions run" if path.suffix in _NETWORKS else ""
        raise InputError(f"{path.name} is not valid TOML: {error}{hint}") from None


def parse_override(text: str) -> Override:
    """Read 'params.rates.step=2' as (('params', 'rates', 'step'), 2).

    What follows the first = is a TOML value (2, 0.5, true, [1, 2], "text"); what is none is
    taken as text. Raises InputError without a path or an =.
    """
    left, sign, right = text.partition("=")
    path = tuple(part.strip() for part in left.split("."))
    if not sign or not all(path):
        raise InputError(f"--set must read path=value, as in run.seed=7, got {text!r}")
    return path, parse_value(right.strip())


def parse_value(text: str) -> Any:
    """Return a TOML value, or `text` itself if it is none."""
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if list(found) == ["value"] else text


def override(values: dict[str, Any], changes: Sequence[Override]) -> list[tuple[str, ...]]:
    """Set keys of nested tables in place; tables that are missing are made.

    Returns the paths that were not in `values` as they are now. Raises InputError for a path
    through something that is no table.
    """
    new: list[tuple[str, ...]] = []
    for path, value in changes:
        table: Any = values
        for n, part in enumerate(path[:-1], 1):
            if part not in table:
                table[part] = {}
                new.append(path[:n])
            table = table[part]
            if not isinstance(table, dict):
                raise InputError(f"--set {'.'.join(path)}: {'.'.join(path[:n])} is {table!r}, which is not a table")
        table[path[-1]] = value
        new.append(path)
    return new
