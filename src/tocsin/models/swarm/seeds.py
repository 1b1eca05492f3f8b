"""Statistics over seeds: the same swarm, again and again, as a table and in means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tocsin.models.swarm.summary import summarise
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation

if TYPE_CHECKING:
    import pyarrow as pa


def run_seeds(
    start: Callable[[int], Simulation[SwarmWorld]], seeds: Iterable[int], *, events: int, until: float = math.inf
) -> pa.Table:
    """Run a swarm for each seed and return a row of `summarise` for each.

    Parameters
    ----------
    start : returns the simulation for a seed; with the same start for all, or another for each
    seeds : of the runs
    events, until : where a run ends that does not come to rest

    Returns an Arrow table: seed, outcome, ended at, looks, epochs, distances travelled, diameter, clusters,
    whether all have gathered, and, if the swarm is watched, links and growth.
    """
    import pyarrow as pa

    rows = []
    for seed in seeds:
        simulation = start(seed)
        simulation.run(until=until, events=events)
        rows.append({"seed": seed, **summarise(simulation.world, simulation.now)})
    return pa.Table.from_pylist(rows)


def means(table: pa.Table) -> dict[str, tuple[float, float, float, float]]:
    """Return mean, standard deviation, least and most of each column of numbers; of those rows that have one.

    Truths count as 0 and 1, so their mean is a share; a column without any number is left out.
    """
    found = {}
    for name in table.column_names:
        values = [float(v) for v in table.column(name).to_pylist() if isinstance(v, (int, float))]
        if values and name not in ("seed", "robots"):
            mean = math.fsum(values) / len(values)
            spread = math.fsum((v - mean) ** 2 for v in values) / max(1, len(values) - 1)
            found[name] = (mean, math.sqrt(spread), min(values), max(values))
    return found
