"""Go back to any time of a run, and check a run against a log of its events.

A run is its model, its start and its seed: run again, it fires the same events to the last bit. So
nothing has to be stored to go back in time but some copies on the way, which save running from the
start each time.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tocsin.errors import InputError
from tocsin.run._simulation import Simulation
from tocsin.schema import World

if TYPE_CHECKING:
    import pyarrow as pa

W = TypeVar("W", bound=World)
BATCH_EVENTS = 65_536


class Replay(Generic[W]):
    """A run that can be visited at any time, again and again.

    Parameters
    ----------
    start : a simulation, or what `Simulation.load` gave; it is copied and left as it is
    every : simulated time between the copies that are kept, > 0
    most : copies that are kept, >= 2; when there are more, `every` doubles

    Cost of a visit: one copy of the state, and the events since the nearest copy kept before
    it. Raises InputError for an argument out of range.
    """

    def __init__(self, start: Simulation[W], *, every: float, most: int = 64) -> None:
        if not 0.0 < every < math.inf:
            raise InputError(f"every must be > 0 and finite, got {every!r}")
        if most < 2:
            raise InputError(f"most must be >= 2 copies, got {most!r}")
        self.every, self._most = float(every), int(most)
        self._first = start.now
        self._numbers, self._copies = [0], [start.copy()]

    @property
    def kept(self) -> list[float]:
        """Times of the copies that are kept."""
        return [copy.now for copy in self._copies]

    def at(self, time: float) -> Simulation[W]:
        """Return the simulation after all events up to `time`; it is yours to run on.

        Raises InputError for a time before the start, SimulationError where the run cannot go on.
        """
        if not self._first <= time < math.inf:
            raise InputError(f"time must be >= {self._first!r}, where the replay starts, and finite, got {time!r}")
        place = bisect.bisect_right(self.kept, time) - 1
        simulation, number = self._copies[place].copy(), self._numbers[place]
        while (number := number + 1) and self._first + number * self.every <= time:
            simulation.run(until=self._first + number * self.every)
            number = self._keep(simulation, number)
        simulation.run(until=time)
        return simulation

    def _keep(self, simulation: Simulation[W], number: int) -> int:
        """Keep a copy; return its number, which is halved if every second copy had to go."""
        place = bisect.bisect_right(self._numbers, number)
        self._numbers.insert(place, number)
        self._copies.insert(place, simulation.copy())
        if len(self._copies) <= self._most:
            return number
        kept = [k for k, n in enumerate(self._numbers) if n % 2 == 0]
        self._numbers = [self._numbers[k] // 2 for k in kept]
        self._copies = [self._copies[k] for k in kept]
        self.every *= 2.0
        return number // 2


def replay(simulation: Simulation[W], log: Any) -> Simulation[W]:
    """Run a copy of a simulation along a log of its events, and compare event by event.

    Parameters
    ----------
    simulation : as it was when the log began
    log : what `record_events` gave: a Parquet file, an Arrow table or reader, or anything with
        the Arrow PyCapsule interface; columns time float64, action, index

    Returns the copy after the last event of the log. Raises InputError for the first event that
    differs (times are compared bit by bit), or for what is no log.
    """
    copy = simulation.copy()
    for batch in _batches(log):
        _compare(copy, batch)
    return copy


def _batches(log: Any) -> Iterator[pa.Table]:
    """Yield a log in pieces of at most BATCH_EVENTS rows: time float64, action string, index int64."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = pa.schema([("time", pa.float64()), ("action", pa.utf8()), ("index", pa.int64())])
    try:
        if isinstance(log, (str, Path)):
            batches: Any = pq.ParquetFile(log).iter_batches(BATCH_EVENTS, columns=wanted.names)
        elif hasattr(log, "__arrow_c_stream__"):
            batches = pa.RecordBatchReader.from_stream(log)
        else:
            raise InputError(f"log must be a Parquet file, an Arrow table or a stream, got {log!r}"[:300])
        for batch in batches:
            table = pa.Table.from_batches([batch]).select(wanted.names).cast(wanted)
            for start in range(0, table.num_rows, BATCH_EVENTS):
                yield table.slice(start, BATCH_EVENTS)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise InputError(f"this is no log of events with time, action and index: {error}") from None


def _compare(simulation: Simulation[Any], told: pa.Table) -> None:
    import numpy as np

    before, n = simulation.n_events, told.num_rows
    fired = simulation.record_events(events=n).to_arrow().cast(told.schema)
    n_both = min(n, fired.num_rows)
    differs = np.zeros(n_both, np.bool_)
    for name in told.column_names:
        one, other = (table[name].slice(0, n_both).to_numpy() for table in (told, fired))
        if name == "time":
            one, other = one.view(np.int64), other.view(np.int64)
        differs |= one != other
    if differs.any() or n_both < n:
        at = int(differs.argmax()) if differs.any() else n_both
        was = f"the run fires {_told(fired, at)}" if at < fired.num_rows else "no clock of the run ever rings again"
        raise InputError(
            f"event {before + at + 1} differs: the log has {_told(told, at)}, {was}. The log is of another model, "
            f"seed, start or version, or the world was changed by hand."
        )


def _told(events: pa.Table, at: int) -> str:
    row = events.slice(at, 1).to_pylist()[0]
    return f"{row['action']}({row['index']}) at t={row['time']!r}"
