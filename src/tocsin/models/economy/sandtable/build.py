"""From a sandtable design to the world of some of its players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.formula import TotalTable, Vocabulary, expression, total_value
from tocsin.kernel import uniforms
from tocsin.models.economy.sandtable.config import Rules, SandtableDesign
from tocsin.models.economy.sandtable.world import COHORT, N_COUNTERS, Sandtable

if TYPE_CHECKING:
    from numpy.typing import NDArray

SNAPSHOTS = (1, 3, 7, 14, 30)
MOST_HP, LAW_WIDTH = 4096, 512
"""Largest hp and strength for which the probability of a win is worked out."""
PROBED_LEVELS = (*range(1, 201), *range(250, 2001, 50), *range(3000, 10_001, 1000))


def xp_table(rules: Rules) -> TotalTable:
    """Return the formula of xp as tables. Raises InputError if it is none, or is below 1 at some level."""
    where = "model.formulas.xp_needed"
    words = {"xp_base": rules.progression.xp_base, "xp_pow": rules.progression.xp_pow}
    node = expression(rules.formulas.xp_needed, Vocabulary(["level", *words]), where)
    for level in PROBED_LEVELS:
        need = total_value(node, {"level": float(level), **words})
        if not need >= 1.0:
            raise InputError(
                f"{where} = {rules.formulas.xp_needed!r} is {need:g} at level {level}; it must be >= 1 at every level, "
                f"or levels would never end. Write max(1, ...) if that is meant"
            )
    table = TotalTable({"level": 0}, {name: k for k, name in enumerate(words)}, list(words.values()))
    table.add(node)
    return table


def cohorts(design: SandtableDesign, n: int, seed: int, is_keyed: bool) -> NDArray[Any]:
    """Return the cohort of each player: 0 casual, 1 core, 2 whale. Shares are divided by their sum."""
    u = _hashed(seed, n) if is_keyed else uniforms(seed, n)
    mix = design.scenario.population_mix
    ends = np.cumsum([mix.casual, mix.core, mix.whale]) / (mix.casual + mix.core + mix.whale)
    return np.minimum(np.searchsorted(ends, u, side="right"), 2).astype(np.int8)


def _hashed(seed: int, n: int) -> NDArray[Any]:
    """Return the keyed uniform of every player for the purpose COHORT (see kernel/_keyed.py)."""
    one, two = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)

    def mixed(x: NDArray[Any]) -> NDArray[Any]:
        x = x * one
        x = (x ^ (x >> np.uint64(33))) * two
        found: NDArray[Any] = x ^ (x >> np.uint64(33))
        return found

    h = mixed(np.uint64(seed ^ 0x9E3779B97F4A7C15) ^ (np.arange(n, dtype=np.uint64) * np.uint64(0x100000001B3)))
    h = mixed(mixed(h) ^ (np.full(n, COHORT & 0xFF, np.uint64) * one))
    found: NDArray[Any] = (h >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def world_of(
    design: SandtableDesign,
    kinds: NDArray[Any],
    first: int,
    n_days: int,
    is_keyed: bool = False,
    is_exact: bool = False,
) -> Sandtable:
    """Return the world of players first, first + 1 ..., whose cohorts are `kinds`."""
    rules, n = design.model, len(kinds)
    warrior, combat, growth, churn = rules.warrior, rules.combat, rules.progression, rules.churn
    gacha, training = rules.gacha, rules.training
    behaviors = rules.behavior.casual, rules.behavior.core, rules.behavior.whale
    monsters = np.array(rules.dungeon.rows(), np.int64)
    snapshot_days = [day for day in SNAPSHOTS if day <= n_days]
    tables = xp_table(rules).arrays()
    law_rows = 2 * len(monsters) * LAW_WIDTH if is_exact else 1
    power = 2 * warrior.attack + warrior.defense + warrior.hp // 10 + 10
    return Sandtable(
        players={
            "id": np.arange(first, first + n), "level": 1, "attack": warrior.attack, "defense": warrior.defense,
            "hp": warrior.hp, "upgrade_cost": growth.upgrade_cost_base, "power": power, "cohort": kinds,
            "next_at": (np.arange(n) + 0.5) / max(n, 1),
        },
        days=np.zeros((n_days, N_COUNTERS), np.int64), snapshots=np.zeros((len(snapshot_days), n), np.int64),
        snapshot_days=snapshot_days, monsters=monsters,
        behavior=[[b.sessions_int, b.sessions_frac, b.p_dungeon, b.p_upgrade, b.p_training] for b in behaviors],
        own=np.zeros((1, 1)), laws=np.zeros((law_rows, combat.max_rounds)), known=np.zeros(law_rows, np.int64),
        line=np.zeros(3 * MOST_HP if is_exact else 3), n_days=n_days, max_rounds=combat.max_rounds, dmg_var=combat.dmg_var,
        gain_mult=rules.whale_gain_mult, training_gold=training.gold if training else 0,
        training_xp=training.xp if training else 0, cost_num=growth.upgrade_cost_num, cost_den=growth.upgrade_cost_den,
        upgrade_attack=growth.upgrade_attack_gain, level_attack=growth.level_attack_gain,
        level_defense=growth.level_defense_gain, level_hp=growth.level_hp_gain, stall_days=churn.stall_days,
        has_gacha=int(gacha is not None), pity_hard=gacha.pity_hard if gacha else 0,
        pity_soft_start=gacha.pity_soft_start if gacha else 0, is_ratio=int(combat.damage_model == "ratio"),
        is_keyed=int(is_keyed), is_exact=int(is_exact), law_width=LAW_WIDTH if is_exact else 0, p_hit=combat.p_hit,
        p_hit_monster=combat.p_hit_monster, ratio_k=combat.ratio_k, p_churn=churn.p_base, p_stall=churn.p_stall,
        gacha_rate=gacha.base_rate if gacha else 0.0, pity_soft_step=gacha.pity_soft_step if gacha else 0.0,
        **tables,
    )  # fmt: skip
