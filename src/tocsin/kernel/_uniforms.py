"""Philox in NumPy: many uniform numbers at once, for making initial worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SETUP = 0xFFFF
"""Purpose word of draws made before a simulation starts; no clock has it."""


def each(function: Callable[[float], float], values: Any) -> NDArray[Any]:
    """Return function(value) for each value of an array, as float64, of the array's shape.

    For the elementary functions of the kernel, which have the same bits everywhere: those of NumPy depend on the processor.
    """
    import numpy as np

    given = np.asarray(values, np.float64)
    return np.fromiter(map(function, given.ravel().tolist()), np.float64, given.size).reshape(given.shape)


def uniforms(seed: int, n: int, stream: int = 0) -> NDArray[Any]:
    """Return n doubles in [0, 1), 53 bits each, from the streams that `Rng` draws from.

    Draw k is the first of block 0 of row k, epoch `stream`: no draw depends on n. Same bits
    on every platform. Philox4x32-10, doi:10.1145/2063384.2063405.
    """
    import numpy as np

    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c0 = np.zeros(n, np.uint64)
    c1 = np.arange(n, dtype=np.uint64)
    c2 = np.full(n, stream & 0xFFFFFFFF, np.uint64)
    c3 = np.full(n, (stream >> 32 & 0xFFFF) | SETUP << 16, np.uint64)
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (p1 >> shift) ^ c1 ^ key[0], p1 & mask, (p0 >> shift) ^ c3 ^ key[1], p0 & mask
        key = [(key[0] + np.uint64(0x9E3779B9)) & mask, (key[1] + np.uint64(0xBB67AE85)) & mask]
    bits = c0 | (c1 << shift)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def sample_without_replacement(seed: int, n_choices: int, n: int) -> NDArray[Any]:
    """Return n different numbers of 0..n_choices-1, every ordered choice equally likely.

    Draws one number after another and drops those drawn before. Needs n <= n_choices.
    """
    import numpy as np

    taken: NDArray[Any] = np.zeros(0, np.int64)
    stream = 0
    while len(taken) < n:
        more = (uniforms(seed, 2 * n + 64, stream) * n_choices).astype(np.int64)
        taken = np.concatenate([taken, more])
        first = np.sort(np.unique(taken, return_index=True)[1])
        taken, stream = taken[first], stream + 1
    return taken[:n]
