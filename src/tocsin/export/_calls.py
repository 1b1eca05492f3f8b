"""Where a model calls a function of a library, for a message that names the line."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.schema import Model

OPERATORS: dict[str, type[ast.operator]] = {"pow": ast.Pow, "fmod": ast.Mod}
"""Operators that become calls of the C library."""


def first_call(model: Model, name: str) -> str:
    """Return 'file:line: ' of the first call of `gamma` or the like in a model's files, or ''.

    Looked through are the methods of its actions, observables, entities and world, and the functions that they call.
    """
    wanted = name.rpartition(".")[2].removeprefix("numba_")
    for function in _functions(model):
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
            if _is_call(node, wanted):
                return f"{inspect.getsourcefile(function)}:{first + node.lineno - 1}: "  # type: ignore[attr-defined]
    return ""


def _is_call(node: ast.AST, wanted: str) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] == wanted
    return isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) is OPERATORS.get(wanted)


def _functions(model: Model) -> Iterator[FunctionType]:
    """Yield the functions of a model, each once: its own methods first, then what they call by a global name."""
    classes = [m.cls for m in (*model.actions, *model.systems, *model.observables)]
    classes += [entity.cls for entity in model.schema.entities]
    waiting = [f for cls in (*classes, model.world) for f in vars(cls).values()]
    seen: set[Any] = set()
    while waiting:
        function = _plain(waiting.pop(0))
        if function is None or function in seen or function.__module__.partition(".")[0] in ("numba", "math"):
            continue
        seen.add(function)
        yield function
        waiting += [function.__globals__.get(name) for name in function.__code__.co_names]


def _plain(value: Any) -> FunctionType | None:
    value = getattr(value, "fget", value)  # of a property
    value = getattr(value, "__func__", value)
    return value if isinstance(value, FunctionType) else None
