"""Ordinary functions and methods, compiled when a model uses them.

Numba refuses a plain Python function that compiled code calls. Inside a build it is given a
dispatcher instead, so helpers need no decorator, wherever they are defined.
"""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit, types
from numba.core.registry import cpu_target
from numba.core.typing import templates
from numba.core.typing.typeof import typeof_impl
from numba.extending import lower_builtin

from tocsin.compile._pipeline import ModelCompiler
from tocsin.compile._types import ModelType, Stamp
from tocsin.schema import Model
from tocsin.schema._system import Alone

_default_typeof = typeof_impl.dispatch(object)


_shared: dict[Any, Any] = {}
_kept: list[Any] = []
_OURS = ("tocsin.kernel.", "tocsin.schema.", "tocsin.compile.")


class Build:
    """What one compilation has met: dispatchers by Python function.

    Tocsin's own functions keep their dispatchers for the life of the process, so a second model
    compiles faster; the user's are made anew for each build, as what they call may have changed.
    """

    current: Build | None = None

    def __init__(self, replacements: dict[Any, Any], alone: Alone | None) -> None:
        self.alone = alone
        self.own: dict[Any, Any] = {}
        self.replacements = replacements
        _kept.append(self.own)  # Numba's types hold dispatchers weakly

    def dispatcher(self, function: Any) -> Any:
        """Return the dispatcher of a plain function."""
        function = self.replacements.get(function, function)
        if not isinstance(function, python_types.FunctionType):
            return function
        known = _shared if function.__module__.startswith(_OURS) else self.own
        if function not in known:
            known[function] = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=ModelCompiler)(
                function
            )
        return known[function]


@contextmanager
def building(replacements: dict[Any, Any], *shared: Any, alone: Alone | None = None) -> Iterator[Build]:
    """Let plain functions be called by compiled code, inside this block.

    `shared` are the schemas of Tocsin's own worlds; `alone` says what the ticks of
    synchronous systems are made of, if they are part of the loop.
    """
    before, Build.current = Build.current, Build(replacements, alone)
    Stamp.number += 1
    Stamp.shared.update(id(part) for schema in shared for part in (schema, *schema.entities))
    try:
        yield Build.current
    finally:
        Build.current = before


def alone() -> Alone:
    """Return which ticks are part of the loop that is being built, and what they are made of."""
    assert Build.current is not None
    return Build.current.alone or Alone({}, None)


def dispatcher_type(function: Any) -> types.Type:
    """Return the Numba type of a plain function or of what replaces it."""
    assert Build.current is not None
    found = Build.current.dispatcher(function)
    if hasattr(found, "py_func"):
        return types.Dispatcher(found)
    return cpu_target.typing_context.resolve_value_type(found)


@typeof_impl.register(python_types.FunctionType)
def _type_of_function(value: Any, context: Any) -> Any:
    if Build.current is None:
        return _default_typeof(value, context)
    known = cpu_target.typing_context._get_global_type(value)  # what Numba's own extensions use
    return dispatcher_type(value) if known is None else known


@typeof_impl.register(Model)
def _type_of_model(value: Model, context: Any) -> Any:
    return ModelType(value)


def bound_method(owner: Any, name: str, function: Any) -> types.BoundFunction:
    """Return the type of `owner.name`: calling it calls `function(owner, ...)`."""
    called = dispatcher_type(function)

    class Method(templates.AbstractTemplate):
        key = (type(owner), name)

        def generic(self, args: Any, kws: Any) -> Any:
            return called.get_call_type(self.context, (owner, *args), kws).as_method()

    return types.BoundFunction(Method, owner)


def call_function(context: Any, builder: Any, function: Any, arguments: Any, values: Any) -> tuple[Any, Any]:
    """Emit a call of a plain function; return (signature, value)."""
    called = dispatcher_type(function)
    signature = called.get_call_type(context.typing_context, arguments, {})
    implementation = context.get_function(called, signature)
    context.add_linking_libs(getattr(implementation, "libs", ()))
    return signature, implementation(builder, values)


_lowered: set[tuple[type, str]] = set()


def lower_methods(type_class: type, names: set[str], find: Callable[[Any, str], Any]) -> None:
    """Register the code of methods: `find(type, name)` gives the Python function."""
    for name in sorted(names):
        if (type_class, name) not in _lowered:
            _lowered.add((type_class, name))
            lower_builtin((type_class, name), type_class, types.VarArg(types.Any))(_caller(name, find))


def _caller(name: str, find: Callable[[Any, str], Any]) -> Any:
    def call_method(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function = find(signature.args[0], name)
        called = dispatcher_type(function)
        full = called.get_call_type(context.typing_context, signature.args, {})
        implementation = context.get_function(called, full)
        context.add_linking_libs(getattr(implementation, "libs", ()))
        casted = [
            context.cast(builder, v, given, wanted)
            for v, given, wanted in zip(values, signature.args, full.args, strict=True)
        ]
        value = implementation(builder, casted)
        return context.cast(builder, value, full.return_type, signature.return_type)

    return call_method
