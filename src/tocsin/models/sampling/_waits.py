"""Waiting times of clocks whose rate changes along the path, by exact inversion.

Each function solves: the integral of the rate from 0 to the wait equals `e`, a standard exponential.
"""

from __future__ import annotations

import math

from tocsin.schema import NEVER


def affine_wait(a: float, b: float, e: float) -> float:
    """Return the wait of a clock with rate (a + b s)^+, `e` > 0; NEVER if it may not ring again.

    NaN if `a` or `b` is. The forms are those without cancellation: for a > 0 the root is
    2 e / (a + sqrt(a^2 + 2 b e)).
    """
    if a > 0.0:
        square = a * a + 2.0 * b * e
        if square < 0.0:
            return NEVER
        return 2.0 * e / (a + math.sqrt(square))
    if b > 0.0:
        return (math.sqrt(2.0 * b * e) - a) / b
    if a <= 0.0 and b <= 0.0:
        return NEVER
    return math.nan
