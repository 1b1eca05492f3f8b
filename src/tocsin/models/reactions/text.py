"""Networks as text, one statement a line.

# an enzyme
species S = 300, E = 100, SE = 0, P = 0
parameter k_on = 0.002, k_off = 0.1, k_cat = 0.1
binding: S + E <-> SE @ k_on, k_off
SE -> E + P @ k_cat
P -> 0 := 0.2 * P / (10 + P)
0 -> E := 2 * (1 + sin(time)); delay = normal(3, 0.2); bound = 4
when time >= 25: S = 300, P = 0; priority = 2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tocsin.errors import InputError
from tocsin.formula import Node, constant_of, formula
from tocsin.models.reactions.network import Event, Network, Reaction, reversible

MOST_BYTES = 64 << 20
Fail = Callable[[int, str], InputError]
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*:(?!=)")


def read_file(path: str | Path) -> Network:
    """Read a network from a file (see `Network.from_file`)."""
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: {path.stat().st_size:,} bytes; {MOST_BYTES:,} are read at most")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    if path.suffix.lower() not in (".xml", ".sbml"):
        return read_text(text, str(path))
    try:
        return Network.from_sbml(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_text(text: str, source: str) -> Network:
    """Return the network that a text describes. Raises InputError with source, line and column."""
    reader = _Text()
    bodies: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        body = line.partition("#")[0].rstrip()
        if body.strip():
            before = len(reader.reactions), len(reader.events)
            reader.statement(body, _fail(source, number))
            bodies |= {f"reaction {r.label}": (number, body) for r in reader.reactions[before[0] :]}
            bodies |= {f"event {e.name}": (number, body) for e in reader.events[before[1] :]}
    try:
        return Network(reader.species, reader.reactions, reader.parameters, reader.events)
    except InputError as error:
        raise _placed(str(error), source, bodies) from None


def _placed(rule: str, source: str, bodies: Mapping[str, tuple[int, str]]) -> InputError:
    """Return what is wrong with a part of the network, with the line of that part and the column of what is quoted."""
    part = next((part for part in bodies if rule.startswith((f"{part}:", f"{part},"))), None)
    if part is None:
        return InputError(f"{source}: {rule}")
    number, body = bodies[part]
    quoted = re.search(r"'(\w+)'", rule[len(part) :])
    found = re.search(rf"\b{quoted[1]}\b", body) if quoted else None
    return _fail(source, number)(found.start() if found else len(body) - len(body.lstrip()), rule)


def _fail(source: str, line: int) -> Fail:
    return lambda column, rule: InputError(f"{source}, line {line}, column {column + 1}: {rule}")


class _Text:
    """What the lines so far have said."""

    def __init__(self) -> None:
        self.species: dict[str, float] = {}
        self.parameters: dict[str, float] = {}
        self.reactions: list[Reaction] = []
        self.events: list[Event] = []
        self.labels: set[str] = set()

    def statement(self, body: str, fail: Fail) -> None:
        """Read one line."""
        start = len(body) - len(body.lstrip())
        word = body.split(None, 1)[0]
        if word == "species" or word == "parameter":
            self.numbers(word, body, start + len(word), fail)
        elif word == "when":
            self.event(body, start + len(word), fail)
        elif "->" in body:
            self.reaction(body, fail)
        else:
            raise fail(start, f"expected 'species', 'parameter', 'when' or a reaction with '->', found {word!r}")

    def numbers(self, kind: str, body: str, at: int, fail: Fail) -> None:
        """Read `species A = 1, B` or `parameter k = 2 * 3`."""
        into = self.species if kind == "species" else self.parameters
        for column, part in pieces(body, at):
            key, equals, value = part.partition("=")
            key, place = key.strip(), column + len(part) - len(part.lstrip())
            if not key.isidentifier() or not key.isascii():
                raise fail(place, f"expected the name of a {kind}, found {key!r}")
            if key in self.species or key in self.parameters:
                raise fail(place, f"{key} is declared twice")
            if not equals and kind == "parameter":
                raise fail(place, f"parameter {key} needs a value")
            into[key] = self.value(value, column + len(part) - len(value), fail) if equals else 0.0

    def value(self, text: str, column: int, fail: Fail) -> float:
        node = formula(text, shifted(fail, column))
        value = constant_of(node, self.parameters)
        if value is None:
            raise fail(column, "a value is a number, or a formula of parameters declared before")
        return value

    def reaction(self, body: str, fail: Fail) -> None:
        """Read `name: A + B -> C @ k`, `A <-> B @ k, l` or `A -> B := law`."""
        label, at = "", 0
        if found := _NAMED.match(body):
            label, at = found[1], found.end()
        body, more = options(body, at, ("delay", "bound"), fail)
        sign = ":=" if ":=" in body[at:] else "@"
        equation, given, _ = body[at:].partition(sign)
        if not given:
            raise fail(len(body), "a reaction needs '@ rate', or ':= propensity'")
        start = at + len(equation) + len(sign)
        parts = [formula(part, shifted(fail, column)) for column, part in pieces(body, start)]
        is_both = "<->" in equation
        if len(parts) != (2 if is_both and sign == "@" else 1):
            raise fail(start, "a reversible reaction has two rates, another one")
        if is_both and (sign == ":=" or more):
            raise fail(at, "write the two directions of a reaction with laws, delays or bounds as two")
        try:
            made = make(equation.strip(), sign, parts, label, more)
        except InputError as error:
            raise fail(at + len(equation) - len(equation.lstrip()), str(error)) from None
        for one in made:
            if one.label in self.labels:
                raise fail(at, f"two reactions are called {one.label!r}; give one another name")
            self.labels.add(one.label)
        self.reactions += made

    def event(self, body: str, at: int, fail: Fail) -> None:
        """Read `when time >= 25: A = 0, B = 1; priority = 2`."""
        body, more = options(body, at, ("priority", "delay", "persistent", "was_true"), fail)
        flags = {key: self.flag(more.pop(key), key, fail) for key in ("persistent", "was_true") if key in more}
        when, colon, _ = body[at:].partition(":")
        if not colon:
            raise fail(len(body), "an event is 'when condition: name = formula, ...'")
        assign: dict[str, float | str | Node] = {}
        for column, part in pieces(body, at + len(when) + 1):
            key, equals, value = part.partition("=")
            if not equals:
                raise fail(column, f"expected 'name = formula', found {part.strip()!r}")
            assign[key.strip()] = formula(value, shifted(fail, column + len(key) + 1))
        name, condition = f"number {len(self.events) + 1}", formula(when, shifted(fail, at))
        try:
            self.events.append(Event(condition, assign, name, **flags, **more))  # type: ignore[arg-type]
        except InputError as error:
            raise fail(at, str(error)) from None

    def flag(self, given: Node, key: str, fail: Fail) -> bool:
        """Read `persistent = 0`."""
        value = constant_of(given, self.parameters)
        if value not in (0.0, 1.0):
            raise fail(0, f"{key} must be 0 or 1")
        return bool(value)


def options(body: str, at: int, known: Sequence[str], fail: Fail) -> tuple[str, dict[str, Node]]:
    """Return a statement without what stands behind semicolons from `at` on, and that: `; delay = 2; bound = 5`."""
    head, *given = body[at:].split(";")
    column, found = at + len(head) + 1, dict[str, Node]()
    for part in given:
        key, equals, value = part.partition("=")
        place = column + len(part) - len(part.lstrip())
        if key.strip() not in known or not equals:
            raise fail(place, f"expected {' or '.join(known)} = formula, found {part.strip()!r}")
        if key.strip() in found:
            raise fail(place, f"{key.strip()} is said twice")
        found[key.strip()] = formula(value, shifted(fail, column + len(key) + 1))
        column += len(part) + 1
    return body[: at + len(head)], found


def make(equation: str, sign: str, parts: list[Node], label: str, more: Mapping[str, Node]) -> tuple[Reaction, ...]:
    """Return the one or two reactions of a line."""
    if len(parts) == 2:
        return reversible(equation, parts[0], parts[1], label)
    if sign == ":=":
        return (Reaction(equation, law=parts[0], name=label, bound=more.get("bound"), delay=more.get("delay")),)
    return (Reaction(equation, parts[0], label, bound=more.get("bound"), delay=more.get("delay")),)


def shifted(fail: Fail, by: int) -> Fail:
    """Return the same complaint for a text that begins further right."""
    return lambda column, rule: fail(column + by, rule)


def pieces(body: str, at: int) -> list[tuple[int, str]]:
    """Return what stands between commas outside parentheses, with its columns."""
    found, depth, start = [], 0, at
    for k in range(at, len(body)):
        depth += {"(": 1, ")": -1}.get(body[k], 0)
        if body[k] == "," and depth <= 0:
            found.append((start, body[start:k]))
            start = k + 1
    return [*found, (start, body[start:])]
