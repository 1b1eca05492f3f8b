"""Robots in the plane that Look, Compute and Move: what one robot is, and what the rules may be.

The model is that of Suzuki and Yamashita 1999, doi:10.1137/S009753979628292X, and, asynchronous,
of Flocchini, Prencipe and Santoro 2012, doi:10.2200/S00440ED1V01Y201208DCT010.
"""

from __future__ import annotations

import math

from tocsin.schema import Entity, Params, boolean, float64, int8, int32, int64, param

WAIT, LOOK, MOVE, CRASHED = 0, 1, 2, 3
"""What a robot is doing."""

NO_FAULT, CRASH, BYZANTINE, OMISSION, DELAY = 0, 1, 2, 3, 4
"""How a robot may be faulty: it stops for good, wanders, now and then does not move, is slow."""

ASYNC, SEQUENTIAL, ROUNDS = 0, 1, 2
"""Who wakes the robots: each a clock of its own; one at a time; in rounds, some of them or all."""

EXPONENTIAL, CONSTANT, UNIFORM, GAMMA = 0, 1, 2, 3
"""Law of the time from the end of a cycle to the next Look."""

ROUND_ROBIN, SHUFFLED, FAIR = 0, 1, 2
"""Order of the turns: 0 to n - 1 again and again; a new permutation each epoch; any, k-fair."""

STOP_DELTA, STOP_UNIFORM, STOP_FRACTION = 0, 1, 2
"""Where a move that is not rigid stops: after delta, anywhere from delta on, after a share of the way."""

RUNNING, ALL_TERMINATED, STALLED, MAX_TURNS, QUIET = 0, 1, 2, 3, 4
"""Why a run has ended. QUIET: every robot has looked since the last move, and stays."""

IGNORED, MOVED, STAYED, TERMINATED, HAS_CRASHED, TICKED, ENDED = 0, 2, 3, 4, 5, 99, -1
"""What an event did."""

NO_LAMP, BLUE, RED, GREEN = 0, 1, 2, 3
"""Colour of the lamp that shows what a robot does. No algorithm sees it."""


class Rules(Params):
    """How robots see, move and wake. Lengths and times are in units of yours."""

    visibility: float64 = param(0.0, unit="length", ge=0, doc="how far a robot sees, inclusive; 0: without limit")
    tolerance: float64 = param(1e-5, unit="length", gt=0, doc="a target nearer than this is no move")
    same_place: float64 = param(1e-9, unit="length", ge=0, doc="robots this near count as on one point")
    gap: float64 = param(0.2, unit="time", gt=0, doc="mean time from the end of a cycle to the next Look")
    gap_spread: float64 = param(
        0.5, ge=0, le=1, doc="uniform gaps: half width over mean; gamma gaps: standard deviation over mean"
    )
    k: int64 = param(0, ge=0, doc="no robot looks more than k times in another's cycle (or wait for a turn); 0: any")
    chance: float64 = param(0.5, gt=0, le=1, doc="probability that a robot is active in a round")
    period: float64 = param(1.0, unit="time", gt=0, doc="least time between rounds")
    delta: float64 = param(0.0, unit="length", ge=0, doc="least way of a move that is cut short")
    stop_share: float64 = param(0.5, gt=0, le=1, doc="share of the way, for moves that stop after a share of it")
    omission: float64 = param(0.5, ge=0, le=1, doc="probability that a robot with omission faults does not move")
    slowness: float64 = param(0.4, gt=0, le=1, doc="speed of a robot with a delay fault, as a share")
    tick: float64 = param(0.0, unit="time", ge=0, doc="time between ticks, which change nothing; 0: none")


class Robot(Entity):
    """One robot."""

    x: float64  # where it stands, or stood when it set off
    y: float64
    goal_x: float64  # where its move ends
    goal_y: float64
    left_at: float64  # when it set off
    pace: float64  # 1 / duration of its move
    due: float64  # when its next event is due
    target_x: float64  # where its algorithm last sent it; NaN before
    target_y: float64
    speed: float64
    travelled: float64
    crash_at: float64  # when it crashes
    circle_x: float64  # the circle that its algorithm computed last; NaN before
    circle_y: float64
    circle_r: float64
    frame_cos: float64  # its own frame, seen from the plane's: turn, unit of length, mirror (-1 or +1)
    frame_sin: float64
    frame_scale: float64
    frame_mirror: float64
    lamp_at: float64  # when its lamp changed
    light_at: float64  # when its light changed
    n_looks: int64
    stop: float64  # share of the way at which its next move is stopped; 0: by policy
    settled: int64  # the value of `changes` when it last decided to stay
    last_round: int64  # the round in which it was last active
    epoch: int64  # the epoch in which it last had a turn
    light: int32  # the colour that others see
    light_before: int32
    n_active: int32  # its number in the list of those that move, or -1
    entry: int32  # its next entry in the explicit schedule, or -1
    column: int32  # its cell in the index of those at hand
    row: int32
    after: int32  # the next robot in its bucket, or -1
    before: int32
    state: int8
    fault: int8
    task: int8  # which algorithm it runs, where they differ
    lamp: int8
    is_far: boolean  # its move is too long for the index of cells
    frozen: boolean  # it decided to stay
    terminated: boolean  # it will never look again

    def where(self, now: float) -> tuple[float, float]:
        """Return where it is."""
        if self.state != MOVE:
            return self.x, self.y
        share = min(1.0, (now - self.left_at) * self.pace)
        return self.x + share * (self.goal_x - self.x), self.y + share * (self.goal_y - self.y)

    def way(self, x: float, y: float) -> float:
        """Return how far a point is from where it stands, or set off."""
        dx, dy = x - self.x, y - self.y
        return math.sqrt(dx * dx + dy * dy)
