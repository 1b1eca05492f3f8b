"""Room for a log of events, which a page may switch on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.schema._memory import zeros

if TYPE_CHECKING:
    from tocsin.run import Simulation

LOG_ROWS = 4096
"""Events that it holds until somebody takes them."""


def with_log(simulation: Simulation[Any]) -> Simulation[Any]:
    """Give a simulation room for a log; return it."""
    log = simulation._kernel.log
    log._adopt(zeros(LOG_ROWS, log.rows.dtype))
    log._counts[1:3] = LOG_ROWS
    return simulation
