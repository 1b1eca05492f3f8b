"""The exponential distribution by the ziggurat: 256 strips of equal area, no logarithm.

Marsaglia and Tsang (2000), doi:10.18637/jss.v005.i08. Of 64 random bits the lowest 8 choose a strip
and the highest 53 a place in it; in 98.9 % of cases that place lies under the curve, which
one comparison tells. Compiled, the edges of the strips are a constant of the module.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._bits import unit53
from tocsin.kernel._edges import EDGES
from tocsin.kernel._elementary import exp

N_STRIPS, IN_STRIPS = 256, 255
TAIL = 7.69711747013104972
"""Where the tail begins: the strips and the tail under the lowest then have equal areas."""


def edge(strip: int) -> float:
    """Return the right edge of a strip, 0 (the lowest) .. 256."""
    return EDGES[strip]


def standard_exponential(rng: Any) -> float:
    """Return an exponential variate of mean 1. Cost: one draw, rarely (1.1 %) more."""
    bits = rng.bits64()
    strip = bits & IN_STRIPS
    x = unit53(bits) * edge(strip)
    if x < edge(strip + 1):
        return x
    return outside(rng, strip, x)


def outside(rng: Any, strip: int, x: float) -> float:
    """Go on with a place that may lie over the curve, or in the tail."""
    start = 0.0  # beyond a multiple of TAIL the curve is the same again
    while True:
        if strip == 0:
            start += TAIL
        else:
            low, high = exp(0.0 - edge(strip)), exp(0.0 - edge(strip + 1))
            y = low + unit53(rng.bits64()) * (high - low)
            if y < exp(0.0 - x):
                return start + x
        bits = rng.bits64()
        strip = bits & IN_STRIPS
        x = unit53(bits) * edge(strip)
        if x < edge(strip + 1):
            return start + x
