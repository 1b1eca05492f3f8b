"""The world of a swarm: robots, who wakes them, and what has been counted."""

from __future__ import annotations

from tocsin.models.swarm.robot import Robot, Rules
from tocsin.models.swarm.view import View
from tocsin.schema import Arena, Array, Array2, World, boolean, float64, int8, int32, int64


class SwarmWorld(World):
    """Robots in the plane, who wakes them, and what has been counted."""

    robots: Arena[Robot]
    views: Arena[View]
    rules: Rules

    seen: Array[int32]  # robots in sight, and where they are at that instant
    at_x: Array[float64]
    at_y: Array[float64]
    many: Array[int32]  # how many stand on that point
    order: Array[int32]  # an epoch's order, or scratch
    scratch: Array[float64]
    stack: Array2[int32]
    plan_robot: Array[int32]  # explicit schedule: who, how far along the way (0: by policy), and when:
    plan_stop: Array[float64]  # the wait before (negative: by law), or the round
    plan_when: Array[float64]
    plan_after: Array[int32]  # the same robot's next entry, or -1
    trail: Array2[float64]  # (robot, x, y) wherever a move ended, as far as there is room
    links: Array2[int32]  # pairs of robots to watch
    last_looks: Array2[float64]  # times (or turns) of each robot's last k looks
    active: Array[int32]  # robots that move now
    far: Array[int32]  # those whose move is long
    buckets: Array[int32]
    point_heads: Array[int32]  # entries of one look by cells, see `points`
    point_after: Array[int32]
    rim: Array[int32]  # robots that may carry the circle around all, see `rim`

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
    is_watched: boolean  # invariants are checked at every event
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
    next_wait: float64  # before the next turn; negative: by law
    n_busy: int64  # robots whose round is not over
    n_rounds: int64
    last_planned: int64  # the last round that the explicit schedule names
    next_round: float64
    sum_x: float64  # sum of all positions at `sum_at`, and how fast it grows
    sum_y: float64
    drift_x: float64
    drift_y: float64
    sum_at: float64
    n_sums: int64
    fastest: float64  # speed of the fastest robot
    carrier_a: int64  # who carried the last circle around all: places in `rim`, robots if it is empty
    carrier_b: int64
    carrier_c: int64
    n_rim: int64
    rim_looks: int64  # looks that the list has served
    rim_share: float64  # how wide it is, as a share of the radius
    rim_x: float64  # where and when it was made, and how far the others were from there
    rim_y: float64
    rim_at: float64
    rim_inner: float64
    n_trail: int64
    longest_link: float64  # longest that a watched pair has been apart
    longest_aim: float64  # longest that the goals of a watched pair have been apart
    lost_at: float64  # when one was first farther apart than robots see
    diameter: float64  # largest distance between two robots
    least_diameter: float64  # so far
    growth: float64  # most by which it has exceeded that
    code: int64  # what the last event did
    outcome: int64
    ended_at: float64

    precision: int64  # the LCM simulator's way, see `lcm`
    draws: int8
    is_compensated: boolean
    depth: int64
