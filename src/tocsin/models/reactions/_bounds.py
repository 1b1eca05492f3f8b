"""How large a formula can get while time passes: interval arithmetic on its stack machine.

Each number on the stack is an interval that holds all its values between two times (Moore 1966,
*Interval Analysis*). What is found is made wider by `WIDER`, which is more than rounding can take from it.
"""

from __future__ import annotations

import math
from typing import Any

from tocsin.formula import LOAD, floor, power
from tocsin.formula import _postfix as op
from tocsin.kernel._elementary import cos, exp, log, sin

WIDER = 1e-9
"""Relative; rounding takes some 1e-15 for each operation."""
_TURN = 6.283185307179586


def most_of(world: Any, first: int, last: int, start: float, end: float) -> float:
    """Return a bound from above of a formula while time goes from `start` to `end`; infinity if there is none.

    Amounts stay as they are. `world.stack` needs two places for each number.
    """
    n = 0
    for k in range(first, last):
        code = world.ops[k]
        if code == LOAD or code == op.CLOCK:
            low = start if code == op.CLOCK else world.values[world.args[k]]
            put(world, n, low, end if code == op.CLOCK else low)
            n += 1
        elif code == op.SELECT:
            n -= 2
            choose_sides(world, n - 1)
        elif code == op.NEG or (op.ABS <= code <= op.COS) or code == op.NOT:
            of_one(world, code, n - 1)
        else:
            n -= 1
            of_two(world, code, n - 1)
    high = world.stack[1]
    if high != high:
        return math.inf
    return float(high + abs(high) * WIDER)


def put(world: Any, place: int, low: float, high: float) -> None:
    """Write an interval; one that is no number holds all numbers."""
    is_known = low == low and high == high
    world.stack[2 * place] = low if is_known else 0.0 - math.inf
    world.stack[2 * place + 1] = high if is_known else math.inf


def put_truth(world: Any, place: int, may_fail: bool, may_hold: bool) -> None:
    """Write what a comparison may be."""
    put(world, place, 0.0 if may_fail else 1.0, 1.0 if may_hold else 0.0)


def choose_sides(world: Any, place: int) -> None:
    """Take what a condition may choose."""
    low, high = world.stack[2 * place], world.stack[2 * place + 1]
    a, b = place + 1, place + 2
    if low > 0.0 or high < 0.0:
        put(world, place, world.stack[2 * a], world.stack[2 * a + 1])
    elif low == 0.0 and high == 0.0:
        put(world, place, world.stack[2 * b], world.stack[2 * b + 1])
    else:
        least = min(world.stack[2 * a], world.stack[2 * b])
        put(world, place, least, max(world.stack[2 * a + 1], world.stack[2 * b + 1]))


def of_one(world: Any, code: int, place: int) -> None:
    """Work out a function of one interval."""
    a, b = world.stack[2 * place], world.stack[2 * place + 1]
    if code == op.NEG:
        put(world, place, -b, -a)
    elif code == op.ABS:
        least = 0.0 if a <= 0.0 <= b else min(abs(a), abs(b))
        put(world, place, least, max(abs(a), abs(b)))
    elif code == op.EXP:
        put(world, place, exp(a), exp(b))
    elif code == op.LOG:
        put(world, place, log(a) if a > 0.0 else 0.0 - math.inf, log(b) if b > 0.0 else math.inf)
    elif code == op.SQRT:
        put(world, place, math.sqrt(max(a, 0.0)), math.sqrt(b) if b >= 0.0 else math.inf)
    elif code == op.FLOOR:
        put(world, place, floor(a), floor(b))
    elif code == op.CEIL:
        put(world, place, -floor(-a), -floor(-b))
    elif code == op.NOT:
        put_truth(world, place, a != 0.0 or b != 0.0, a <= 0.0 <= b)
    else:
        wave(world, place, a, b, 0.25 if code == op.SIN else 0.0)


def wave(world: Any, place: int, a: float, b: float, crest: float) -> None:
    """Work out a sine or a cosine: 1 where a crest lies between, -1 where a trough does."""
    if not b - a < _TURN:
        put(world, place, -1.0, 1.0)
        return
    one, other = (sin(a), sin(b)) if crest > 0.0 else (cos(a), cos(b))
    slack = 1e-12 * (1.0 + abs(a) + abs(b))  # a crest next to an end counts too
    from_turn, to_turn = (a - slack) / _TURN - crest, (b + slack) / _TURN - crest
    has_crest = floor(to_turn) >= from_turn
    has_trough = floor(to_turn - 0.5) >= from_turn - 0.5
    put(world, place, -1.0 if has_trough else min(one, other), 1.0 if has_crest else max(one, other))


def of_two(world: Any, code: int, place: int) -> None:
    """Work out a function of two intervals."""
    a, b = world.stack[2 * place], world.stack[2 * place + 1]
    c, d = world.stack[2 * place + 2], world.stack[2 * place + 3]
    if code == op.ADD:
        put(world, place, a + c, b + d)
    elif code == op.SUB:
        put(world, place, a - d, b - c)
    elif code == op.MUL:
        corners(world, place, times(a, c), times(a, d), times(b, c), times(b, d))
    elif code == op.DIV:
        if c <= 0.0 <= d:
            put(world, place, math.nan, math.nan)
        else:
            corners(world, place, times(a, 1.0 / c), times(a, 1.0 / d), times(b, 1.0 / c), times(b, 1.0 / d))
    elif code == op.POW:
        raised(world, place, a, b, c, d)
    elif code == op.MIN:
        put(world, place, min(a, c), min(b, d))
    elif code == op.MAX:
        put(world, place, max(a, c), max(b, d))
    else:
        compared(world, code, place, a, b, c, d)


def times(x: float, y: float) -> float:
    """Return a product in which 0 outweighs infinity."""
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def corners(world: Any, place: int, p: float, q: float, r: float, s: float) -> None:
    """Write the interval of a function that is extreme at corners."""
    put(world, place, min(p, q, r, s), max(p, q, r, s))


def raised(world: Any, place: int, a: float, b: float, c: float, d: float) -> None:
    """Work out a power: extreme at corners for a positive base, and for a whole exponent at 0 too."""
    if a > 0.0:
        corners(world, place, power(a, c), power(a, d), power(b, c), power(b, d))
    elif c == d and floor(c) == c and c >= 0.0:
        p, q = power(a, c), power(b, c)
        zero = 0.0 if a <= 0.0 <= b and c > 0.0 else p
        put(world, place, min(p, q, zero), max(p, q, zero))
    elif a >= 0.0 and c > 0.0:
        put(world, place, 0.0, max(power(b, c), power(b, d)))
    else:
        put(world, place, math.nan, math.nan)


def compared(world: Any, code: int, place: int, a: float, b: float, c: float, d: float) -> None:
    """Work out what a comparison, or two truths together, may be."""
    if code == op.LT:
        put_truth(world, place, not b < c, a < d)
    elif code == op.LE:
        put_truth(world, place, not b <= c, a <= d)
    elif code == op.EQ or code == op.NE:
        may_meet, must_meet = a <= d and c <= b, a == b == c == d
        put_truth(
            world, place, not must_meet if code == op.EQ else may_meet, may_meet if code == op.EQ else not must_meet
        )
    else:
        of_truths(world, code, place, a, b, c, d)


def of_truths(world: Any, code: int, place: int, a: float, b: float, c: float, d: float) -> None:
    """Work out two truths together."""
    one_fails, one_holds = a <= 0.0 <= b, a != 0.0 or b != 0.0
    other_fails, other_holds = c <= 0.0 <= d, c != 0.0 or d != 0.0
    if code == op.AND:
        put_truth(world, place, one_fails or other_fails, one_holds and other_holds)
    elif code == op.OR:
        put_truth(world, place, one_fails and other_fails, one_holds or other_holds)
    else:
        is_alike = (one_fails and other_fails) or (one_holds and other_holds)
        put_truth(world, place, is_alike, (one_fails and other_holds) or (one_holds and other_fails))
