"""From libsbml's formulas to ours; what has no counterpart is refused by name."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

from tocsin.errors import InputError
from tocsin.formula import DRAWS, TIME, Node, call, name, number

AVOGADRO = 6.02214179e23  # the value that SBML Level 3 prescribes
_ONE_TO_ONE = {
    "AST_DIVIDE": "div", "AST_POWER": "pow", "AST_FUNCTION_POWER": "pow", "AST_FUNCTION_ABS": "abs",
    "AST_FUNCTION_EXP": "exp", "AST_FUNCTION_LN": "log", "AST_FUNCTION_FLOOR": "floor",
    "AST_FUNCTION_CEILING": "ceil", "AST_FUNCTION_SIN": "sin", "AST_FUNCTION_COS": "cos", "AST_LOGICAL_NOT": "not",
}  # fmt: skip
_FOLDED = {
    "AST_PLUS": ("add", 0.0), "AST_TIMES": ("mul", 1.0), "AST_LOGICAL_AND": ("and", 1.0), "AST_LOGICAL_OR": ("or", 0.0),
    "AST_LOGICAL_XOR": ("xor", 0.0), "AST_FUNCTION_MIN": ("min", math.inf), "AST_FUNCTION_MAX": ("max", -math.inf),
}  # fmt: skip
_COMPARED = {
    "AST_RELATIONAL_LT": ("lt", False), "AST_RELATIONAL_LEQ": ("le", False), "AST_RELATIONAL_GT": ("lt", True),
    "AST_RELATIONAL_GEQ": ("le", True), "AST_RELATIONAL_EQ": ("eq", False), "AST_RELATIONAL_NEQ": ("ne", False),
}  # fmt: skip
_CONSTANTS = {
    "AST_CONSTANT_PI": math.pi, "AST_CONSTANT_E": math.e, "AST_CONSTANT_TRUE": 1.0, "AST_CONSTANT_FALSE": 0.0,
    "AST_NAME_AVOGADRO": AVOGADRO,
}  # fmt: skip
MOST_PIECES, LONG = 200, 200
"""Pieces of a function by pieces; terms from which a sum or a product is taken apart in pairs, as it would nest too deeply."""
_NUMBERS = ("AST_INTEGER", "AST_REAL", "AST_REAL_E", "AST_RATIONAL")
_PREFIX = "AST_DISTRIB_FUNCTION_"


@functools.cache
def _type_names() -> dict[int, str]:
    import libsbml

    wanted = (
        *_ONE_TO_ONE,
        *_FOLDED,
        *_COMPARED,
        *_CONSTANTS,
        *_NUMBERS,
        *_RULES,
        "AST_NAME",
        "AST_NAME_TIME",
        "AST_FUNCTION",
    )
    names = [n for n in dir(libsbml) if n.startswith("AST_")]
    names.sort(key=lambda n: n in wanted or n.startswith(_PREFIX))  # where two share a number, the one we know
    return {getattr(libsbml, n): n for n in names}


Functions = Callable[[str, list[Node], str], Node]
"""From the name of a function of the document, its arguments and where it is called to a formula."""


def tree(math_: Any, where: str, functions: Functions | None = None) -> Node:
    """Return the tree of a libsbml formula. Raises InputError naming what is not supported."""
    if math_ is None:
        raise InputError(f"{where} has no formula")
    kind = _type_names().get(math_.getType(), "AST_UNKNOWN")
    if kind in _NUMBERS:
        value = float(math_.getInteger()) if kind == "AST_INTEGER" else float(math_.getReal())
        return number(value)
    if kind in _CONSTANTS:
        return number(_CONSTANTS[kind])
    if kind == "AST_NAME_TIME":
        return TIME
    if kind == "AST_NAME":
        return name(math_.getName())
    if kind in _FOLDED and (terms := _chain(math_)):
        return folded(_FOLDED[kind][0], [tree(term, where, functions) for term in terms])
    args = [tree(math_.getChild(k), where, functions) for k in range(math_.getNumChildren())]
    if kind == "AST_FUNCTION" and functions is not None:
        return functions(str(math_.getName()), args, where)
    if kind in _ONE_TO_ONE:
        _count(args, 2 if _ONE_TO_ONE[kind] in ("div", "pow") else 1, kind, where)
        return call(_ONE_TO_ONE[kind], *args)
    if kind in _FOLDED:
        op, empty = _FOLDED[kind]
        return folded(op, args) if args else number(empty)
    if kind in _COMPARED:
        return _compared(kind, args, where)
    if kind in _RULES:
        return _RULES[kind](args, where)
    if kind.startswith(_PREFIX):
        return _draw(kind[len(_PREFIX) :].lower(), args, where)
    raise InputError(f"{where}: '{_readable(kind, math_)}' is not supported")


def _chain(math_: Any) -> list[Any]:
    """Return the terms of a long sum, which libsbml nests to the left one by one; nothing for a short one."""
    terms, node = [], math_
    while node.getType() == math_.getType() and node.getNumChildren() == 2:
        terms.append(node.getChild(1))
        node = node.getChild(0)
    return [node, *reversed(terms)] if len(terms) >= LONG else []


def _readable(kind: str, math_: Any) -> str:
    return str(math_.getName() or kind.removeprefix("AST_").removeprefix("FUNCTION_").lower())


def _count(args: list[Node], n: int, kind: str, where: str) -> None:
    if len(args) != n:
        raise InputError(f"{where}: {kind.removeprefix('AST_').lower()} takes {n} arguments, got {len(args)}")


def folded(op: str, args: list[Node]) -> Node:
    """Return `a op b op c`, in pairs, so that long sums do not nest deeply."""
    while len(args) > 1:
        pairs = [call(op, args[k], args[k + 1]) for k in range(0, len(args) - 1, 2)]
        args = pairs + args[2 * len(pairs) :]
    return args[0]


def _compared(kind: str, args: list[Node], where: str) -> Node:
    op, is_turned = _COMPARED[kind]
    if len(args) < 2:
        raise InputError(f"{where}: a comparison needs two sides")
    pairs = itertools.pairwise(args)
    return folded("and", [call(op, b, a) if is_turned else call(op, a, b) for a, b in pairs])


def _minus(args: list[Node], where: str) -> Node:
    if len(args) == 1:
        arg = args[0]
        return number(-arg.value) if arg.op == "number" else call("neg", arg)
    _count(args, 2, "minus", where)
    return call("sub", *args)


def _root(args: list[Node], where: str) -> Node:
    if len(args) == 1 or args[0] == number(2.0):
        return call("sqrt", args[-1])
    _count(args, 2, "root", where)
    return call("pow", args[1], call("div", number(1.0), args[0]))


def _log(args: list[Node], where: str) -> Node:
    base = number(10.0) if len(args) == 1 else args[0]
    return call("div", call("log", args[-1]), call("log", base))


def _piecewise(args: list[Node], where: str) -> Node:
    if len(args) > 2 * MOST_PIECES:
        raise InputError(
            f"{where}: a function by pieces has {len(args) // 2:,} of them; {MOST_PIECES} are read at most"
        )
    node = args[-1] if len(args) % 2 else number(math.nan)
    for k in range(len(args) // 2 * 2 - 2, -1, -2):
        node = call("if", args[k + 1], args[k], node)
    return node


def _tan(args: list[Node], where: str) -> Node:
    _count(args, 1, "tan", where)
    return call("div", call("sin", args[0]), call("cos", args[0]))


def _implies(args: list[Node], where: str) -> Node:
    _count(args, 2, "implies", where)
    return call("or", call("not", args[0]), args[1])


def _draw(family: str, args: list[Node], where: str) -> Node:
    if family == "chisquare" and args:
        family, args = "gamma", [call("div", args[0], number(2.0)), number(2.0), *args[1:]]
    if family not in DRAWS:
        raise InputError(f"{where}: the distribution {family!r} is not supported")
    if family in ("cauchy", "laplace") and len(args) % 2 == 1:
        args = [number(0.0), *args]  # the scale alone
    if len(args) not in (DRAWS[family], DRAWS[family] + 2):
        raise InputError(f"{where}: {family} takes {DRAWS[family]} arguments, or two bounds more, got {len(args)}")
    return call(family, *args)


_RULES: dict[str, Callable[[list[Node], str], Node]] = {
    "AST_MINUS": _minus, "AST_FUNCTION_ROOT": _root, "AST_FUNCTION_LOG": _log, "AST_FUNCTION_PIECEWISE": _piecewise,
    "AST_FUNCTION_TAN": _tan, "AST_LOGICAL_IMPLIES": _implies,
}  # fmt: skip
