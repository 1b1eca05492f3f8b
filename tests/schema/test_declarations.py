"""Laws of declarations: what does not hold together is refused, and the message names class and remedy."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tocsin import (
    NEVER,
    Action,
    Arena,
    Array,
    Entity,
    Model,
    ModelError,
    Observable,
    OptionalRef,
    Params,
    Pool,
    Ref,
    Rng,
    Touched,
    World,
    float64,
    int32,
    int64,
    param,
)


class Leg(Entity):
    """An entity without faults."""

    site: int32


class Fibre(World):
    """A world without faults."""

    legs: Arena[Leg]
    n_steps: int64


class Step(Action):
    """An action without faults."""

    leg: Leg

    def schedule(self, world: Fibre, now: float, rng: Rng) -> float:
        return NEVER

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        self.leg.site += 1


def fire(self, world, now, rng, touched):
    """Do nothing."""


def schedule(self, world, now, rng):
    """Never ring."""
    return NEVER


def rate(self, world):
    """Never ring."""
    return 0.0


def action(**members):
    """Return an action class with these members."""
    return type("Faulty", (Action,), {"__module__": __name__, **members})


def refused(text):
    """Expect a ModelError."""
    return pytest.raises(ModelError, match=text)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"fire": fire}, r"Faulty: define either schedule\(self, world, now, rng\) or rate\(self, world\), it has neither"),
        ({"fire": fire, "schedule": schedule, "rate": rate}, r"Faulty: define either schedule.* not both"),
        ({"schedule": schedule}, r"Faulty: define fire\(self, world, now, rng, touched\)"),
        ({"fire": lambda self, world, now: None, "rate": rate},
         r"Faulty\.fire must take \(self, world, now, rng, touched\), got \(self, world, now\)"),
        ({"fire": fire, "rate": lambda self: 1.0}, r"Faulty\.rate must take \(self, world\), got \(self\)"),
        ({"fire": fire, "schedule": lambda self, world, now: 1.0},
         r"Faulty\.schedule must take \(self, world, now, rng\), got \(self, world, now\)"),
    ],
)  # fmt: skip
def test_actions(members, text):
    """An action has `fire` and one of `schedule` and `rate`, each with its arguments."""
    with refused(text):
        Model(Fibre, [action(**members)])


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({}, r"Faulty: define value\(self, world\)"),
        ({"value": lambda self: 1.0}, r"Faulty\.value must take \(self, world\), got \(self\)"),
    ],
)
def test_observables(members, text):
    """An observable has `value`, with its arguments."""
    with refused(text):
        Model(Fibre, [Step], observables=[type("Faulty", (Observable,), members)])


def test_what_an_action_carries():
    """An action carries at most one key, of an entity that the world holds, and nothing else."""

    class Other(Entity):
        site: int32

    class Two(Action):
        leg: Leg
        other: Leg
        fire, rate = fire, rate

    class Scalar(Action):
        leg: Leg
        speed: float64
        fire, rate = fire, rate

    class Foreign(Action):
        other: Other
        fire, rate = fire, rate

    class Taken(Action):
        fire: Leg
        rate = rate

    with refused(r"Two may carry one entity, but annotates leg, other\. Constants are written without"):
        Model(Fibre, [Two])
    with refused(r"Scalar may carry one entity, but annotates leg, speed"):
        Model(Fibre, [Scalar])
    with refused(r"Foreign\.other: Fibre does not hold Other\. Add a table to the world: rows: Arena\[Other\]"):
        Model(Fibre, [Foreign])
    with refused("Taken"):
        Model(Fibre, [Taken])


def test_constants_and_class_variables():
    """Constants without an annotation, and ClassVars, are no keys."""

    class Quick(Action):
        leg: Leg
        speed = 2.0
        label: ClassVar[str] = "q"
        fire, rate = fire, rate

    (member,) = Model(Fibre, [Quick]).actions
    assert (member.key, member.code) == ("leg", 1)


@pytest.mark.parametrize(
    ("arguments", "keywords", "text"),
    [
        ((object, [Step]), {}, r"Model needs a World class, got <class 'object'>"),
        ((Fibre, []), {}, "model Fibre has no actions: nothing would ever happen"),
        ((Fibre, [Step, Step]), {}, "model Fibre has two Actions called Step"),
        ((Fibre, [Leg]), {}, "model Fibre: Leg is no subclass of Action"),
        ((Fibre, [Step]), {"tie": "row"}, 'tie must be "action" or "entity", got \'row\''),
        (
            (Fibre, [Step]),
            {"observables": [Step]},
            r"model Fibre: Step is no subclass of Observable; it belongs into actions",
        ),
        ((Fibre, [Step]), {"name": "walk", "observables": [3]}, "model walk: 3 is no subclass of Observable"),
        ((Fibre, Step), {}, "model Fibre: actions is a list, got Step"),
    ],
)
def test_models(arguments, keywords, text):
    """A model has a world, actions of different names, and a known tie rank."""
    with refused(text):
        Model(*arguments, **keywords)


def test_fields_of_an_entity():
    """Fields are scalars or references to entities of the same world."""

    class Odd(Entity):
        name: str

    class Lost(Entity):
        leg: Ref[Leg]

    class Unknown(Entity):
        leg: Ref[Nowhere]  # noqa: F821

    def world_of(entity):
        return type("W", (World,), {"__annotations__": {"rows": Arena[entity]}})

    with refused(r"Odd\.name: str is not a field type here\. Use int8 \.\.\. int64"):
        world_of(Odd).schema()
    with refused(r"Lost\.leg: it refers to Leg, which W does not hold\. Add a table to the world: rows: Arena\[Leg\]"):
        world_of(Lost).schema()
    with refused(r"Unknown: the annotation 'Nowhere' is not known here"):
        world_of(Unknown).schema()


def test_defaults_of_an_entity():
    """A field of an entity has no default, and no name that every row has."""
    with refused(r"Bad\.site: a field of an entity has no default"):

        class Bad(Entity):
            site: int32 = 3

    with refused(r"Bad\.index: this name is taken by every row"):

        class Bad(Entity):
            index: int32

    with refused(r"Bad\.key: this name is taken by every row"):

        class Bad(Entity):
            key: int32

    with refused(r"Bad\._generation: this name is taken by every row"):

        class Bad(Entity):
            _generation: int32


def test_parts_of_a_world():
    """A world holds tables, arrays, params and scalars; one table for each entity; free names."""

    class Odd(World):
        name: str

    class NotAnEntity(World):
        rows: Arena[int]

    class OddArray(World):
        values: Array[str]

    class Twice(World):
        left: Arena[Leg]
        right: Pool[Leg]

    class Taken(World):
        copy: int64

    class Private(World):
        _header: int64

    class Default(World):
        legs: Arena[Leg] = 3

    for world, text in (
        (Odd, r"Odd\.name: str is not a field type here\. Use Arena\[X\]"),
        (NotAnEntity, r"NotAnEntity\.rows: .* Use Arena\[X\] or Pool\[X\] with X an Entity class"),
        (OddArray, r"OddArray\.values: str is not a field type here"),
        (Twice, r"Twice: left and right both hold Leg; a world has one table for each entity"),
        (Taken, r"Taken\.copy: this name is taken by every world"),
        (Private, r"Private\._header: this name is taken by every world"),
        (Default, r"Default\.legs: only scalars of a world have defaults"),
    ):
        with refused(text):
            world.schema()


def test_params_declarations():
    """A parameter has a default and a scalar type, and no name that every Params has."""
    with refused(r"Bad\.x: give it a default: x: \.\.\. = param\(1\.0\)"):

        class Bad(Params):
            x: float64

    with refused(r"Bad\.fields: this name is taken by every Params"):

        class Bad(Params):
            fields: float64 = param(1.0)

    class Odd(Params):
        x: str = param("a")

    with refused(r"Odd\.x: str is not a field type here\. Use int64, float64 or bool"):
        Odd()


def test_a_world_is_inherited():
    """A subclass of a world has the parts and defaults of its base, and its own."""

    class Base(World):
        legs: Arena[Leg]
        n: int64 = 5
        m: int64 = 6

    class Derived(Base):
        m: int64 = 7
        x: float64 = 0.5

    world = Derived(legs=2)
    assert (world.n, world.m, world.x, len(world.legs)) == (5, 7, 0.5, 2)
    assert (Base().n, Base().m) == (5, 6)


def test_references_in_a_circle():
    """Entities may refer to each other and to themselves, in any order of definition."""

    class Hen(Entity):
        egg: Ref[Egg]
        friend: OptionalRef[Hen]

    class Egg(Entity):
        hen: Ref[Hen]

    class Yard(World):
        hens: Arena[Hen]
        eggs: Pool[Egg]

    yard = Yard(hens={"egg": [1, 0]}, eggs={"hen": [1, 0]})
    assert yard.hens[0].egg.hen == yard.hens[0]
    assert yard.hens[1].friend is None
