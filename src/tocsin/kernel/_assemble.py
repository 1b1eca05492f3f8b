"""Build the kernel's state for a model and a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tocsin.kernel._layout import Layout
from tocsin.kernel._paging import begin_levels, page_arrays
from tocsin.kernel._sources import Source
from tocsin.kernel._state import MIN_DAYS, N_DRAWS, N_LEVELS, Clockwork
from tocsin.kernel._sweep import MOST_LANES
from tocsin.schema import Model, World

MOST_KEPT = 100_000
"""Clocks up to which a state is kept as a pattern: for a small world, copying it takes a third of the time."""
_last: WeakKeyDictionary[Model, tuple[Any, Clockwork]] = WeakKeyDictionary()
"""By model, the state made last, but for its random streams; and all that it was made from."""


def assemble(
    model: Model, world: World, seed: int, start: float, source: Source, is_rated: Sequence[bool], audit: bool = False
) -> Clockwork:
    """Return the state of an event loop that has not started yet.

    `is_rated` says of each action whether its clocks go by composition-rejection; `audit` makes
    room for the time at which each clock was asked.
    """
    layout = Layout(model, world, is_rated)
    key = (source.clockwork, start, tuple(is_rated), audit, *layout.facts())
    before = _last.get(model)
    if before is not None and before[0] == key:
        kernel: Clockwork = before[1].copy()
        kernel.actions["rows_at"][:] = layout.actions["rows_at"]
    else:
        kernel = _fresh(layout, start, source, audit)
        if layout.n_clocks <= MOST_KEPT:
            _last[model] = key, kernel.copy()
    for name, value in source.fields(seed).items():
        kernel.rngs[name][:] = value
    return kernel


def _fresh(layout: Layout, start: float, source: Source, audit: bool) -> Clockwork:
    import numpy as np

    model = layout.model
    kernel: Clockwork = source.clockwork(
        **layout.sizes(), kinds=layout.kinds, actions=layout.actions,
        rngs=1 + 2 * MOST_LANES if model.is_synchronous else 1, lanes=MOST_LANES if model.is_synchronous else 0,
        series=len(model.observables), log=1, now=start, origin=start, looked_at=start, begun_at=start, still_limit=0,
        kind_actions=layout.kind_actions, kind_observables=layout.kind_observables,
        n_days=MIN_DAYS, levels=N_LEVELS,
        draws=N_DRAWS if layout.n_rated else 0, n_drawn=N_DRAWS,
        raw=np.zeros(2 * N_DRAWS if layout.n_rated or model.systems else 0), asked_at=np.zeros(layout.n_clocks if audit else 0), **page_arrays(layout.n_rated),
    )  # fmt: skip
    begin_levels(kernel)
    kernel.days["first"][:] = -1
    kernel.series["last"][:] = kernel.series["since"][:] = start
    kernel.row_since.values[:] = start
    layout.number_clocks(kernel)
    return kernel
