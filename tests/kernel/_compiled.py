"""Compile plain kernel functions with Numba for the tests; the bit casts become LLVM bitcasts."""

import types

import numba
from llvmlite import ir
from numba.core import types as nb_types
from numba.extending import intrinsic

from tocsin.kernel import _bits


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
        scope = {
            name: _twin(value)
            for name, value in function.__globals__.items()
            if name in _names(function)
        }
        clone = types.FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__
        )
        clone.__module__ = function.__module__
        _built[function] = numba.njit(error_model="numpy")(clone)
    return _built[function]


def _names(function):
    return set(function.__code__.co_names)


def _twin(value):
    if isinstance(value, types.FunctionType) and value.__module__.startswith("tocsin."):
        return compiled(value)
    return value
