"""NumPy's standard exponential: the ziggurat of 256 strips that its `Generator` draws from.

Marsaglia and Tsang 2000, doi:10.18637/jss.v005.i08, on 53 bits. A draw chooses a strip (bits 3 to
10) and a place in it (bits 11 to 63). NumPy's tables were rounded from many digits, as our edges
are, so the draws are the same. `tests/kernel/test_sequential.py` compares them.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._bits import unit53
from tocsin.kernel._elementary import exp, log1p
from tocsin.kernel._ziggurat import edge


def numpy_exponential(rng: Any) -> float:
    """Return an exponential variate of mean 1. Cost: one draw, rarely (1.1 %) more.

    In the tail (1 draw in 2,200) NumPy takes the platform's log1p, which may differ in the last bit.
    """
    while True:
        bits = rng.bits64()
        strip = 256 - ((bits >> 3) & 0xFF)
        if strip == 256:
            strip = 0
        x = unit53(bits) * edge(strip)
        if x < edge(strip + 1):
            return x
        if strip == 0:
            return edge(1) - log1p(0.0 - rng.random())
        low, high = exp(0.0 - edge(strip)), exp(0.0 - edge(strip + 1))
        if (high - low) * rng.random() + low < exp(0.0 - x):
            return x
