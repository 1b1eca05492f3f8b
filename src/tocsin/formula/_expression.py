"""Expressions in a subset of Python, for designers: read by `ast`, checked, never evaluated by Python.

Numbers, names, + - * / // % ** (or ^), comparisons (also chained), `and`, `or`, `not`,
`a if condition else b`, and the functions of CALLS. Errors show the place with a caret.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tocsin.errors import InputError
from tocsin.formula._tree import Node, call, name, number
from tocsin.schema._annotations import nearest

CALLS = {
    "min": (2, 16), "max": (2, 16), "clamp": (3, 3), "floor": (1, 1), "ceil": (1, 1), "abs": (1, 1), "round": (1, 1),
    "sqrt": (1, 1), "exp": (1, 1), "log": (1, 1), "lookup": (2, 64), "piecewise": (2, 64),
}  # fmt: skip
"""Functions, with the least and the greatest number of arguments."""
MOST_CHARACTERS = 1000
MOST_DEPTH = 250
"""Operations within each other, after named formulas are put in their places."""
MOST_NODES = 2000
"""Operations of one formula, after named formulas are put in their places."""
_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "quot", ast.FloorDiv: "whole", ast.Mod: "mod",
    ast.Pow: "pow",
}  # fmt: skip
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_WHAT = {
    ast.Attribute: "a dot", ast.List: "a list", ast.Tuple: "a list of values", ast.Lambda: "lambda",
    ast.Subscript: "[ ]", ast.BinOp: "this operator", ast.UnaryOp: "this operator", ast.Dict: "a dictionary",
}  # fmt: skip
_HINTS = {
    "?": "write `a if condition else b`", "&&": "write `and`", "||": "write `or`", "!": "write `not`",
    ";": "a formula is one expression",
}  # fmt: skip


@dataclass(frozen=True)
class Vocabulary:
    """What formulas of one place may mention.

    Attributes
    ----------
    names : variables
    tables : tables for `lookup` and `piecewise`, each a list of values or of points (x, y)
    formulas : named formulas, put in the place of their names
    """

    names: Collection[str]
    tables: Collection[str] = ()
    formulas: Mapping[str, Node] | None = None


def expression(text: str | float, vocabulary: Vocabulary, where: str = "formula") -> Node:
    """Return the tree of a formula, or of a number.

    Raises InputError with the place, the rule and what is allowed: for text that is no formula, for an
    unknown name or function, and for one that is too long or too deep.
    """
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        if not abs(text) <= 1e300:
            raise InputError(f"{where}: a number must be finite and at most 1e300, got {text!r}")
        return number(float(text))
    if not isinstance(text, str):
        raise InputError(f"{where}: must be a number or a formula in quotes, got {text!r}")
    return _Translator(text, vocabulary, where).translated()


class _Translator:
    """Turns one text into a tree."""

    def __init__(self, text: str, vocabulary: Vocabulary, where: str) -> None:
        self.text, self.words, self.where = text, vocabulary, where

    def translated(self) -> Node:
        if len(self.text) > MOST_CHARACTERS:
            raise self.fail(0, f"a formula may have {MOST_CHARACTERS} characters, got {len(self.text)}")
        if not self.text.strip():
            raise self.fail(0, "the formula is empty")
        for column, sign in enumerate(self.text):
            if not (sign.isascii() and sign.isprintable()):
                raise self.fail(column, f"{sign!r} is no part of a formula")
        try:
            node = self.of(self.parsed())
            n_nodes, depth = extent(node, {})
        except RecursionError:
            n_nodes, depth = 0, MOST_DEPTH + 1
        if depth > MOST_DEPTH:
            raise self.fail(0, f"the formula is nested more than {MOST_DEPTH} deep")
        if n_nodes > MOST_NODES:
            raise self.fail(0, f"the formula has more than {MOST_NODES} operations")
        return node

    def parsed(self) -> ast.expr:
        # One sign for powers. `column` maps a place in what Python parses back to the text.
        source = self.text.replace("^", "**")
        self.columns = [k for k, sign in enumerate(self.text) for _ in range(2 if sign == "^" else 1)]
        self.shift = len(source) - len(source.lstrip())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(source.strip(), mode="eval").body
        except SyntaxError as error:
            raise self.syntax_error(error) from None
        except (ValueError, RecursionError, MemoryError):
            raise self.fail(0, "this is no formula, or it is nested too deep") from None

    def syntax_error(self, error: SyntaxError) -> InputError:
        for sign, hint in _HINTS.items():
            if sign in self.text.replace("!=", "  "):
                return self.fail(self.text.index(sign), f"{sign!r} is no part of a formula; {hint}")
        reason = (error.msg or "invalid syntax").split(" (<")[0].split(". Perhaps")[0].split(". Maybe")[0]
        if not error.offset or error.lineno != 1 or error.offset > len(self.columns):
            return self.fail(len(self.text), "the formula ends too early" if reason == "invalid syntax" else reason)
        return self.fail(self.column(error.offset - 1), reason)

    def column(self, offset: int) -> int:
        place = offset + self.shift
        return self.columns[place] if 0 <= place < len(self.columns) else len(self.text)

    def fail(self, column: int, rule: str) -> InputError:
        shown = self.text if len(self.text) <= MOST_CHARACTERS else self.text[:60] + "..."
        return FormulaError(self.where, shown, column, rule)

    def of(self, node: ast.expr) -> Node:
        at = self.column(node.col_offset)
        if isinstance(node, ast.Constant):
            return self.constant(node, at)
        if isinstance(node, ast.Name):
            return self.named(node.id, at)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return call(_BINARY[type(node.op)], self.of(node.left), self.of(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Not)):
            inner = self.of(node.operand)
            return inner if isinstance(node.op, ast.UAdd) else call(
                "neg" if isinstance(node.op, ast.USub) else "not", inner)  # fmt: skip
        if isinstance(node, ast.BoolOp):
            return self.folded("and" if isinstance(node.op, ast.And) else "or", list(map(self.of, node.values)))
        if isinstance(node, ast.IfExp):
            return call("if", self.of(node.test), self.of(node.body), self.of(node.orelse))
        if isinstance(node, ast.Compare):
            return self.compared(node, at)
        if isinstance(node, ast.Call):
            return self.called(node, at)
        what = _WHAT.get(type(node), "this")
        raise self.fail(at, f"{what} is not allowed here; a formula has numbers, names, + - * / // % ^, comparisons, "
                            f"and, or, not, `a if b else c` and the functions {', '.join(CALLS)}")  # fmt: skip

    def constant(self, node: ast.Constant, at: int) -> Node:
        value = node.value
        if isinstance(value, bool):
            return number(float(value))
        if not isinstance(value, (int, float)):
            raise self.fail(at, f"only numbers are allowed here, got {value!r}"[:120])
        if not abs(value) <= 1e300:
            raise self.fail(at, "a number may be at most 1e300")
        return number(float(value))

    def named(self, word: str, at: int) -> Node:
        if self.words.formulas and word in self.words.formulas:
            return self.words.formulas[word]
        if word in self.words.names:
            return name(word)
        if word in CALLS:
            raise self.fail(at, f"{word} is a function: write {word}(...)")
        if word in self.words.tables:
            raise self.fail(at, f"{word!r} is a table: write lookup({word}, x) or piecewise({word}, x)")
        known = [*self.words.names, *(self.words.formulas or ())]
        listed = ", ".join(sorted(known)[:40]) or "none"
        raise self.fail(at, f"unknown name {word!r}.{nearest(word, known)} Names here: {listed}")

    def folded(self, op: str, parts: list[Node]) -> Node:
        node = parts[0]
        for part in parts[1:]:
            node = call(op, node, part)
        return node

    def compared(self, node: ast.Compare, at: int) -> Node:
        sides = [node.left, *node.comparators]
        pairs = []
        for op, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
            if type(op) not in _COMPARE:
                raise self.fail(at, "only < <= > >= == != compare here")
            sign, a, b = _COMPARE[type(op)], self.of(left), self.of(right)
            pairs.append(call("lt" if sign == "gt" else "le", b, a) if sign in ("gt", "ge") else call(sign, a, b))
        return self.folded("and", pairs)

    def called(self, node: ast.Call, at: int) -> Node:
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        if function not in CALLS:
            shown = f"no function {function!r}.{nearest(function, CALLS)}" if function else "only functions are called."
            raise self.fail(at, f"{shown} There are {', '.join(CALLS)}")
        least, most = CALLS[function]
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self.fail(at, f"{function} takes plain arguments only")
        if not least <= len(node.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise self.fail(at, f"{function} takes {wanted} arguments, got {len(node.args)}")
        if function in ("lookup", "piecewise"):
            return self.looked_up(function, node, at)
        args = [self.of(a) for a in node.args]
        if function == "clamp":
            return call("max", args[1], call("min", args[2], args[0]))
        return self.folded(function, args) if function in ("min", "max") else call(function, *args)

    def looked_up(self, function: str, node: ast.Call, at: int) -> Node:
        first = node.args[0]
        if isinstance(first, ast.Name) and first.id in self.words.tables:
            if len(node.args) != 2:
                raise self.fail(at, f"{function}({first.id}, x) takes 2 arguments, got {len(node.args)}")
            return Node(function, (self.of(node.args[1]),), name=first.id)
        if isinstance(first, ast.Name) and len(node.args) == 2:
            known = ", ".join(self.words.tables) or "none"
            raise self.fail(self.column(first.col_offset),
                            f"no table {first.id!r}.{nearest(first.id, self.words.tables)} Tables: {known}")  # fmt: skip
        args = [self.of(a) for a in node.args]
        return chosen_entry(args) if function == "lookup" else self.between_points(args, at)

    def between_points(self, args: list[Node], at: int) -> Node:
        """Spell out piecewise(x, x0, y0, x1, y1, ...): straight lines between points, level outside."""
        if len(args) < 3 or len(args) % 2 == 0:
            raise self.fail(at, "piecewise takes x and points x0, y0, x1, y1, ...")
        x, xs, ys = args[0], args[1::2], args[2::2]
        if any(p.op == "number" and q.op == "number" and p.value >= q.value for p, q in itertools.pairwise(xs)):
            raise self.fail(at, "the points of piecewise must go upwards: x0 < x1 < ...")
        node = ys[-1]
        for k in range(len(xs) - 1, 0, -1):
            share = call("quot", call("sub", x, xs[k - 1]), call("sub", xs[k], xs[k - 1]))
            line = call("add", ys[k - 1], call("mul", share, call("sub", ys[k], ys[k - 1])))
            node = call("if", call("lt", x, xs[k]), line, node)
        return call("if", call("lt", x, xs[0]), ys[0], node)


def chosen_entry(args: list[Node]) -> Node:
    """Spell out lookup(x, v0, v1, ...): entry number x, rounded down; the first or last one outside."""
    x, values = args[0], args[1:]
    node = values[-1]
    for k in range(len(values) - 2, -1, -1):
        node = call("if", call("lt", x, number(k + 1.0)), values[k], node)
    return node


class FormulaError(InputError):
    """A formula that breaks a rule: `column` counts from 0."""

    def __init__(self, where: str, text: str, column: int, rule: str) -> None:
        self.where, self.text, self.column, self.rule = where, text, column, rule
        start = max(0, min(column - 50, len(text) - 90))
        caret = " " * (column - start) + "^"
        super().__init__(f"{where}, column {column + 1}: {rule}\n  {text[start : start + 100]}\n  {caret}")


def extent(node: Node, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return how many operations a formula has, and how deep: shared parts counted each time, visited once."""
    if id(node) not in known:
        below = [extent(arg, known) for arg in node.args]
        known[id(node)] = 1 + sum(n for n, _ in below), 1 + max((depth for _, depth in below), default=0)
    return known[id(node)]
