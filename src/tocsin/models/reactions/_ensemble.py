"""Run a network once or many times, by any method, on one thread or several.

Method "auto": the direct method up to MOST_DIRECT reactions, composition-rejection above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin import Simulation
from tocsin.errors import InputError
from tocsin.models.reactions._results import Ensemble, Moments, Trajectory
from tocsin.models.reactions._seats import Piece, Seat
from tocsin.models.reactions.model import MODEL, Reactor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.models.reactions.network import Network

METHODS = ("auto", "direct", "next-reaction", "composition-rejection")
MOST_DIRECT = 40
"""Reactions up to which the direct method is chosen: from there on the sum over all of them costs more."""
CHUNK = 256
"""Trajectories that are recorded at a time; the merge goes by chunks, so it does not depend on threads."""


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


def run(network: Network, times: Sequence[float], seed: int, method: str, jit: bool, most_events: int) -> Trajectory:
    """Run a network once (see `Network.run`)."""
    found = run_ensemble(network, 1, times, seed, method, 1, True, jit, most_events)
    assert found.values is not None
    return Trajectory(found.times, found.names, found.values[0], found.n_events)


def run_ensemble(
    network: Network, n: int, times: Sequence[float], seed: int, method: str, threads: int, keep: bool, jit: bool,
    most_events: int,
) -> Ensemble:  # fmt: skip
    """Run a network many times (see `Network.ensemble`)."""
    grid = _grid(times)
    for label, value, least in (
        ("n", n, 1),
        ("threads", threads, 1),
        ("seed", seed, 0),
        ("most_events", most_events, 1),
    ):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise InputError(f"{label} must be a whole number >= {least}, got {value!r}")
    if seed + n > 1 << 64:
        raise InputError(f"seeds run from seed to seed + n - 1 and must stay below 2**64, got seed={seed}")
    if most_events >= 1 << 63:
        raise InputError(f"most_events must be below 2**63, got {most_events}")
    method = chosen_method(network, method)
    moments, n_events, kept = Moments(), 0, []
    for values, events in _chunks(
        network, n, threads, lambda m, k: one_piece(network, grid, seed + m, k, method, jit, most_events)
    ):
        moments.add(values)
        n_events += events
        kept += [values] if keep else []
    variance = moments.squares / max(n - 1, 1)
    return Ensemble(
        grid, tuple(network.outputs), n, moments.mean, variance, n_events, np.concatenate(kept) if keep else None
    )


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


def one_piece(
    network: Network, grid: NDArray[Any], seed: int, n: int, method: str, jit: bool, most_events: int
) -> Piece:
    """Return the outputs of n trajectories, shape (n, n_times, n_outputs), and how many events they took."""
    seats = network._seats.setdefault((method, jit), [])
    try:
        seat = seats.pop()
    except IndexError:
        seat = Seat(network, method, jit)
    piece = seat.run(grid, seed, n, most_events)
    seats.append(seat)  # not after an error: its kernel stopped in the middle of an event
    return piece
