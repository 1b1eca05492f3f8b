"""The sandtable rules as columns of NumPy arrays: what one writes without a compiler. The peer of a benchmark.

Players are rows; a day is a loop over session slots, a battle a loop over rounds on those still fighting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.models.economy.sandtable.config import SandtableDesign


@dataclass
class Columns:
    """Players by column, and counts of battles, wins and gold."""

    design: SandtableDesign
    rng: np.random.Generator
    kind: NDArray[Any]
    gold: NDArray[Any]
    xp: NDArray[Any]
    level: NDArray[Any]
    attack: NDArray[Any]
    cost: NDArray[Any]
    power: NDArray[Any]
    idle: NDArray[Any]
    is_there: NDArray[Any]
    battles: int = 0
    wins: int = 0
    earned: int = 0

    def defense(self, who: NDArray[Any]) -> NDArray[Any]:
        """Return the defense of some players."""
        return np.asarray(80 + 3 * (self.level[who] - 1))

    def hp(self, who: NDArray[Any]) -> NDArray[Any]:
        """Return the hp of some players."""
        return np.asarray(1000 + 50 * (self.level[who] - 1))


def run_columns(players: int, days: int, seed: int) -> Columns:
    """Run the default rules; return the players at the end."""
    rng = np.random.default_rng(seed)
    ones = np.ones(players, np.int64)
    kind = np.searchsorted(np.array([0.6, 0.9, 1.0]), rng.random(players), side="right")
    c = Columns(SandtableDesign(), rng, kind, 0 * ones, 0 * ones, ones.copy(), 100 * ones, 50 * ones, 390 * ones, 0 * ones,
                np.ones(players, bool))  # fmt: skip
    monsters = np.array(c.design.model.dungeon.rows(), np.int64)
    for _ in range(days):
        who = np.flatnonzero(c.is_there)
        n = np.array([1, 2, 5])[c.kind[who]] + (rng.random(len(who)) < np.array([0.5, 0.5, 0.0])[c.kind[who]])
        for slot in range(int(n.max(initial=0))):
            _session(c, who[n > slot], monsters)
        _end_day(c, who)
    return c


def _session(c: Columns, who: NDArray[Any], monsters: NDArray[Any]) -> None:
    u, kind = c.rng.random(len(who)), c.kind[who]
    dungeon, upgrade = np.array([0.7, 0.6, 0.65])[kind], np.array([0.2, 0.3, 0.3])[kind]
    buys = (u >= dungeon) & (u < dungeon + upgrade) & (c.gold[who] >= c.cost[who])
    buyers = who[buys]
    c.gold[buyers] -= c.cost[buyers]
    c.cost[buyers] = c.cost[buyers] * 5 // 4
    c.attack[buyers] += 2
    explores = u >= dungeon + upgrade
    fighters = who[~buys]
    tier = _tiers(c, fighters, monsters)
    tier = np.where(explores[~buys], np.maximum(tier - 1, 0), tier)
    is_won = _battles(c, fighters, tier, monsters)
    _reward(c, fighters[is_won], tier[is_won], monsters)


def _tiers(c: Columns, who: NDArray[Any], monsters: NDArray[Any]) -> NDArray[Any]:
    hit = np.maximum(c.attack[who][:, None] - monsters[:, 2], 1)
    rounds = -(-monsters[:, 0] // hit)
    blow = np.maximum(monsters[:, 1] - c.defense(who)[:, None], 0)
    fits = (rounds <= 20) & ((rounds * 0.85 * blow).astype(np.int64) <= (c.hp(who) * 8 // 10)[:, None])
    last = len(monsters) - 1 - np.argmax(fits[:, ::-1], axis=1)
    return np.where(fits.any(axis=1), last, 0)


def _battles(c: Columns, who: NDArray[Any], tier: NDArray[Any], monsters: NDArray[Any]) -> NDArray[Any]:
    c.battles += len(who)
    is_won = np.zeros(len(who), bool)
    live = np.arange(len(who))
    mine, its = c.hp(who), monsters[tier, 0].copy()
    hit, blow = c.attack[who] - monsters[tier, 2], monsters[tier, 1] - c.defense(who)
    for _ in range(32):
        its[live] -= _strikes(c, hit[live])
        is_won[live[its[live] <= 0]] = True
        live = live[its[live] > 0]
        mine[live] -= _strikes(c, blow[live])
        live = live[mine[live] > 0]
        if not len(live):
            break
    c.wins += int(is_won.sum())
    return is_won


def _strikes(c: Columns, margin: NDArray[Any]) -> NDArray[Any]:
    damage = np.maximum(1, margin + c.rng.integers(-10, 11, len(margin)))
    return np.where(c.rng.random(len(margin)) < 0.85, damage, 0)


def _reward(c: Columns, who: NDArray[Any], tier: NDArray[Any], monsters: NDArray[Any]) -> None:
    factor = np.where(c.kind[who] == 2, 2, 1)
    gold = monsters[tier, 3] * factor
    c.earned += int(gold.sum())
    c.gold[who] += gold
    c.xp[who] += monsters[tier, 4] * factor
    while len(who):
        need = np.floor(60.0 * c.level[who] ** 1.3).astype(np.int64)
        who, need = who[c.xp[who] >= need], need[c.xp[who] >= need]
        c.xp[who] -= need
        c.level[who] += 1
        c.attack[who] += 5


def _end_day(c: Columns, who: NDArray[Any]) -> None:
    power = 2 * c.attack[who] + c.defense(who) + c.hp(who) // 10 + 10 * c.level[who]
    c.idle[who] = np.where(power > c.power[who], 0, c.idle[who] + 1)
    c.power[who] = power
    p = np.where(c.idle[who] >= 2, 0.05, 0.003)
    c.is_there[who[c.rng.random(len(who)) < p]] = False
