"""Formulas that always have a value: tables that one compiled evaluator interprets, for every row of a population.

x / 0, x // 0 and x % 0 are 0. sqrt and log outside their domain, and powers that have no real value, are 0. A result beyond
1e300 is cut there. So no formula of a designer stops a run, and the same table has the same bits
compiled and interpreted. Each row has its own variables; constants and what all rows share stand in
one array.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.errors import InputError
from tocsin.formula._postfix import CODES, SELECT, floor, of_one, of_two
from tocsin.formula._tree import Node

OWN, SHARED, QUOT, WHOLE, MOD, ROUND, LOOKUP, PIECEWISE = range(100, 108)
MORE_CODES = {
    "quot": QUOT, "whole": WHOLE, "mod": MOD, "round": ROUND, "lookup": LOOKUP, "piecewise": PIECEWISE,
}  # fmt: skip
MOST = 1e300
_ONE_ARGUMENT = (CODES["neg"], CODES["abs"], CODES["cos"], CODES["not"])


def evaluate(world: Any, place: int, row: int) -> float:
    """Return the value of formula number `place` of `world.formulas`, with the variables of a row.

    `world` has formulas (n, 2): first and last place in ops and args; own (rows, variables), shared,
    points_x and points_y, tables (n, 2) of places in points; and stack. Cost: some 2 ns an operation.
    """
    first = world.formulas[place, 0]
    last = world.formulas[place, 1]
    if last == first + 1:
        if world.ops[first] == SHARED:
            return float(world.shared[world.args[first]])
        if world.ops[first] == OWN:
            return float(world.own[row, world.args[first]])
    n = 0
    for k in range(first, last):
        op = world.ops[k]
        if op == OWN:
            world.stack[n] = world.own[row, world.args[k]]
            n += 1
        elif op == SHARED:
            world.stack[n] = world.shared[world.args[k]]
            n += 1
        elif op == SELECT:
            n -= 2
            if world.stack[n - 1] != 0.0:
                world.stack[n - 1] = world.stack[n]
            else:
                world.stack[n - 1] = world.stack[n + 1]
        elif op >= ROUND:
            world.stack[n - 1] = _looked_up(world, op, world.args[k], world.stack[n - 1])
        elif op == _NEG or (_ABS <= op <= _COS) or op == _NOT:  # noqa: SIM109 (a tuple does not compile as well)
            world.stack[n - 1] = _number(of_one(op, world.stack[n - 1]))
        else:
            n -= 1
            world.stack[n - 1] = _combined(op, world.stack[n - 1], world.stack[n])
    return float(world.stack[0])


_NEG, _ABS, _COS, _NOT = _ONE_ARGUMENT


def _number(x: float) -> float:
    """Return x as every formula's parts are: NaN is 0, and none is beyond 1e300."""
    if x != x:
        return 0.0
    return max(-MOST, min(MOST, x))


def _combined(op: int, x: float, y: float) -> float:
    if op < QUOT:
        return _number(of_two(op, x, y))
    if y == 0.0:
        return 0.0
    if op == QUOT:
        return _number(x / y)
    whole = floor(_number(x / y))
    if op == WHOLE:
        return whole
    rest = x - y * whole
    return rest if abs(rest) <= abs(y) else 0.0  # beyond 2**53 there is no rest to speak of


def _looked_up(world: Any, op: int, table: int, x: float) -> float:
    if op == ROUND:
        return round_half_even(x)
    first = world.tables[table, 0]
    last = world.tables[table, 1]
    if op == LOOKUP:  # entry number x, rounded down; the first or last one outside
        place = first + int(max(0.0, min(x, last - first - 1.0)))
        return float(world.points_y[place])
    if x <= world.points_x[first]:
        return float(world.points_y[first])
    k = first + 1
    while k < last and world.points_x[k] < x:
        k += 1
    if k == last:
        return float(world.points_y[last - 1])
    share = (x - world.points_x[k - 1]) / (world.points_x[k] - world.points_x[k - 1])
    return float(world.points_y[k - 1] + share * (world.points_y[k] - world.points_y[k - 1]))


def round_half_even(x: float) -> float:
    """Return the nearest whole number; of two, the even one."""
    low = floor(x)
    if x - low < 0.5 or (x - low == 0.5 and floor(low * 0.5) == low * 0.5):
        return low
    return low + 1.0


class TotalTable:
    """Formulas on their way into the arrays that `evaluate` reads."""

    def __init__(self, own: Mapping[str, int], shared: Mapping[str, int], values: Sequence[float]) -> None:
        """`own` and `shared` say which column or entry has which name; constants are added to `values`."""
        self.own, self.shared = own, shared
        self.values = list(values)
        self.ops: list[int] = []
        self.args: list[int] = []
        self.places: list[tuple[int, int]] = []
        self.points: list[tuple[float, float]] = []
        self.tables: list[tuple[int, int]] = []
        self.deepest = 1
        self._tables: dict[str, int] = {}
        self._known: dict[Node, int] = {}

    def add_table(self, name: str, points: Sequence[tuple[float, float]]) -> None:
        """Add a table of points (x, y) with ascending x."""
        self._tables[name] = len(self.tables)
        self.tables.append((len(self.points), len(self.points) + len(points)))
        self.points += points

    def add(self, node: Node) -> int:
        """Write a formula; return its number. The same formula has one number."""
        if node not in self._known:
            first = len(self.ops)
            self.deepest = max(self.deepest, self._write(self.folded(node), 0))
            self._known[node] = len(self.places)
            self.places.append((first, len(self.ops)))
        return self._known[node]

    def folded(self, node: Node) -> Node:
        """Return a formula with its constant parts worked out."""
        if not node.args:
            return node
        found = Node(node.op, tuple(map(self.folded, node.args)), node.value, node.name)
        if node.op in ("lookup", "piecewise") or any(arg.op != "number" for arg in found.args):
            return found
        return Node("number", value=total_value(found, {}))

    def _write(self, node: Node, depth: int) -> int:
        if node.op == "number":
            return self._put(SHARED, self._constant(node.value), depth + 1)
        if node.op == "name":
            is_own = node.name in self.own
            return self._put(OWN if is_own else SHARED, (self.own if is_own else self.shared)[node.name], depth + 1)
        deepest = depth + 1
        for k, arg in enumerate(node.args):
            deepest = max(deepest, self._write(arg, depth + k))
        code = MORE_CODES[node.op] if node.op in MORE_CODES else CODES[node.op]
        return self._put(code, self._tables[node.name] if node.name else 0, deepest)

    def _put(self, op: int, arg: int, deepest: int) -> int:
        self.ops.append(op)
        self.args.append(arg)
        return deepest

    def _constant(self, value: float) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def arrays(self) -> dict[str, Any]:
        """Return the world arrays that `evaluate` reads, but for `own`."""
        import numpy as np

        points = np.array(self.points or [(0.0, 0.0)], np.float64)
        return {
            "formulas": np.array(self.places or [(0, 0)], np.int64), "ops": np.array(self.ops or [0], np.int32),
            "args": np.array(self.args or [0], np.int32), "shared": np.array(self.values or [0.0]),
            "tables": np.array(self.tables or [(0, 1)], np.int64), "points_x": points[:, 0].copy(),
            "points_y": points[:, 1].copy(), "stack": np.zeros(self.deepest + 4),
        }  # fmt: skip


class _Scratch:
    """Stands for the world while one formula is worked out in plain Python."""

    def __init__(self, table: TotalTable, own: Sequence[float]) -> None:
        self.own = _Pairs({(0, k): value for k, value in enumerate(own)})
        self.formulas = _Pairs({(n, k): p for n, pair in enumerate(table.places) for k, p in enumerate(pair)})
        self.tables = _Pairs({(n, k): p for n, pair in enumerate(table.tables) for k, p in enumerate(pair)})
        self.ops, self.args, self.shared = table.ops, table.args, table.values
        self.points_x, self.points_y = [x for x, _ in table.points], [y for _, y in table.points]
        self.stack = [0.0] * (table.deepest + 4)


_Pairs = dict[tuple[int, int], Any]


def total_value(
    node: Node, values: Mapping[str, float], tables: Mapping[str, Sequence[tuple[float, float]]] | None = None
) -> float:
    """Return the value of a formula. Raises InputError for a name without a value."""
    table = TotalTable({name: k for k, name in enumerate(values)}, {}, [])
    for name, points in (tables or {}).items():
        table.add_table(name, points)
    try:
        first = len(table.ops)
        table.deepest = table._write(node, 0)
        table.places.append((first, len(table.ops)))
    except KeyError as error:
        raise InputError(f"the formula mentions {error.args[0]!r}, which has no value here") from None
    found = evaluate(_Scratch(table, list(values.values())), 0, 0)
    assert math.isfinite(found)
    return found
