"""The design of a sandtable economy: every number of it, checked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Amount = Annotated[int, Field(ge=0, le=100_000_000)]
Stat = Annotated[int, Field(ge=0, le=1_000_000)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=1e9)]
Growth = Annotated[float, Field(gt=0.0, le=10.0)]


class Table(BaseModel):
    """Base of all tables: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Mix(Table):
    """Shares of the cohorts, in any unit; they are divided by their sum."""

    casual: Weight
    core: Weight
    whale: Weight

    @model_validator(mode="after")
    def _some(self) -> Mix:
        if not self.casual + self.core + self.whale > 0.0:
            raise ValueError("the shares must add up to more than 0")
        return self


class Crowd(Table):
    """Who plays."""

    population_mix: Mix = Mix(casual=0.6, core=0.3, whale=0.1)


class Warrior(Table):
    """A player at the start."""

    attack: Stat = 100
    defense: Stat = 80
    hp: Annotated[int, Field(gt=0, le=1_000_000)] = 1000


class Combat(Table):
    """Battles, round by round."""

    p_hit: Probability = 0.85
    p_hit_monster: Probability = 0.85
    dmg_var: Annotated[int, Field(ge=0, le=1000)] = 10
    max_rounds: Annotated[int, Field(ge=1, le=32)] = 32
    damage_model: Literal["difference", "ratio"] = "difference"
    ratio_k: Annotated[float, Field(gt=0.0, le=1e6)] = 1.0

    @model_validator(mode="after")
    def _k(self) -> Combat:
        if self.ratio_k != 1.0 and self.damage_model != "ratio":
            raise ValueError('ratio_k has an effect only with damage_model = "ratio"')
        return self


class Training(Table):
    """What training pays."""

    xp: Amount = 0
    gold: Amount = 0


class Tier(Table):
    """One tier of the dungeon, given rather than grown."""

    hp: Annotated[int, Field(gt=0, le=100_000_000)]
    attack: Amount
    defense: Amount
    gold: Amount | None = None
    xp: Amount | None = None


class Dungeon(Table):
    """Monsters and what they pay, by tier: base * growth^tier, cut to whole numbers."""

    tiers: Annotated[int, Field(ge=1, le=64)] = 8
    m_hp: Annotated[int, Field(gt=0, le=1_000_000)] = 300
    m_attack: Stat = 45
    m_defense: Stat = 20
    tier_growth: Growth = 1.5
    reward_gold: Amount = 40
    reward_xp: Amount = 45
    reward_gold_growth: Growth = 1.4
    reward_xp_growth: Growth = 1.4
    tier_table: tuple[Tier, ...] | None = None

    @model_validator(mode="after")
    def _table(self) -> Dungeon:
        if self.tier_table is not None and len(self.tier_table) != self.tiers:
            raise ValueError(f"tier_table has {len(self.tier_table)} tiers, tiers says {self.tiers}")
        if max(map(max, self.rows())) > 100_000_000:
            raise ValueError("a number of the last tier passes 100,000,000; lower a growth or the number of tiers")
        return self

    def rows(self) -> list[list[int]]:
        """Return hp, attack, defense, gold and xp of every tier."""
        found = []
        for tier in range(self.tiers):
            up = [self.tier_growth] * 3 + [self.reward_gold_growth, self.reward_xp_growth]
            base = self.m_hp, self.m_attack, self.m_defense, self.reward_gold, self.reward_xp
            row = [int(min(b * g**tier, 1e18)) for b, g in zip(base, up, strict=True)]
            given: Any = self.tier_table[tier] if self.tier_table else None
            if given is not None:
                row = [given.hp, given.attack, given.defense, *(row[3:])]
                row[3] = row[3] if given.gold is None else given.gold
                row[4] = row[4] if given.xp is None else given.xp
            found.append(row)
        return found


class Behavior(Table):
    """What a cohort does: sessions a day, and the share of each kind of session; the rest explores."""

    sessions_int: Annotated[int, Field(ge=0, le=100)]
    sessions_frac: Probability
    p_dungeon: Probability
    p_upgrade: Probability
    p_training: Probability = 0.0

    @model_validator(mode="after")
    def _sum(self) -> Behavior:
        total = self.p_dungeon + self.p_upgrade + self.p_training
        if total > 1.0 + 1e-12:
            raise ValueError(f"p_dungeon + p_upgrade + p_training must be <= 1, got {total:g}")
        return self


_BEHAVIOR = {
    "casual": {"sessions_int": 1, "sessions_frac": 0.5, "p_dungeon": 0.7, "p_upgrade": 0.2},
    "core": {"sessions_int": 2, "sessions_frac": 0.5, "p_dungeon": 0.6, "p_upgrade": 0.3},
    "whale": {"sessions_int": 5, "sessions_frac": 0.0, "p_dungeon": 0.65, "p_upgrade": 0.3},
}


class Behaviors(Table):
    """What each cohort does; keys that are left out keep that cohort's defaults."""

    casual: Behavior
    core: Behavior
    whale: Behavior

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        merged = {k: ({**d, **given[k]} if isinstance(given.get(k, {}), dict) and k in given else
                      given.get(k, d)) for k, d in _BEHAVIOR.items()}  # fmt: skip
        return {**given, **merged}


class Progression(Table):
    """Levels and upgrades."""

    xp_base: Annotated[float, Field(ge=0.0, le=1e9)] = 60.0
    xp_pow: Annotated[float, Field(ge=-10.0, le=10.0)] = 1.3
    level_attack_gain: Stat = 5
    level_defense_gain: Stat = 3
    level_hp_gain: Stat = 50
    upgrade_cost_base: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    upgrade_cost_num: Annotated[int, Field(ge=1, le=1000)] = 5
    upgrade_cost_den: Annotated[int, Field(ge=1, le=1000)] = 4
    upgrade_attack_gain: Stat = 2

    @model_validator(mode="after")
    def _chain(self) -> Progression:
        base, num, den = self.upgrade_cost_base, self.upgrade_cost_num, self.upgrade_cost_den
        if num < den:
            raise ValueError(
                f"upgrade_cost_num must be >= upgrade_cost_den, got {num} < {den}: the price would fall to 0"
            )
        if num > den and base * num // den == base:
            raise ValueError(
                f"the price of upgrades sticks at {base}: {base} * {num} // {den} is {base} again; raise upgrade_cost_base"
            )
        return self


class Formulas(Table):
    """Formulas; xp_needed may mention level, xp_base and xp_pow."""

    xp_needed: str | float = "xp_base * level ^ xp_pow"


class Churn(Table):
    """The probability to leave at the end of a day played."""

    p_base: Probability = 0.003
    p_stall: Probability = 0.05
    stall_days: Annotated[int, Field(ge=0, le=10_000)] = 2

    @model_validator(mode="after")
    def _order(self) -> Churn:
        if self.p_stall < self.p_base:
            raise ValueError(f"p_stall must be >= p_base, got {self.p_stall:g} < {self.p_base:g}")
        return self


class Gacha(Table):
    """Pulls to the first hit: a rate, more of it after `pity_soft_start` misses, certainty at `pity_hard`."""

    base_rate: Annotated[float, Field(gt=0.0, le=1.0)] = 0.02
    pity_hard: Annotated[int, Field(ge=0, le=100_000)] = 0
    pity_soft_start: Annotated[int, Field(ge=0, le=100_000)] = 0
    pity_soft_step: Probability = 0.0

    @model_validator(mode="after")
    def _ends(self) -> Gacha:
        if self.base_rate < 1e-4 and not 1 <= self.pity_hard <= 10_000:
            raise ValueError(
                f"base_rate must be >= 0.0001, or pity_hard in 1..10,000, got {self.base_rate:g} and {self.pity_hard}"
            )
        return self


class Rules(Table):
    """All rules."""

    warrior: Warrior = Warrior()
    whale_gain_mult: Annotated[int, Field(ge=0, le=100)] = 2
    combat: Combat = Combat()
    training: Training | None = None
    dungeon: Dungeon = Dungeon()
    behavior: Behaviors = Behaviors.model_validate({})
    progression: Progression = Progression()
    formulas: Formulas = Formulas()
    churn: Churn = Churn()
    gacha: Gacha | None = None

    @model_validator(mode="after")
    def _training(self) -> Rules:
        kinds = self.behavior.casual, self.behavior.core, self.behavior.whale
        pays = self.training is not None and (self.training.xp > 0 or self.training.gold > 0)
        if pays != any(kind.p_training > 0.0 for kind in kinds):
            raise ValueError("training pays something exactly if some cohort trains: set both or neither")
        return self


class SandtableDesign(Table):
    """A design under the sandtable rules."""

    preset: Literal["sandtable"] = "sandtable"
    scenario: Crowd = Crowd()
    model: Rules = Rules()
