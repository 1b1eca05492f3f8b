"""Reaction networks as data: one compiled program for all of them.

A channel fires at its propensity, which depends on the amounts alone: Gillespie 1976,
doi:10.1016/0021-9991(76)90041-3. What a firing changes, and which propensities depend on that (Gibson
and Bruck 2000, doi:10.1021/jp993732q), are lists in world arrays, `x[first : last]` for each channel.
Propensities are kept in an array and renewed by `fire`, so `rate` is one load.
"""

from __future__ import annotations

import math

from tocsin import Action, Arena, Array, Array2, Entity, Model, Rng, Touched, World, float64, int32, int64
from tocsin.formula import run_formula, whole_power
from tocsin.models.reactions._bounds import most_of
from tocsin.models.reactions._kinds import BAD_AMOUNT, FACTORS, FORMULA, PRODUCT, TIMED
from tocsin.models.reactions._later import deliver, deliver_all, postpone, refuse_trigger, send
from tocsin.models.reactions._thinning import open_window, turns_down
from tocsin.schema import NEVER

_STEP = 2.0**-51


class Channel(Entity):
    """One reaction."""

    constant: float64
    shift: float64  # 1 where both reactants are of one kind
    x: int32  # indexes into values; that of a constant 1 for reactants that there are not
    y: int32
    kind: int32
    first_change: int32  # what it changes: changed[...], by[...]
    last_change: int32
    first_dependent: int32  # whose propensities it changes: dependents[...]
    last_dependent: int32
    first_code: int32  # factors[...], or the places of a formula
    last_code: int32
    first_bound: int32  # TIMED: the places of the bound that was given; none if it is worked out
    last_bound: int32
    is_delayed: int32


class Trigger(Entity):
    """An event that is due when a condition becomes true."""

    due: float64  # when to look at the condition again, or now, to do what it says
    n_fired: int64
    is_pending: int32
    was_true: int32
    n_tries: int32  # looks at a crossing that rounding has held up
    first_code: int32  # its condition
    last_code: int32
    first_gap: int32  # the comparisons that time decides: gaps[...]
    last_gap: int32
    first_assignment: int32  # what it does: assignments[...]
    last_assignment: int32
    is_persistent: int32  # whether it happens though its condition is no longer true
    first_priority: int32  # the places of a formula; none if it has no priority
    last_priority: int32
    first_delay: int32  # the places of a formula; none if it happens at once
    last_delay: int32
    n_ready: int32  # how often its delay has ended, and what it does is still to be done


class Reactor(World):
    """Amounts and parameters, and what can happen to them."""

    channels: Arena[Channel]
    triggers: Arena[Trigger]
    values: Array[float64]  # amounts of species, a constant 1, parameters, constants of formulas
    propensities: Array[float64]
    changed: Array[int32]
    by: Array[float64]
    dependents: Array[int32]
    factors: Array2[int32]  # (index into values, shift) for FACTORS
    ops: Array[int32]  # the formulas (see tocsin.formula)
    args: Array[int32]
    stack: Array[float64]
    gaps: Array2[int32]  # places of the formulas of left - right and of its slope in time
    assignments: Array2[int32]  # index into values, and the places of a formula
    assigned: Array[float64]  # scratch
    outputs: Array2[int32]  # what is recorded: places of formulas
    recorded: Array[float64]  # trajectory by time by output
    times: Array[float64]
    initial: Array[float64]
    was_true: Array[int32]  # of each trigger, before the start
    sums: Array[float64]  # direct method (see _direct): of the propensities up to each, or a tree of their sums
    n_leaves: int64  # of that tree, a power of two
    n_levels: int64
    is_flat: int64  # 1 if sums are those up to each
    looks: int64  # 1 if some trigger's condition depends on amounts
    burst_at: int64  # address of machine code for this network alone, or 0
    values_at: int64  # addresses of what it works on
    draws_at: int64
    limits_at: int64
    limits: Array[float64]  # its now, until, before
    fresh: Array2[int64]  # kernel's clocks: memory that is set back for each trajectory, (to, from, bytes)
    memmove_at: int64  # address of the C library's
    most_events: int64  # of a trajectory
    n_own: int64  # events of the present trajectory
    n_species: int64
    delays: Array2[int32]  # by channel, if some are delayed: places of the delay, and of what it changes later
    due: Array[float64]  # what is on its way: a heap by time,
    due_index: Array[int32]  # and from which channel, or -1 - trigger
    n_due: int64
    next_due: float64
    is_special: int64  # 1 if some channels are timed or delayed
    is_timed: int64  # 1 if the bounds of some channels have to be worked out
    window: float64  # for how long they were worked out last
    window_end: float64  # and until when they hold
    n_hidden: int64  # candidates that were turned down, and renewals of bounds: what counts as no event
    wrong: int64  # why `bad` is, and which value was wrong
    wrong_value: float64
    bad: int64  # number of a channel with a propensity that cannot be, plus 1
    seed_low: int64  # seed of the first trajectory
    seed_high: int64
    n_trajectories: int64
    trajectory: int64
    at: int64  # of the times, how many are recorded; -1 before the start
    n_total: int64  # events of all trajectories so far

    def renew(self, index: int, now: float, rng: Rng) -> None:
        """Work out the propensity of a channel again: here if it is a product, which the loop takes in line."""
        channel = self.channels[index]
        if channel.kind != PRODUCT:
            self.renew_any(index, now, rng)
            return
        p = channel.constant * self.values[channel.x] * (self.values[channel.y] - channel.shift)
        self.propensities[index] = p
        if not 0.0 <= p < math.inf:
            self.bad = index + 1

    def renew_any(self, index: int, now: float, rng: Rng) -> None:
        """Work out the propensity of a channel of any kind."""
        channel = self.channels[index]
        if channel.kind == PRODUCT:
            p = channel.constant * self.values[channel.x] * (self.values[channel.y] - channel.shift)
        elif channel.kind == FACTORS:
            p = channel.constant
            for k in range(channel.first_code, channel.last_code):
                p *= self.values[self.factors[k, 0]] - self.factors[k, 1]
        elif channel.kind == FORMULA:
            p = run_formula(self, channel.first_code, channel.last_code, now, rng)
        elif channel.last_bound > channel.first_bound:
            p = run_formula(self, channel.first_bound, channel.last_bound, now, rng)
        else:
            p = max(most_of(self, channel.first_code, channel.last_code, now, self.window_end), 0.0)
        self.propensities[index] = p
        if not 0.0 <= p < math.inf:
            self.bad = index + 1

    def move(self, first: int, last: int) -> None:
        """Change amounts."""
        for k in range(first, last):
            species = self.changed[k]
            self.values[species] = self.values[species] + self.by[k]

    def renew_dependents(self, index: int, now: float, rng: Rng) -> None:
        """Work out the propensities that depend on what a channel changes."""
        channel = self.channels[index]
        for k in range(channel.first_dependent, channel.last_dependent):
            self.renew(self.dependents[k], now, rng)

    def change(self, index: int, now: float, rng: Rng) -> None:
        """Let a channel fire: change the amounts, and the propensities that depend on them."""
        channel = self.channels[index]
        if channel.is_delayed == 1:
            send(self, index, now, rng)
        self.move(channel.first_change, channel.last_change)
        self.renew_dependents(index, now, rng)

    def renew_all(self, now: float, rng: Rng) -> None:
        """Work out every propensity."""
        for index in range(len(self.channels)):
            self.renew_any(index, now, rng)

    def look_all(self, now: float, rng: Rng) -> None:
        """Look at the conditions of all triggers."""
        for k in range(len(self.triggers)):
            self.look(self.triggers[k], now, rng)

    def look(self, trigger: Trigger, now: float, rng: Rng) -> None:
        """Look at a condition: is its event due, and if not, when is the next look?"""
        is_true = 1 if run_formula(self, trigger.first_code, trigger.last_code, now, rng) != 0.0 else 0
        if is_true == 1 and trigger.was_true == 0:
            trigger.is_pending = 1
        elif is_true == 0 and trigger.is_persistent == 0:
            trigger.is_pending = 0
        trigger.was_true = is_true
        is_due = trigger.is_pending == 1 or trigger.n_ready > 0
        trigger.due = now if is_due else self.next_look(trigger, now, rng)

    def next_look(self, trigger: Trigger, now: float, rng: Rng) -> float:
        """Return when time itself next changes one of the comparisons of a condition."""
        due = NEVER
        is_held = False
        step = max(abs(now), 1e-290) * _STEP
        for k in range(trigger.first_gap, trigger.last_gap):
            gap = run_formula(self, self.gaps[k, 0], self.gaps[k, 1], now, rng)
            slope = run_formula(self, self.gaps[k, 2], self.gaps[k, 3], now, rng)
            if slope == 0.0 or gap != gap or slope != slope or ((gap > 0.0) == (slope > 0.0) and gap != 0.0):
                continue
            time = now - gap / slope
            if time <= now + step:  # at hand: go there in steps that double, as rounding may hide it
                is_held = True
                time = now + step * whole_power(2.0, min(trigger.n_tries, 60))
            due = min(due, time)
        trigger.n_tries = trigger.n_tries + 1 if is_held else 0
        return due

    def assign(self, trigger: Trigger, now: float, rng: Rng) -> None:
        """Do what an event says, or look again if its condition is not yet true."""
        deliver_all(self, now, rng)
        if trigger.is_pending == 0 and trigger.n_ready == 0:
            self.look_all(now, rng)  # all that is due now is known before the first of it happens
            return
        number = self.first_pending(now, rng)
        first = self.triggers[number]
        if first.n_ready > 0:
            first.n_ready -= 1
            self.carry_out(first, now, rng)
        elif first.last_delay > first.first_delay:
            postpone(self, number, now, rng)
            if self.wrong == 0:
                self.look(first, now, rng)
        else:
            first.is_pending = 0
            self.carry_out(first, now, rng)

    def first_pending(self, now: float, rng: Rng) -> int:
        """Return the number of the trigger to be carried out first: of the highest priority, the first of several; none is the least."""
        best, most = -1, 0.0 - math.inf
        for k in range(len(self.triggers)):
            trigger = self.triggers[k]
            if trigger.is_pending == 1 or trigger.n_ready > 0:
                priority = 0.0 - math.inf
                if trigger.last_priority > trigger.first_priority:
                    priority = run_formula(self, trigger.first_priority, trigger.last_priority, now, rng)
                if best < 0 or priority > most:
                    best, most = k, priority
        return best

    def carry_out(self, trigger: Trigger, now: float, rng: Rng) -> None:
        """Set what an event sets."""
        trigger.n_fired += 1
        for k in range(trigger.first_assignment, trigger.last_assignment):
            value = run_formula(self, self.assignments[k, 1], self.assignments[k, 2], now, rng)
            if self.assignments[k, 0] < self.n_species and not abs(value) < math.inf:
                refuse_trigger(self, trigger.index, BAD_AMOUNT, value)
                return
            self.assigned[k - trigger.first_assignment] = value
        for k in range(trigger.first_assignment, trigger.last_assignment):
            self.values[self.assignments[k, 0]] = self.assigned[k - trigger.first_assignment]
        self.renew_all(now, rng)
        self.look_all(now, rng)


class Assign(Action):
    """An event: something is set when a condition becomes true."""

    trigger: Trigger

    def schedule(self, world: Reactor, now: float, rng: Rng) -> float:
        return self.trigger.due if world.wrong == 0 else math.nan

    def fire(self, world: Reactor, now: float, rng: Rng, touched: Touched) -> None:
        world.assign(self.trigger, now, rng)
        touched.add(world)
        touched.all(world.triggers)
        touched.all(world.channels)


class React(Action):
    """A reaction takes place."""

    channel: Channel

    def rate(self, world: Reactor) -> float:
        return world.propensities[self.channel.index] if world.wrong == 0 else math.nan

    def fire(self, world: Reactor, now: float, rng: Rng, touched: Touched) -> None:
        channel = self.channel
        p = world.propensities[channel.index]
        if channel.kind == TIMED and turns_down(world, channel.index, p * rng.random(), now, rng):
            return
        world.change(channel.index, now, rng)
        if channel.is_delayed == 1:
            touched.add(world)
        for k in range(channel.first_dependent, channel.last_dependent):
            touched.add(world.channels[world.dependents[k]])
        if len(world.triggers) > 0:
            world.look_all(now, rng)
            touched.all(world.triggers)


class Deliver(Action):
    """What a delayed reaction produces arrives."""

    def schedule(self, world: Reactor, now: float, rng: Rng) -> float:
        if world.wrong != 0:
            return math.nan
        return world.next_due if world.n_due > 0 else NEVER

    def fire(self, world: Reactor, now: float, rng: Rng, touched: Touched) -> None:
        if len(world.triggers) > 0:
            deliver_all(world, now, rng)
            touched.all(world.channels)
            touched.all(world.triggers)
            return
        channel = world.channels[deliver(world, now, rng)]
        for k in range(channel.first_dependent, channel.last_dependent):
            touched.add(world.channels[world.dependents[k]])


class Renew(Action):
    """The bounds of propensities that depend on time are worked out for a while to come."""

    def schedule(self, world: Reactor, now: float, rng: Rng) -> float:
        return world.window_end if world.is_timed == 1 else NEVER

    def fire(self, world: Reactor, now: float, rng: Rng, touched: Touched) -> None:
        open_window(world, now, rng)
        world.n_hidden += 1
        touched.add(world)
        touched.all(world.channels)


MODEL = Model(Reactor, [Assign, React, Deliver, Renew], name="reactions", tie="action")
