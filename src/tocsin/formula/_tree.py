"""Formulas as trees: what they mention, and how text becomes one.

Names, numbers, `time`, + - * / ^, comparisons, `and`, `or`, `not` and the functions of FUNCTIONS.
Text is read by a parser of its own; nothing is ever handed to Python's `eval`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tocsin.errors import InputError

FUNCTIONS = {
    "neg": 1, "abs": 1, "exp": 1, "log": 1, "sqrt": 1, "floor": 1, "ceil": 1, "sin": 1, "cos": 1, "not": 1,
    "add": 2, "sub": 2, "mul": 2, "div": 2, "pow": 2, "min": 2, "max": 2, "lt": 2, "le": 2, "eq": 2, "ne": 2,
    "and": 2, "or": 2, "xor": 2, "if": 3,
}  # fmt: skip
"""Operations, with the number of their arguments. Truth is 1, untruth 0; `if(c, a, b)` is a if c is true."""
DRAWS = {
    "uniform": 2, "normal": 2, "exponential": 1, "gamma": 2, "poisson": 1, "binomial": 2, "bernoulli": 1,
    "cauchy": 2, "laplace": 2, "lognormal": 2, "rayleigh": 1,
}  # fmt: skip
"""Random draws, with the number of their parameters; two more arguments are bounds that the draw keeps to."""
WRITTEN = ("abs", "exp", "log", "sqrt", "floor", "ceil", "sin", "cos", "min", "max", "if", *DRAWS)
MOST_DEPTH = 50
"""Parentheses, powers and negations within each other."""
MOST_HEIGHT = 250
"""Operations within each other: a sum of that many terms."""


@dataclass(frozen=True)
class Node:
    """One place of a formula: `op` is 'number', 'name', 'time', a function or a draw."""

    op: str
    args: tuple[Node, ...] = ()
    value: float = 0.0
    name: str = ""

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.args)

    def names(self) -> set[str]:
        """Return the names that the formula mentions."""
        return {node.name for node in self.walk() if node.op == "name"}

    def has(self, *ops: str) -> bool:
        """Whether one of these operations occurs in it."""
        return any(node.op in ops for node in self.walk())

    def replaced(self, by: Mapping[str, Node]) -> Node:
        """Return the formula with names replaced by formulas."""
        if self.op == "name":
            return by.get(self.name, self)
        if not self.args:
            return self
        return Node(self.op, tuple(arg.replaced(by) for arg in self.args), self.value, self.name)


def number(value: float) -> Node:
    """Return a constant."""
    return Node("number", value=float(value))


def name(text: str) -> Node:
    """Return a name."""
    return Node("name", name=text)


TIME = Node("time")


def call(op: str, *args: Node) -> Node:
    """Return an operation on formulas."""
    return Node(op, args)


def constant_of(node: Node, values: Mapping[str, float]) -> float | None:
    """Return the value of a formula of known names alone, without draws and time; None for any other."""
    if node.has("time", *DRAWS) or not node.names() <= set(values):
        return None
    from tocsin.formula._postfix import value_of

    return value_of(node, values)


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^(),<>]))"
)
_COMPARE = {"<": ("lt", False), "<=": ("le", False), ">": ("lt", True), ">=": ("le", True), "==": ("eq", False), "!=": ("ne", False)}  # fmt: skip


def _named(text: str) -> Node:
    return TIME if text == "time" else name(text)


class _Reader:
    """Recursive descent over one formula; errors say the column."""

    def __init__(self, text: str, fail: Callable[[int, str], InputError]) -> None:
        self.text, self.fail, self.at, self.depth = text, fail, 0, 0
        self.kind, self.token, self.column = "", "", 0
        self.next()

    def next(self) -> None:
        if not self.text[self.at :].strip():
            self.kind, self.token, self.column = "end", "the end", len(self.text)
            return
        found = _TOKEN.match(self.text, self.at)
        if not found or found.lastgroup is None:
            column = self.at + len(self.text[self.at :]) - len(self.text[self.at :].lstrip())
            raise self.fail(column, f"{self.text[column]!r} is no part of a formula")
        self.kind, self.token, self.at = found.lastgroup, found[found.lastgroup], found.end()
        self.column = found.start(found.lastgroup)

    def take(self, *tokens: str) -> str:
        """Return and pass the present token if it is one of these, else ''."""
        token = self.token
        if self.kind not in ("sign", "name") or token not in tokens:
            return ""
        self.next()
        return token

    def need(self, token: str) -> None:
        if not self.take(token):
            raise self.fail(self.column, f"expected {token!r}, found {self.token!r}")

    def either(self) -> Node:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.fail(self.column, f"the formula is nested more than {MOST_DEPTH} deep")
        node = self.both()
        while self.take("or"):
            node = call("or", node, self.both())
        self.depth -= 1
        return node

    def both(self) -> Node:
        node = self.denied()
        while self.take("and"):
            node = call("and", node, self.denied())
        return node

    def denied(self) -> Node:
        if self.take("not"):
            self.depth += 1
            if self.depth > MOST_DEPTH:
                raise self.fail(self.column, f"the formula is nested more than {MOST_DEPTH} deep")
            node = call("not", self.denied())
            self.depth -= 1
            return node
        return self.compared()

    def compared(self) -> Node:
        left = self.sum()
        sign = self.take(*_COMPARE)
        if not sign:
            return left
        op, is_turned = _COMPARE[sign]
        right = self.sum()
        return call(op, right, left) if is_turned else call(op, left, right)

    def sum(self) -> Node:
        node = self.product()
        while sign := self.take("+", "-"):
            node = call("add" if sign == "+" else "sub", node, self.product())
        return node

    def product(self) -> Node:
        node = self.signed()
        while sign := self.take("*", "/"):
            node = call("mul" if sign == "*" else "div", node, self.signed())
        return node

    def signed(self) -> Node:
        is_negative = False
        while sign := self.take("-", "+"):
            is_negative ^= sign == "-"
        node = self.power()
        return call("neg", node) if is_negative else node

    def power(self) -> Node:
        base = self.atom()
        if not self.take("^", "**"):
            return base
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.fail(self.column, f"the formula is nested more than {MOST_DEPTH} deep")
        node = call("pow", base, self.signed())
        self.depth -= 1
        return node

    def atom(self) -> Node:
        kind, token, column = self.kind, self.token, self.column
        if kind == "number":
            self.next()
            return number(float(token))
        if kind == "name" and token not in ("and", "or", "not"):
            self.next()
            return self.called(token, column) if self.take("(") else _named(token)
        if self.take("("):
            node = self.either()
            self.need(")")
            return node
        raise self.fail(column, f"expected a number, a name or '(', found {token!r}")

    def called(self, function: str, column: int) -> Node:
        if function not in WRITTEN:
            raise self.fail(column, f"no function {function!r}; there are {', '.join(WRITTEN)}")
        args = [self.either()]
        while self.take(","):
            args.append(self.either())
        self.need(")")
        wanted = {FUNCTIONS[function]} if function in FUNCTIONS else {DRAWS[function], DRAWS[function] + 2}
        if len(args) not in wanted:
            raise self.fail(
                column, f"{function} takes {' or '.join(map(str, sorted(wanted)))} arguments, got {len(args)}"
            )
        return call(function, *args)


def height(node: Node) -> int:
    """Return how deeply a formula is nested."""
    deepest, waiting = 0, [(node, 1)]
    while waiting:
        one, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(arg, level + 1) for arg in one.args]
    return deepest


def formula(text: str, fail: Callable[[int, str], InputError] | None = None) -> Node:
    """Return the tree of a formula.

    `fail(column, rule)` makes the error, for text that is part of a file. Raises InputError.
    """
    complain = fail or (lambda column, rule: InputError(f"formula {text!r}, column {column + 1}: {rule}"))
    if len(text) > 100_000:
        raise complain(0, f"a formula may have 100,000 characters, got {len(text)}")
    reader = _Reader(text, complain)
    node = reader.either()
    if reader.kind != "end":
        raise complain(reader.column, f"expected an operator or the end, found {reader.token!r}")
    if height(node) > MOST_HEIGHT:
        raise complain(0, f"the formula is nested more than {MOST_HEIGHT} deep")
    if any(n.op == "number" and not math.isfinite(n.value) for n in node.walk()):
        raise complain(0, "a number is too large")
    return node
