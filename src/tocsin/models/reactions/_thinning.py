"""Propensities that depend on time itself: candidates at a bound, of which a share is turned down.

Lewis and Shedler 1979, doi:10.1002/nav.3800260304. A bound is given by the user, or worked out for a window of
time ahead (see `_bounds`); when the window ends, or an amount changes, it is worked out again.
"""

from __future__ import annotations

import math
from typing import Any

from tocsin.formula import run_formula
from tocsin.kernel import Rng
from tocsin.models.reactions._bounds import most_of
from tocsin.models.reactions._kinds import BAD_LAW, NO_BOUND, TIMED


def turns_down(world: Any, index: int, place: float, now: float, rng: Rng) -> bool:
    """Whether the law of a channel, at this very time, is not above a place between 0 and its bound.

    Thinning: Lewis and Shedler 1979, doi:10.1002/nav.3800260304.
    """
    channel = world.channels[index]
    if channel.kind != TIMED:
        return False
    p = run_formula(world, channel.first_code, channel.last_code, now, rng)
    if not 0.0 <= p <= world.propensities[index]:
        refuse(world, index, NO_BOUND if 0.0 < p < math.inf else BAD_LAW, p)
    if place < p:
        return False
    world.n_hidden += 1
    return True


def open_window(world: Any, now: float, rng: Rng) -> None:
    """Choose until when bounds are worked out, and work them out: twice as long as the last time, or less.

    A window is short enough if half of the candidates or more will be events, or if it brings one at most.
    """
    world.window = min(2.0 * world.window, 1e300)
    for _ in range(200):
        world.window_end = now + world.window
        bounds, laws = 0.0, 0.0
        for k in range(len(world.channels)):
            channel = world.channels[k]
            if channel.kind == TIMED and channel.last_bound == channel.first_bound:
                bounds += max(most_of(world, channel.first_code, channel.last_code, now, world.window_end), 0.0)
                laws += run_formula(world, channel.first_code, channel.last_code, now, rng)
        if bounds <= 2.0 * laws or bounds * world.window <= 1.0 or world.window_end <= now:
            break
        world.window *= 0.5
    world.renew_all(now, rng)
    for k in range(len(world.channels)):
        channel = world.channels[k]
        if channel.kind == TIMED:
            p = run_formula(world, channel.first_code, channel.last_code, now, rng)
            if not p >= 0.0:
                refuse(world, k, BAD_LAW, p)


def refuse(world: Any, index: int, wrong: int, value: float) -> None:
    """Stop the run: its clock, or the direct method, finds a propensity that is no number."""
    world.bad = index + 1
    world.wrong = wrong
    world.wrong_value = value
    world.propensities[index] = math.nan
