"""Queue, random streams, event loop: compiled, and ignorant of every domain."""

from tocsin.kernel._bits import call_at, float_bits, float_from_bits, lowest_bit, prefetch, prefetch_address
from tocsin.kernel._loop import advance
from tocsin.kernel._rng import Rng
from tocsin.kernel._state import Clockwork, Touched
from tocsin.kernel._uniforms import each, sample_without_replacement, uniforms

__all__ = [
    "Clockwork", "Rng", "Touched", "advance", "call_at", "each", "float_bits", "float_from_bits", "lowest_bit", "prefetch",
    "prefetch_address", "sample_without_replacement", "uniforms",
]  # fmt: skip
