"""Philox4x32-10: four 32-bit random words as a pure function of a 128-bit counter and a 64-bit key.

Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3",
doi:10.1145/2063384.2063405. The function runs interpreted and compiled with the same bits: a
product of two 32-bit words may pass 2**63, where a compiled int64 wraps and a Python integer does
not, and the mask after each shift makes the two agree.
"""

from typing import Any

_MASK = 0xFFFFFFFF

# Multipliers and key increments (Weyl constants) of section 4.3 of the paper.
_M0 = 0xD2511F53
_M1 = 0xCD9E8D57
_W0 = 0x9E3779B9
_W1 = 0xBB67AE85

_N_ROUNDS = 10


def philox4x32(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Return one Philox4x32-10 block.

    Parameters
    ----------
    c0, c1, c2, c3
        Counter words, each in [0, 2**32).
    k0, k1
        Key words, each in [0, 2**32).

    Returns
    -------
    tuple of int
        Four words, each in [0, 2**32), uniform and independent over distinct counters.

    Notes
    -----
    doi:10.1145/2063384.2063405. Cost: 20 multiplications 32 x 32 -> 64.
    """
    for _ in range(_N_ROUNDS):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0 = (c1 ^ k0) ^ ((p1 >> 32) & _MASK)
        c1 = p1 & _MASK
        c2 = (c3 ^ k1) ^ ((p0 >> 32) & _MASK)
        c3 = p0 & _MASK
        k0 = (k0 + _W0) & _MASK
        k1 = (k1 + _W1) & _MASK
    return c0, c1, c2, c3


def philox_fill(raw: Any, n: int, first: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> None:
    """Fill raw[0 .. 2 n - 1] with blocks first .. first + n - 1: the first 64 bits of each, then the others.

    Parameters
    ----------
    raw
        Array of int64.
    n
        Number of blocks, a multiple of 4 (compiled, four are done at a time).
    c1, c2, c3, k0, k1
        Counter and key words, as in `philox4x32`; the lowest counter word runs on from `first`.
    """
    for k in range(n):
        words = philox4x32(first + k, c1, c2, c3, k0, k1)
        raw[k] = signed64(words[0], words[1])
        raw[n + k] = signed64(words[2], words[3])


def philox_rows(raw: Any, n: int, keys: Any, start: int, c2: int, c3: int, k0: int, k1: int) -> None:
    """Fill raw[0 .. 2 n - 1] with the first blocks of n rows: keys[start], keys[start + 1] and on, of 32 bits.

    As `philox_fill`, but the second counter word is the row, and the lowest is 0.
    """
    for k in range(n):
        words = philox4x32(0, keys[start + k] & _MASK, c2, c3, k0, k1)
        raw[k] = signed64(words[0], words[1])
        raw[n + k] = signed64(words[2], words[3])


def signed64(low: int, high: int) -> int:
    """Join two 32-bit words to a signed 64-bit number."""
    if high >= 0x80000000:
        high = high - 0x100000000
    return (high << 32) | low
