"""Places where trajectories are run: a world, a kernel and their loop, used again and again."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.compile import assembled
from tocsin.errors import SimulationError, Stop, ZenoError
from tocsin.kernel import Clockwork
from tocsin.kernel._assemble import assemble
from tocsin.kernel._sources import source_named
from tocsin.models.reactions._build import bad_propensity
from tocsin.models.reactions._loops import Step, ensemble_by_clocks, ensemble_by_direct
from tocsin.models.reactions._unrolled import NAME, Unrolled
from tocsin.models.reactions.model import MODEL, Reactor
from tocsin.run._compiled import compiled
from tocsin.run._driver import interrupts_deferred
from tocsin.schema._layout import KERNEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.compile import NativeLoop
    from tocsin.models.reactions.network import Network

FIRST_SLICE, SLICE = 100_000, 2_000_000
"""Events between two looks at what Python has to say; after the first, a small network is compiled."""
Piece = tuple["NDArray[Any]", int]


class Seat:
    """One place where trajectories of one network are run, one after the other."""

    def __init__(self, network: Network, method: str, jit: bool) -> None:
        self.network, self.method = network, method
        self.world = network.world()
        self.kernel = self._assembled()
        is_direct = method == "direct"
        if not is_direct:
            self._keep_fresh()
        self.loop = _loop(self.world, self.kernel, ensemble_by_direct if is_direct else ensemble_by_clocks, jit)
        self.may_unroll = is_direct and jit and bool(self.world.is_flat)
        if network._burst is not None and self.may_unroll:
            self.unroll()

    def _assembled(self) -> Clockwork:
        is_rated = [member.asked == "rate" and self.method != "next-reaction" for member in MODEL.actions]
        return assemble(MODEL, self.world, 0, 0.0, source_named("philox"), is_rated)

    def _keep_fresh(self) -> None:
        """Keep a kernel that never runs: its memory is what each trajectory begins with."""
        world, kernel = self.world, self.kernel
        world._kernel = kernel
        world._header[KERNEL] = kernel._header.ctypes.data
        self._fresh = self._assembled()
        pairs = zip(_memory(kernel), _memory(self._fresh), strict=True)
        rows = [(own.ctypes.data, fresh.ctypes.data, own.nbytes) for own, fresh in pairs]
        world._set_array(world.schema().arrays["fresh"], np.array(rows, np.int64))
        world.memmove_at = ctypes.cast(ctypes.memmove, ctypes.c_void_p).value or 0

    def unroll(self) -> None:
        """Let a small network go on by machine code of its own: the same bits, sooner."""
        world, network = self.world, self.network
        if network._burst is None:
            network._burst = assembled(Unrolled(world).text(), NAME)
        world.values_at, world.limits_at = world.values.values.ctypes.data, world.limits.values.ctypes.data
        world.draws_at = self.kernel.draws.rows.ctypes.data
        world.burst_at = network._burst.address

    def run(self, grid: NDArray[Any], seed: int, n: int, most_events: int) -> Piece:
        """Return the outputs of n trajectories, shape (n, n_times, n_outputs), and how many events they took.

        Raises SimulationError for a propensity that cannot be, or more than `most_events` in a trajectory;
        ZenoError for events without end at one instant.
        """
        world = self.world
        arrays = world.schema().arrays
        if world.times.values.tobytes() != grid.tobytes():
            world._set_array(arrays["times"], grid)
        wanted = n * len(grid) * len(self.network.outputs)
        if len(world.recorded.values) < wanted:
            world._set_array(arrays["recorded"], np.zeros(wanted))
        world.n_trajectories, world.trajectory, world.at, world.n_total = n, 0, -1, 0
        world.most_events, world.seed_low, world.seed_high = most_events, seed & 0xFFFFFFFF, seed >> 32
        world.bad = world.wrong = world.n_hidden = 0
        self._go(seed)
        return world.recorded.values[:wanted].reshape(n, len(grid), -1).copy(), world.n_total - world.n_hidden

    def _go(self, seed: int) -> None:
        world, events = self.world, SLICE if self.world.burst_at else FIRST_SLICE
        while True:
            with interrupts_deferred():
                stop = Stop(self.loop(math.inf, events))
            if stop is not Stop.REACHED_EVENTS:
                break
            if world.n_own > world.most_events:
                raise SimulationError(self._too_many(seed))
            if self.may_unroll and not world.burst_at:
                self.unroll()
            events = SLICE
        self._explain(stop, seed + world.trajectory)

    def _explain(self, stop: Stop, seed: int) -> None:
        at = f"time {self.kernel.now!r}, seed {seed}"
        if stop is Stop.BAD_TIME:
            if not self.world.wrong:
                self.world.renew_all(self.kernel.now, self.kernel.rngs[0])
            raise SimulationError(f"{bad_propensity(self.network, self.world)}, {at}")
        if stop is Stop.ZENO:
            raise ZenoError(f"events follow events without end at {at}")

    def _too_many(self, seed: int) -> str:
        world = self.world
        return (
            f"the trajectory with seed {seed + world.trajectory} had {world.n_own:,} events by time {self.kernel.now!r} "
            f"and was stopped there (at {amounts(self.network, world)}): end it earlier, or raise most_events"
        )


def amounts(network: Network, world: Reactor) -> str:
    """Return the first amounts, as errors say them."""
    return ", ".join(f"{s}={world.values.values.item(k):g}" for k, s in enumerate([*network.species][:8]))


def _memory(kernel: Clockwork) -> list[Any]:
    """Return all memory of a kernel but its header, in a fixed order."""
    schema = kernel.schema()
    tables = [kernel._tables[entity.name].rows for entity in schema.entities]
    return [*tables, *(kernel.__dict__[name].values for name in schema.arrays), kernel._globals]


@functools.cache
def _native(entry: Step) -> NativeLoop:
    """Return a compiled loop, which is the same for all networks."""
    return compiled(MODEL, Clockwork.schema(), entry)


def _loop(world: Reactor, kernel: Clockwork, entry: Step, jit: bool) -> Callable[[float, int], int]:
    if not jit:
        return lambda until, events: entry(MODEL, world, kernel, until, events)
    native = _native(entry)
    addresses = world._header.ctypes.data, kernel._header.ctypes.data
    return lambda until, events: native(*addresses, until, events)
