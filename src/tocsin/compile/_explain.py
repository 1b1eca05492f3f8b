"""Turn Numba's errors into one paragraph: where, what, remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tocsin.errors import CompileError, TocsinError
from tocsin.schema import Model

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PLACES = (
    re.compile(r"^During: .* at (.+) \((\d+)\)$", re.M),
    re.compile(r'File "([^"]+)", line (\d+)'),
    re.compile(r"[Rr]aised from (\S+) \((\d+)\)"),
)
_OURS = re.compile(r"tocsin/(compile|kernel|schema)/")

_NOISE = ("Failed in", "During:", "File ", "- ", "<source", "^", ">>>", "There are", "None")

_REMEDIES = (
    (re.compile(r"(\S+ holds \w+, but is given .*)"), "{0}"),
    (re.compile(r"(format spec in f-strings) not supported"), "compiled code makes no text ({0}); jit=False does."),
    (re.compile(r"Untyped global name '?(\w+)'?"), "{0} is not something compiled code can use. "
     "Use numbers, module constants, functions and the world; keep other objects out."),
    (re.compile(r"NameError: name '?(\w+)'? is not defined|name '(\w+)' is not defined"),
     "{0} is not defined."),
    (re.compile(r"getitem.*found for signature:\s+>>> getitem\((Table)\[.*?, (?:Literal\[str\]|unicode)"),
     "a column is for use outside a run; compiled code reads a field of a row."),
    (re.compile(r"Rng has no field '(randrange|randint)'"), "rng has no {0}: rng.integers(low, high) is low, ..., high - 1."),
    (re.compile(r"(\S+ has no field '(?:random|rng)'.*)"), "{0} Draw from the rng that a method is given."),
    (re.compile(r"(\S+ has no field 'model'.*)"), "{0} Everything is reached through the world that a method is given."),
    (re.compile(r"(\S+ has no field 'remove'.*)"), "{0} A row is removed by its pool: world.table.remove(row)."),
    (re.compile(r"(\S+ has no field .*)"), "{0}"),
    (re.compile(r"((?:Arena|Pool|Table) \S+ has no .*)"), "{0}"),
    (re.compile(r"Unknown attribute '(_code|index)' of type"),
     "touched.add takes a row or the world, and touched.all a table."),
    (re.compile(r"(\S+\.\S+ must return .*)"), "{0}"),
    (re.compile(r"(\S+\.\S+ cannot be (?:set|replaced).*)"), "{0}"),
    (re.compile(r"Cannot bind 'args=.*? to signature '\(self, (weights): .Any., n: .int.\)"), "rng.choice(weights, n) draws a number from 0 "
     "to n - 1 by its weight; for any row of a table write table.pick(rng)."),
    (re.compile(r"Cannot bind 'args=.*? to signature '\(self, (values): .Any., n: .int.\)"), "rng.shuffle(values, n) permutes the first "
     "n entries of an array of the world; the rows of a system are shuffled by order = \"shuffled\", its default."),
    (re.compile(r"Cannot bind 'args=.*? to signature '\((pool): .Any.\)"), "spawn() takes nothing: "
     "row = world.table.spawn(), then set the fields of row."),
    (re.compile(r"Cannot bind 'args=.*? to signature '(\(.*?\))"), "the arguments of this call do not fit {0}; "
     "compiled code knows no keyword-only arguments."),
    (re.compile(r"Cannot cast .+ to (?:Table|Array|Params)\["),
     "a part of the world cannot be replaced; set its rows or entries."),
    (re.compile(r"Unknown attribute '(\w+)' of type Module\(<module '(\w+)"),
     "{1}.{0} is not there, or compiled code does not know it."),
    (re.compile(r"Unknown attribute '(\w+)' of type (\w+)"), "there is no {0} here."),
    (re.compile(r"Cannot unify (.+?) and (.+?) for '(\w+)"),
     "{2} is given values of two kinds ({0} and {1}); give it one."),
    (re.compile(r"No implementation of function Function\(<[^>]*?(?:function )?(\w+)(?: at \w+)?>\) found"),
     "this operation ({0}) is not known for these operands in compiled code."),
    (re.compile(r"Use of unsupported (.+)"), "compiled code cannot use {0}."),
)  # fmt: skip


@contextmanager
def explained(model: Model) -> Iterator[None]:
    """Raise CompileError instead of Numba's own exceptions (TOCSIN_DEBUG=1 shows both)."""
    try:
        yield
    except TocsinError:
        raise
    except Exception as error:
        cause = error if os.environ.get("TOCSIN_DEBUG") else None
        raise CompileError(_paragraph(model, _ANSI.sub("", str(error)))) from cause


def _paragraph(model: Model, text: str) -> str:
    found = [place for pattern in _PLACES for place in pattern.findall(text)]
    places = [p for p in found if not _OURS.search(p[0].replace("\\", "/"))]
    places = places or _mentioned(model, text)
    where = f"{os.path.abspath(places[0][0])}:{places[0][1]}" if places else f"model {model.name}"
    return f"{where}: {_what(text)} (compiling model {model.name}; jit=False runs it as plain Python)"


def _mentioned(model: Model, text: str) -> list[tuple[str, int]]:
    """Return where the method stands that the text names, or that uses a name in it."""
    quoted = set(re.findall(r"'(\w+)'", text))
    found = []
    for member in (*model.actions, *model.observables):
        for name in ("schedule", "rate", "fire", "update", "value"):
            code = getattr(getattr(member.cls, name, None), "__code__", None)
            if code and (f"{member.name}.{name}" in text or quoted & set(code.co_names)):
                found.append((code.co_filename, code.co_firstlineno))
    return found


def _what(text: str) -> str:
    for pattern, remedy in _REMEDIES:
        found = pattern.findall(text)
        if found:
            last = found[-1] if isinstance(found[-1], tuple) else (found[-1],)
            words = [w for w in last if w] or [""]
            return remedy.format(*[w.strip() for w in words])
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith(_NOISE)]
    return f"this does not compile: {said[0]}" if said else "this does not compile"
