"""Formulas as tables: a small stack machine that compiled code runs, and plain Python too.

A formula becomes a run of (operation, argument) pairs in world arrays, its constants entries of
`world.values`. So one compiled program serves every kinetic law, and no text becomes code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tocsin.errors import InputError
from tocsin.formula._tree import DRAWS, Node
from tocsin.kernel import Rng
from tocsin.kernel._elementary import cos, exp, log, sin

(LOAD, CLOCK, ADD, SUB, MUL, DIV, NEG, POW, ABS, EXP, LOG, SQRT, FLOOR, CEIL, SIN, COS, MIN, MAX,
 LT, LE, EQ, NE, AND, OR, XOR, NOT, SELECT, DRAW) = range(28)  # fmt: skip
(UNIFORM, NORMAL, EXPONENTIAL, GAMMA, POISSON, BINOMIAL, BERNOULLI, CAUCHY, LAPLACE, LOGNORMAL, RAYLEIGH) = range(11)
CODES = {
    "time": CLOCK, "add": ADD, "sub": SUB, "mul": MUL, "div": DIV, "neg": NEG, "pow": POW, "abs": ABS, "exp": EXP,
    "log": LOG, "sqrt": SQRT, "floor": FLOOR, "ceil": CEIL, "sin": SIN, "cos": COS, "min": MIN, "max": MAX, "lt": LT,
    "le": LE, "eq": EQ, "ne": NE, "and": AND, "or": OR, "xor": XOR, "not": NOT, "if": SELECT,
}  # fmt: skip
FAMILIES = {
    "uniform": UNIFORM, "normal": NORMAL, "exponential": EXPONENTIAL, "gamma": GAMMA, "poisson": POISSON,
    "binomial": BINOMIAL, "bernoulli": BERNOULLI, "cauchy": CAUCHY, "laplace": LAPLACE, "lognormal": LOGNORMAL,
    "rayleigh": RAYLEIGH,
}  # fmt: skip
MOST_TRIES = 1_000_000
"""Draws after which a truncated one gives NaN: its bounds leave next to nothing."""
_WHOLE = 4503599627370496.0  # from 2**52 on, every double is whole
_PI = 3.141592653589793


def run_formula(world: Any, first: int, last: int, now: float, rng: Rng) -> float:
    """Return the value of the formula in places first..last-1 of `world.ops` and `world.args`.

    No error is raised: what has no value is NaN. Uses `world.stack`; draws from `rng`.
    """
    n = 0
    for k in range(first, last):
        op = world.ops[k]
        if op == LOAD:
            world.stack[n] = world.values[world.args[k]]
            n += 1
        elif op == CLOCK:
            world.stack[n] = now
            n += 1
        elif op == SELECT:
            n -= 2
            if world.stack[n - 1] != 0.0:
                world.stack[n - 1] = world.stack[n]
            else:
                world.stack[n - 1] = world.stack[n + 1]
        elif op == DRAW:
            n -= 3
            a, b = world.stack[n - 1], world.stack[n]
            world.stack[n - 1] = drawn(world.args[k], a, b, world.stack[n + 1], world.stack[n + 2], rng)
        elif op == NEG or (ABS <= op <= COS) or op == NOT:  # noqa: SIM109 (a tuple does not compile as well)
            world.stack[n - 1] = of_one(op, world.stack[n - 1])
        else:
            n -= 1
            world.stack[n - 1] = of_two(op, world.stack[n - 1], world.stack[n])
    return float(world.stack[0])


def of_one(op: int, x: float) -> float:
    """Return a function of one number."""
    if op == NEG:
        return -x
    if op == ABS:
        return abs(x)
    if op == EXP:
        return exp(x)
    if op == LOG:
        return log(x)
    if op == SQRT:
        return math.sqrt(x) if x >= 0.0 else math.nan
    if op == FLOOR:
        return floor(x)
    if op == CEIL:
        return -floor(-x)
    if op == SIN:
        return sin(x)
    if op == COS:
        return cos(x)
    return 1.0 if x == 0.0 else 0.0


def of_two(op: int, x: float, y: float) -> float:
    """Return a function of two numbers."""
    if op == MUL:
        return x * y
    if op == ADD:
        return x + y
    if op == SUB:
        return x - y
    if op == DIV:
        return x / y if y != 0.0 else math.nan
    if op == POW:
        return power(x, y)
    if op == MIN:
        return x if x < y else y
    if op == MAX:
        return x if x > y else y
    return 1.0 if is_true(op, x, y) else 0.0


def is_true(op: int, x: float, y: float) -> bool:
    """Return the truth of a comparison, or of two truths combined."""
    if op == LT:
        return x < y
    if op == LE:
        return x <= y
    if op == EQ:
        return x == y
    if op == NE:
        return x != y
    if op == AND:
        return x != 0.0 and y != 0.0
    if op == OR:
        return x != 0.0 or y != 0.0
    return (x != 0.0) != (y != 0.0)


def floor(x: float) -> float:
    """Return the largest whole number that is not above x, as a float."""
    if not -_WHOLE < x < _WHOLE:
        return x
    whole = float(int(x))
    return whole - 1.0 if whole > x else whole


def power(x: float, y: float) -> float:
    """Return x to the power y: by multiplication up to the 64th, else exp(y log x); NaN where there is none."""
    if floor(y) == y and abs(y) <= 64.0:
        return whole_power(x, int(y))
    if x > 0.0:
        return exp(y * log(x))
    if x == 0.0:
        return 0.0 if y > 0.0 else math.nan
    return math.nan


def whole_power(x: float, n: int) -> float:
    """Return x**n by repeated squaring; NaN for a negative power of 0."""
    result, k = 1.0, abs(n)
    while k > 0:
        if k & 1 == 1:
            result *= x
        x *= x
        k >>= 1
    if n >= 0:
        return result
    return 1.0 / result if result != 0.0 else math.nan


def drawn(family: int, a: float, b: float, low: float, high: float, rng: Rng) -> float:
    """Return a draw within low..high, by rejection; NaN if MOST_TRIES fall outside, or for parameters out of range."""
    for _ in range(MOST_TRIES):
        x = one_draw(family, a, b, rng)
        if low <= x <= high:
            return x
        if x != x:
            return x
    return math.nan


def one_draw(family: int, a: float, b: float, rng: Rng) -> float:
    """Return one draw: of SBML's distributions, with SBML's parameters."""
    if family == UNIFORM:
        return rng.uniform(a, b)
    if family == NORMAL:
        return rng.normal(a, b)
    if family == EXPONENTIAL:
        return rng.exponential(a)
    if family == GAMMA:
        return rng.gamma(a, b)
    if family == POISSON:
        return float(rng.poisson(a))
    if family == BINOMIAL:
        return float(rng.binomial(int(a), b)) if 0.0 <= a < _WHOLE else math.nan
    if family == BERNOULLI:
        return 1.0 if rng.random() < a else 0.0
    return by_inversion(family, a, b, rng)


def by_inversion(family: int, a: float, b: float, rng: Rng) -> float:
    """Return one draw of the rarer distributions."""
    if family == LOGNORMAL:
        return exp(rng.normal(a, b))
    u = 1.0 - rng.random()  # in (0, 1]
    if family == CAUCHY:
        c = cos(_PI * (u - 0.5))
        return a + b * sin(_PI * (u - 0.5)) / c if c != 0.0 else math.nan
    if family == RAYLEIGH:
        return a * math.sqrt(0.0 - 2.0 * log(u))
    side = b * log(u)  # Laplace: an exponential with a sign of its own
    return a - side if rng.random() < 0.5 else a + side


class Table:
    """The formulas of one network on their way into world arrays."""

    def __init__(self, index: Mapping[str, int], values: list[float]) -> None:
        """`index` says where names stand in `values`, to which constants are added."""
        self.index, self.values = index, values
        self.ops: list[int] = []
        self.args: list[int] = []
        self.deepest = 1
        self._constants: dict[float, int] = {}

    def add(self, node: Node) -> tuple[int, int]:
        """Write a formula; return its first place and the one after its last. Raises InputError for an unknown name."""
        first = len(self.ops)
        self.deepest = max(self.deepest, self._write(node, 0))
        return first, len(self.ops)

    def _write(self, node: Node, depth: int) -> int:
        """Write a formula that finds `depth` numbers on the stack; return how high the stack grows."""
        if node.op == "number":
            return self._put(LOAD, self._constant(node.value), depth + 1)
        if node.op == "name":
            if node.name not in self.index:
                raise InputError(f"a formula mentions {node.name!r}, which is no species and no parameter")
            return self._put(LOAD, self.index[node.name], depth + 1)
        args = node.args
        if node.op in DRAWS:
            args = with_bounds(node)
        deepest = depth + 1
        for k, arg in enumerate(args):
            deepest = max(deepest, self._write(arg, depth + k))
        if node.op in DRAWS:
            return self._put(DRAW, FAMILIES[node.op], deepest)
        return self._put(CODES[node.op], 0, deepest)

    def _put(self, op: int, arg: int, deepest: int) -> int:
        self.ops.append(op)
        self.args.append(arg)
        return deepest

    def _constant(self, value: float) -> int:
        if value not in self._constants:
            self._constants[value] = len(self.values)
            self.values.append(value)
        return self._constants[value]


def with_bounds(node: Node) -> tuple[Node, ...]:
    """Return the two parameters and the two bounds of a draw."""
    n = DRAWS[node.op]
    given, bounds = node.args[:n], node.args[n:]
    padding = (Node("number", value=0.0),) * (2 - n)
    none = (Node("number", value=-math.inf), Node("number", value=math.inf))
    return (*given, *padding, *(bounds or none))


class _Scratch:
    """Stands for the world while a formula of constants is worked out."""

    def __init__(self, table: Table) -> None:
        self.ops, self.args, self.values = table.ops, table.args, table.values
        self.stack = [0.0] * (table.deepest + 4)


def value_of(node: Node, values: Mapping[str, float], now: float = 0.0) -> float:
    """Return the value of a formula without draws."""
    table = Table({name: k for k, name in enumerate(values)}, list(values.values()))
    first, last = table.add(node)
    return run_formula(_Scratch(table), first, last, now, None)  # type: ignore[arg-type]
