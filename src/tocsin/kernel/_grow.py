"""Make room for the clocks of pools that grew: new tables, and everything moved to its new place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.kernel._layout import Layout
from tocsin.kernel._paging import more_pages
from tocsin.kernel._rates import NO_LEVEL
from tocsin.kernel._state import RATED, Clockwork
from tocsin.schema import Model, World
from tocsin.schema._memory import zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

PER_ROW = ("observed", "row_area", "row_since")
ARRAYS = (*PER_ROW, "order")


class _Before:
    """What there was before: the tables that are replaced."""

    def __init__(self, kernel: Clockwork) -> None:
        self.clocks, self.owners, self.rated = kernel.clocks.rows, kernel.owners.rows, kernel.rated.rows
        self.actions = kernel.actions.rows.copy()
        self.series = kernel.series.rows[: len(kernel.series)].copy()
        self.asked_at = kernel.asked_at.values
        self.observed = {name: kernel.__dict__[name].values for name in PER_ROW}
        self.order = kernel.order.values
        self.marks = kernel.marks.rows[: kernel.n_marks].copy()


def grow(model: Model, world: World, kernel: Clockwork) -> None:
    """Make room for the clocks of pools that grew; the queue is rebuilt by the loop."""
    is_rated = (kernel.actions["asked"] == RATED).tolist()
    layout, before = Layout(model, world, is_rated), _Before(kernel)
    _make_room(kernel, layout)
    layout.number_clocks(kernel)
    kernel.order.values[: len(before.order)] = before.order
    moved = _move_clocks(kernel, before)
    if any(is_rated):
        more_pages(kernel, layout.n_rated, moved)
    _move_observed(kernel, before)
    _mark_again(kernel, before.marks)
    kernel.is_stale = 1


def _make_room(kernel: Clockwork, layout: Layout) -> None:
    """Replace the tables by larger ones, and say where each action's clocks will lie."""
    import numpy as np

    for name, size in layout.sizes().items():
        if name in ARRAYS:
            kernel._set_array(kernel.schema().arrays[name], size)
        else:
            table = kernel.__dict__[name]
            table._adopt(zeros(max(size, 1), table.rows.dtype))
            table._counts[1:3] = size
    if len(kernel.asked_at):
        kernel._set_array(kernel.schema().arrays["asked_at"], np.zeros(layout.n_clocks))
    kernel.row_since.values[:] = kernel.now
    kernel.rated["level"][:] = NO_LEVEL
    kernel.kinds.fill(layout.kinds)
    for column in ("base", "stride", "rows_at", "row_bytes"):
        kernel.actions[column][:] = layout.actions[column]


def _move_clocks(kernel: Clockwork, before: _Before) -> NDArray[Any]:
    """Move clocks and what belongs to them; return the new slot of each old one."""
    import numpy as np

    moved = np.zeros(len(before.owners), "i4")
    n_rows = _rows_of(before.owners, len(before.actions))
    for new, old, n in zip(kernel.actions.rows, before.actions, n_rows, strict=True):
        rows = np.arange(n)
        source, target = old["base"] + rows * old["stride"], new["base"] + rows * new["stride"]
        moved[source] = target
        kernel.clocks.rows[target], kernel.owners.rows[target] = before.clocks[source], before.owners[source]
        if len(before.asked_at):
            kernel.asked_at.values[target] = before.asked_at[source]
        if new["asked"] == RATED:
            kernel.rated.rows[target] = before.rated[source]
    return moved


def _rows_of(owners: Any, n_actions: int) -> list[int]:
    """Return how many rows each action has clocks for."""
    import numpy as np

    counts = np.bincount(owners["action"][owners["action"] >= 0], minlength=n_actions)
    return [int(c) for c in counts]


def _move_observed(kernel: Clockwork, before: _Before) -> None:
    """Move the values of observed rows and their integrals."""
    import numpy as np

    bases = before.series["base"]
    spans = np.diff(np.append(bases, len(before.observed["observed"])))
    for new, old, n in zip(kernel.series["base"], bases, spans, strict=True):
        for name, values in before.observed.items():
            kernel.__dict__[name].values[new : new + n] = values[old : old + n]


def _mark_again(kernel: Clockwork, marks: Any) -> None:
    """List the rows that were touched before the pool grew."""
    kernel.marks.rows[: len(marks)] = marks
    heads, strides = (kernel.kinds[column][marks["kind"]] for column in ("head", "stride"))
    kernel.owners["mark"][heads + marks["row"] * strides] = 1
