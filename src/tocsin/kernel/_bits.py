"""The two casts between a double and its IEEE 754 bits; compiled, each is one instruction."""

import struct

_DOUBLE = struct.Struct("<d")
_SIGNED = struct.Struct("<q")


def float_bits(x: float) -> int:
    """Return the IEEE 754 bits of `x` as a signed 64-bit integer."""
    return int(_SIGNED.unpack(_DOUBLE.pack(x))[0])


def float_from_bits(i: int) -> float:
    """Return the double whose IEEE 754 bits are the signed 64-bit integer `i`."""
    return float(_DOUBLE.unpack(_SIGNED.pack(i))[0])


def prefetch(row: object) -> None:
    """Hint that a row's memory will be needed soon; nothing when interpreted."""


def prefetch_address(address: int) -> None:
    """Hint that the memory at an address will be needed soon; any address is safe."""
