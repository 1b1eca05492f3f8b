"""Whether what a hash was taken of is still the same, asked at a tenth of the cost of the hash.

While a model is walked, each place that something was loaded from is noted with what was found
there: the names of a class, a function's code and defaults, its globals. The hash is the same as
long as every place holds the same objects, as these cannot change within themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from types import CodeType, FunctionType
from typing import Any


class Watch:
    """Places and what they held."""

    def __init__(self) -> None:
        self._looks: list[tuple[Callable[[], Iterable[Any]], tuple[int, ...]]] = []
        self._kept: list[tuple[Any, ...]] = []  # so that no other object gets the number of one of these
        self._is_fixed = True

    def holds(self) -> bool:
        """Say whether all is as it was; False in doubt."""
        try:
            for look, ids in self._looks if self._is_fixed else ():
                if tuple(map(id, look())) != ids:
                    return False
            return self._is_fixed
        except (AttributeError, ValueError):  # a name or a cell that is no more
            return False

    def doubt(self) -> None:
        """Note that something was hashed that can change within itself, such as an array."""
        self._is_fixed = False

    def cls(self, cls: type) -> None:
        """Note the names of a class."""
        self._note(lambda: chain(vars(cls), vars(cls).values()))

    def function(self, function: FunctionType) -> None:
        """Note what belongs to a function itself."""
        self._note(lambda: _own(function))

    def globals(self, chains: Iterable[tuple[str, ...]], names: dict[str, Any]) -> None:
        """Note what code takes from its globals, given as names with the attributes of each."""
        firsts = [chain[0] for chain in chains]
        self._note(lambda: map(names.get, firsts))

    def attribute(self, owner: Any, name: str) -> None:
        """Note an attribute of a module."""
        self._note(lambda: (getattr(owner, name, None),))

    def _note(self, look: Callable[[], Iterable[Any]]) -> None:
        found = tuple(look())
        self._kept.append(found)
        self._looks.append((look, tuple(map(id, found))))


def _own(function: FunctionType) -> Iterable[Any]:
    code: CodeType = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return code, function.__defaults__, *(function.__kwdefaults__ or {}).values(), *cells
