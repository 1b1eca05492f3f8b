"""The world of the sandtable rules: players, the tables of their game, and what is counted."""

from __future__ import annotations

from tocsin import Arena, Array, Array2, Entity, Rng, World, float64, int8, int32, int64
from tocsin.formula import evaluate, floor

CASUAL, CORE, WHALE = 0, 1, 2
BEHAVIOR, HIT, DAMAGE, CHURN, COHORT, GACHA = (256 + n for n in (0, 1, 2, 4, 5, 7))
"""Purposes of draws; the lowest 8 bits are numbers that published runs depend on."""
(ACTIVE, AT_START, CHURNED, BATTLES, WINS, EARNED, SPENT, SUPPLY, POWER, ALIVE, LEVELS, UPGRADES, DAY1) = range(13)
"""Columns of `days`, whole numbers; the last: players of the first day who were active."""
N_COUNTERS = 13
COMBAT = 256 + 16
"""Purpose of the draws of a battle that are not keyed one by one."""
MOST_GOLD = 1_000_000_000_000
"""Gold that a player can hold; more is lost."""
MOST_PULLS = 100_000
"""Pulls after which a player gives up: a hit is then all but impossible."""
MOST_LEVELS = 1000
"""Levels that one win can bring: a formula that asks for next to nothing ends there."""


class Player(Entity):
    """One player."""

    id: int64  # among all players; keys what is drawn
    gold: int64
    xp: int64  # into the present level
    level: int64
    attack: int64
    defense: int64
    hp: int64
    n_upgrades: int64
    upgrade_cost: int64
    power: int64
    earned: int64  # gold
    next_at: float64  # when the next day is played, days
    n_pulls: int64
    idle_streak: int32  # days played in a row without more power
    cohort: int8
    is_churned: int8
    is_day1: int8  # active on the first day


class Sandtable(World):
    """Players, monsters by tier, and the counters of every day."""

    players: Arena[Player]
    days: Array2[int64]  # (day, counter)
    snapshots: Array2[int64]  # (snapshot, player): power
    snapshot_days: Array[int64]
    monsters: Array2[int64]  # (tier; hp, attack, defense, gold, xp)
    behavior: Array2[float64]  # (cohort; sessions, extra session, dungeon, upgrade, training)
    formulas: Array2[int64]  # the formula of xp (see tocsin.formula)
    ops: Array[int32]
    args: Array[int32]
    own: Array2[float64]  # (1; level)
    shared: Array[float64]
    tables: Array2[int64]
    points_x: Array[float64]
    points_y: Array[float64]
    stack: Array[float64]
    laws: Array2[float64]  # battles="exact": (tier * width + attack; round) and (tier * width + level; round)
    known: Array[int64]  # which rows of laws are filled
    line: Array[float64]  # scratch of the laws: three rows of probabilities, by damage so far
    day: int64  # that is open; 0 before the first
    closed: int64
    n_days: int64
    max_rounds: int64
    dmg_var: int64
    gain_mult: int64  # of whales
    training_gold: int64
    training_xp: int64
    cost_num: int64
    cost_den: int64
    upgrade_attack: int64
    level_attack: int64
    level_defense: int64
    level_hp: int64
    stall_days: int64
    pity_hard: int64
    pity_soft_start: int64
    has_gacha: int64
    is_ratio: int64
    is_keyed: int64  # draws battle by battle and round by round, as published runs do
    is_exact: int64  # battles are settled by their probability
    law_width: int64
    p_hit: float64
    p_hit_monster: float64
    ratio_k: float64
    p_churn: float64
    p_stall: float64
    gacha_rate: float64
    pity_soft_step: float64

    def count(self, counter: int, n: int) -> None:
        """Add to a counter of the open day."""
        self.days[self.day - 1, counter] += n

    def margin(self, attack: int, defense: int) -> float:
        """Return the damage of a hit before it varies, not yet floored."""
        if self.is_ratio == 1:
            total = float(attack + defense)
            return self.ratio_k * attack / total if total != 0.0 else 0.0
        return float(attack - defense)

    def tier_for(self, player: Player) -> int:
        """Return the highest tier that a player takes on: won in 20 rounds, with at most 80 % of hp lost."""
        for tier in range(len(self.monsters) - 1, -1, -1):
            hit = max(int(self.margin(player.attack, self.monsters[tier, 2])), 1)
            rounds = (self.monsters[tier, 0] + hit - 1) // hit
            blow = max(int(self.margin(self.monsters[tier, 1], player.defense)), self.is_ratio)
            if rounds <= 20 and int(float(rounds) * self.p_hit_monster * float(blow)) <= player.hp * 8 // 10:
                return tier
        return 0

    def is_won(self, player: Player, tier: int, battle: int, rng: Rng) -> int:
        """Fight round by round: the player strikes first; 1 for a win. All hp at the start."""
        monster_hp = self.monsters[tier, 0]
        hp = player.hp
        hit = self.margin(player.attack, self.monsters[tier, 2])
        blow = self.margin(self.monsters[tier, 1], player.defense)
        for r in range(self.max_rounds):
            place = 64 * battle + r
            monster_hp -= self.damage(player.id, place, self.p_hit, hit, rng)
            if monster_hp <= 0:
                return 1
            hp -= self.damage(player.id, place + 32, self.p_hit_monster, blow, rng)
            if hp <= 0:
                return 0
        return 0

    def damage(self, player: int, place: int, p: float, margin: float, rng: Rng) -> int:
        """Return the damage of one strike; 0 if it misses. Keyed: two draws with numbers, else one."""
        span = 2 * self.dmg_var + 1
        if self.is_keyed == 1:
            rng.open(HIT, player, self.day)
            rng.block = place
            if not rng.random() < p:
                return 0
            rng.open(DAMAGE, player, self.day)
            rng.block = place
            more = modulo64(rng.bits64(), span)
        else:
            u = rng.random()
            if not u < p:
                return 0
            more = min(int(u / p * float(span)), span - 1)  # u / p is uniform again
        return max(1, int(margin + float(more - self.dmg_var)))

    def xp_needed(self, level: int) -> int:
        """Return the xp from a level to the next, at least 1."""
        self.own[0, 0] = float(level)
        return max(1, int(min(evaluate(self, 0, 0), 9e15)))

    def reward(self, player: Player, gold: int, xp: int) -> None:
        """Pay gold and xp, times the factor of whales, and raise levels."""
        factor = self.gain_mult if player.cohort == WHALE else 1
        gold = gold * factor
        player.gold = min(player.gold + gold, MOST_GOLD)
        player.earned += gold
        self.count(EARNED, gold)
        player.xp += xp * factor
        for _ in range(MOST_LEVELS):
            need = self.xp_needed(player.level)
            if player.xp < need:
                return
            player.xp -= need
            player.level += 1
            player.attack += self.level_attack
            player.defense += self.level_defense
            player.hp += self.level_hp
            self.count(LEVELS, 1)

    def upgrade(self, player: Player) -> None:
        """Buy the next upgrade; the only sink of gold."""
        cost = player.upgrade_cost
        player.gold -= cost
        self.count(SPENT, cost)
        self.count(UPGRADES, 1)
        player.n_upgrades += 1
        player.attack += self.upgrade_attack
        player.upgrade_cost = cost * self.cost_num // self.cost_den

    def sessions_today(self, player: Player, rng: Rng) -> int:
        """Return how often a player plays today."""
        n = int(self.behavior[player.cohort, 0])
        extra = self.behavior[player.cohort, 1]
        if extra > 0.0:
            rng.open(BEHAVIOR, player.id, self.day)
            if rng.random() < extra:
                n += 1
        return n

    def session(self, player: Player, number: int, battle: int, rng: Rng) -> int:
        """Play session `number`; return how many battles that player has then fought today."""
        kind = player.cohort
        rng.open(BEHAVIOR, player.id, self.day)
        rng.block = number + (1 if self.behavior[kind, 1] > 0.0 else 0)
        u = rng.random()
        upgrade = self.behavior[kind, 2] + self.behavior[kind, 3]
        if u >= self.behavior[kind, 2] and u < upgrade and player.gold >= player.upgrade_cost:
            self.upgrade(player)
            return battle
        if u >= upgrade and u < upgrade + self.behavior[kind, 4]:
            self.reward(player, self.training_gold, self.training_xp)
            return battle
        tier = self.tier_for(player)
        if u >= upgrade:
            tier = max(tier - 1, 0)  # exploring
        self.count(BATTLES, 1)
        if self.settle(player, tier, battle, rng) == 1:
            self.count(WINS, 1)
            self.reward(player, self.monsters[tier, 3], self.monsters[tier, 4])
        return battle + 1

    def settle(self, player: Player, tier: int, battle: int, rng: Rng) -> int:
        """Return 1 for a battle won: by its probability where that is asked for and within the tables."""
        if self.is_keyed == 0:
            rng.open(COMBAT, player.id, (self.day << 16) + battle)
        if self.is_exact == 1:
            p = self.win_probability(player, tier)
            if p >= 0.0:
                return 1 if rng.random() < p else 0
        return self.is_won(player, tier, battle, rng)

    def win_probability(self, player: Player, tier: int) -> float:
        """Return the probability that a player wins; -1 outside the tables.

        The two sums of damage are independent until one passes the other's hp, so the win is: the player's
        sum does at strike r, the monster's has not at strike r - 1.
        """
        width = self.law_width
        strength = player.n_upgrades * self.upgrade_attack + (player.level - 1) * self.level_attack
        most = len(self.line) // 3
        if strength >= width or player.level >= width or player.hp >= most or self.monsters[tier, 0] >= most:
            return -1.0
        mine = tier * width + strength
        its = (len(self.monsters) + tier) * width + player.level
        if self.known[mine] == 0:
            margin = self.margin(player.attack, self.monsters[tier, 2])
            self.fill_law(mine, self.monsters[tier, 0], self.p_hit, margin)
        if self.known[its] == 0:
            self.fill_law(its, player.hp, self.p_hit_monster, self.margin(self.monsters[tier, 1], player.defense))
        p = self.laws[mine, 0]
        for r in range(1, self.max_rounds):
            p += (self.laws[mine, r] - self.laws[mine, r - 1]) * (1.0 - self.laws[its, r - 1])
        return p

    def fill_law(self, row: int, hp: int, p: float, margin: float) -> None:
        """Work out the probability that strikes add up to `hp`, after 1, 2 ... of them. Cost: O(hp) a strike.

        A hit does max(1, m + v), v uniform in +-dmg_var: 1 with a share of its own, else a window of whole numbers.
        """
        self.known[row] = 1
        m = int(floor(margin))
        span = 2 * self.dmg_var + 1
        low = max(2, m - self.dmg_var)
        high = m + self.dmg_var
        share = p / float(span)
        ones = float(span - max(high - low + 1, 0))
        n = len(self.line) // 3
        for d in range(hp):
            self.line[d] = 1.0 if d == 0 else 0.0
        for r in range(self.max_rounds):
            total = 0.0
            for d in range(hp):
                total += self.line[d]
                self.line[n + d] = total  # sums up to d
            left = 0.0
            for d in range(hp):
                reached = self.line[d - 1] * ones if d >= 1 else 0.0
                if low <= d and low <= high:
                    reached += self.line[n + d - low] - (self.line[n + d - high - 1] if d > high else 0.0)
                self.line[2 * n + d] = (1.0 - p) * self.line[d] + share * reached
                left += self.line[2 * n + d]
            for d in range(hp):
                self.line[d] = self.line[2 * n + d]
            self.laws[row, r] = 1.0 - left

    def chance(self, n_misses: int) -> float:
        """Return the probability of a hit after so many misses in a row."""
        if self.pity_hard > 0 and n_misses + 1 >= self.pity_hard:
            return 1.0
        p = self.gacha_rate
        if self.pity_soft_step > 0.0:
            p += float(max(0, n_misses - self.pity_soft_start)) * self.pity_soft_step
        return min(1.0, p)

    def pull(self, player: Player, rng: Rng) -> None:
        """Pull until the first hit; nothing is paid."""
        rng.open(GACHA, player.id, 0)
        while player.n_pulls < MOST_PULLS:
            n_misses = player.n_pulls
            player.n_pulls += 1
            p = self.chance(n_misses)
            if p >= 1.0 or rng.random() < p:
                return

    def play(self, player: Player, rng: Rng) -> None:
        """Play a day, and leave for good with some probability."""
        n = self.sessions_today(player, rng)
        if n == 0:
            return
        self.count(ACTIVE, 1)
        if self.day == 1:
            player.is_day1 = 1
        if player.is_day1 == 1:
            self.count(DAY1, 1)
        battle = 0
        for number in range(n):
            battle = self.session(player, number, battle, rng)
        power = 2 * player.attack + player.defense + player.hp // 10 + 10 * player.level
        player.idle_streak = 0 if power > player.power else player.idle_streak + 1
        player.power = power
        p = self.p_stall if player.idle_streak >= self.stall_days else self.p_churn
        rng.open(CHURN, player.id, self.day)
        if p >= 1.0 or (p > 0.0 and rng.random() < p):
            player.is_churned = 1
            self.count(CHURNED, 1)

    def close(self) -> None:
        """Count what players hold at the end of the day."""
        for k in range(len(self.players)):
            player = self.players[k]
            if player.is_churned == 0:
                self.count(ALIVE, 1)
                self.count(SUPPLY, player.gold)
                self.count(POWER, player.power)
        for s in range(len(self.snapshot_days)):
            if self.snapshot_days[s] == self.day:
                for k in range(len(self.players)):
                    self.snapshots[s, k] = self.players[k].power
        self.closed = self.day


def modulo64(bits: int, span: int) -> int:
    """Return 64 bits, read as a number >= 0, modulo span < 2**31."""
    high = (bits >> 32) & 0xFFFFFFFF
    return (((high % span) << 32) + (bits & 0xFFFFFFFF)) % span
