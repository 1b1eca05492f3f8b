"""Mobile robots in the plane that Look, Compute and Move: what a swarm consists of.

The model is that of Suzuki and Yamashita 1999, doi:10.1137/S009753979628292X, and, asynchronous,
of Flocchini, Prencipe and Santoro 2012, doi:10.2200/S00440ED1V01Y201208DCT010.
"""

from __future__ import annotations

from tocsin.schema import (
    Arena,
    Array,
    Array2,
    Entity,
    Params,
    World,
    boolean,
    float64,
    int8,
    int32,
    int64,
    param,
)  # fmt: skip

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
    settled: int64  # the value of `changes` when it last decided to stay
    epoch: int64  # the epoch in which it last had a turn
    light: int32  # the colour that others see
    light_before: int32
    n_active: int32  # its number in the list of those that move, or -1
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


class Glance(Entity):
    """What the robot that is looking sees: filled when an algorithm asks for it."""

    me: int32  # who looks
    now: float64
    n_seen: int32  # -1 before it has looked
    named: int32  # the place that its algorithm named as target
    named_x: float64
    named_y: float64
    centre_x: float64  # circle that the algorithm computed
    centre_y: float64
    radius: float64
    has_circle: boolean


class SwarmWorld(World):
    """Robots in the plane, who wakes them, and what has been counted."""

    robots: Arena[Robot]
    glances: Arena[Glance]
    rules: Rules

    seen: Array[int32]  # robots in sight, and where they are at that instant
    at_x: Array[float64]
    at_y: Array[float64]
    many: Array[int32]  # how many stand on that point
    order: Array[int32]  # an epoch's order, or scratch
    scratch: Array[float64]
    stack: Array2[int32]
    plan_robot: Array[int32]  # explicit schedule: who, and how far along the way (0: by policy)
    plan_stop: Array[float64]
    last_looks: Array2[float64]  # times (or turns) of each robot's last k looks
    active: Array[int32]  # robots that move now
    far: Array[int32]  # those whose move is long
    buckets: Array[int32]

    scheduler: int8
    law: int8
    turn_order: int8
    stop_policy: int8
    multiplicity: int8
    is_rigid: boolean
    is_opaque: boolean
    has_frames: boolean
    is_repeating: boolean  # an explicit schedule starts again at its end
    has_gaps: boolean  # between turns
    is_faultless: boolean
    max_turns: int64  # 0: any number
    box_x: float64  # the world's box, 0 if it has none
    box_y: float64

    n_active: int64
    n_far: int64
    changes: int64  # how often a robot has set off or arrived
    n_settled: int64  # robots that have decided to stay since
    n_counted: int64  # robots that have to settle: neither crashed nor Byzantine
    n_epochs: int64
    n_unseen: int64  # robots that have not had a turn in this epoch
    has_progress: boolean
    n_turns: int64
    cursor: int64
    n_busy: int64  # robots whose round is not over
    n_rounds: int64
    next_round: float64
    stop_named: float64
    sum_x: float64  # sum of all positions at `sum_at`, and how fast it grows
    sum_y: float64
    drift_x: float64
    drift_y: float64
    sum_at: float64
    n_sums: int64
    code: int64  # what the last event did
    outcome: int64

    precision: int64  # the LCM simulator's way, see `lcm`
    draws: int8
    is_compensated: boolean
    depth: int64
