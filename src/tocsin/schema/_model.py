"""A model: a world class, its actions and systems in order, and what is observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from tocsin.errors import InputError, ModelError
from tocsin.schema._action import Action, Carrier, Observable, check_methods
from tocsin.schema._annotations import hints, where
from tocsin.schema._entity import Entity
from tocsin.schema._fields import NEVER
from tocsin.schema._layout import WORLD_CODE, WorldSchema, views_of
from tocsin.schema._order import Item, Turn, all_of, in_order
from tocsin.schema._system import (
    INDEX_STEPS,
    KEYS,
    ROWS,
    SHUFFLED,
    SYNCHRONOUS,
    System,
    check_system,
    takes_touched,
)
from tocsin.schema._world import World

MOST_ACTIONS = 32_000
Method = Literal["next-reaction", "composition-rejection"]


def checked_method(method: str) -> Method:
    """Return the method if there is one of that name. Raises InputError."""
    for known in get_args(Method):
        if method == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f'method must be "next-reaction" or "composition-rejection", got {method!r}')


@dataclass(frozen=True, eq=False)
class Member:
    """One action or observable in a model: what it is bound to."""

    cls: type[Any]
    name: str
    key: str | None
    code: int
    """Code of the entity that its clocks belong to, 0 for the world (as for every system)."""
    rows: int
    """Code of the entity whose row it carries, 0 for the world."""

    @property
    def asked(self) -> str:
        """What sets its clock: the method that its author wrote, 'schedule' or 'rate'; 'tick' for a system."""
        if issubclass(self.cls, System):
            return "tick"
        return "rate" if self.cls.schedule is Action.schedule else "schedule"

    @property
    def method(self) -> str:
        """The method that changes the world: 'fire', or 'update' of a system."""
        return "update" if issubclass(self.cls, System) else "fire"

    @property
    def is_synchronous(self) -> bool:
        """Say whether it is a system whose rows all see the world as it was before the tick."""
        return issubclass(self.cls, System) and self.cls.mode == "synchronous"


class Model:
    """What can happen in a world.

    Parameters
    ----------
    world : the World class
    actions : Action classes; their order is their tie rank
    systems : System classes, which rank after the actions; their order is that within a tick. A
        `Shuffled` among them has its systems in an order drawn anew at each tick; a list, such as
        those of `by_type`, is as its members
    observables : Observable classes to follow
    tie : clocks that ring at the same time fire in order of (action, row) with "action",
        or of (entity, row, action) with "entity"
    method : how clocks with a `rate` find their time: "next-reaction" draws a waiting time for
        each, "composition-rejection" draws the next event of all together, in constant time.
        Both are exact; the trajectories differ. Clocks with a `schedule` are not concerned
    name : for people; the world's name by default

    Raises ModelError if the declarations do not hold together.
    """

    def __init__(
        self,
        world: type[World],
        actions: Sequence[type[Action]] = (),
        *,
        systems: Sequence[Item] = (),
        observables: Sequence[type[Observable]] = (),
        tie: Literal["action", "entity"] = "action",
        method: Method = "next-reaction",
        name: str | None = None,
    ) -> None:
        if not (isinstance(world, type) and issubclass(world, World)):
            raise ModelError(f"Model needs a World class, got {world!r}")
        if tie not in ("action", "entity"):
            raise ModelError(f'tie must be "action" or "entity", got {tie!r}')
        self.world, self.tie, self.method = world, tie, checked_method(method)
        self.name = name or world.__name__
        self.schema: WorldSchema = world.schema()
        bound = {m.cls: m for m in self._members(all_of(systems), System)}
        ordered, turns = in_order(systems)
        ticking = tuple(bound[cls] for cls in ordered)
        self.actions = (*self._members(actions, Action), *ticking)
        self._refuse_namesakes(self.actions)
        self.observables = self._members(observables, Observable)
        if len(self.actions) > MOST_ACTIONS:
            raise ModelError(f"model {self.name} has {len(self.actions)} actions; {MOST_ACTIONS} is the most")
        if not self.actions:
            raise ModelError(f"model {self.name} has no actions: nothing would ever happen")
        self.systems = ticking
        n = len(self.actions) - len(ticking)
        self.turns = (*[Turn()] * n, *(replace(turn, first=n + turn.first) if turn.size else turn for turn in turns))
        self.is_synchronous = any(m.is_synchronous for m in self.systems)
        self.views = views_of(self.schema)

    def _members(self, classes: Sequence[type[Any]], base: type[Carrier]) -> tuple[Member, ...]:
        members: list[Member] = []
        what = {Action: "actions", System: "systems=[...]", Observable: "observables=[...]"}
        if isinstance(classes, type):
            raise ModelError(f"model {self.name}: {what[base]} is a list, got {classes.__name__}")
        for cls in classes:
            if not (isinstance(cls, type) and issubclass(cls, base)):
                label = cls.__name__ if isinstance(cls, type) else repr(cls)
                place = next((p for kind, p in what.items() if isinstance(cls, type) and issubclass(cls, kind)), "")
                hint = f"; it belongs into {place}" if place else ""
                raise ModelError(f"model {self.name}: {label} is no subclass of {base.__name__}{hint}")
            if issubclass(cls, System):
                check_system(cls)
            else:
                check_methods(cls)
            members.append(self._bind(cls))
        self._refuse_namesakes(members)
        return tuple(members)

    def _refuse_namesakes(self, members: Sequence[Member]) -> None:
        names = [member.name for member in members]
        for member in members:
            if names.count(member.name) > 1:
                kind = next(c.__name__ for c in member.cls.__mro__ if c.__module__.startswith("tocsin.schema."))
                raise ModelError(f"model {self.name} has two {kind}s called {member.name}")

    def _bind(self, cls: type[Carrier]) -> Member:
        entities = {e.name: e.cls for e in self.schema.entities}
        keys: dict[str, type[Entity]] = {
            n: h for n, h in hints(cls, entities).items() if isinstance(h, type) and issubclass(h, Entity)
        }
        other = [n for n in cls._own_names if n not in keys]
        if len(keys) > 1 or other:
            raise ModelError(
                f"{where(cls)} may carry one entity, but annotates {', '.join([*keys, *other])}. "
                f"Constants are written without an annotation; state belongs on the world."
            )
        for key, entity in keys.items():
            if hasattr(cls, key):
                raise ModelError(f"{where(cls)}.{key}: this name is taken by every action and observable.")
            name = entity.__name__
            if entities.get(name) is not entity:
                raise ModelError(
                    f"{where(cls)}.{key}: {self.schema.name} does not hold {entity.__name__}. "
                    f"Add a table to the world: rows: Arena[{entity.__name__}]."
                )
            code = self.schema.entity(entity.__name__).code
            return Member(cls, cls.__name__, key, WORLD_CODE if issubclass(cls, System) else code, code)
        return Member(cls, cls.__name__, None, WORLD_CODE, WORLD_CODE)

    def action_number(self, name: str) -> int:
        """Return the number of the action called `name`."""
        return next(i for i, m in enumerate(self.actions) if m.name == name)

    # What follows is how the event loop reaches the model when it runs as plain Python;
    # compiled, each of these is a switch over the members.

    def _carrier(self, member: Member, world: Any, index: int) -> Any:
        table = world._tables[self.schema.by_code(member.rows).name] if member.rows else None
        return member.cls._on(world, table, member.key, index)

    def _is_live(self, member: Member, world: Any, index: int) -> bool:
        if not member.rows:
            return True
        entity = self.schema.by_code(member.rows)
        return not entity.pooled or bool(world._tables[entity.name].is_live(index))

    def fire(self, action: int, world: Any, index: int, now: float, rng: Any, touched: Any) -> None:
        """Fire an action on row `index`."""
        self._carrier(self.actions[action], world, index).fire(world, now, rng, touched)

    def schedule(self, action: int, world: Any, index: int, now: float, rng: Any) -> float:
        """Return the next time of a clock; NEVER for a row that is not live."""
        member = self.actions[action]
        if not self._is_live(member, world, index):
            return NEVER
        world._frozen = f"{member.name}.{member.asked}"
        try:
            return float(self._carrier(member, world, index).schedule(world, now, rng))
        finally:
            world._frozen = ""

    def rate(self, action: int, world: Any, index: int) -> float:
        """Return the rate of a memoryless clock; 0 for a row that is not live."""
        member = self.actions[action]
        if not self._is_live(member, world, index):
            return 0.0
        world._frozen = f"{member.name}.rate"
        try:
            return float(self._carrier(member, world, index).rate(world))
        finally:
            world._frozen = ""

    def way(self, action: int) -> int:
        """Return how a system goes about its rows."""
        member = self.actions[action]
        if member.is_synchronous:
            return SYNCHRONOUS
        if not member.rows:
            return ROWS
        if member.cls.order == "shuffled":
            return SHUFFLED
        return KEYS if self.schema.by_code(member.rows).pooled else ROWS

    def update_all(self, action: int, world: Any) -> int:
        """Let a synchronous system update all its rows; 0 if that went well."""
        return int(world._on_tick(action))

    def each(self, action: int, world: Any, kernel: Any, now: float, function: Any) -> None:
        """Call `function(model, world, kernel, action, now)`; compiled, for each system a version of its own."""
        function(self, world, kernel, action, now)

    def turn(self, kernel: Any, slot: int, function: Any) -> int:
        """Return `function(model, kernel, slot)`, the clock whose turn it is; `slot` if no systems are shuffled."""
        return int(function(self, kernel, slot)) if self.is_shuffled else slot

    def turn_first(self, action: int) -> int:
        """Return the number of the first of the systems that a system is shuffled with."""
        return self.turns[action].first

    def turn_size(self, action: int) -> int:
        """Return how many systems a system is shuffled with, itself among them; 0 for other clocks."""
        return self.turns[action].size

    def turn_stage(self, action: int) -> int:
        """Return to which stage a system that is shuffled belongs."""
        return self.turns[action].stage

    @property
    def is_shuffled(self) -> bool:
        """Say whether some systems take turns in an order that is drawn."""
        return any(turn.size for turn in self.turns)

    def n_rows(self, action: int, world: Any) -> int:
        """Return how many rows the table of a system has, free ones included."""
        member = self.actions[action]
        return len(world._tables[self.schema.by_code(member.rows).name]) if member.rows else 1

    def live_key(self, action: int, world: Any, index: int) -> int:
        """Return the key of a row of a system's table, or -1 for a row that is not live."""
        member = self.actions[action]
        if not self._is_live(member, world, index):
            return -1
        return int(world._tables[self.schema.by_code(member.rows).name].key_of(index)) if member.rows else 0

    def update(self, action: int, world: Any, index: int, now: float, rng: Any, touched: Any) -> None:
        """Let a sequential system update row `index`."""
        member = self.actions[action]
        rest = (touched,) if takes_touched(member.cls) else ()
        self._carrier(member, world, index).update(world, now, rng, *rest)

    def update_own(self, action: int, world: Any, index: int, now: float, rng: Any, lane: Any) -> None:
        """Let a synchronous system update row `index`, which sees the world as it was."""
        member, frozen = self.actions[action], world._seen
        if not self._is_live(member, world, index):
            return
        rest = (world._flags,) if takes_touched(member.cls) else ()
        table = frozen._own[self.schema.by_code(member.rows).name] if member.rows else None
        member.cls._on(frozen, table, member.key, index).update(frozen, now, rng, *rest)

    @property
    def indexed(self) -> tuple[str, ...]:
        """Names of the spaces that are indexed anew before a synchronous system looks at them."""
        steps = INDEX_STEPS.values()
        return tuple(n for n, p in self.schema.parts.items() if all(hasattr(p.cls, step) for step in steps))

    def index(self, part: int, step: int, world: Any, start: int, stop: int, now: float) -> None:
        """Take a step of indexing a space."""
        method = getattr(world.__dict__[self.indexed[part]], INDEX_STEPS[step])
        method(*((now,) if step in (1, 4) else (start, stop)))

    def observe(self, observable: int, world: Any, index: int) -> float:
        """Return the value of an observable; 0 for a row that is not live."""
        member = self.observables[observable]
        if not self._is_live(member, world, index):
            return 0.0
        world._frozen = f"{member.name}.value"
        try:
            return float(self._carrier(member, world, index).value(world))
        finally:
            world._frozen = ""

    def each_value(self, code: int, world: Any, kernel: Any, index: int, now: float, before: Any, after: Any) -> None:
        """Read the observables of one row of a kind that has some, in order of their numbers.

        For each, `before(kernel, number, index)` comes before it is read, and `after(kernel, number, index, value,
        now)` after. Compiled, this is straight code without a loop.
        """
        for number, member in enumerate(self.observables):
            if member.code == code:
                before(kernel, number, index)
                after(kernel, number, index, self.observe(number, world, index), now)

    def __repr__(self) -> str:
        return f"Model({self.name}: {', '.join(m.name for m in self.actions)})"
