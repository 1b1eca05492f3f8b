"""Where a model calls a function of a library, for a message that names the line."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.schema import Model


def first_call(model: Model, name: str) -> str:
    """Return 'file:line: ' of the first call of `math.gamma` or the like in a model's files, or ''."""
    wanted = name.rpartition(".")[2]
    for cls in dict.fromkeys(m.cls for m in (*model.actions, *model.observables)):
        try:
            lines, first = inspect.getsourcelines(cls)
        except (OSError, TypeError):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == wanted:
                return f"{inspect.getsourcefile(cls)}:{first + node.lineno - 1}: "
    return ""
