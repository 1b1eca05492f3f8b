"""Compile plain kernel functions with Numba for the tests, and give them a stream of bits.

The bit casts become LLVM bitcasts; every function of ours that is called is compiled with its caller.
"""

import functools
import types

import numba
from llvmlite import ir
from numba.core import types as nb_types
from numba.extending import intrinsic

from tocsin.kernel import _bits
from tocsin.kernel._philox import philox4x32


@intrinsic
def _float_bits(typingctx, x):
    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return nb_types.int64(nb_types.float64), generate


@intrinsic
def _float_from_bits(typingctx, i):
    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return nb_types.float64(nb_types.int64), generate


@numba.njit
def _bits_of(x):
    return _float_bits(x)


@numba.njit
def _from_bits(i):
    return _float_from_bits(i)


_built = {_bits.float_bits: _bits_of, _bits.float_from_bits: _from_bits}


def compiled(function):
    """Return the Numba twin of `function` and of what it calls, built once."""
    if function not in _built:
        scope = {name: _twin(value) for name, value in function.__globals__.items() if name in _names(function)}
        clone = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        clone.__module__ = function.__module__
        _built[function] = numba.njit(error_model="numpy")(clone)
    return _built[function]


def _names(function):
    return set(function.__code__.co_names)


def _twin(value):
    if isinstance(value, types.FunctionType) and value.__module__.startswith("tocsin."):
        return compiled(value)
    return value


_compiled_philox = compiled(philox4x32)


class Stream:
    """A stream of bits for the interpreter: one Philox block a draw."""

    def __init__(self, seed):
        self.seed = seed
        self.count = 0

    def bits64(self):
        """Return the next 64 bits."""
        block = philox4x32(self.count, 0, 0, 0, self.seed, 0)
        self.count += 1
        return (((block[0] ^ 0x80000000) - 0x80000000) << 32) | block[1]


@numba.experimental.jitclass([("seed", numba.int64), ("count", numba.int64)])
class CompiledStream:
    """The same stream for compiled code."""

    def __init__(self, seed):
        self.seed = seed
        self.count = 0

    def bits64(self):
        """Return the next 64 bits."""
        block = _compiled_philox(self.count, 0, 0, 0, self.seed, 0)
        self.count += 1
        return (((block[0] ^ 0x80000000) - 0x80000000) << 32) | block[1]


@functools.cache
def draws_filler(sampler):
    """Return a compiled loop that fills an array with draws, built once a sampler."""
    twin = compiled(sampler)

    @numba.njit
    def fill(rng, out, parameters):
        for i in range(out.size):
            out[i] = twin(rng, *parameters)

    return fill
