"""Arithmetic as CPython does it: distances, rounding to decimals, sums, and the draws of the original."""

from __future__ import annotations

import math
from typing import Any

from tocsin.kernel import Rng
from tocsin.models.swarm.world import SwarmWorld

_SPLIT = 134217729.0  # 2**27 + 1
DRAWS_NUMPY, DRAWS_SPLITMIX, DRAWS_CONSTANT = 0, 1, 2


def square(a: float) -> tuple[float, float]:
    """Return a * a rounded, and what the rounding lost (Dekker 1971, doi:10.1007/BF01397083)."""
    p = a * a
    t = _SPLIT * a
    high = t - (t - a)
    low = a - high
    return p, ((high * high - p) + 2.0 * high * low) + low * low


def distance(ax: float, ay: float, bx: float, by: float) -> float:
    """Return the distance of two points, correctly rounded but for rare cases, as `math.dist`."""
    return length(ax - bx, ay - by)


def length(dx: float, dy: float) -> float:
    """Return sqrt(dx**2 + dy**2), correctly rounded but for rare cases, as `math.hypot`."""
    if dx == 0.0 or dy == 0.0:
        return abs(dx) + abs(dy)
    p, p_lost = square(dx)
    q, q_lost = square(dy)
    if q > p:
        p, q = q, p
    s = p + q
    lost = (q - (s - p)) + (p_lost + q_lost)
    h = math.sqrt(s)
    hh, h_lost = square(h)
    return h + ((s - hh) + (lost - h_lost)) / (2.0 * h)


def decimals(x: float, power: float) -> float:
    """Return the whole number that `round(x, p)` times 10**p is; `power` is 10**p.

    Exact for x * power < 2**52: halves, in exact arithmetic, go to the even number.
    """
    high = x * power
    t = _SPLIT * x
    x1 = t - (t - x)
    x2 = x - x1
    t = _SPLIT * power
    p1 = t - (t - power)
    p2 = power - p1
    low = ((x1 * p1 - high) + x1 * p2 + x2 * p1) + x2 * p2
    n = math.floor(high) * 1.0
    above = (high - n) - 0.5 + low
    if above > 0.0:
        return n + 1.0
    if above == 0.0 and n % 2.0 == 1.0:
        return n + 1.0
    return n


def total(values: Any, n: int, is_compensated: bool) -> float:
    """Return the sum of values[0..n-1] as `sum` does it, since CPython 3.12 with compensation."""
    s, c = 0.0, 0.0
    for k in range(n):
        x = values[k]
        t = s + x
        c += (s - t) + x if abs(s) >= abs(x) else (x - t) + s
        s = t
    return s + c if is_compensated else s


def draw_gap(world: SwarmWorld, rng: Rng) -> float:
    """Draw the time to the next activation, at least 1e-9."""
    if world.draws == DRAWS_NUMPY:
        wait = world.rules.gap * rng.exponential(1.0)
    elif world.draws == DRAWS_SPLITMIX:
        wait = world.rules.gap * (0.0 - math.log1p(0.0 - rng.random()))
    else:
        wait = world.rules.gap
    return max(wait, 1e-9)
