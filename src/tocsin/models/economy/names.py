"""The names that formulas of a design may mention, and where their values stand."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from tocsin.errors import InputError
from tocsin.formula import CALLS, Node, TotalTable, Vocabulary, expression, total_value
from tocsin.models.economy.bounds import Bounds
from tocsin.models.economy.config import Design

OWN = ("age", "hour", "idle", "streak", "sessions", "spent")
"""What is known of every player: days since installation, hour of the day at which the session began, days without progress,
days played in a row, sessions so far, money paid so far."""


class Names:
    """Columns of `own`, entries of `shared`, tables and formulas of a design.

    Raises InputError for a name that stands for two things, and for formulas that are none.
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        self.columns: dict[str, int] = {}
        self.shared: dict[str, int] = {}
        self.values: list[float] = []
        self._meaning: dict[str, str] = dict.fromkeys(CALLS, "a function")
        self._declare(design)
        self.points = {name: _points(name, given) for name, given in design.tables.items()}
        self.vocabulary = Vocabulary([*self.columns, *self.shared], list(design.tables), self._named_formulas())
        self.table = TotalTable(self.columns, self.shared, self.values)
        self.values = self.table.values  # constants of formulas are added to it
        for name, points in self.points.items():
            self.table.add_table(name, points)

    def _declare(self, design: Design) -> None:
        for name in OWN:
            self.column(name, "of every player")
        for label, names in (("a resource", design.resources), ("a trait", trait_names(design))):
            for name in names:
                self.column(name, label)
        for name in design.activities:
            self.column(f"n_{name}", "how often an activity was done")
            self.column(f"today_{name}", "how often an activity was done today")
        self.entry("day", 1.0, "the day of the calendar")
        for name, value in design.parameters.items():
            self.entry(name, value, "a parameter")
        for name in design.calendar:
            self.entry(name, 0.0, "a date of the calendar")
        for name, market in design.markets.items():
            for what, value in (("price", market.price), ("cheapest", 0.0), ("offered", 0.0)):
                self.entry(f"{name}_{what}", value, "of a market")
        for name, table in design.loot.items():
            for target in table.targets:
                self.column(f"{name}_{target}", "a target of a loot table")
        for name in (*design.tables, *design.formulas):
            self._mean(name, "a table" if name in design.tables else "a formula")

    def _mean(self, name: str, what: str) -> None:
        if name in self._meaning:
            raise InputError(f"{name!r} is {self._meaning[name]} and {what}; give one of them another name")
        if name in ("and", "or", "not", "if", "else", "is", "in", "lambda", "for", "while", "def", "class", "return"):
            raise InputError(f"{name!r} is a word of the language of formulas; choose another name")
        self._meaning[name] = what

    def column(self, name: str, what: str = "") -> int:
        """Return a new column of `own`; a name that formulas cannot mention starts with ~."""
        if not name.startswith("~"):
            self._mean(name, what)
        self.columns.setdefault(name, len(self.columns))
        return self.columns[name]

    def entry(self, name: str, value: float, what: str = "") -> int:
        """Return a new entry of `shared`."""
        if not name.startswith("~"):
            self._mean(name, what)
        self.shared[name] = len(self.values)
        self.values.append(value)
        return self.shared[name]

    def _named_formulas(self) -> dict[str, Node]:
        """Read named formulas, those that others mention first. Raises InputError for a circle."""
        given = dict(self.design.formulas)
        names = [*self.columns, *self.shared]
        done: dict[str, Node] = {}
        while given:
            ready = []
            for name, text in given.items():
                words = Vocabulary([*names, *given], list(self.design.tables), done)
                node = expression(text, words, f"formulas.{name}")
                if not node.names() & set(given):
                    ready.append(name)
                    done[name] = node
            if not ready:
                raise InputError(
                    f"formulas.{next(iter(given))}: formulas mention each other in a circle: {', '.join(given)}"
                )
            for name in ready:
                del given[name]
        return done

    def read(self, text: Any, where: str) -> Node:
        """Return the tree of a formula."""
        return expression(text, self.vocabulary, where)

    def formula(self, text: Any, where: str, bounds: Bounds | None = None) -> int:
        """Return the number of a formula, -1 for None. Raises InputError if it is constant and out of bounds."""
        if text is None:
            return -1
        node = self.read(text, where)
        if bounds is not None and node.names() <= set(self.design.parameters):
            bounds.check(total_value(node, self.design.parameters, self.points), text, where)
        return self.table.add(node)


def trait_names(design: Design) -> list[str]:
    """Return the traits of all personas, in order."""
    found = dict.fromkeys(design.traits)
    for persona in design.personas.values():
        found.update(dict.fromkeys(persona.traits))
    return list(found)


def _points(name: str, given: tuple[Any, ...]) -> list[tuple[float, float]]:
    """Return a table as points. Raises InputError unless it is numbers, or pairs with ascending x."""
    where = f"tables.{name}"
    if not 1 <= len(given) <= 10_000:
        raise InputError(f"{where}: must have 1 to 10,000 values, got {len(given)}")
    pairs = [(float(k), v) for k, v in enumerate(given)] if not isinstance(given[0], tuple) else list(given)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(_is_number(v) for v in pair):
            raise InputError(f"{where}: must be numbers, or points [x, y], got {pair!r}"[:200])
    if any(a[0] >= b[0] for a, b in itertools.pairwise(pairs)):
        raise InputError(f"{where}: the x of its points must ascend")
    return [(float(x), float(y)) for x, y in pairs]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300


def mapped(names: Mapping[str, int], name: str, where: str, what: str) -> int:
    """Return the number of a name. Raises InputError with the nearest one."""
    from tocsin.schema._annotations import nearest

    if name not in names:
        raise InputError(
            f"{where}: there is no {what} {name!r}.{nearest(name, names)} There are: {', '.join(names) or 'none'}"
        )
    return names[name]
