"""The design of an economy as data: every key, its type and its bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tocsin.models.economy.sandtable.config import Probability, Table, Weight

Formula = str | float
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Day = Annotated[int, Field(ge=1, le=1000)]
Whole = Annotated[float, Field(ge=0.0, le=9e15)]
Amounts = dict[Name, Formula]


class Resource(Table):
    """Something that players hold: a currency, an item, energy, a level. Whole numbers."""

    start: Whole = 0.0
    cap: Formula | None = Field(None, description="the most that can be held")
    per_hour: Formula | None = Field(None, description="what grows by itself, also while the player is away")
    offline_hours: Annotated[float, Field(gt=0.0, le=10_000.0)] = Field(
        10_000.0, description="growth without a visit ends"
    )

    @model_validator(mode="after")
    def _whole(self) -> Resource:
        if not self.start.is_integer():
            raise ValueError(f"start must be a whole number, got {self.start!r}")
        return self


class Distribution(Table):
    """How a trait varies over players: a and b are mean and sd; of the logarithm; least and most; the mean."""

    kind: Literal["constant", "normal", "lognormal", "uniform", "exponential"] = "constant"
    a: Annotated[float, Field(ge=-1e9, le=1e9)] = 1.0
    b: Annotated[float, Field(ge=-1e9, le=1e9)] = 0.0
    least: Annotated[float, Field(ge=-1e12, le=1e12)] = -1e12
    most: Annotated[float, Field(ge=-1e12, le=1e12)] = 1e12

    @model_validator(mode="after")
    def _order(self) -> Distribution:
        if self.least > self.most:
            raise ValueError(f"least must be <= most, got {self.least:g} > {self.most:g}")
        if self.kind in ("normal", "lognormal") and self.b < 0.0:
            raise ValueError(f"b, the standard deviation, must be >= 0, got {self.b:g}")
        if self.kind == "lognormal" and max(abs(self.a), self.b) > 50.0:
            raise ValueError("a and b of a lognormal are of the logarithm: at most 50")
        if self.kind == "uniform" and self.a > self.b:
            raise ValueError(f"a, the least, must be <= b, the most, got {self.a:g} > {self.b:g}")
        if self.kind == "exponential" and not self.a > 0.0:
            raise ValueError(f"a, the mean, must be > 0, got {self.a:g}")
        return self


Trait = Distribution | Annotated[float, Field(ge=-1e9, le=1e9)]


class PersonaTable(Table):
    """A kind of player. Shares are divided by their sum."""

    share: Annotated[float, Field(gt=0.0, le=1e9)] = 1.0
    sessions: Formula = Field(1.0, description="mean number a day; may follow traits and what the player has")
    minutes: Formula = Field(15.0, description="length of a session")
    hours: tuple[tuple[float, float, float], ...] = Field(((8.0, 24.0, 1.0),), description="from, to, weight")
    traits: dict[Name, Trait] = Field(default_factory=dict)
    weights: dict[Name, Weight] = Field(default_factory=dict, description="factors on the weights of activities")

    @model_validator(mode="after")
    def _hours(self) -> PersonaTable:
        before = 0.0
        for start, end, weight in self.hours:
            if not (before <= start < end <= 24.0 and 0.0 < weight <= 1e9):
                raise ValueError("hours must be [from, to, weight] with 0 <= from < to <= 24, in order, weight > 0")
            before = end
        if not self.hours:
            raise ValueError("hours must have at least one [from, to, weight]")
        return self


class TradeTable(Table):
    """What is put up for sale, or bought, in a market."""

    market: Name
    amount: Formula = Field(1.0, description="of the item; rounded down")
    price: Formula = Field(description="of one: what is asked, or the most that is paid; rounded down, at least 1")


class ActivityTable(Table):
    """Something that players do: a battle, a shop offer, a level-up, a pull."""

    at: Literal["choice", "session", "day", "automatic"] = Field(
        "choice", description="chosen by weight; once a session or a day with probability `weight`; whenever it can be"
    )
    when: Formula | None = Field(None, description="gate: done only while this is true")
    weight: Formula | None = Field(None, description="of the choice, or probability; 1")
    chance: Formula | None = Field(None, description="probability of success; costs are paid all the same")
    minutes: Formula | None = Field(None, description="how long it takes; 1")
    cost: Amounts = Field(default_factory=dict, description="amounts, rounded up")
    gain: Amounts = Field(default_factory=dict, description="amounts, rounded down")
    price: Annotated[float, Field(ge=0.0, le=10_000.0)] = Field(0.0, description="real money")
    loot: Name | None = None
    draws: Formula | None = Field(None, description="how often the loot table is drawn from; 1")
    sell: TradeTable | None = Field(None, description="put up for sale: one offer a player in each market")
    buy: TradeTable | None = Field(None, description="take the cheapest offers; done only while there is one")
    per_day: Count = Field(0, description="0 for no limit")
    in_total: Count = Field(0, description="0 for no limit")
    reset: tuple[Name, ...] = Field((), description="resources that go back to their start")

    @model_validator(mode="after")
    def _effective(self) -> ActivityTable:
        if abs(self.price * 100.0 - round(self.price * 100.0)) > 1e-6:
            raise ValueError(f"price must be in whole cents, got {self.price!r}")
        if self.draws is not None and self.loot is None:
            raise ValueError("draws needs loot: the table that is drawn from")
        if self.sell is not None and self.buy is not None:
            raise ValueError("sell and buy are two activities; give one of them another name")
        if (self.sell or self.buy) and self.at == "automatic":
            raise ValueError("nobody trades automatically; choose another `at`")
        if self.weight is not None and self.at == "automatic":
            raise ValueError(
                "weight has no effect on what is done automatically; leave it out, or write a gate with when"
            )
        if self.minutes is not None and self.at != "choice":
            raise ValueError('minutes has an effect only with at = "choice": what else is done takes no time')
        return self


class ClassTable(Table):
    """A class of a loot table, rarest first, with its pity."""

    name: Name
    rate: Probability
    soft_start: Annotated[int, Field(ge=0, le=100_000)] = Field(
        0, description="the pull from which the rate rises; 0 for none"
    )
    soft_step: Probability = 0.0
    hard: Annotated[int, Field(ge=0, le=100_000)] = Field(0, description="the pull that hits for certain; 0 for none")
    every: Annotated[int, Field(ge=0, le=100_000)] = Field(0, description="each so many pulls it comes, hit or not")
    featured_share: Probability = 0.0
    carry_over: bool = Field(True, description="a miss of the featured ones makes the next hit one of them")
    counter: Name | None = Field(None, description="tables that name the same counter share their pity")

    @model_validator(mode="after")
    def _soft(self) -> ClassTable:
        if self.soft_step > 0.0 and self.soft_start == 0:
            raise ValueError("soft_step needs soft_start: the first pull with a raised rate, counted from 1")
        return self


class EntryTable(Table):
    """A reward of a loot table."""

    weight: Annotated[float, Field(ge=0.0, le=1e9)] = 1.0
    in_class: Name | None = Field(None, alias="class", description="by default, what no class takes")
    featured: bool = False
    gain: Amounts = Field(default_factory=dict)
    loot: Name | None = Field(None, description="a table that is drawn from instead")


class LootTable(Table):
    """A table of rewards."""

    classes: tuple[ClassTable, ...] = ()
    entries: tuple[EntryTable, ...]
    targets: dict[Name, dict[Name, Annotated[int, Field(ge=1, le=1_000_000)]]] = Field(
        default_factory=dict, description="amounts of resources, all of which draws of this table are to give"
    )

    @model_validator(mode="after")
    def _wanted(self) -> LootTable:
        empty = next((name for name, wanted in self.targets.items() if not wanted), None)
        if empty is not None:
            raise ValueError(f"targets.{empty} must name at least one resource")
        return self


class MarketTable(Table):
    """Where players sell something to each other. Whoever offers sets a price for one; whoever buys takes the cheapest."""

    item: Name
    money: Name
    fee: Probability = Field(0.0, description="share of what is paid that is lost")
    price: Annotated[float, Field(ge=1.0, le=1e12)] = Field(1.0, description="in formulas, before the first sale")
    days: Annotated[int, Field(ge=1, le=1000)] = Field(3, description="after which what is not sold goes back")

    @model_validator(mode="after")
    def _two(self) -> MarketTable:
        if self.item == self.money:
            raise ValueError(f"item and money must be two resources, got {self.item!r} for both")
        return self


class DateTable(Table):
    """Days on which something is different. `name` is 1 in formulas on these days, else 0."""

    first_day: Day
    last_day: Day
    every: Annotated[int, Field(ge=0, le=1000)] = Field(0, description="days after which it comes again; 0 for never")
    multiply: dict[Name, Annotated[float, Field(ge=0.0, le=1e6)]] = Field(default_factory=dict)
    reset: tuple[Name, ...] = Field((), description="resources that go back to their start on the first day")

    @model_validator(mode="after")
    def _order(self) -> DateTable:
        if self.last_day < self.first_day:
            raise ValueError(f"last_day must be >= first_day, got {self.last_day} < {self.first_day}")
        if 0 < self.every <= self.last_day - self.first_day:
            raise ValueError(f"every must be longer than the {self.last_day - self.first_day + 1} days it lasts")
        return self


class ChurnTable(Table):
    """Who leaves: a probability at the end of each day played."""

    rate: Formula = 0.0
    progress: Formula | None = Field(None, description="a day on which this does not rise adds 1 to `idle`")
    stuck_days: Annotated[int, Field(ge=1, le=1000)] = Field(
        3, description="idle days from which a player counts as stuck"
    )


class Design(Table):
    """An economy, whole."""

    name: str = "economy"
    resources: dict[Name, Resource]
    activities: dict[Name, ActivityTable]
    personas: dict[Name, PersonaTable] = Field(default_factory=lambda: {"player": PersonaTable.model_validate({})})
    traits: dict[Name, Trait] = Field(default_factory=dict)
    parameters: dict[Name, Annotated[float, Field(ge=-1e300, le=1e300)]] = Field(default_factory=dict)
    tables: dict[Name, tuple[Any, ...]] = Field(default_factory=dict, description="values, or points [x, y]")
    formulas: dict[Name, Formula] = Field(default_factory=dict)
    loot: dict[Name, LootTable] = Field(default_factory=dict)
    markets: dict[Name, MarketTable] = Field(default_factory=dict, description="players who meet run in one shard")
    calendar: dict[Name, DateTable] = Field(default_factory=dict)
    installs: tuple[Weight, ...] = Field((1.0,), description="share of the players who arrive on day 1, 2, ...")
    churn: ChurnTable = Field(default_factory=lambda: ChurnTable.model_validate({}))
    milestones: dict[Name, Formula] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _sizes(self) -> Design:
        for label, value, most in (("resources", self.resources, 50), ("activities", self.activities, 100),
                                   ("personas", self.personas, 20), ("traits", self.traits, 20),
                                   ("milestones", self.milestones, 50), ("calendar", self.calendar, 50),
                                   ("tables", self.tables, 100), ("loot", self.loot, 100),
                                   ("markets", self.markets, 20)):  # fmt: skip
            if len(value) > most:
                raise ValueError(f"{label} may have {most} entries, got {len(value)}")
        if not self.resources or not self.activities or not self.personas:
            raise ValueError("a design needs resources, activities and personas")
        if not sum(self.installs) > 0.0 or len(self.installs) > 1000:
            raise ValueError("installs must be 1 to 1000 shares that add up to more than 0")
        return self
