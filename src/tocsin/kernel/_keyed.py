"""A keyed source that another program draws from: a hash of seed, actor, day, number and purpose.

Each draw is a pure function of its key, mixed by multiplications and shifts (the finaliser of
MurmurHash3, without its first shift). It exists so that the sandtable economy can repeat
published runs bit for bit; nothing else should use it. 64-bit numbers are two words of 32 bits.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._philox import signed64
from tocsin.kernel._rng import Rng

MASK32 = 0xFFFFFFFF


class KeyedHash(Rng):
    """A stream for every (purpose, row, epoch); `block` is the number of the next draw.

    `row` is the actor, `epoch` the day, and the lowest 8 bits of `purpose` the purpose.
    """

    KEYED = True
    DRAWS_AHEAD = False

    def bits64(self) -> int:
        """Return 64 random bits as a signed number."""
        low, high = self.key_low ^ 0x7F4A7C15, self.key_high ^ 0x9E3779B9
        factor = multiply64(self.row & MASK32, (self.row >> 32) & MASK32, 0x000001B3, 0x00000100)
        mixed = mix64(low ^ factor[0], high ^ factor[1])
        mixed = mix64(mixed[0] ^ (self.block & MASK32), mixed[1] ^ (self.epoch & MASK32))
        factor = multiply64(self.purpose & 0xFF, 0, 0xED558CCD, 0xFF51AFD7)
        mixed = mix64(mixed[0] ^ factor[0], mixed[1] ^ factor[1])
        self.block = self.block + 1
        return signed64(mixed[0], mixed[1])


def mix64(low: int, high: int) -> tuple[int, int]:
    """Return the mixed words of a 64-bit number."""
    mixed = multiply64(low, high, 0xED558CCD, 0xFF51AFD7)
    mixed = multiply64(mixed[0] ^ (mixed[1] >> 1), mixed[1], 0x1A85EC53, 0xC4CEB9FE)
    return mixed[0] ^ (mixed[1] >> 1), mixed[1]


def multiply64(low: int, high: int, by_low: int, by_high: int) -> tuple[int, int]:
    """Return the two words of a product modulo 2**64; a product may wrap, its words are the same."""
    product: Any = low * by_low
    return product & MASK32, (((product >> 32) & MASK32) + low * by_high + high * by_low) & MASK32
