"""A place where one world is run again and again, each time from its beginning, with another seed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tocsin.compile._many import FIELDS, many
from tocsin.run._compiled import access_of, compiled
from tocsin.run._simulation import Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.schema import Model

_OF_KERNEL = ("series", "actions")
"""Tables of the kernel that are kept at each stop, beside its clock and counts."""
_SCRATCH = ("run", "heap")
"""Tables of the kernel of which nothing counts before the first event."""


class Seat:
    """One simulation whose memory is put back before each run.

    Parameters
    ----------
    make : makes a fresh simulation with a given seed
    seeds : of all runs
    times : (n_times,) float64, ascending: where each run stops, and is looked at
    most_events : at which a run stops too
    tables : tables and arrays of the world that are kept, beside its scalars
    """

    def __init__(
        self, make: Callable[[int], Simulation[Any]], seeds: Sequence[int], times: NDArray[Any], most_events: int,
        tables: Sequence[str],
    ) -> None:  # fmt: skip
        self._make, self._seeds, self._times, self._most = make, seeds, times, most_events
        self._tables, self.layout = tables, Layout()
        self._streams: NDArray[Any] | None = None
        self._sit()

    def _sit(self) -> None:
        """Take a fresh simulation, an image of its memory, and the addresses of what is kept."""
        import numpy as np

        self._simulation = simulation = self._make(0)
        world, kernel = simulation.world, simulation._kernel
        memory = [*_memory(world, _unwritten(world, simulation.model)), *_memory(kernel, _SCRATCH)]
        self._images = [block.copy() for block in memory]
        pairs = [(own, image) for own, image in zip(memory, self._images, strict=True) if own.nbytes]
        blocks = [(own.ctypes.data, image.ctypes.data, own.nbytes) for own, image in pairs]
        kept = [(block.ctypes.data, block.nbytes) for block in self._kept(simulation).values() if block.nbytes]
        self._rows = np.array(blocks, np.int64), np.array(kept, np.int64).reshape(-1, 2)
        if not self.layout.n_bytes:
            self.layout = Layout(self._kept(simulation))

    def _kept(self, simulation: Simulation[Any]) -> dict[str, NDArray[Any]]:
        """Return what is kept at a stop: plain memory, by name."""
        world, kernel = simulation.world, simulation._kernel
        found = {"kernel": kernel._globals, "world": world._globals}
        found |= {name: kernel.__dict__[name].rows for name in _OF_KERNEL}
        return found | {name: _plain(world.__dict__[name]) for name in self._tables}

    def _streams_of(self, simulation: Simulation[Any]) -> NDArray[Any]:
        """Return the random streams of all runs, (runs, ...) in the kernel's own form."""
        import numpy as np

        fresh = simulation._kernel.rngs.rows
        streams = np.repeat(fresh[None], len(self._seeds), axis=0)
        fields = [simulation.source.fields(seed) for seed in self._seeds]
        for name in fields[0] if fields else ():
            streams[name] = np.array([one[name] for one in fields], fresh.dtype[name])[:, None]
        return np.ascontiguousarray(streams)

    def run(self, first: int, stop: int, out: NDArray[Any], stops: NDArray[Any]) -> None:
        """Make runs first .. stop - 1.

        Parameters
        ----------
        out : (stop - first, n_times, n_bytes) uint8, filled
        stops : (runs, n_times) int64 of all runs; those of these are filled with Stop codes

        Raises SimulationError as `Simulation.run` does.
        """
        k = first
        while k < stop:
            if not self._simulation.model.is_synchronous:  # its ticks have a part in Python
                k = self._go(k, stop, out[k - first :], stops)
            if k < stop:
                self._alone(k, out[k - first], stops[k])
                k += 1
                self._sit()

    def _go(self, first: int, stop: int, out: NDArray[Any], stops: NDArray[Any]) -> int:
        """Return the number of the run that has to be made alone, or `stop`."""
        import numpy as np

        simulation, (blocks, kept) = self._simulation, self._rows
        if self._streams is None:
            self._streams = self._streams_of(simulation)
        world, kernel = simulation.world, simulation._kernel
        loop = compiled(simulation.model, kernel.schema(), simulation._driver._entry)
        error = ctypes.c_void_p()
        values = {
            "loop": loop.address, "world": world._header.ctypes.data, "kernel": kernel._header.ctypes.data,
            "first": first, "stop": stop, "most_events": self._most, "times": self._times.ctypes.data,
            "n_times": len(self._times), "blocks": blocks.ctypes.data, "n_blocks": len(blocks),
            "stream": kernel.rngs.rows.ctypes.data, "streams": self._streams.ctypes.data,
            "stream_bytes": kernel.rngs.rows.nbytes, "kept": kept.ctypes.data, "n_kept": len(kept),
            "out": out.ctypes.data, "stops": stops.ctypes.data, "now": _address(kernel, "now"),
            "n_events": _address(kernel, "n_events"), "clocks": kernel.clocks._counts.ctypes.data,
            "clocks_at": kernel.clocks.rows.ctypes.data, "error": ctypes.addressof(error),
        }  # fmt: skip
        fields = np.array([values[name] for name in FIELDS], np.int64)
        code = many()
        call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)
        return int(call(fields.ctypes.data))

    def _alone(self, k: int, out: NDArray[Any], stops: NDArray[Any]) -> None:
        """Make one run by a simulation of its own: it grows, or it fails and says why."""
        import numpy as np

        simulation = self._make(self._seeds[k])
        for t, until in enumerate(self._times.tolist()):
            report = simulation.run(until=until, events=self._most - simulation.n_events)
            stops[t] = int(report.stopped)
            for name, block in self._kept(simulation).items():
                at, size = self.layout.spans[name]
                out[t, at : at + size] = np.frombuffer(block.tobytes(), np.uint8)


class Layout:
    """Where each thing lies in the bytes that are kept of a stop."""

    def __init__(self, kept: Mapping[str, NDArray[Any]] | None = None) -> None:
        self.spans: dict[str, tuple[int, int]] = {}
        self._kinds: dict[str, tuple[Any, tuple[int, ...]]] = {}
        self.n_bytes = 0
        for name, block in (kept or {}).items():
            self.spans[name] = (self.n_bytes, block.nbytes)
            self._kinds[name] = (block.dtype, block.shape)
            self.n_bytes += block.nbytes

    def read(self, name: str, out: NDArray[Any]) -> NDArray[Any]:
        """Return one thing of all runs and stops: its own shape after theirs."""
        (at, size), (dtype, shape) = self.spans[name], self._kinds[name]
        found: NDArray[Any] = out[..., at : at + size].view(dtype).reshape(*out.shape[:-1], *shape)
        return found


def _memory(world: Any, but: Collection[str]) -> list[NDArray[Any]]:
    """Return all memory of a world, each block once, but for some tables and arrays."""
    schema = world.schema()
    parts = [world.__dict__[name] for name in (*schema.tables(), *schema.arrays) if name not in but]
    return [world._header, world._globals, *map(_plain, parts)]


def _unwritten(world: Any, model: Model) -> set[str]:
    """Return the arrays of a world that no run changes, such as a network: they need not be put back."""
    if world._outside is not None:  # what a function from outside writes is not known
        return set()
    written = {name for access in access_of(model).values() for name in access.writes}
    return {name for name in world.schema().own_arrays() if f"{name}[]" not in written}


def _plain(part: Any) -> NDArray[Any]:
    found: NDArray[Any] = part.rows if hasattr(part, "rows") else part.values
    return found


def _address(kernel: Any, field: str) -> int:
    return int(kernel._globals.ctypes.data + kernel._globals.dtype.fields[field][1])
