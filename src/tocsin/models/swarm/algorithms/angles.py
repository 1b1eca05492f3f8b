"""Directions as angles, on our own arithmetic: the same bits on every platform."""

from __future__ import annotations

import math

PI = 3.141592653589793
TWO_PI = 6.283185307179586


def angle_of(x: float, y: float) -> float:
    """Return the angle of a direction in [0, 2 pi), error some 1e-15; 0 for no direction."""
    if x == 0.0 and y == 0.0:
        return 0.0
    if abs(y) > abs(x):
        angle = (0.5 * PI if y > 0.0 else 1.5 * PI) - arctan(x / y)
    else:
        angle = arctan(y / x) + (PI if x < 0.0 else 0.0)
    return angle + TWO_PI if angle < 0.0 else angle


def arctan(x: float) -> float:
    """Return arctan x for |x| <= 1: halved three times, then the series."""
    for _ in range(3):
        x = x / (1.0 + math.sqrt(1.0 + x * x))
    z, term, total = -x * x, x, 0.0
    for k in range(1, 20, 2):
        total += term / k
        term *= z
    return 8.0 * total


def turn(angle: float) -> float:
    """Return an angle of (-2 pi, 4 pi) in [0, 2 pi)."""
    if angle < 0.0:
        return angle + TWO_PI
    return angle - TWO_PI if angle >= TWO_PI else angle
