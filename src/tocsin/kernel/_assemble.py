"""Build the kernel's state for a model and a world."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.kernel._layout import Layout
from tocsin.kernel._paging import begin_levels, page_arrays
from tocsin.kernel._sources import Source
from tocsin.kernel._state import MIN_DAYS, N_DRAWS, N_LEVELS, Clockwork
from tocsin.kernel._sweep import MOST_LANES
from tocsin.schema import Model, World


def assemble(
    model: Model, world: World, seed: int, start: float, source: Source, is_rated: Sequence[bool], audit: bool = False
) -> Clockwork:
    """Return the state of an event loop that has not started yet.

    `is_rated` says of each action whether its clocks go by composition-rejection; `audit` makes
    room for the time at which each clock was asked.
    """
    import numpy as np

    layout = Layout(model, world, is_rated)
    kernel = source.clockwork(
        **layout.sizes(), kinds=layout.kinds, actions=layout.actions,
        rngs=1 + 2 * MOST_LANES if model.is_synchronous else 1, lanes=MOST_LANES if model.is_synchronous else 0,
        series=len(model.observables), log=1, now=start, origin=start, looked_at=start, begun_at=start, still_limit=0,
        kind_actions=layout.kind_actions, kind_observables=layout.kind_observables,
        n_days=MIN_DAYS, levels=N_LEVELS,
        draws=N_DRAWS if layout.n_rated else 0, n_drawn=N_DRAWS,
        raw=np.zeros(2 * N_DRAWS if layout.n_rated or model.systems else 0), asked_at=np.zeros(layout.n_clocks if audit else 0), **page_arrays(layout.n_rated),
    )  # fmt: skip
    begin_levels(kernel)
    for name, value in source.fields(seed).items():
        kernel.rngs[name][:] = value
    kernel.days["first"][:] = -1
    kernel.series["last"][:] = kernel.series["since"][:] = start
    kernel.row_since.values[:] = start
    layout.number_clocks(kernel)
    return kernel
