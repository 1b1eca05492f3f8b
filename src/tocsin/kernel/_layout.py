"""Where each clock lies: slots, kinds and sizes, from the declarations and the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from tocsin.kernel._state import BY_RATE, BY_SCHEDULE, IDLE, MIN_DAYS, N_YEARS, RATED, TICK, Clockwork
from tocsin.schema import Model, World
from tocsin.schema._model import Member

STILL_LIMIT = 1_000_000
"""Events at one instant after which a run is stopped, at least; more for large worlds."""


class Layout:
    """Slots, kinds and sizes, from the declarations and the number of rows."""

    def __init__(self, model: Model, world: World, is_rated: Sequence[bool]) -> None:
        self.model, self.is_rated = model, is_rated
        tables = [world._tables[e.name] for e in model.schema.entities]
        self.rows = [1, *(len(t.rows) if e.pooled else len(t)
                          for e, t in zip(model.schema.entities, tables, strict=True))]  # fmt: skip
        self.rows_at = [world._globals.ctypes.data, *(t.rows.ctypes.data for t in tables)]
        self.row_bytes = [0, *(t.rows.dtype.itemsize for t in tables)]
        n_kinds = len(self.rows)
        by_kind = [[a for a, m in enumerate(model.actions) if m.code == k] for k in range(n_kinds)]
        seen = [[o for o, m in enumerate(model.observables) if m.code == k] for k in range(n_kinds)]
        self.kind_actions, self.kind_observables = [*chain(*by_kind)], [*chain(*seen)]
        self._place(by_kind, seen)

    def _place(self, by_kind: list[list[int]], seen: list[list[int]]) -> None:
        import numpy as np

        n_actions = len(self.model.actions)
        base, stride = [0] * n_actions, [1] * n_actions
        head, steps = [-1] * len(self.rows), [1] * len(self.rows)
        slot = 0
        if self.model.tie == "action":
            for action, member in enumerate(self.model.actions):
                base[action] = slot
                slot += self.rows[member.code]
        for kind, actions in enumerate(by_kind):
            if self.model.tie == "entity":
                for k, action in enumerate(actions):
                    base[action], stride[action] = slot + k, len(actions)
                slot += self.rows[kind] * len(actions)
            if actions:
                head[kind], steps[kind] = base[actions[0]], stride[actions[0]]
            elif seen[kind]:
                head[kind] = slot  # no clocks, but rows that observables follow are marked here
                slot += self.rows[kind]
        self.n_clocks = slot
        firsts = np.cumsum([0, *map(len, by_kind)])[:-1]
        first_seen = np.cumsum([0, *map(len, seen)])[:-1]
        self.kinds: dict[str, Any] = {
            "first": firsts, "n_actions": [len(a) for a in by_kind], "n_rows": self.rows,
            "head": head, "stride": steps, "first_observable": first_seen,
            "n_observables": [len(s) for s in seen],
        }  # fmt: skip
        self.actions: dict[str, Any] = {
            "base": base, "stride": stride, "kind": [m.code for m in self.model.actions],
            "rows_at": [self.rows_at[m.code] for m in self.model.actions],
            "row_bytes": [self.row_bytes[m.code] for m in self.model.actions],
            "every": [m.cls.every if m.asked == "tick" else 0.0 for m in self.model.actions],
            "asked": [_asked(m, rated) for m, rated in zip(self.model.actions, self.is_rated, strict=True)],
        }  # fmt: skip

    def facts(self) -> tuple[Any, ...]:
        """Return all that a fresh state follows from, but for the addresses of rows."""
        columns = (tuple(values) for name, values in self.actions.items() if name != "rows_at")
        return tuple(self.rows), self._n_visited(), *columns

    @property
    def n_rated(self) -> int:
        """How many clocks go by composition-rejection."""
        return sum(self.rows[m.code] for m, rated in zip(self.model.actions, self.is_rated, strict=True) if rated)

    def sizes(self) -> dict[str, Any]:
        """Return the sizes of what depends on the number of clocks and rows."""
        import numpy as np

        n_days = MIN_DAYS
        while n_days < self.n_clocks:
            n_days *= 2
        marked = sum(r for r, h in zip(self.rows, self.kinds["head"], strict=True) if h >= 0)
        observed = sum(self.rows[m.code] for m in self.model.observables)
        return {
            "clocks": self.n_clocks, "owners": self.n_clocks, "run": self.n_clocks,
            "heap": self.n_clocks, "rated": self.n_clocks if self.n_rated else 0, "days": n_days + N_YEARS, "marks": marked + 1,
            "observed": np.zeros(observed), "row_area": np.zeros(observed),
            "row_since": np.zeros(observed), "order": np.zeros(self._n_visited(), np.int64),
        }  # fmt: skip

    def _n_visited(self) -> int:
        """Return the most rows that a system visits in an order that has to be written down."""
        return max((self.rows[m.rows] for m in self.model.systems), default=0)

    def number_clocks(self, kernel: Clockwork) -> None:
        """Write index and action of every clock, and set it to never ring."""
        import numpy as np

        kernel.clocks["time"][:], kernel.clocks["prev"][:] = np.inf, IDLE
        owners = kernel.owners
        owners["action"][:] = -1
        for action, member in enumerate(self.model.actions):
            n, base, stride = self.rows[member.code], self.actions["base"][action], self.actions["stride"][action]
            slots = slice(base, base + n * stride, stride)
            owners["row"][slots], owners["action"][slots] = np.arange(n), action
        start = 0
        for number, member in enumerate(self.model.observables):
            kernel.series["base"][number] = start
            start += self.rows[member.code]
        kernel.n_clocks = self.n_clocks
        kernel.still_limit = max(STILL_LIMIT, 16 * self.n_clocks)


def _asked(member: Member, is_rated: bool) -> int:
    if member.asked in ("schedule", "tick"):
        return TICK if member.asked == "tick" else BY_SCHEDULE
    return RATED if is_rated else BY_RATE
