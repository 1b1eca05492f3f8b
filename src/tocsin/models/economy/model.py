"""What happens in a declared economy: days open and close, players arrive, play, and leave."""

from __future__ import annotations

from tocsin import Action, Model, Rng, Touched
from tocsin.formula import evaluate
from tocsin.models.economy import market, rules
from tocsin.models.economy import world as w
from tocsin.models.economy.world import Economy, Player
from tocsin.schema import NEVER

_MINUTE = 1.0 / 1440.0
_LAST = 0.999999
"""Of a day: a session ends before midnight."""
_INSTANT = 1e-6
"""Of a day: ten times a minute is ten minutes, whatever the last bits of a sum say."""


class CloseDay(Action):
    """A day ends: count who is there and what they hold."""

    def schedule(self, world: Economy, now: float, rng: Rng) -> float:
        return world.day + 1.0 if world.day >= world.closed else NEVER

    def fire(self, world: Economy, now: float, rng: Rng, touched: Touched) -> None:
        count_holdings(world)
        market.close_day(world)
        world.closed = world.day + 1
        touched.add(world)


class OpenDay(Action):
    """A day begins: the calendar sets its flags and factors, and seasons start afresh."""

    def schedule(self, world: Economy, now: float, rng: Rng) -> float:
        return float(world.closed) if world.day < world.closed and world.closed < world.n_days else NEVER

    def fire(self, world: Economy, now: float, rng: Rng, touched: Touched) -> None:
        world.day = world.closed
        set_calendar(world)
        touched.add(world)


class Install(Action):
    """A player arrives, is drawn, and plans the first day."""

    player: Player

    def schedule(self, world: Economy, now: float, rng: Rng) -> float:
        is_new = self.player.active_day < 0 and self.player.install_day < world.n_days
        return float(self.player.install_day) if is_new else NEVER

    def fire(self, world: Economy, now: float, rng: Rng, touched: Touched) -> None:
        player = self.player
        for k in range(len(world.traits)):
            rules.draw_trait(world, player, k, rng)
        player.progress = evaluate(world, world.progress, player.index)
        player.active_day = player.install_day
        player.updated_at = now
        rules.count(world, w.INSTALLS, 1)
        world.by_persona[player.persona, w.INSTALLS] += 1
        world.retained[player.install_day, 0] += 1
        rules.plan_day(world, player, player.install_day, rng)
        touched.add(player)


class Begin(Action):
    """A session begins: what has grown is added, then what is done once a day or a session."""

    player: Player

    def schedule(self, world: Economy, now: float, rng: Rng) -> float:
        return self.player.next_at if self.player.phase == w.WAITING else NEVER

    def fire(self, world: Economy, now: float, rng: Rng, touched: Touched) -> None:
        player = self.player
        row = player.index
        is_first = player.n_turns == 0
        rules.count(world, w.SESSIONS, 1)
        world.own[row, world.session_column] += 1.0
        world.own[row, world.hour_column] = (now - float(player.day)) * 24.0
        if is_first:
            begin_day(world, player)
        rules.grow(world, player, now)
        if is_first:
            rules.do_at(world, player, w.DAY, rng)
        rules.do_at(world, player, w.SESSION, rng)
        rng.open(w.TURN, player.id, (player.day << 24) + player.n_turns)
        player.n_turns += 1
        rules.do_automatic(world, player, rng)
        minutes = evaluate(world, world.personas[player.persona].minutes, row)
        player.end_at = min(now + max(0.05, min(minutes, 1440.0)) * _MINUTE, float(player.day) + _LAST)
        player.phase = w.PLAYING
        player.next_at = now
        touched.add(player)


class Act(Action):
    """A player does one of the things that he can do, or ends the session."""

    player: Player

    def schedule(self, world: Economy, now: float, rng: Rng) -> float:
        return self.player.next_at if self.player.phase == w.PLAYING else NEVER

    def fire(self, world: Economy, now: float, rng: Rng, touched: Touched) -> None:
        player = self.player
        rules.grow(world, player, now)
        rng.open(w.TURN, player.id, (player.day << 24) + player.n_turns)
        player.n_turns += 1
        k = rules.chosen_activity(world, player, rng.random())
        if k >= 0:
            activity = world.activities[k]
            minutes = 1.0 if activity.minutes < 0 else evaluate(world, activity.minutes, player.index)
            rules.perform(world, player, activity, rng)
            rules.do_automatic(world, player, rng)
            player.next_at = now + max(minutes, 0.05) * _MINUTE
        if k < 0 or player.next_at > player.end_at - _INSTANT:
            player.next_at = min(max(now, player.next_at), float(player.day) + _LAST)
            if player.sessions_left > 0:
                rng.open(w.PLAN, player.id, (player.day << 8) + player.sessions_left + (1 << 32))
                rules.next_session(world, player, rng)
            else:
                player.phase = w.LEAVING
        touched.add(player)


class EndDay(Action):
    """A player is done for the day: was there progress, does he come back?"""

    player: Player

    def schedule(self, world: Economy, now: float, rng: Rng) -> float:
        return self.player.next_at if self.player.phase == w.LEAVING else NEVER

    def fire(self, world: Economy, now: float, rng: Rng, touched: Touched) -> None:
        player = self.player
        row = player.index
        progress = evaluate(world, world.progress, row)
        world.own[row, world.idle_column] = (
            0.0 if progress > player.progress else world.own[row, world.idle_column] + 1.0
        )
        player.progress = max(progress, player.progress)
        if world.own[row, world.idle_column] >= world.stuck_days:
            rules.count(world, w.IDLE, 1)
        rng.open(w.CHURN, player.id, player.day)
        if rng.random() < evaluate(world, world.churn, row):
            player.phase = w.AWAY
            player.next_at = NEVER
            rules.count(world, w.CHURNED, 1)
            world.by_persona[player.persona, w.CHURNED] += 1
        else:
            rules.plan_day(world, player, player.day + 1, rng)
        touched.add(player)


def begin_day(world: Economy, player: Player) -> None:
    """Count a player as active, and begin his counts of today."""
    row = player.index
    day = player.day
    rules.count(world, w.ACTIVE, 1)
    if day > player.install_day:
        world.retained[player.install_day, day - player.install_day] += 1
    world.own[row, world.age_column] = float(day - player.install_day)
    streak = world.own[row, world.streak_column]
    world.own[row, world.streak_column] = streak + 1.0 if day <= player.active_day + 1 else 1.0
    player.active_day = day
    for k in range(len(world.activities)):
        world.own[row, world.activities[k].today] = 0.0


def set_calendar(world: Economy) -> None:
    """Set what the calendar says of the open day."""
    day = int(world.day)
    world.shared[world.day_entry] = day + 1.0
    for k in range(len(world.stocks)):
        world.shared[world.stocks[k].boost] = 1.0
    for k in range(len(world.dates)):
        date = world.dates[k]
        past = day - date.first
        if date.period > 0 and past >= 0:
            past = past % date.period
        is_on = past >= 0 and past <= date.last - date.first
        world.shared[date.flag] = 1.0 if is_on else 0.0
        if is_on:
            for b in range(date.first_boost, date.last_boost):
                boost = world.stocks[int(world.boosts[b, 0])].boost
                world.shared[boost] = world.shared[boost] * world.boosts[b, 1]
        if past == 0:
            for r in range(date.first_reset, date.last_reset):
                reset_all(world, r)


def reset_all(world: Economy, k: int) -> None:
    """Set a resource of all players who have arrived to its start."""
    for row in range(len(world.players)):
        if world.players[row].active_day >= 0:
            rules.reset(world, row, k)


def count_holdings(world: Economy) -> None:
    """Count who is there at the end of a day and what they hold, and sketch it on some days."""
    sketch = -1
    for k in range(len(world.sketch_days)):
        if world.sketch_days[k] == world.day:
            sketch = k
    for k in range(len(world.players)):
        player = world.players[k]
        if player.active_day < 0 or player.next_at == NEVER:
            continue
        rules.count(world, w.ALIVE, 1)
        for s in range(len(world.stocks)):
            held = world.own[k, world.stocks[s].column] + market.on_offer(world, s, k)
            high = int(held / 4294967296.0)
            world.sums[world.day, s, 0] += int(held - float(high) * 4294967296.0)
            world.sums[world.day, s, 1] += high
            if sketch >= 0:
                world.sketches[sketch, s, rules.bucket(held)] += 1


MODEL = Model(Economy, [CloseDay, OpenDay, Install, Begin, Act, EndDay], name="economy", tie="action")
