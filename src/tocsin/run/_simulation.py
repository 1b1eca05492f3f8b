"""`Simulation`: a model on a world, with a seed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from tocsin.errors import InputError, Stop
from tocsin.kernel import Clockwork
from tocsin.kernel._assemble import assemble
from tocsin.kernel._sources import source_named
from tocsin.run._driver import UNLIMITED, Driver, memory_of
from tocsin.run._observed import Observation, observations, row_means
from tocsin.run._record import EventStream, SnapshotStream, spaced
from tocsin.run._save import forked, place_of, read_save, to_bytes, unpickled, write_save
from tocsin.run._series import ObservableStream
from tocsin.schema import Model, World
from tocsin.schema._model import checked_method

if TYPE_CHECKING:
    from typing import Self

    import pyarrow as pa
    from numpy.typing import NDArray

W = TypeVar("W", bound=World)


class Event(NamedTuple):
    """One event: when, which action, on which row (0 for an action of the world)."""

    time: float
    action: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an event


class RunReport(NamedTuple):
    """What a run did."""

    n_events: int
    time: float
    stopped: Stop


class Simulation(Generic[W]):
    """A model on a world.

    Parameters
    ----------
    model : what can happen
    world : the initial state; it is copied, so one world can start many simulations
    seed : 0 .. 2**64 - 1; the same seed gives the same bits on every platform
    start : time at which it starts
    jit : False runs the same model as plain Python on the same memory, with the same bits
    method : how clocks with a `rate` find their time: 'next-reaction' or 'composition-rejection';
        the model's own by default
    audit : after each event, ask all clocks again and raise AuditError if one that was not touched
        answers otherwise; for tests, as its cost is that of all clocks at every event
    threads : how many share the rows of a synchronous system; by default as many as there are processors.
        The result does not depend on it
    source : where random numbers come from: 'philox', a stream for every clock, or to repeat
        another program's run one stream for all: 'pcg64', 'pcg64-rand', 'splitmix64'

    Raises InputError for a world of another class, a seed out of range or an unknown source,
    CompileError and PurityError for a model that does not compile.
    """

    def __init__(
        self,
        model: Model,
        world: W,
        *,
        seed: int = 0,
        start: float = 0.0,
        jit: bool = True,
        method: str | None = None,
        audit: bool = False,
        source: str = "philox",
        threads: int | None = None,
    ) -> None:
        if type(world) is not model.world:
            raise InputError(f"model {model.name} runs on {model.world.__name__}, got {type(world).__name__}")
        if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= int(seed) < 1 << 64:
            raise InputError(f"seed must be in 0..2**64-1, got {seed!r}")
        start = _time("start", start)
        if not math.isfinite(start):
            raise InputError(f"start must be finite, got {start!r}")
        self.model, self.seed, self.start = model, int(seed), start
        self.world: W = world.copy()
        self.source = source_named(source)
        self.method = checked_method(method or model.method)
        if self.method == "composition-rejection" and not self.source.is_keyed:
            raise InputError(f"composition-rejection draws from keyed streams; source {source!r} is one stream for all")
        if model.is_synchronous and not self.source.is_keyed:
            raise InputError(f"synchronous systems draw from keyed streams; source {source!r} is one stream for all")
        if audit and not self.source.is_keyed:
            raise InputError(f"the audit draws again what clocks drew; source {source!r} cannot, as it is one stream")
        self.audit = bool(audit)
        is_rated = [self.method == "composition-rejection" and m.asked == "rate" for m in model.actions]
        self._kernel: Clockwork = assemble(model, self.world, self.seed, self.start, self.source, is_rated, audit)
        self.jit = jit
        self._driver = Driver(model, self.world, self._kernel, jit, audit)
        if threads is not None:
            self.threads = threads

    def __repr__(self) -> str:
        return f"Simulation({self.model.name}, now={self.now!r}, n_events={self.n_events}, seed={self.seed})"

    def copy(self, *, seed: int | None = None) -> Self:
        """Return an independent copy that continues bit for bit as this one would.

        With another `seed` it branches: pending times stay as they are, all draws from now on
        are others. Raises InputError for a seed out of range.
        """
        return forked(self, seed)  # type: ignore[return-value]

    def save(self, path: str | Path) -> None:
        """Write everything to a file, whole or not at all; `load` continues bit for bit.

        The file is a zip of arrays and JSON. It belongs to this minor version and this model.
        Raises OutputError; SimulationError if the simulation stopped inside an event.
        """
        write_save(self, path)

    @classmethod
    def load(cls, path: str | Path, model: Model, *, jit: bool = True) -> Self:
        """Return the simulation that was saved in a file.

        Parameters
        ----------
        path : what `save` wrote
        model : the model that it was saved with
        jit : as in `Simulation`; the bits are the same either way

        Everything is checked before it is used, and nothing in the file is run. Raises
        InputError: no such file, damaged, of another version or another model.
        """
        return read_save(cls, path, model, jit)[0]  # type: ignore[return-value]

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (type(self), place_of(self.model), self.jit, to_bytes(self))

    def _options(self) -> dict[str, Any]:
        """Return the constructor's other arguments, as plain values: a save keeps them."""
        return {"source": self.source.name, "method": self.method, "audit": self.audit}

    def _come_to_rest(self) -> None:
        """Schedule what was touched by hand. Raises SimulationError inside an event."""
        if self._kernel.started or self._kernel.phase != 0:
            self._driver.advance(math.inf, 0)

    @property
    def threads(self) -> int:
        """How many threads share the rows of a synchronous system; set it at any time."""
        return self._driver.ticks.threads if self._driver.ticks else 1

    @threads.setter
    def threads(self, n: int) -> None:
        if isinstance(n, bool) or not hasattr(n, "__index__") or int(n) < 1:
            raise InputError(f"threads must be a whole number >= 1, got {n!r}")
        if self._driver.ticks:
            self._driver.ticks.threads = int(n)

    @property
    def now(self) -> float:
        """Time up to which the simulation has run."""
        return self._kernel.now

    @property
    def n_events(self) -> int:
        """Events fired so far."""
        return self._kernel.n_events

    @property
    def counts(self) -> dict[str, int]:
        """Events fired so far, by action."""
        fired = self._kernel.actions["n_fired"].tolist()
        return {m.name: n for m, n in zip(self.model.actions, fired, strict=True)}

    def run(
        self,
        until: float | None = None,
        events: int | None = None,
        progress: Callable[[Simulation[W]], None] | None = None,
    ) -> RunReport:
        """Fire events with time <= `until`, at most `events` of them.

        After reaching `until`, `now` is `until`: runs compose. `progress(self)` is called
        between slices of about 50 ms. Raises InputError without a limit, SimulationError if
        the run cannot go on, KeyboardInterrupt between two events (the simulation can go on).
        """
        end, most = _limits(until, events)
        before = self.n_events
        report = None if progress is None else (lambda: progress(self))
        stop = self._driver.advance(end, most, report)
        self._settle(stop, end)
        return RunReport(self.n_events - before, self.now, stop)

    def _settle(self, stop: Stop, end: float) -> None:
        if stop in (Stop.REACHED_TIME, Stop.EXHAUSTED) and self.now < end < math.inf:
            self._kernel.now = end

    def run_until(self, condition: Callable[[Self], Any], *, until: float, every: float = 1.0) -> bool:
        """Run to `until`, but stop where a condition holds; say whether it did.

        `condition(self)` is asked every `every` time units from now on, after all events up to and including that
        time. What it returns decides, not what it reads: the run is the one without. Raises InputError for an
        `every` that is not > 0, and as `run`.
        """
        for time in spaced(self.now, _time("until", until), _time("every", every)):
            self.run(until=time)
            if condition(self):
                return True
        self.run(until=until)
        return False

    def step(self) -> Event | None:
        """Fire one event and return it; None if no clock will ever ring."""
        coming = self.next_event()
        if coming is not None:
            self._driver.advance(math.inf, 1)
        return coming

    def next_event(self) -> Event | None:
        """Return the event that comes next, without firing it; None if there is none."""
        self._driver.advance(math.inf, 0)
        kernel = self._kernel
        times = kernel.clocks["time"]
        first = int(times.argmin()) if len(times) else -1
        time, slot = min((times.item(first) if len(times) else math.inf, first), (kernel.rated_time, kernel.rated_slot))
        if time == math.inf:
            return None
        owner = kernel.owners[slot]
        return Event(time, self.model.actions[owner.action].name, owner.row)

    def view(self, view: Any = None, **options: Any) -> Any:
        """Show a live page of this simulation in a notebook, as it stands; see `tocsin.view.widget_of`.

        The page runs a copy of it in the browser, bit for bit as here. Needs the extra `view`.
        """
        return import_module("tocsin.view").widget_of(self, view, **options)  # a room above this one

    def touch(self, *rows: Any) -> None:
        """Schedule the clocks of rows (or of the world) again, after you changed them by hand.

        Raises InputError for a row of another world, ScheduleError as `run` does.
        """
        for row in rows:
            if row is not self.world and getattr(row, "_world", None) is not self.world:
                raise InputError(f"touch rows of this simulation's own world, got {row!r}")
            self._kernel.add(row)
        self._driver.advance(math.inf, 0)

    def observe(self) -> dict[str, Observation]:
        """Return the model's observables: value now, exact time average, spread, extremes."""
        self._driver.advance(math.inf, 0)
        return observations(self.model, self._kernel)

    def row_means(self, observable: str) -> NDArray[Any]:
        """Return the exact time average of an observable on each row of its entity.

        Float64, one entry a row (a removed row of a pool counts as 0); NaN while no time has
        passed. Raises InputError for an unknown observable.
        """
        self._driver.advance(math.inf, 0)
        return row_means(self.model, self._kernel, observable)

    def reset_observables(self) -> None:
        """Start the averages anew from now, for instance after a burn-in."""
        self._driver.advance(math.inf, 0)
        series = self._kernel.series
        series["area"][:] = series["area_squared"][:] = 0.0
        series["since"][:] = series["last"][:] = self.now
        series["low"][:] = series["high"][:] = series["total"]
        self._kernel.row_area.values[:] = 0.0
        self._kernel.row_since.values[:] = self.now

    def state_hash(self) -> str:
        """Return a SHA-256 of the world, the pending times, the draws and the time."""
        self._driver.advance(math.inf, 0)
        digest = hashlib.sha256()
        for name, values in memory_of(self.world).items():
            digest.update(f"{name}:{values.dtype.str}:{values.shape};".encode())
            digest.update(values.tobytes())
        digest.update(self._kernel.clocks["time"].tobytes())
        digest.update(self._kernel.owners["epoch"].tobytes())
        if len(self._kernel.rated):
            digest.update(self._kernel.rated["rate"].tobytes())
            digest.update(f"{self._kernel.rated_time!r},{self._kernel.rated_epoch};".encode())
        if not self.source.is_keyed:
            digest.update(self._kernel.rngs.rows.tobytes())
        digest.update(f"{self.now!r},{self.n_events},{self.seed}".encode())
        return digest.hexdigest()

    def to_arrow(
        self, table: str | None = None, columns: Sequence[str] | None = None, stamp: tuple[int, int] | None = None
    ) -> pa.Table:
        """Return a table of the world (the first, by default) as it is now, live rows only.

        Columns: index int32, then the fields in their own types; references are row numbers,
        none is null. With `stamp`, the numbers of a run and a step, the first columns are run, step and uid (the
        row's key), int64. Raises InputError for an unknown table or column.
        """
        import pyarrow as pa

        from tocsin.run._record import first_table, table_batch

        return pa.Table.from_batches([table_batch(self.world, table or first_table(self.world), columns, stamp)])

    def record(
        self,
        every: float,
        until: float,
        columns: Mapping[str, Sequence[str]] | Sequence[str] | str | None = None,
        *,
        run: int | None = None,
        when: Callable[[Simulation[W]], Any] | None = None,
    ) -> SnapshotStream:
        """Run to `until` and take a snapshot of one table every `every` time units.

        Parameters
        ----------
        every : spacing, > 0; snapshots at now, now + every, ..., each after all events up to
            and including its time
        until : where the run ends
        columns : a table's name, or {table: [columns]}; the first table by default
        run : a number for this run: after the time then come the columns run, step (times of `every` since the
            simulation's start) and uid (the row's key, never used again)
        when : take only the snapshots at which `when(self)` holds

        Returns a stream of Arrow record batches in bounded memory: iterate it, hand it to
        anything that reads the Arrow PyCapsule interface, or `to_parquet(path)`.
        """
        return SnapshotStream(self, every, until, columns, run, when)

    def record_observables(self, every: float, until: float, names: Sequence[str] | None = None) -> ObservableStream:
        """Run to `until` and take the values of observables every `every` time units: a curve.

        Parameters
        ----------
        every, until : as in `record`
        names : which observables; all by default

        Returns a stream as `record` does: a column for the time and one for each observable.
        Raises InputError for an unknown observable.
        """
        return ObservableStream(self, every, until, names)

    def record_events(self, until: float | None = None, events: int | None = None) -> EventStream:
        """Run to a limit and stream every event (time, action, index) as Arrow batches."""
        end, most = _limits(until, events)
        return EventStream(self, end, most)


def _limits(until: float | None, events: int | None) -> tuple[float, int]:
    if until is None and events is None:
        raise InputError("say when to stop: until=..., events=..., or both")
    end = math.inf if until is None else _time("until", until)
    if math.isnan(end):
        raise InputError("until must be a time, got NaN")
    if end == math.inf and events is None:
        raise InputError("until=inf needs events=...: the run might never end")
    if events is None:
        return end, UNLIMITED
    if isinstance(events, bool) or not hasattr(events, "__index__"):
        raise InputError(f"events must be a whole number, got {events!r}")
    if events < 0:
        raise InputError(f"events must be >= 0, got {events}")
    return end, min(int(events), UNLIMITED)


def _time(name: str, value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, got {value!r}"[:200]) from None
