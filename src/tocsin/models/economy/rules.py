"""What players do: grow, choose, pay, win, draw loot, and leave. Plain functions of the world and one player."""

from __future__ import annotations

from tocsin import Rng
from tocsin.formula import evaluate, floor
from tocsin.kernel._elementary import exp, log
from tocsin.models.economy import market
from tocsin.models.economy import world as w
from tocsin.models.economy.bounds import MOST_DRAWS
from tocsin.models.economy.market import add_flow
from tocsin.models.economy.world import Activity, Economy, Loot, LootClass, Player

MOST_AUTOMATIC = 100
"""Automatic activities after one turn; a design that asks for more goes on at the next turn."""
MOST_NESTED = 8
"""Tables of loot that lead from one to the next."""
_LOG_GAMMA = 0.04000533461352881  # log(1.02 / 0.98)


def count(world: Economy, counter: int, n: int) -> None:
    """Add to a counter of the open day."""
    world.days[world.day, counter] += n


def gain(world: Economy, player: Player, number: int, amount: float, flow: int) -> float:
    """Add an amount, rounded down, times the calendar's factor, and return it; what passes the cap is lost."""
    stock = world.stocks[number]
    amount = floor(amount * world.shared[stock.boost])
    added = min(amount, market.room(world, number, player.index))
    if added > 0.0:
        world.own[player.index, stock.column] += added
        add_flow(world, flow, added)
    return amount


def cost_of(world: Economy, player: Player, k: int) -> float:
    """Return a cost: rounded up, at least 0."""
    return max(0.0, 0.0 - floor(0.0 - evaluate(world, world.amounts[k, 1], player.index)))


def is_affordable(world: Economy, player: Player, activity: Activity) -> bool:
    """Whether the gate is open, no limit is reached, and the player holds what it costs."""
    row = player.index
    if activity.per_day > 0 and world.own[row, activity.today] >= activity.per_day:
        return False
    if activity.in_total > 0 and world.own[row, activity.count] >= activity.in_total:
        return False
    if activity.when >= 0 and evaluate(world, activity.when, row) == 0.0:
        return False
    for k in range(activity.first_cost, activity.last_cost):
        if world.own[row, world.stocks[world.amounts[k, 0]].column] < cost_of(world, player, k):
            return False
    if activity.sell >= 0:
        return market.can_sell(world, row, activity)
    return activity.buy < 0 or market.can_buy(world, row, activity)


def perform(world: Economy, player: Player, activity: Activity, rng: Rng) -> None:
    """Do something: pay, succeed or fail, and be rewarded. `rng` stands in the stream of this turn."""
    row = player.index
    for k in range(activity.first_cost, activity.last_cost):
        column = world.stocks[world.amounts[k, 0]].column
        amount = min(cost_of(world, player, k), world.own[row, column])
        world.own[row, column] -= amount
        add_flow(world, world.amounts[k, 2], amount)
    count(world, w.ACTS, 1)
    world.own[row, activity.today] += 1.0
    if activity.cents > 0:
        pay(world, player, activity.cents)
    if activity.chance >= 0 and not rng.random() < evaluate(world, activity.chance, row):
        count(world, w.LOST, 1)
        return
    world.own[row, activity.count] += 1.0
    if activity.sell >= 0:
        market.sell(world, row, activity)
    if activity.buy >= 0:
        market.buy(world, row, activity)
    for k in range(activity.first_gain, activity.last_gain):
        amount = evaluate(world, world.amounts[k, 1], row)
        gain(world, player, world.amounts[k, 0], amount, world.amounts[k, 2])
    if activity.loot >= 0:
        n = 1.0 if activity.draws < 0 else floor(evaluate(world, activity.draws, row))
        for _ in range(int(max(0.0, min(n, float(MOST_DRAWS))))):
            draw_loot(world, player, activity.loot, rng)
    for k in range(activity.first_reset, activity.last_reset):
        reset(world, row, k)


def reset(world: Economy, row: int, k: int) -> None:
    """Set a resource of a player to its start; what is lost counts as spent."""
    stock = world.stocks[world.resets[k, 0]]
    add_flow(world, world.resets[k, 1], world.own[row, stock.column] - stock.start)
    world.own[row, stock.column] = stock.start


def pay(world: Economy, player: Player, cents: int) -> None:
    """Count a purchase for real money."""
    count(world, w.CENTS, cents)
    count(world, w.PURCHASES, 1)
    world.by_persona[player.persona, w.CENTS] += cents
    if player.is_payer == 0:
        player.is_payer = 1
        count(world, w.PAYERS, 1)
        world.by_persona[player.persona, w.PAYERS] += 1
    world.own[player.index, world.spent_column] += float(cents) / 100.0


def draw_loot(world: Economy, player: Player, table: int, rng: Rng) -> None:
    """Draw once from a table and from those that it leads to. Draw k of a player has a stream of its own."""
    rng.open(w.LOOT, player.id, player.n_draws)
    player.n_draws += 1
    drawn = table
    for _ in range(MOST_NESTED):
        loot = world.loots[table]
        number = class_drawn(world, player, loot.first_class, loot.last_class, rng.random())
        entry = entry_drawn(world, player, world.classes[number], rng)
        reward = world.rewards[entry]
        for k in range(reward.first_gain, reward.last_gain):
            amount = evaluate(world, world.amounts[k, 1], player.index)
            amount = gain(world, player, world.amounts[k, 0], amount, world.amounts[k, 2])
            count_needs(world, player.index, drawn, world.amounts[k, 0], amount)
        if reward.table < 0:
            break
        table = reward.table
    look_at_targets(world, player.index, world.loots[drawn])


def count_needs(world: Economy, row: int, drawn: int, stock: int, amount: float) -> None:
    """Count what a draw gave for the targets of the table that was drawn from."""
    loot = world.loots[drawn]
    for t in range(loot.first_target, loot.last_target):
        target = world.targets[t]
        for k in range(target.first_need, target.last_need):
            if world.needs[k, 0] == stock:
                world.own[row, world.needs[k, 2]] += amount


def look_at_targets(world: Economy, row: int, loot: Loot) -> None:
    """Count a draw, and the players who have met a target with it."""
    if loot.draws < 0:
        return
    world.own[row, loot.draws] += 1.0
    for t in range(loot.first_target, loot.last_target):
        target = world.targets[t]
        is_met = world.own[row, target.column] == 0.0
        for k in range(target.first_need, target.last_need):
            is_met = is_met and world.own[row, world.needs[k, 2]] >= world.needs[k, 1]
        if is_met:
            world.own[row, target.column] = 1.0
            world.drawn[t, min(int(world.own[row, loot.draws]), w.MOST_COUNTED)] += 1


def chance_of(world: Economy, player: Player, one: LootClass) -> float:
    """Return the probability of a class at the next pull, by what the player has missed so far."""
    if one.is_last == 1:
        return 1.0
    misses = world.own[player.index, one.misses]
    if one.hard > 0 and misses + 1.0 >= one.hard:
        return 1.0
    if one.every > 0:
        pulls = world.own[player.index, one.pulls] + 1.0
        if pulls == one.every * floor(pulls / one.every):
            return 1.0
    if one.soft_start <= 0.0:
        return one.rate
    return min(1.0, one.rate + max(0.0, misses + 2.0 - one.soft_start) * one.soft_step)


def class_drawn(world: Economy, player: Player, first: int, last: int, u: float) -> int:
    """Return the class that a uniform number falls into, the first (rarest) one first, and count misses."""
    found = -1
    below = 0.0
    for k in range(first, last):
        one = world.classes[k]
        below += chance_of(world, player, one)
        is_hit = found < 0 and (u < below or one.is_last == 1)
        if is_hit:
            found = k
        if one.is_last == 0:
            misses = world.own[player.index, one.misses]
            world.own[player.index, one.misses] = 0.0 if is_hit else misses + 1.0
            world.own[player.index, one.pulls] += 1.0
    return found


def entry_drawn(world: Economy, player: Player, one: LootClass, rng: Rng) -> int:
    """Return the entry of a class, by weight: among the featured ones if they are owed or drawn."""
    wanted = -1
    if one.share > 0.0:
        is_owed = world.own[player.index, one.owed] > 0.0
        wanted = 1 if is_owed or rng.random() < one.share else 0
        if one.has_debt == 1:
            world.own[player.index, one.owed] = 0.0 if wanted == 1 else 1.0
    total = 0.0
    for k in range(one.first_entry, one.last_entry):
        if wanted < 0 or world.rewards[k].is_featured == wanted:
            total += world.rewards[k].weight
    u = rng.random() * total
    found = one.first_entry
    for k in range(one.first_entry, one.last_entry):
        if (wanted < 0 or world.rewards[k].is_featured == wanted) and world.rewards[k].weight > 0.0:
            found = k
            u -= world.rewards[k].weight
            if u < 0.0:
                return found
    return found


def do_automatic(world: Economy, player: Player, rng: Rng) -> None:
    """Do what is done whenever it can be, in order, until nothing can; and look at milestones."""
    n = 0
    is_done = False
    while not is_done and n < MOST_AUTOMATIC:
        is_done = True
        for k in range(len(world.activities)):
            activity = world.activities[k]
            if activity.at == w.AUTOMATIC and is_affordable(world, player, activity):
                perform(world, player, activity, rng)
                is_done = False
                n += 1
    if not is_done:
        count(world, w.CUT, 1)
    for k in range(len(world.milestones)):
        milestone = world.milestones[k]
        if world.own[player.index, milestone.column] == 0.0 and evaluate(world, milestone.formula, player.index) != 0.0:
            world.own[player.index, milestone.column] = 1.0
            world.reached[k, world.day - player.install_day] += 1


def do_at(world: Economy, player: Player, at: int, rng: Rng) -> None:
    """Do what is done once a session or once a day, each with its probability."""
    for k in range(len(world.activities)):
        activity = world.activities[k]
        if activity.at == at and is_affordable(world, player, activity):
            rng.open(w.SPEND, player.id, (session_number(world, player) << 8) + k)
            p = 1.0 if activity.weight < 0 else evaluate(world, activity.weight, player.index)
            p *= world.factors[player.persona, k]
            if p >= 1.0 or rng.random() < p:
                perform(world, player, activity, rng)


def session_number(world: Economy, player: Player) -> int:
    """Return a number for the session, which keys its draws: the day, and how many are left of it."""
    return (player.day << 8) + player.sessions_left


def chosen_activity(world: Economy, player: Player, u: float) -> int:
    """Return the activity that a player chooses by weight among what he can do; -1 if there is none."""
    total = 0.0
    for k in range(len(world.activities)):
        activity = world.activities[k]
        weight = 0.0
        if (
            activity.at == w.CHOICE
            and world.factors[player.persona, k] > 0.0
            and is_affordable(world, player, activity)
        ):
            weight = 1.0 if activity.weight < 0 else max(0.0, evaluate(world, activity.weight, player.index))
            weight *= world.factors[player.persona, k]
        world.odds[k] = weight
        total += weight
    if not total > 0.0:
        return -1
    u *= total
    found = -1
    for k in range(len(world.activities)):
        if world.odds[k] > 0.0:
            found = k
            u -= world.odds[k]
            if u < 0.0:
                return found
    return found


def grow(world: Economy, player: Player, now: float) -> None:
    """Add what has grown by itself since the last time: whole units, up to the cap."""
    hours = (now - player.updated_at) * 24.0
    player.updated_at = now
    for k in range(len(world.stocks)):
        stock = world.stocks[k]
        if stock.rate < 0:
            continue
        grown = world.own[player.index, stock.rest]
        grown += max(0.0, evaluate(world, stock.rate, player.index)) * min(hours, stock.offline)
        whole = floor(min(grown, w.MOST))
        world.own[player.index, stock.rest] = grown - whole if grown < w.MOST else 0.0
        if whole > 0.0:
            gain(world, player, k, whole, stock.flow)


def plan_day(world: Economy, player: Player, day: int, rng: Rng) -> None:
    """Find the next day on which a player plays, from `day` on, and the time of its first session."""
    sessions = max(0.0, min(evaluate(world, world.personas[player.persona].sessions, player.index), 50.0))
    whole = int(sessions)
    player.phase = w.AWAY
    for d in range(day, world.n_days):
        rng.open(w.PLAN, player.id, d)
        n = whole + (1 if rng.random() < sessions - float(whole) else 0)
        if n > 0 or d == player.install_day:  # whoever installs plays that day
            n = max(n, 1)
            player.day = d
            player.sessions_left = n
            player.place = 0.0
            player.n_turns = 0
            next_session(world, player, rng)
            return


def next_session(world: Economy, player: Player, rng: Rng) -> None:
    """Set the time of the next of the sessions left: they lie uniformly among the persona's hours, in order.

    The least of n uniform numbers above v is 1 - (1 - v) U^(1/n).
    """
    u = 1.0 - rng.random()
    player.place = 1.0 - (1.0 - player.place) * exp(log(u) / float(player.sessions_left))
    player.sessions_left -= 1
    persona = world.personas[player.persona]
    before = 0.0
    at = 0.0
    for k in range(persona.first_hour, persona.last_hour):
        share = world.hours[k, 2]
        if player.place < share or k == persona.last_hour - 1:
            part = (player.place - before) / (share - before)
            at = world.hours[k, 0] + min(1.0, part) * (world.hours[k, 1] - world.hours[k, 0])
            break
        before = share
    player.next_at = max(float(player.day) + min(at, 0.99999), player.next_at)
    player.phase = w.WAITING


def draw_trait(world: Economy, player: Player, number: int, rng: Rng) -> None:
    """Draw what a player is like, once and for all."""
    p = player.persona
    kind = int(world.traits[number, p, 1])
    a = world.traits[number, p, 2]
    b = world.traits[number, p, 3]
    rng.open(w.TRAIT, player.id, number)
    x = a
    if kind == w.NORMAL:
        x = rng.normal(a, b)
    elif kind == w.LOGNORMAL:
        x = exp(rng.normal(a, b))
    elif kind == w.UNIFORM:
        x = rng.uniform(a, b)
    elif kind == w.EXPONENTIAL:
        x = rng.exponential(1.0) * a
    x = max(world.traits[number, p, 4], min(world.traits[number, p, 5], x))
    world.own[player.index, int(world.traits[number, p, 0])] = x


def bucket(amount: float) -> int:
    """Return the bucket of a sketch that holds an amount (Masson et al. 2019, doi:10.14778/3352063.3352135)."""
    if amount < 1.0:
        return 0
    return min(w.N_BUCKETS - 1, 1 - int(floor(0.0 - log(amount) / _LOG_GAMMA)))
