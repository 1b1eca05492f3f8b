"""The world of a declared economy: players, and the design as tables that compiled code reads.

One compiled program serves every design. What a player holds, has done and is stands in one row of
`own`, a column each; formulas read it (see tocsin.formula). Amounts are whole numbers up to MOST,
exact as doubles; sums over players are kept in two words, so they are exact and in any order the same.
"""

from __future__ import annotations

from tocsin import Arena, Array, Array2, Array3, Entity, World, float64, int8, int32, int64

MOST = 9_007_199_254_740_992.0
"""The largest amount of anything: 2**53."""
AWAY, WAITING, PLAYING, LEAVING = range(4)
"""What a player does: not installed or gone; between sessions; in one; done for the day."""
CHOICE, SESSION, DAY, AUTOMATIC = range(4)
"""When an activity is done: chosen by weight; once a session or a day with a probability; whenever it can be."""
CONSTANT, NORMAL, LOGNORMAL, UNIFORM, EXPONENTIAL = range(5)
(INSTALLS, ACTIVE, SESSIONS, ACTS, LOST, CHURNED, CENTS, PURCHASES, PAYERS, ALIVE, CUT, IDLE) = range(12)
"""Columns of `days`; CUT: automatic activities broken off, IDLE: active players without progress for `stuck_days`."""
COUNTERS = (
    "installs", "active", "sessions", "activities", "failures", "churned", "revenue_cents", "purchases", "new_payers", "alive",
    "cut_off", "stuck",
)  # fmt: skip
TRADED = ("sales", "units", "units_high", "paid", "paid_high", "offered", "last_price")
"""Columns of `traded`; units and what is paid in two words."""
MOST_COUNTED = 5000
"""Draws to a target that are counted one by one."""
TRAIT, PLAN, SPEND, TURN, CHURN, LOOT = (512 + n for n in range(6))
"""Purposes of draws."""
N_BUCKETS = 1900
"""Of a sketch: bucket 0 holds 0, bucket 1 + k amounts in (g**(k-1), g**k], g = 1.02 / 0.98."""


class Player(Entity):
    """One player; what he holds is row `index` of `own`."""

    id: int64  # among all players; keys what is drawn
    next_at: float64  # when the next thing happens, days
    end_at: float64  # of the present session
    updated_at: float64  # when what grows by itself was last added
    place: float64  # of the last session among the hours at which the persona plays, 0..1
    progress: float64  # best so far
    n_draws: int64  # of loot
    n_turns: int64  # activities today
    persona: int32
    install_day: int32
    day: int32  # that is played or planned
    active_day: int32  # last day on which he played, -1
    sessions_left: int32
    phase: int8
    is_payer: int8


class Persona(Entity):
    """A kind of player."""

    sessions: int32  # formula: a day, the whole part, and one more with the probability of the rest
    minutes: int32  # formula: of a session
    first_hour: int32  # hours[...]
    last_hour: int32


class Stock(Entity):
    """A resource."""

    column: int32
    cap: int32  # formula, -1 for none
    rate: int32  # formula of what grows by itself, per hour; -1
    rest: int32  # column of the fraction that has grown, -1
    flow: int32  # of what grows
    boost: int32  # entry of `shared`: the calendar's factor on gains
    offline: float64  # hours for which it grows without a visit
    start: float64


class Activity(Entity):
    """Something that players do. Numbers of formulas, -1 for none."""

    at: int32
    when: int32
    weight: int32
    chance: int32
    minutes: int32
    draws: int32  # of loot
    loot: int32  # table, -1
    sell: int32  # market, -1
    buy: int32  # market, -1
    amount: int32  # that is sold or bought
    price: int32  # of one
    per_day: int32  # 0: no limit
    in_total: int32
    cents: int32  # price
    count: int32  # column: done so often
    today: int32  # column: done so often today
    first_cost: int32  # amounts[...]
    last_cost: int32
    first_gain: int32
    last_gain: int32
    first_reset: int32  # resets[...]
    last_reset: int32


class Loot(Entity):
    """A table of rewards."""

    first_class: int32
    last_class: int32
    draws: int32  # column: draws of this table, -1 without targets
    first_target: int32
    last_target: int32


class Target(Entity):
    """Amounts that draws of a table are to give."""

    column: int32  # 1 once met
    first_need: int32  # needs[...]
    last_need: int32


class LootClass(Entity):
    """A class of a table, with its pity. The last class of a table takes what is left."""

    rate: float64
    soft_start: float64  # the pull from which the rate rises; 0 for none
    soft_step: float64
    share: float64  # of featured entries; 0 if there are none
    hard: int32  # the pull that is a hit for certain, 0 for none
    every: int32  # every so many pulls, hit or not
    misses: int32  # columns
    pulls: int32
    owed: int32  # the next hit is a featured one
    has_debt: int8  # a hit that is not featured makes the next one so
    is_last: int8
    first_entry: int32
    last_entry: int32


class Reward(Entity):
    """An entry of a class."""

    weight: float64
    is_featured: int8
    table: int32  # drawn from next, -1
    first_gain: int32
    last_gain: int32


class Date(Entity):
    """Days of the calendar on which something is different."""

    first: int32
    last: int32
    period: int32  # days after which it comes again, 0 for never
    flag: int32  # entry of `shared`: 1 on these days
    first_boost: int32
    last_boost: int32
    first_reset: int32
    last_reset: int32


class Milestone(Entity):
    """A condition that a player meets for the first time."""

    formula: int32
    column: int32  # 1 once met


class Market(Entity):
    """Where players sell a stock to each other; its three entries of `shared` are price, cheapest offer, amount offered."""

    item: int32  # stock
    money: int32  # stock
    days: int32  # after which an offer ends
    entry: int32  # first of three of `shared`
    fee_flow: int32
    lost_flow: int32  # of the item: what goes back and passes the cap
    n_offers: int32
    fee: float64


class Offer(Entity):
    """What one player offers in one market: row market * players + player."""

    amount: float64
    price: float64
    number: int64  # of offers before it: of two at one price the older is taken first
    day: int32
    place: int32  # in the queue


class Economy(World):
    """Players, the design, and what is counted."""

    players: Arena[Player]
    personas: Arena[Persona]
    stocks: Arena[Stock]
    activities: Arena[Activity]
    loots: Arena[Loot]
    classes: Arena[LootClass]
    rewards: Arena[Reward]
    targets: Arena[Target]
    markets: Arena[Market]
    offers: Arena[Offer]
    dates: Arena[Date]
    milestones: Arena[Milestone]
    own: Array2[float64]  # (player, variable)
    formulas: Array2[int64]  # places in ops and args (see tocsin.formula)
    ops: Array[int32]
    args: Array[int32]
    shared: Array[float64]  # what all players share: day, dates, parameters, constants
    tables: Array2[int64]
    points_x: Array[float64]
    points_y: Array[float64]
    stack: Array[float64]
    amounts: Array2[int64]  # (k; stock, formula, flow)
    resets: Array2[int64]  # (k; stock, flow)
    needs: Array2[int64]  # (k; stock, amount, column: how much the draws gave)
    queues: Array2[int32]  # (market, place): players with an offer, a heap with the cheapest first
    boosts: Array2[float64]  # (k; stock, factor)
    hours: Array2[float64]  # (k; from, to in days, share up to its end)
    factors: Array2[float64]  # (persona, activity): on weights
    traits: Array3[float64]  # (trait, persona; column, kind, a, b, least, most)
    odds: Array[float64]  # scratch: weight of each activity
    days: Array2[int64]  # (day, counter)
    flows: Array3[int64]  # (day, flow; low 32 bits, the rest): how much of what, whole numbers
    retained: Array2[int64]  # (day of installation, age): players active
    reached: Array2[int64]  # (milestone, age)
    drawn: Array2[int64]  # (target, draws): players who met it with so many; the last entry: or more
    traded: Array3[int64]  # (day, market, figure): see TRADED
    by_persona: Array2[int64]  # (persona, counter)
    sketch_days: Array[int64]
    sketches: Array3[int64]  # (number of sketch day, stock, bucket): players of that day
    sums: Array3[int64]  # (day, stock; low 32 bits, the rest): what players who are there hold
    n_offered: int64  # so far, numbers offers
    day: int64  # that is open, from 0
    closed: int64  # days that are closed
    n_days: int64
    churn: int64  # formulas
    progress: int64
    stuck_days: int64
    age_column: int64
    hour_column: int64
    idle_column: int64
    streak_column: int64
    session_column: int64
    spent_column: int64
    day_entry: int64  # of `shared`
