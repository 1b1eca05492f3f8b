"""Where random numbers come from: the sources that a simulation may be given, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tocsin.errors import InputError
from tocsin.kernel._keyed import KeyedHash
from tocsin.kernel._sequential import NumpyPcg64, RandPcg64, SplitMix64
from tocsin.kernel._state import Clockwork
from tocsin.schema import Arena

_MASK64 = (1 << 64) - 1
_MASK128 = (1 << 128) - 1
_PCG_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645


class NumpyPcg64Clockwork(Clockwork):
    """The event loop with PCG64 as NumPy samples from it."""

    rngs: Arena[NumpyPcg64]  # type: ignore[assignment]


class RandPcg64Clockwork(Clockwork):
    """The event loop with PCG64 as lefsim samples from it."""

    rngs: Arena[RandPcg64]  # type: ignore[assignment]


class SplitMix64Clockwork(Clockwork):
    """The event loop with SplitMix64."""

    rngs: Arena[SplitMix64]  # type: ignore[assignment]


class KeyedHashClockwork(Clockwork):
    """The event loop with the keyed hash that the sandtable economy draws from."""

    rngs: Arena[KeyedHash]  # type: ignore[assignment]


@dataclass(frozen=True)
class Source:
    """A random source.

    Parameters
    ----------
    name : what `Simulation(source=...)` is given
    clockwork : the kernel's state with this source in it; another state, another program
    fields : the fields of its row at the start of a run, from a seed of 0..2**64-1
    is_keyed : whether each clock has its own draws, which can be drawn again
    """

    name: str
    clockwork: type[Clockwork]
    fields: Callable[[int], dict[str, int]]
    is_keyed: bool


def source_named(name: str) -> Source:
    """Return a source by its name. Raises InputError for one that is not there."""
    found = SOURCES.get(name) or COMPAT.get(name)
    if found is None:
        raise InputError(f"source must be one of {', '.join(SOURCES)}, got {name!r}")
    return found


def philox_fields(seed: int) -> dict[str, int]:
    """Return the key of the keyed streams."""
    return {"key_low": seed & 0xFFFFFFFF, "key_high": seed >> 32}


def numpy_fields(seed: int) -> dict[str, int]:
    """Return state and increment of `numpy.random.PCG64(seed)`."""
    import numpy as np

    inner = np.random.PCG64(seed).state["state"]
    return _pcg_words(int(inner["state"]), int(inner["inc"]))


def rand_fields(seed: int) -> dict[str, int]:
    """Return state and increment of rand_pcg 0.3's Pcg64 after `seed_from_u64`."""
    return _pcg_words(*rand_seeded(seed))


def splitmix_fields(seed: int) -> dict[str, int]:
    """Return the counter, which starts at the seed."""
    return {"word0": seed & 0xFFFFFFFF, "word1": seed >> 32}


def rand_seeded(seed: int) -> tuple[int, int]:
    """Return (state, increment) as rand_core 0.6 seeds a PCG64 from 64 bits.

    A PCG32 (XSH-RR 64/32) that starts at the seed fills 32 bytes: state, then stream.
    """
    state, filled = seed, 0
    for place in range(8):
        state = (state * 6364136223846793005 + 11634580027462260723) & _MASK64
        word, turn = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF, state >> 59
        filled |= ((word >> turn | word << (32 - turn)) & 0xFFFFFFFF) << (32 * place)
    increment = (filled >> 128) | 1
    return ((filled & _MASK128) + increment) * _PCG_MULTIPLIER + increment & _MASK128, increment


def pcg64_outputs(state: int, increment: int) -> Iterator[int]:
    """Yield the 64-bit outputs of a PCG64 without end, as plain Python numbers."""
    while True:
        state = state * _PCG_MULTIPLIER + increment & _MASK128
        folded, turn = (state >> 64) ^ (state & _MASK64), state >> 122
        yield (folded >> turn | folded << (64 - turn)) & _MASK64


def _pcg_words(state: int, increment: int) -> dict[str, int]:
    words = {f"word{k}": state >> 32 * k & 0xFFFFFFFF for k in range(4)}
    return words | {f"step{k}": increment >> 32 * k & 0xFFFFFFFF for k in range(4)}


SOURCES = {
    source.name: source
    for source in (
        Source("philox", Clockwork, philox_fields, is_keyed=True),
        Source("pcg64", NumpyPcg64Clockwork, numpy_fields, NumpyPcg64.KEYED),
        Source("pcg64-rand", RandPcg64Clockwork, rand_fields, RandPcg64.KEYED),
        Source("splitmix64", SplitMix64Clockwork, splitmix_fields, SplitMix64.KEYED),
    )
}
COMPAT = {"keyed-hash": Source("keyed-hash", KeyedHashClockwork, philox_fields, KeyedHash.KEYED)}
"""Sources of one model's compat mode: not offered to others."""
