"""An ensemble: one small world run many times, as one compiled loop over runs, shared among threads.

Between two runs there is no Python: the memory of the world and of its clocks is copied back from an image, and the
compiled loop of the model goes on with the next seed. Every run has the bits that a `Simulation` with its seed has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError, Stop
from tocsin.experiment._executors import n_cores
from tocsin.experiment._seeds import checked_seed, seed_of
from tocsin.run import Simulation
from tocsin.run._driver import UNLIMITED
from tocsin.run._many import Layout, Seat
from tocsin.schema import Model, World
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

SECONDS_A_CHUNK, MOST_CHUNK = 0.2, 4096
"""Runs that a thread takes at a time: as many as take so long, as it cannot be interrupted in between."""
MOST_RUNS = 10_000_000
MOST_BYTES = 4 << 30
"""Memory that what is kept of all runs may take."""
_PARTS = ("value", "mean", "variance", "low", "high")


@dataclass(frozen=True, eq=False)
class Ensemble:
    """What was kept of all runs. All arrays are (runs, times), in the order of the seeds."""

    seeds: tuple[int, ...]
    times: NDArray[Any]
    """(times,) float64."""
    stops: NDArray[Any]
    """int64: the `Stop` code at each time."""
    model: Model
    _out: NDArray[Any]
    _layout: Layout

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def n_events(self) -> NDArray[Any]:
        """Events fired so far, int64."""
        return self._kernel("n_events")

    @property
    def now(self) -> NDArray[Any]:
        """Time up to which each run went, float64."""
        return self._kernel("now")

    def _kernel(self, field: str) -> NDArray[Any]:
        found: NDArray[Any] = self._layout.read("kernel", self._out)[field]
        return found

    def count(self, action: str) -> NDArray[Any]:
        """Return how often an action has fired, int64. Raises InputError for an unknown name."""
        number = _place(action, [member.name for member in self.model.actions], "action")
        found: NDArray[Any] = self._layout.read("actions", self._out)["n_fired"][..., number]
        return found

    def observable(self, name: str, part: str = "mean") -> NDArray[Any]:
        """Return an observable, float64: its value, mean, variance, low or high since the start.

        The same bits as `Simulation.observe`. Raises InputError for an unknown name or part.
        """
        import numpy as np

        number = _place(name, [member.name for member in self.model.observables], "observable")
        _place(part, _PARTS, "part")
        series = self._layout.read("series", self._out)[..., number]
        if part in ("value", "low", "high"):
            return np.array(series["total" if part == "value" else part])
        span, rest, total = self.now - series["since"], self.now - series["last"], series["total"]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(span > 0.0, (series["area"] + total * rest) / span, np.nan)
            if part == "mean":
                return mean
            square = np.where(span > 0.0, (series["area_squared"] + total * total * rest) / span, np.nan)
            return np.asarray(np.maximum(0.0, square - mean * mean))

    def scalar(self, name: str) -> NDArray[Any]:
        """Return a scalar of the world. Raises InputError for an unknown name."""
        found = self._layout.read("world", self._out)
        _place(name, found.dtype.names or (), "scalar")
        chosen: NDArray[Any] = found[name]
        return chosen

    def column(self, table: str, name: str) -> NDArray[Any]:
        """Return a column of a table that was kept: (runs, times, rows). Raises InputError for an unknown name."""
        found = self.array(table)
        _place(name, found.dtype.names or (), f"column of {table}")
        chosen: NDArray[Any] = found[name]
        return chosen

    def array(self, name: str) -> NDArray[Any]:
        """Return an array or a table of the world that was kept: (runs, times, ...). Raises InputError."""
        kept = [key for key in self._layout.spans if key not in ("kernel", "world", "series", "actions")]
        if name not in kept:
            raise InputError(
                f"{name!r} was not kept; ask for it with keep=[{name!r}]. Kept: {', '.join(kept) or 'none'}"
            )
        return self._layout.read(name, self._out)

    def to_arrow(self) -> pa.Table:
        """Return a table: run, seed, until, stop, time, n_events, then observables, counts and scalars by name."""
        import numpy as np
        import pyarrow as pa

        n, t = self.stops.shape
        names = {int(stop): stop.name.lower() for stop in Stop}
        columns: dict[str, Any] = {
            "run": np.repeat(np.arange(n), t), "seed": np.repeat(np.array(self.seeds, np.uint64), t),
            "until": np.tile(self.times, n), "stop": [names[code] for code in self.stops.ravel().tolist()],
            "time": self.now.ravel(), "n_events": self.n_events.ravel(),
        }  # fmt: skip
        for member in self.model.observables:
            columns |= {f"{member.name}.{part}": self.observable(member.name, part).ravel() for part in _PARTS}
        columns |= {f"n.{member.name}": self.count(member.name).ravel() for member in self.model.actions}
        scalars = self._layout.read("world", self._out)
        columns |= {name: np.ascontiguousarray(scalars[name].ravel()) for name in self.model.schema.scalars}
        return pa.table(columns)


def ensemble(
    model: Model,
    world: World,
    runs: int | Sequence[int],
    until: float | Sequence[float],
    *,
    seed: int = 0,
    events: int | None = None,
    threads: int | None = None,
    keep: Sequence[str] = (),
    **options: Any,
) -> Ensemble:
    """Run one world many times and return what was seen of every run.

    Parameters
    ----------
    model, world : as for `Simulation`
    runs : how many, with the seeds that a sweep with this `seed` gives its replicates; or the seeds themselves
    until : when each run is looked at, one time or several in ascending order; the last ends it
    events : stop a run after this many
    threads : how many; one a core by default. The result does not depend on it
    keep : tables and arrays of the world that are kept at each time; its scalars always are
    options : the other arguments of `Simulation`: method, source, start

    For small models: a thread cannot be interrupted in a chunk of its runs, a fifth of a second or one run, and a run in which a pool grows, or whose
    model has synchronous systems, is made by a Simulation of its own. Raises InputError, CompileError, and
    SimulationError as `Simulation.run` does.
    """
    seeds = _seeds(runs, seed)
    times = _times(until)
    if events is not None and (isinstance(events, bool) or not isinstance(events, int) or events < 0):
        raise InputError(f"events must be a whole number >= 0, got {events!r}")
    _check_kept(model, keep)
    if not options.keys() <= {"method", "source", "start"}:
        raise InputError(
            f"an ensemble takes of Simulation's arguments method, source and start, got {', '.join(options)}"
        )
    most = UNLIMITED if events is None else events
    n_threads = min(_checked_threads(threads), len(seeds))
    lock = threading.Lock()

    def make(own: int) -> Simulation[Any]:
        with lock:
            return Simulation(model, world, seed=own, **options)

    seats = [Seat(make, seeds, times, most, keep)]
    layout = seats[0].layout
    if len(seeds) * len(times) * layout.n_bytes > MOST_BYTES:
        size = len(seeds) * len(times) * layout.n_bytes / 2**30
        raise InputError(f"what is kept would take {size:.1f} GiB; keep less, or run in parts with seeds of their own")
    seats += [Seat(make, seeds, times, most, keep) for _ in range(n_threads - 1)]
    out, stops = _made(seats, len(seeds), len(times), layout.n_bytes)
    return Ensemble(tuple(seeds), times, stops, model, out, layout)


def _made(seats: Sequence[Seat], n: int, n_times: int, n_bytes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Let the seats take chunks of runs until none is left."""
    import numpy as np

    out, stops = np.zeros((n, n_times, n_bytes), np.uint8), np.zeros((n, n_times), np.int64)
    queue, is_stopped = _Queue(n), threading.Event()

    def work(seat: Seat) -> None:
        size = 1
        while not is_stopped.is_set():
            first, stop = queue.take(size)
            if first == stop:
                return
            begun = time.perf_counter()
            seat.run(first, stop, out[first:stop], stops)
            size = next_size(stop - first, time.perf_counter() - begun)

    if len(seats) == 1:
        work(seats[0])
        return out, stops
    with ThreadPoolExecutor(len(seats)) as pool:
        tasks = [pool.submit(work, seat) for seat in seats]
        try:
            for task in tasks:
                task.result()
        finally:
            is_stopped.set()
    return out, stops


class _Queue:
    """Runs 0 .. n - 1, dealt to threads."""

    def __init__(self, n: int) -> None:
        self._n, self._first, self._lock = n, 0, threading.Lock()

    def take(self, size: int) -> tuple[int, int]:
        """Return (first, stop) of `size` runs at most, and of few at the end, so that threads end together."""
        with self._lock:
            first, left = self._first, self._n - self._first
            self._first += min(size, left // 4 + 1, left)
            return first, self._first


def next_size(n: int, seconds: float) -> int:
    """Return how many runs to take after `n` that took so long."""
    fit = n * SECONDS_A_CHUNK / max(seconds, 1e-9)
    return max(1, int(min(fit, 8 * n, MOST_CHUNK)))


def _seeds(runs: Any, seed: int) -> list[int]:
    checked_seed(seed)
    if isinstance(runs, int) and not isinstance(runs, bool):
        if runs < 1:
            raise InputError(f"runs must be >= 1, got {runs}")
        if runs > MOST_RUNS:
            raise InputError(f"runs must be <= {MOST_RUNS:,}, got {runs:,}; run in parts with seeds of their own")
        return [seed_of(seed, None, k) for k in range(runs)]
    if isinstance(runs, (str, bool)) or not hasattr(runs, "__iter__"):
        raise InputError(f"runs must be how many, or their seeds, got {runs!r}")
    found = [checked_seed(one.item() if hasattr(one, "item") else one) for one in runs]
    if not found:
        raise InputError("there are no seeds; give at least one")
    return found


def _times(until: Any) -> NDArray[Any]:
    import numpy as np

    try:
        times = np.atleast_1d(np.array(until, np.float64))
    except (TypeError, ValueError):
        raise InputError(f"until must be a time or several, got {until!r}"[:200]) from None
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise InputError(f"until must be finite times in ascending order, got {until!r}"[:200])
    return np.ascontiguousarray(times)


def _check_kept(model: Model, keep: Sequence[str]) -> None:
    tables = model.schema.tables()
    known = [*(name for name, entity in tables.items() if not entity.pooled), *model.schema.arrays]
    for name in keep:
        if name in tables and tables[name].pooled:
            raise InputError(f"{name} is a pool, whose rows come and go, and cannot be kept; count in an observable")
        _place(name, known, "table or array")


def _checked_threads(threads: int | None) -> int:
    if threads is None:
        return n_cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads must be a whole number >= 1, got {threads!r}")
    return threads


def _place(name: str, known: Sequence[str], what: str) -> int:
    if name not in known:
        raise InputError(f"there is no {what} {name!r}.{nearest(name, known)} There are: {', '.join(known) or 'none'}.")
    return list(known).index(name)
