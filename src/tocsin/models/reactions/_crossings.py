"""When time itself makes a comparison true: formulas that are straight lines in time."""

from __future__ import annotations

from tocsin.errors import InputError
from tocsin.formula import Node, call, number

_COMPARISONS = ("lt", "le", "eq", "ne")
_ZERO = number(0.0)


def crossings(condition: Node, where: str) -> list[tuple[Node, Node]]:
    """Return (left - right, its slope in time) of each comparison in which time occurs.

    Raises InputError where time enters otherwise than along a straight line.
    """
    found = []
    for node in condition.walk():
        if node.op not in _COMPARISONS or not node.has("time"):
            continue
        if node.op in ("eq", "ne"):
            raise InputError(f"{where}: time cannot be compared by == or !=, which hold for an instant; use >=")
        gap = call("sub", *node.args)
        slope = slope_of(gap, where)
        if slope != _ZERO:
            found.append((gap, slope))
    if condition.op not in (*_COMPARISONS, "and", "or", "not", "xor", "if", "number") and condition.has("time"):
        raise InputError(f"{where}: its condition must compare")
    return found


def slope_of(node: Node, where: str) -> Node:
    """Return the derivative in time of a formula that is linear in it. Raises InputError for any other."""
    if not node.has("time") or node.op in (*_COMPARISONS, "and", "or", "not", "xor"):
        return _ZERO
    if node.op == "time":
        return number(1.0)
    if node.op in ("add", "sub"):
        left, right = (slope_of(arg, where) for arg in node.args)
        return left if right == _ZERO else call(node.op, left, right)
    if node.op == "neg":
        return call("neg", slope_of(node.args[0], where))
    if node.op == "mul":
        left, right = node.args
        if not left.has("time"):
            return call("mul", left, slope_of(right, where))
        if not right.has("time"):
            return call("mul", slope_of(left, where), right)
    if node.op == "div" and not node.args[1].has("time"):
        return call("div", slope_of(node.args[0], where), node.args[1])
    if node.op == "if":
        return call("if", node.args[0], slope_of(node.args[1], where), slope_of(node.args[2], where))
    raise InputError(f"{where}: time enters its condition by {node.op!r}; it may enter along straight lines alone")
