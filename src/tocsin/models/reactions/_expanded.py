"""Formulas of an SBML document with its functions put in, and limits on how large that makes them."""

from __future__ import annotations

import graphlib
import itertools
from typing import Any

from tocsin.errors import InputError
from tocsin.formula import Node, height
from tocsin.models.reactions._mathml import tree

MOST_NODES, MOST_HEIGHT, MOST_TOGETHER = 100_000, 300, 5_000_000
"""Parts and levels that a formula may have once rules and functions have been put into it, and parts of all formulas."""


class Expanded:
    """The functions of one document. Few of them can stand for a formula of any size, so each is measured."""

    def __init__(self, model: Any) -> None:
        self._n_nodes = 0
        self._bodies: dict[str, tuple[list[str], Node] | InputError] = {}
        functions = {f.getId(): f for f in model.getListOfFunctionDefinitions()}
        for key in _in_order(functions):
            where = f"function {key}"
            try:
                names = [functions[key].getArgument(k).getName() for k in range(functions[key].getNumArguments())]
                self._bodies[key] = names, self.tree(functions[key].getBody(), where)
            except InputError as error:
                self._bodies[key] = error  # of no account unless it is called

    def tree(self, math: Any, where: str) -> Node:
        """Return the tree of a libsbml formula. Raises InputError naming what is not supported."""
        try:
            return tree(math, where, self._called)
        except RecursionError:
            raise InputError(f"{where}: its formula is nested too deeply") from None

    def bounded(self, node: Node, where: str) -> Node:
        """Return a formula, unless it is too large to work with. Raises InputError."""
        size = sum(1 for _ in itertools.islice(node.walk(), MOST_NODES + 1))
        self._n_nodes += size
        grows = f"{where}: with rules and functions put in,"
        if size > MOST_NODES or height(node) > MOST_HEIGHT:
            raise InputError(f"{grows} a formula grows beyond {MOST_NODES:,} parts or {MOST_HEIGHT} levels")
        if self._n_nodes > MOST_TOGETHER:
            raise InputError(f"{grows} the formulas of the model grow beyond {MOST_TOGETHER:,} parts")
        return node

    def _called(self, key: str, args: list[Node], where: str) -> Node:
        """Return a function with its arguments put in."""
        found = self._bodies.get(key)
        if found is None:
            raise InputError(f"{where}: there is no function {key!r}")
        if isinstance(found, InputError):
            raise found
        names, body = found
        if len(names) != len(args):
            raise InputError(f"{where}: function {key} takes {len(names)} arguments, got {len(args)}")
        return self.bounded(body.replaced(dict(zip(names, args, strict=True))), where)


def _in_order(functions: dict[str, Any]) -> list[str]:
    """Return the functions, each after those that it calls. Raises InputError for a circle."""
    try:
        return list(
            graphlib.TopologicalSorter({k: _calls(f) & functions.keys() for k, f in functions.items()}).static_order()
        )
    except graphlib.CycleError as error:
        raise InputError(f"functions call each other in a circle: {', '.join(sorted(set(error.args[1])))}") from None


def _calls(function: Any) -> set[str]:
    """Return the names of the functions that a function calls."""
    import libsbml

    found, waiting = set(), [function.getBody()]
    while waiting:
        node = waiting.pop()
        if node is not None:
            if node.getType() == libsbml.AST_FUNCTION:
                found.add(node.getName())
            waiting += [node.getChild(k) for k in range(node.getNumChildren())]
    return found
