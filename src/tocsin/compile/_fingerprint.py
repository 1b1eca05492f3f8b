"""A hash of everything that can change a model's machine code, taken without Numba.

Of each function: its byte code, constants, defaults, closure, and, by name, every global it
mentions; functions mentioned are followed, in any file. So an edit anywhere is seen.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from tocsin.compile._watch import Watch
from tocsin.schema import Model, WorldSchema

_ROOMS = ("compile", "kernel", "schema")
_OURS = tuple(f"tocsin.{room}." for room in _ROOMS)
_taken: WeakKeyDictionary[Model, dict[tuple[Any, ...], tuple[str, Watch]]] = WeakKeyDictionary()
"""Hashes taken before in this process, each with what it was taken of."""


def fingerprint(model: Model, kernel: WorldSchema, entry: Any, platform: str) -> str:
    """Return 64 hexadecimal digits that change whenever the machine code might."""
    taken = _taken.setdefault(model, {})
    before = taken.get((kernel, entry, platform))
    if before is not None and before[1].holds():
        return before[0]
    walk = _walked(model, kernel, entry, platform)
    taken[kernel, entry, platform] = walk.digest.hexdigest(), walk.watch
    return taken[kernel, entry, platform][0]


def _walked(model: Model, kernel: WorldSchema, entry: Any, platform: str) -> _Walk:
    walk = _Walk()
    walk.text(platform, sys.version, *_versions(), _own_sources())
    for schema in (model.schema, kernel):
        walk.schema(schema)
    walk.text(model.tie)
    for member in (*model.actions, *model.observables):
        walk.text(member.name, member.key or "", str(member.rows), *_way(member))
        walk.cls(member.cls)
    walk.text(*turns_of(model))
    walk.value(entry)
    return walk


def _way(member: Any) -> tuple[str, ...]:
    """Return what the code depends on of a system, besides its functions."""
    return (member.cls.mode, member.cls.order) if hasattr(member.cls, "mode") else ()


def turns_of(model: Model) -> tuple[str, ...]:
    """Return which systems are shuffled, and how; nothing for a model without."""
    return tuple(map(str, model.turns)) if model.is_shuffled else ()


@functools.cache
def _versions() -> list[str]:
    return [metadata.version(name) for name in ("numba", "llvmlite", "numpy")]


@functools.cache
def _own_sources() -> str:
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((root / room).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class _Walk:
    """Follow functions and what they mention, each once."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.watch = Watch()

    def text(self, *words: str) -> None:
        for word in words:
            self.digest.update(f"{len(word)}:{word};".encode())

    def schema(self, schema: WorldSchema) -> None:
        self.text(schema.text)
        for entity in schema.entities:
            self.text(entity.text)
            self.cls(entity.cls)
        for part in schema.parts.values():
            self.text(part.name, str(part.entity))
            self.cls(part.cls)
        for name, params in schema.params.items():
            self.text(name, *(str(field) for field in params.fields().values()))
            self.cls(params)
        self.cls(schema.cls)

    def cls(self, cls: type) -> None:
        """Methods, properties and constants of a class and its bases."""
        for base in cls.__mro__[:-1]:
            if base.__module__.startswith(_OURS):
                self.text(base.__qualname__)  # the hash of our own sources covers it
                continue
            self.watch.cls(base)
            for name, value in sorted(vars(base).items()):
                if isinstance(value, (FunctionType, bool, int, float)) and name[:2] != "__":
                    self.text(name)
                    self.value(value)
                elif isinstance(value, property):
                    self.text(name)
                    self.value(value.fget)

    def value(self, value: Any) -> None:
        if isinstance(value, FunctionType):
            self.function(value)
        elif isinstance(value, ModuleType):
            self.text("module", value.__name__)
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            self.text(value.__qualname__, *(f"{m.name}={m.value!r}" for m in value))
        elif isinstance(value, type):
            self.text("class", value.__module__, value.__qualname__)
        elif isinstance(value, tuple):
            self.text("tuple", str(len(value)))
            for item in value:
                self.value(item)
        elif isinstance(value, (bool, int, float, str, bytes, complex, type(None), enum.Enum)):
            self.text(type(value).__name__, repr(value))
        else:
            self.other(value)

    def other(self, value: Any) -> None:
        self.text(type(value).__module__, type(value).__qualname__)
        if hasattr(value, "py_func"):
            self.watch.doubt()
            self.text(repr(sorted(getattr(value, "targetoptions", {}).items())))
            self.value(value.py_func)
        elif hasattr(value, "tobytes"):
            self.watch.doubt()
            self.text(value.tobytes().hex(), str(getattr(value, "dtype", "")))

    def function(self, function: FunctionType) -> None:
        if id(function) in self.seen:
            self.text("seen", str(self.seen[id(function)]))
            return
        self.seen[id(function)] = len(self.seen)
        self.watch.function(function)
        self.text(function.__qualname__)
        if function.__module__.startswith(_OURS):
            return  # the hash of our own sources covers it
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.value(default)
        for cell in function.__closure__ or ():
            self.value(cell.cell_contents)
        self.code(function.__code__, function.__globals__)

    def code(self, code: CodeType, names: dict[str, Any]) -> None:
        self.digest.update(code.co_code)
        self.text(*code.co_names, *code.co_varnames)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant, names)
            else:
                self.value(constant)
        self.watch.globals(_chains(code), names)
        for path, value in mentioned(code, names, self.watch):
            self.text(path)
            self.value(value)


def mentioned(code: CodeType, names: dict[str, Any], watch: Watch | None = None) -> Iterator[tuple[str, Any]]:
    """Yield what the code loads from its globals, with attributes of modules followed."""
    for chain in _chains(code):
        if chain[0] not in names:
            continue
        path, value = chain[0], names[chain[0]]
        for name in chain[1:]:
            if not isinstance(value, ModuleType):
                break
            if watch is not None:
                watch.attribute(value, name)
            path, value = f"{path}.{name}", getattr(value, name, None)
        yield path, value


@functools.lru_cache(maxsize=4096)
def _chains(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """Return each global that the code loads, with the attributes that it takes of it at once."""
    chains: list[list[str]] = []
    is_open = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            chains.append([str(instruction.argval)])
            is_open = True
        elif is_open and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chains[-1].append(str(instruction.argval))
        elif instruction.opname != "CACHE":
            is_open = False
    return tuple(map(tuple, chains))
