"""Read a design from TOML, YAML, JSON or a dictionary; say what is wrong by path, value and rule."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from tocsin.errors import InputError
from tocsin.models.economy.config import Design
from tocsin.models.economy.sandtable.config import SandtableDesign
from tocsin.schema._annotations import nearest

AnyDesign = Design | SandtableDesign
DESIGNS = Path(__file__).parent / "designs"
NAMED = ("resources", "activities", "loot", "calendar", "markets")
"""Tables whose entries have names that the design chooses."""
MOST_BYTES = 4_000_000
MOST_VALUES = 500_000
MOST_ERRORS = 5


def read_design(source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> AnyDesign:
    """Return a checked design.

    Parameters
    ----------
    source : a file (.toml, .yaml, .yml or .json), 'package:NAME' for one that comes with Tocsin, or a mapping
    changes : values by path, such as {"activities.dungeon.gain.gold": 50}

    Raises InputError: a file that cannot be read, an unknown key, a value that breaks a rule.
    """
    values = _file(_place(source)) if isinstance(source, (str, Path)) else copy.deepcopy(dict(source))
    for path, value in (changes or {}).items():
        _set(values, path, value)
    if {"model", "run"} <= values.keys():
        raise InputError(
            "this is a scenario, as it names a model; a design has activities. `tocsin check` checks a scenario"
        )
    is_preset = "preset" in values
    if is_preset and values["preset"] != "sandtable":
        raise InputError(
            f"preset: must be 'sandtable', got {values['preset']!r}; leave it out for a design of your own"
        )
    return _checked(SandtableDesign if is_preset else Design, values)


def design_hash(design: AnyDesign) -> str:
    """Return the SHA-256 of a design: the same for every order of keys, and with defaults written out or not."""
    text = json.dumps(design.model_dump(mode="json", by_alias=True), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _place(source: str | Path) -> Path:
    """Return the path of a file, or of a design that comes with the package: package:hero-collector."""
    if not str(source).startswith("package:"):
        return Path(source)
    name = str(source).removeprefix("package:").removesuffix(".toml")
    known = sorted(path.stem for path in DESIGNS.glob("*.toml"))
    if name not in known:
        raise InputError(f"there is no design 'package:{name}'.{nearest(name, known)} There are: {', '.join(known)}")
    return DESIGNS / f"{name}.toml"


def _file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)  # a device has no end
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
    if len(text) > MOST_BYTES:
        raise InputError(f"{path.name} has more than {MOST_BYTES:,} bytes, which is the most of a design")
    try:
        found = _parsed(path.suffix.lower(), text.decode("utf-8-sig"))
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{path.name} is nested too deep") from None
    except ValueError as error:  # of TOML, JSON and UTF-8 alike
        raise InputError(f"{path.name} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path.name} must hold a table, got {type(found).__name__}")
    return found


def _parsed(suffix: str, text: str) -> Any:
    if suffix == ".json":
        return json.loads(text)
    if suffix in (".yaml", ".yml"):
        try:
            import yaml
        except ImportError:
            raise InputError("YAML needs PyYAML: pip install pyyaml; or write TOML") from None
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(" ".join(str(error).split())) from None
    return tomllib.loads(text)


def _set(values: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a path; tables that are missing are made, a list may get one more entry.

    A part of something that is named by the design, such as resources.gems.start, needs that thing to be there.
    """
    place: Any = values
    parts = path.split(".")
    named = values.get(parts[0]) if parts[0] in NAMED else None
    if len(parts) > 2 and isinstance(named, dict) and parts[1] not in named:
        raise InputError(
            f"{path}: {parts[0]} has no {parts[1]!r}.{nearest(parts[1], named)} It has: {', '.join(named)}"[:500]
        )
    for n, part in enumerate(parts):
        is_last = n == len(parts) - 1
        if isinstance(place, dict):
            place[part] = value if is_last else place.get(part, {})
            if isinstance(place[part], tuple):
                place[part] = list(place[part])
            place = place[part]
        elif isinstance(place, list) and part.isdecimal() and len(part) < 7 and int(part) <= len(place):
            k = int(part)
            place[k : k + 1] = [value if is_last else list(place[k]) if k < len(place) and isinstance(place[k], tuple) else
                                place[k] if k < len(place) else {}]  # fmt: skip
            place = place[k]
        else:
            raise InputError(f"{path}: {'.'.join(parts[:n])} is no table")


def _checked(cls: type[Any], values: Mapping[str, Any]) -> AnyDesign:
    try:
        return cls.model_validate(_plain(values))  # type: ignore[no-any-return]
    except ValidationError as error:
        found = error.errors(include_url=False)
    except RecursionError:
        raise InputError("the design is nested too deep") from None
    by_path: dict[str, list[Any]] = {}
    for item in sorted(found, key=_rank):
        by_path.setdefault(_path(item, values), []).append(item)
    lines = {path: f"{path or 'the design'}: {_rule(cls, items)}" for path, items in by_path.items()
             if not any(other.startswith(f"{path}.") and _rank(items[0])[1] for other in by_path)}  # fmt: skip
    more = [f"({len(lines) - MOST_ERRORS} more.)"] if len(lines) > MOST_ERRORS else []
    raise InputError("\n".join([*list(lines.values())[:MOST_ERRORS], *more]))


def _plain(value: Any, depth: int = 0, seen: Iterator[int] | None = None) -> Any:
    """Return lists as tuples and whole numbers where decimals are wanted as they are: TOML's 5 is 5.0 too.

    Every value counts as often as it is reached: YAML may name one list in many places.
    """
    seen = count() if seen is None else seen
    if depth > 50:
        raise InputError("the design is nested too deep")
    if next(seen) > MOST_VALUES:
        raise InputError(f"the design has more than {MOST_VALUES:,} values, counting each alias where it stands")
    if isinstance(value, Mapping):
        return {str(k): _plain(v, depth + 1, seen) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_plain(v, depth + 1, seen) for v in value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1 << 62:
        return float(value) if abs(value) < 1 << 1000 else float("inf")
    return value


def _rank(item: Any) -> tuple[bool, bool]:
    """Unknown keys first; of the members of a union, those of the wrong kind last."""
    return item["type"] != "extra_forbidden", item["type"] in ("model_type", "float_type", "string_type", "dict_type")


def _path(item: Any, values: Any) -> str:
    """Return a.b[2].c; what pydantic adds to name the member of a union is left out."""
    text = ""
    loc = item["loc"]
    for n, part in enumerate(loc):
        is_inside = (isinstance(values, Mapping) and part in values) or (
            isinstance(values, (list, tuple)) and isinstance(part, int)
        )
        if not is_inside and not (n == len(loc) - 1 and item["type"] == "missing"):
            continue
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            values = None
    return text.removeprefix(".")


def _rule(cls: type[BaseModel], items: list[Any]) -> str:
    item = items[0]
    kind, got = item["type"], repr(item.get("input"))[:80]
    if {"string_type", "float_type"} <= {one["type"] for one in items}:
        return f"must be a number, or a formula in quotes, got {got}"
    if kind == "extra_forbidden":
        known = _keys(cls, item["loc"][:-1])
        return f"unknown key.{nearest(str(item['loc'][-1]), known)} Known here: {', '.join(known)}"
    if kind == "missing":
        return "this key is missing"
    if kind == "value_error":
        return str(item["ctx"]["error"])
    if kind == "string_pattern_mismatch":
        return f"a name has small letters, digits and _, starts with a letter, and at most 40 of them; got {got}"
    rule = (
        str(item["msg"])
        .replace("Input should be", "must be")
        .replace("a valid integer", "a whole number")
        .replace("a valid string", "text")
        .replace("a valid tuple", "a list")
        .replace("a valid dictionary", "a table")
        .replace("a valid number", "a number")
    )
    rule = re.sub(r"a table or instance of \w+", "a table", rule)
    return f"{rule[0].lower()}{rule[1:]}, got {got}"


def _keys(cls: Any, loc: tuple[Any, ...]) -> list[str]:
    for part in loc:
        fields = getattr(cls, "model_fields", {})
        if isinstance(part, str) and part in fields:
            cls = _table_in(fields[part].annotation)
        elif isinstance(part, str) and part == "class":
            cls = None
    return [f.alias or name for name, f in getattr(cls, "model_fields", {}).items()]


def _table_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_table_in(a) for a in get_args(annotation))
    return next((found for found in inner if found is not None), None)
