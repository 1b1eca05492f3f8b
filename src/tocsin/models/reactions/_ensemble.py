"""Run a network once or many times, by any method, on one thread or several.

Method "auto": the direct method up to MOST_DIRECT reactions, composition-rejection above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin import Simulation
from tocsin.errors import InputError, SimulationError, Stop, ZenoError
from tocsin.formula import LOAD, run_formula
from tocsin.kernel import Clockwork, advance
from tocsin.kernel._assemble import assemble
from tocsin.kernel._sources import source_named
from tocsin.models.reactions._build import bad_propensity
from tocsin.models.reactions._direct import ensemble
from tocsin.models.reactions._results import Ensemble, Moments, Trajectory
from tocsin.models.reactions.model import MODEL, Reactor
from tocsin.run._compiled import compiled
from tocsin.run._driver import UNLIMITED, Driver, interrupts_deferred

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.compile import NativeLoop
    from tocsin.models.reactions.network import Network

METHODS = ("auto", "direct", "next-reaction", "composition-rejection")
MOST_DIRECT = 40
"""Reactions up to which the direct method is chosen: from there on the sum over all of them costs more."""
CHUNK = 256
"""Trajectories that are recorded at a time; the merge goes by chunks, so it does not depend on threads."""
SLICE = 500_000


def chosen_method(network: Network, method: str) -> str:
    """Return the method that a name stands for. Raises InputError for an unknown name."""
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method != "auto":
        return method
    return "direct" if len(network.reactions) <= MOST_DIRECT else "composition-rejection"


def simulation(network: Network, seed: int, method: str, **options: Any) -> Simulation[Reactor]:
    """Return a Simulation of a network. Raises InputError for the direct method, which has no clocks."""
    if method == "direct":
        raise InputError("the direct method has no clocks; a Simulation goes by next-reaction or composition-rejection")
    method = "composition-rejection" if method == "auto" else chosen_method(network, method)
    return Simulation(MODEL, network.world(), seed=seed, method=method, **options)


def run(network: Network, times: Sequence[float], seed: int, method: str, jit: bool) -> Trajectory:
    """Run a network once (see `Network.run`)."""
    found = run_ensemble(network, 1, times, seed, method, 1, True, jit)
    assert found.values is not None
    return Trajectory(found.times, found.names, found.values[0], found.n_events)


def run_ensemble(
    network: Network, n: int, times: Sequence[float], seed: int, method: str, threads: int, keep: bool, jit: bool
) -> Ensemble:
    """Run a network many times (see `Network.ensemble`)."""
    grid = _grid(times)
    for label, value, least in (("n", n, 1), ("threads", threads, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise InputError(f"{label} must be a whole number >= {least}, got {value!r}")
    if seed + n > 1 << 64:
        raise InputError(f"seeds run from seed to seed + n - 1 and must stay below 2**64, got seed={seed}")
    one = run_direct if chosen_method(network, method) == "direct" else run_clocks
    method = chosen_method(network, method)
    moments, n_events, kept = Moments(), 0, []
    for values, events in _chunks(network, n, threads, lambda m, k: one(network, grid, seed + m, k, method, jit)):
        moments.add(values)
        n_events += events
        kept += [values] if keep else []
    variance = moments.squares / max(n - 1, 1)
    return Ensemble(
        grid, tuple(network.outputs), n, moments.mean, variance, n_events, np.concatenate(kept) if keep else None
    )


Piece = tuple["NDArray[Any]", int]


def _chunks(network: Network, n: int, threads: int, one: Callable[[int, int], Piece]) -> Iterator[Piece]:
    """Yield chunks of trajectories in order, `threads` of them at work."""
    starts = range(0, n, CHUNK)
    network.world()  # built once, before threads ask for copies
    if threads == 1:
        yield from (one(m, min(CHUNK, n - m)) for m in starts)
        return
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(starts), 4 * threads):
            block = starts[first : first + 4 * threads]
            yield from pool.map(lambda m: one(m, min(CHUNK, n - m)), block)


def _grid(times: Sequence[float]) -> NDArray[Any]:
    try:
        grid = np.array(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"times must be numbers, got {times!r}"[:200]) from None
    if grid.ndim != 1 or not len(grid):
        raise InputError(f"times must be a list of at least one time, got shape {grid.shape}")
    if not np.isfinite(grid).all() or grid[0] < 0.0 or (np.diff(grid) < 0.0).any():
        raise InputError("times must be finite, >= 0 and ascending")
    return grid


def run_direct(network: Network, grid: NDArray[Any], seed: int, n: int, method: str, jit: bool) -> Piece:
    """Return the outputs of n trajectories, shape (n, n_times, n_outputs), and how many events they took."""
    world = network.world()
    world._set_array(world.schema().arrays["times"], grid)
    world._set_array(world.schema().arrays["recorded"], np.zeros(n * len(grid) * len(network.outputs)))
    world.n_trajectories, world.seed_low, world.seed_high = n, seed & 0xFFFFFFFF, seed >> 32
    kernel = assemble(MODEL, world, seed, 0.0, source_named("philox"), [False, True])
    loop = _loop(world, kernel, jit)
    while True:
        with interrupts_deferred():
            stop = Stop(loop(math.inf, SLICE))
        if stop is not Stop.REACHED_EVENTS:
            break
    if stop is Stop.BAD_TIME:
        world.renew_all(kernel.now, kernel.rngs[0])
        raise SimulationError(f"{bad_propensity(network, world)}, time {kernel.now!r}, seed {seed + world.trajectory}")
    if stop is Stop.ZENO:
        raise ZenoError(f"events follow events without end at time {kernel.now!r}, seed {seed + world.trajectory}")
    return world.recorded.values.reshape(n, len(grid), -1).copy(), world.n_total


def _loop(world: Reactor, kernel: Clockwork, jit: bool) -> Callable[[float, int], int]:
    if not jit:
        return lambda until, events: ensemble(None, world, kernel, until, events)
    native = compiled(MODEL, Clockwork.schema(), ensemble)
    addresses = world._header.ctypes.data, kernel._header.ctypes.data
    return lambda until, events: native(*addresses, until, events)


class _Clocks(Driver):
    """The kernel's loop, found once for many trajectories rather than for each."""

    def __init__(self, world: Reactor, kernel: Clockwork, native: NativeLoop | None) -> None:
        self._native = native
        super().__init__(MODEL, world, kernel, jit=native is not None)

    def _compiled(self) -> Callable[[float, int], int]:
        native, world, kernel = self._native, self.world._header.ctypes.data, self.kernel._header.ctypes.data
        assert native is not None
        return lambda until, events: native(world, kernel, until, events)


def run_clocks(network: Network, grid: NDArray[Any], seed: int, n: int, method: str, jit: bool) -> Piece:
    """As `run_direct`, by the kernel's clocks: each trajectory has the bits of a Simulation with its seed."""
    native = compiled(MODEL, Clockwork.schema(), advance) if jit else None
    values = np.empty((n, len(grid), len(network.outputs)))
    n_events = 0
    for m in range(n):
        world = network.world()
        is_rated = [False, method == "composition-rejection"]
        kernel = assemble(MODEL, world, seed + m, 0.0, source_named("philox"), is_rated)
        driver = _Clocks(world, kernel, native)
        try:
            for k, time in enumerate(grid.tolist()):
                driver.advance(time, UNLIMITED)
                values[m, k] = outputs(world, time)
        except SimulationError as error:
            if world.bad:
                raise SimulationError(
                    f"{bad_propensity(network, world)}, time {kernel.now!r}, seed {seed + m}"
                ) from error
            raise
        n_events += kernel.n_events
    return values, n_events


def outputs(world: Reactor, time: float) -> list[float]:
    """Return the outputs of a world as they are now."""
    found = []
    for first, last in world.outputs.values.tolist():
        is_load = last == first + 1 and world.ops.values.item(first) == LOAD
        value = world.values.values.item(world.args.values.item(first)) if is_load else None
        found.append(run_formula(world, first, last, time, None) if value is None else value)  # type: ignore[arg-type]
    return found
