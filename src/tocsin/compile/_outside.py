"""A user's function of NumPy arrays as a C function that models call by address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tocsin.errors import CompileError


def native(function: Callable[..., Any], d: int) -> tuple[Callable[..., Any], int]:
    """Compile `function(x, out) -> number`, which fills `out`, for arrays of d doubles.

    Returns what has to be kept alive, and the address of `double f(double *x, double *out)`. Raises
    CompileError with Numba's explanation if the function does not compile.
    """
    import numba
    from numba.core import types
    from numba.core.errors import NumbaError

    inner = function if hasattr(function, "py_func") else numba.njit(function)
    pointer = types.CPointer(types.float64)

    def called(x_at: Any, out_at: Any) -> float:
        x = numba.carray(x_at, (d,))
        out = numba.carray(out_at, (d,))
        return inner(x, out)

    try:
        made = numba.cfunc(types.float64(pointer, pointer))(called)
    except NumbaError as error:
        raise CompileError(f"the gradient does not compile: {_first_lines(str(error))}") from None
    return made, int(made.address)


def negative(gradient: Any, logp: Any) -> Any:
    """Return `f(x, out)`: fills out with minus `gradient(x)`, and returns minus `logp(x)`, 0 without.

    `gradient` may also return (log density, gradient); then `logp` is not asked. A gradient of another length is NaN.
    """
    import numba
    import numpy as np

    slope = gradient if hasattr(gradient, "py_func") else numba.njit(gradient)
    if logp == "both":

        def both(x: Any, out: Any) -> float:
            value, found = slope(x)
            for i in range(len(out)):
                out[i] = -found[i]
            return -value

        return both
    height = numba.njit(_nothing) if logp is None else logp if hasattr(logp, "py_func") else numba.njit(logp)

    def apart(x: Any, out: Any) -> float:
        found = slope(x)
        fits = len(found) == len(out)
        for i in range(len(out)):
            out[i] = -found[i] if fits else np.nan
        return -height(x)

    return apart


def _nothing(x: Any) -> float:
    return 0.0


def _first_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines)[:400]
