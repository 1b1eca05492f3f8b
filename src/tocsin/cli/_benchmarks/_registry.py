"""All benchmarks, by name. To add one, write it in a file of its own and name it here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tocsin.cli._benchmarks import (
    _cimba,
    _economy,
    _extrusion,
    _hard,
    _memory,
    _mesa,
    _queue,
    _sampling,
    _simpy,
    _startup,
    _swarm,
    _wasm,
)
from tocsin.cli._benchmarks._comparison import Comparison

BENCHMARKS: dict[str, Callable[[], Iterator[Comparison]]] = {
    "import": _startup.import_,
    "cold": _startup.cold,
    "queue": _queue.queue,
    "hard": _hard.hard,
    "extrusion": _extrusion.extrusion,
    "rates": _extrusion.rates,
    "simpy": _simpy.simpy,
    "cimba": _cimba.cimba,
    "memory": _memory.memory,
    "economy": _economy.economy,
    "sampling": _sampling.sampling,
    "mesa": _mesa.mesa,
    "swarm": _swarm.swarm,
    "wasm": _wasm.wasm,
}
