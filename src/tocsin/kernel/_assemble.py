"""Build the kernel's state for a model and a world: which clock lies where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from tocsin.kernel._paging import begin_levels, more_pages, page_arrays
from tocsin.kernel._rates import NO_LEVEL
from tocsin.kernel._sources import Source
from tocsin.kernel._state import (
    BY_RATE, BY_SCHEDULE, IDLE, MIN_DAYS, N_DRAWS, N_LEVELS, N_YEARS, RATED, Clockwork,
)  # fmt: skip
from tocsin.schema import Model, World
from tocsin.schema._model import Member
from tocsin.schema._memory import zeros

PER_ROW = ("observed", "row_area", "row_since")
STILL_LIMIT = 1_000_000
"""Events at one instant after which a run is stopped, at least; more for large worlds."""


def assemble(
    model: Model, world: World, seed: int, start: float, source: Source, is_rated: Sequence[bool], audit: bool = False
) -> Clockwork:
    """Return the state of an event loop that has not started yet.

    `is_rated` says of each action whether its clocks go by composition-rejection; `audit` makes
    room for the time at which each clock was asked.
    """
    import numpy as np

    layout = _Layout(model, world, is_rated)
    kernel = source.clockwork(
        **layout.sizes(), kinds=layout.kinds, actions=layout.actions, rngs=1,
        series=len(model.observables), log=1, now=start, origin=start, looked_at=start, still_limit=0,
        kind_actions=layout.kind_actions, kind_observables=layout.kind_observables,
        n_days=MIN_DAYS, levels=N_LEVELS,
        draws=N_DRAWS if layout.n_rated else 0, n_drawn=N_DRAWS,
        raw=np.zeros(2 * N_DRAWS if layout.n_rated else 0), asked_at=np.zeros(layout.n_clocks if audit else 0), **page_arrays(layout.n_rated),
    )  # fmt: skip
    begin_levels(kernel)
    for name, value in source.fields(seed).items():
        kernel.rngs[name][0] = value
    kernel.days["first"][:] = -1
    kernel.series["last"][:] = kernel.series["since"][:] = start
    kernel.row_since.values[:] = start
    layout.number_clocks(kernel)
    return kernel


def grow(model: Model, world: World, kernel: Clockwork) -> None:
    """Make room for the clocks of pools that grew; the queue is rebuilt by the loop."""
    import numpy as np

    is_rated = (kernel.actions["asked"] == RATED).tolist()
    layout = _Layout(model, world, is_rated)
    old_rated = kernel.rated.rows
    old_clocks, old_owners = kernel.clocks.rows, kernel.owners.rows
    old_actions = kernel.actions.rows.copy()
    old_series = kernel.series.rows[: len(kernel.series)].copy()
    old_arrays = {name: kernel.__dict__[name].values for name in PER_ROW}
    marks = kernel.marks.rows[: kernel.n_marks].copy()
    for name, size in layout.sizes().items():
        if name in PER_ROW:
            kernel._set_array(kernel.schema().arrays[name], size)
        else:
            _resize(kernel, name, size)
    kernel.row_since.values[:] = kernel.now
    kernel.marks.rows[: len(marks)] = marks
    kernel.kinds.fill(layout.kinds)
    for column in ("base", "stride", "rows_at", "row_bytes"):
        kernel.actions[column][:] = layout.actions[column]
    layout.number_clocks(kernel)
    kernel.rated["level"][:] = NO_LEVEL
    moved = np.zeros(len(old_owners), "i4")
    old_asked = kernel.asked_at.values
    asked = np.zeros(layout.n_clocks if len(old_asked) else 0)
    for new, old, n_rows in zip(kernel.actions.rows, old_actions, rows_of(old_owners, len(old_actions)), strict=True):
        rows = np.arange(n_rows)
        source, target = old["base"] + rows * old["stride"], new["base"] + rows * new["stride"]
        kernel.clocks.rows[target], kernel.owners.rows[target] = old_clocks[source], old_owners[source]
        moved[source] = target
        if len(old_asked):
            asked[target] = old_asked[source]
        if new["asked"] == RATED:
            kernel.rated.rows[target] = old_rated[source]
    kernel._set_array(kernel.schema().arrays["asked_at"], asked)
    if any(is_rated):
        more_pages(kernel, layout.n_rated, moved)
    spans = np.diff(np.append(old_series["base"], len(old_arrays["observed"])))
    for new, old, n_rows in zip(kernel.series["base"], old_series["base"], spans, strict=True):
        for name, values in old_arrays.items():
            kernel.__dict__[name].values[new : new + n_rows] = values[old : old + n_rows]
    heads, strides = (kernel.kinds[column][marks["kind"]] for column in ("head", "stride"))
    kernel.owners["mark"][heads + marks["row"] * strides] = 1
    kernel.is_stale = 1


def _resize(kernel: Clockwork, name: str, size: int) -> None:
    table = kernel.__dict__[name]
    table._adopt(zeros(max(size, 1), table.rows.dtype))
    table._counts[1:3] = size


def rows_of(owners: Any, n_actions: int) -> list[int]:
    """Return how many rows each action has clocks for."""
    import numpy as np

    counts = np.bincount(owners["action"][owners["action"] >= 0], minlength=n_actions)
    return [int(c) for c in counts]


def _asked(member: Member, is_rated: bool) -> int:
    if member.asked == "schedule":
        return BY_SCHEDULE
    return RATED if is_rated else BY_RATE


class _Layout:
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
            "asked": [_asked(m, rated) for m, rated in zip(self.model.actions, self.is_rated, strict=True)],
        }  # fmt: skip

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
            "row_since": np.zeros(observed),
        }  # fmt: skip

    def number_clocks(self, kernel: Clockwork) -> None:
        """Write index and action of every clock, and set it to never ring."""
        import numpy as np

        kernel.clocks["time"][:], kernel.clocks["prev"][:] = np.inf, IDLE
        owners = kernel.owners
        owners["action"][:] = -1
        for action, member in enumerate(self.model.actions):
            rows = np.arange(self.rows[member.code])
            slots = self.actions["base"][action] + rows * self.actions["stride"][action]
            owners["row"][slots], owners["action"][slots] = rows, action
        start = 0
        for number, member in enumerate(self.model.observables):
            kernel.series["base"][number] = start
            start += self.rows[member.code]
        kernel.n_clocks = self.n_clocks
        kernel.still_limit = max(STILL_LIMIT, 16 * self.n_clocks)
