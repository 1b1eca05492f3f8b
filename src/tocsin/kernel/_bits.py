"""Bits and doubles: the casts between them (compiled, one instruction each), and uniform doubles of random bits."""

import ctypes
import struct

MASK53 = 0x1FFFFFFFFFFFFF
TWO_TO_MINUS_53 = 1.1102230246251565e-16

_DOUBLE = struct.Struct("<d")
_SIGNED = struct.Struct("<q")
_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * 4)


def float_bits(x: float) -> int:
    """Return the IEEE 754 bits of `x` as a signed 64-bit integer."""
    return int(_SIGNED.unpack(_DOUBLE.pack(x))[0])


def float_from_bits(i: int) -> float:
    """Return the double whose IEEE 754 bits are the signed 64-bit integer `i`."""
    return float(_DOUBLE.unpack(_SIGNED.pack(i))[0])


def lowest_bit(mask: int) -> int:
    """Return the number of the lowest bit that is set, of a mask > 0."""
    return (mask & -mask).bit_length() - 1


def prefetch(row: object) -> None:
    """Hint that a row's memory will be needed soon; nothing when interpreted."""


def prefetch_address(address: int) -> None:
    """Hint that the memory at an address will be needed soon; any address is safe."""


def unit53(bits: int) -> float:
    """Return a uniform double in [0, 1), a multiple of 2**-53, from the upper 53 of 64 random bits."""
    return float(((bits >> 11) & MASK53) * TWO_TO_MINUS_53)


def call_at(address: int, a: int, b: int, c: int, n: int) -> int:
    """Call machine code at an address with four whole numbers, and return its whole number."""
    return int(_CALL(address)(a, b, c, n))
