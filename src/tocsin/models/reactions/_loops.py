"""Whole ensembles in one compiled loop: trajectory after trajectory, each recorded at all times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tocsin.errors import Stop
from tocsin.formula import LOAD, run_formula
from tocsin.kernel import advance, call_at
from tocsin.kernel._rng import MASK32
from tocsin.kernel._state import N_DRAWS
from tocsin.models.reactions._direct import add_up, by_direct
from tocsin.models.reactions._thinning import open_window
from tocsin.models.reactions.model import Reactor
from tocsin.schema import NEVER

REACHED_TIME = int(Stop.REACHED_TIME)
EXHAUSTED = int(Stop.EXHAUSTED)
Step = Callable[[Any, Reactor, Any, float, int], int]


def ensemble_by(go_on: Step) -> Step:
    """Return the loop over trajectories that go on by `go_on`."""

    def ensemble(model: Any, world: Reactor, kernel: Any, until: float, max_events: int) -> int:
        """Run trajectories one after the other; return a Stop code.

        Stops after `max_events` events, or after more than a trajectory may have, and goes on where it
        stopped when it is called again. `until` is not used: a trajectory ends at its last time.
        """
        left = max_events
        while world.trajectory < world.n_trajectories:
            if world.at < 0:
                begin(world, kernel)
            while world.at < len(world.times):
                before = kernel.n_events
                most = min(left, world.most_events + 1 - world.n_own)
                code = go_on(model, world, kernel, world.times[world.at], most)
                fired = kernel.n_events - before
                world.n_own += fired
                world.n_total += fired
                left -= fired
                if code != REACHED_TIME:
                    return code
                record(world, kernel)
            world.trajectory += 1
            world.at = -1
        return REACHED_TIME

    return ensemble


def by_clocks(model: Any, world: Reactor, kernel: Any, until: float, max_events: int) -> int:
    """Fire events by the kernel's clocks, up to and including a time; return a Stop code."""
    code = advance(model, world, kernel, until, max_events)
    return REACHED_TIME if code == EXHAUSTED else code


ensemble_by_direct = ensemble_by(by_direct)
ensemble_by_clocks = ensemble_by(by_clocks)


def begin(world: Reactor, kernel: Any) -> None:
    """Set world and kernel to their start, and the streams to the seed of the present trajectory."""
    for k in range(len(world.fresh)):
        call_at(world.memmove_at, world.fresh[k, 0], world.fresh[k, 1], world.fresh[k, 2], 0)
    rng = kernel.rngs[0]
    low = world.seed_low + world.trajectory
    rng.key_low = low & MASK32
    rng.key_high = (world.seed_high + (low >> 32)) & MASK32
    kernel.now = 0.0
    kernel.n_still = 0
    kernel.n_events = 0
    kernel.rated_epoch = 0
    kernel.n_drawn = N_DRAWS
    for k in range(len(world.values)):
        world.values[k] = world.initial[k]
    for k in range(len(world.triggers)):
        trigger = world.triggers[k]
        trigger.due = 0.0
        trigger.is_pending = 0
        trigger.n_ready = 0
        trigger.n_fired = 0
        trigger.n_tries = 0
        trigger.was_true = world.was_true[k]
    world.n_due = 0
    world.next_due = NEVER
    world.window = 1.0
    if world.is_timed == 1:
        open_window(world, 0.0, rng)
    else:
        world.renew_all(0.0, rng)
    add_up(world)
    world.at = 0
    world.n_own = 0


def record(world: Reactor, kernel: Any) -> None:
    """Write what is asked for at the present one of the times."""
    n = len(world.outputs)
    start = (world.trajectory * len(world.times) + world.at) * n
    rng = kernel.rngs[0]
    for k in range(n):
        now = world.times[world.at]
        from_code, to_code = world.outputs[k, 0], world.outputs[k, 1]
        if to_code == from_code + 1 and world.ops[from_code] == LOAD:
            world.recorded[start + k] = world.values[world.args[from_code]]
        else:
            world.recorded[start + k] = run_formula(world, from_code, to_code, now, rng)
    world.at += 1
