"""A model that cannot be compiled says where, what and how to mend it."""

from __future__ import annotations

import inspect
import re

import pytest

from tocsin import (
    Action,
    Arena,
    Array,
    CompileError,
    Entity,
    FireError,
    Model,
    Params,
    Pool,
    Rng,
    Simulation,
    Touched,
    World,
    float64,
    int64,
    param,
)

SOMETHING = object()


class Leg(Entity):
    """A row."""

    site: int64
    facing: int64


class Fly(Entity):
    """A row of a pool."""

    n: int64


class Rates(Params):
    """Parameters."""

    speed: float64 = param(1.0)


class Fibre(World):
    """A world."""

    legs: Arena[Leg]
    flies: Pool[Fly]
    tally: Array[int64]
    n: int64 = 0
    rates: Rates

    def turn_around(self, leg: Leg) -> None:
        """Face the other way."""
        leg.facing = -leg.facing


class Walk(Action):
    """The base of all faults: a `fire` that is replaced."""

    leg: Leg

    def rate(self, world: Fibre) -> float:
        return 1.0

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        self.leg.site += 1


class ReadsUnknown(Walk):
    """Reads a field that is not declared."""

    def fire(self, world, now, rng, touched):
        self.leg.site += self.leg.sight  # ReadsUnknown


class WritesUnknown(Walk):
    """Writes a field that is not declared."""

    def fire(self, world, now, rng, touched):
        self.leg.sight = 3  # WritesUnknown


class UnknownPart(Walk):
    """Reads a part of the world that is not declared."""

    def fire(self, world, now, rng, touched):
        self.leg.site = world.tale[0]  # UnknownPart


class UnknownRate(Walk):
    """Reads a parameter that is not declared."""

    def rate(self, world):
        return world.rates.sped  # UnknownRate


class UnknownKey(Walk):
    """Reads a key that the action does not carry."""

    def fire(self, world, now, rng, touched):
        self.lef.site += 1  # UnknownKey


class UnknownMethod(Walk):
    """Calls a method of the world by a wrong name."""

    def fire(self, world, now, rng, touched):
        world.turn_arround(self.leg)  # UnknownMethod


class SpawnsInArena(Walk):
    """Spawns in a table whose number of rows is fixed."""

    def fire(self, world, now, rng, touched):
        world.legs.spawn()  # SpawnsInArena


class FloatIntoInt(Walk):
    """Stores a float in a field of whole numbers."""

    def fire(self, world, now, rng, touched):
        self.leg.site = now * 0.5  # FloatIntoInt


class FloatIntoScalar(Walk):
    """Stores a float in a scalar of whole numbers."""

    def fire(self, world, now, rng, touched):
        world.n = now * 0.5  # FloatIntoScalar


class FloatIntoArray(Walk):
    """Stores a float in an array of whole numbers."""

    def fire(self, world, now, rng, touched):
        world.tally[0] = now * 0.5  # FloatIntoArray


class WritesParam(Walk):
    """Changes a parameter during the run."""

    def fire(self, world, now, rng, touched):
        world.rates.speed = 2.0  # WritesParam


class ReplacesTable(Walk):
    """Replaces a table."""

    def fire(self, world, now, rng, touched):
        world.legs = 3  # ReplacesTable


class Undefined(Walk):
    """Uses a name that is not defined."""

    def fire(self, world, now, rng, touched):  # Undefined
        self.leg.site += nonsense  # noqa: F821


class Foreign(Walk):
    """Uses an object that compiled code cannot."""

    def fire(self, world, now, rng, touched):
        self.leg.site += hash(SOMETHING)  # Foreign


def look(leg):
    """Read a field that is not declared, in a function that `fire` calls."""
    return leg.sight  # InHelper


class InHelper(Walk):
    """Calls a function that does not compile."""

    def fire(self, world, now, rng, touched):
        self.leg.site = look(self.leg)


class ComparesWithIs(Walk):
    """Compares two rows by identity, which plain Python would answer with no, always."""

    def fire(self, world, now, rng, touched):
        if self.leg is world.legs[0]:  # ComparesWithIs
            self.leg.site += 1


class ComparesWithText(Walk):
    """Compares a number with a text, which is never true."""

    def fire(self, world, now, rng, touched):
        if self.leg.site == "left":  # ComparesWithText
            self.leg.site += 1


class ForgetsToReturn(Walk):
    """Returns a number on some paths only."""

    def rate(self, world):
        if self.leg.site > 3:
            return 1.0


class Returns(Walk):
    """Returns something from `fire`."""

    def fire(self, world, now, rng, touched):
        return 3


CASES = [
    (ReadsUnknown, r"Leg has no field 'sight'\. Did you mean 'site'\? It has: site, facing"),
    (WritesUnknown, r"Leg(\.| has no field ')sight"),
    (UnknownPart, r"Fibre has no field 'tale'\. Did you mean 'tally'\?"),
    (UnknownRate, r"Rates has no field 'sped'\. Did you mean 'speed'\?"),
    (UnknownKey, r"UnknownKey has no field 'lef'\. Did you mean 'leg'\?"),
    (UnknownMethod, r"Fibre has no field 'turn_arround'\. Did you mean 'turn_around'\?"),
    (SpawnsInArena, r"Declare the table as a Pool to spawn and remove rows"),
    (FloatIntoInt, r"site holds int, but is given a float: write int\(\.\.\.\)"),
    (FloatIntoScalar, r" n holds int, but is given a float: write int\(\.\.\.\)"),
    (FloatIntoArray, r"tally holds int, but is given a float: write int\(\.\.\.\)"),
    (WritesParam, r"Rates\.speed cannot be set while a model runs; use a scalar of the world"),
    (ReplacesTable, r"a part of the world cannot be replaced; set its rows or entries"),
    (ComparesWithIs, r"rows cannot be compared with `is`: write == or !="),
    (ComparesWithText, r"a comparison with the text 'left': fields hold numbers; name one"),
    (InHelper, r"Leg has no field 'sight'\. Did you mean 'site'\?"),
    (Undefined, r"nonsense is not defined"),
    (Foreign, r"SOMETHING is not something compiled code can use"),
    (ForgetsToReturn, r"ForgetsToReturn\.rate must return a number on every path"),
    (Returns, r"Returns\.fire must return nothing"),
]


HABITS = [
    lambda self, world, rng: rng.choice(world.legs),
    lambda self, world, rng: rng.shuffle(world.legs),
    lambda self, world, rng: rng.randint(0, 3),
    lambda self, world, rng: self.random.random(),
    lambda self, world, rng: self.model.n,
    lambda self, world, rng: self.leg.remove(),
    lambda self, world, rng: world.flies.spawn(n=1),
]
"""What those who come from Mesa write, and what they are told."""

ANSWERS = [
    r"for any row of a table write table.pick\(rng\)",
    r"rng.shuffle\(values, n\) permutes the first n entries of an array",
    r"rng has no randint: rng.integers\(low, high\) is low, ..., high - 1",
    r"has no field 'random'. .* Draw from the rng that a method is given",
    r"has no field 'model'. .* Everything is reached through the world",
    r"Leg has no field 'remove'. .* by its pool: world.table.remove\(row\)",
    r"spawn\(\) takes nothing: row = world.table.spawn\(\), then set",
]


@pytest.mark.parametrize(("habit", "text"), [*zip(HABITS, ANSWERS, strict=True)])
def test_a_habit_from_elsewhere_is_told_what_to_write(habit, text):
    """The message says what takes the place of a call that other packages have."""

    class Habit(Walk):
        def fire(self, world, now, rng, touched):
            habit(self, world, rng)

    with pytest.raises(CompileError, match=text):
        Simulation(Model(Fibre, [Habit]), Fibre(legs=1, tally=[0]))


def line_of(mark):
    """Return the line of this file that ends with a mark."""
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()
    return next((n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}")), None)


@pytest.mark.parametrize(("faulty", "text"), CASES)
def test_the_error_says_where_and_what(faulty, text):
    """The message starts with file and line, says what is wrong, and names the model."""
    with pytest.raises(CompileError, match=text) as caught:
        Simulation(Model(Fibre, [faulty], name="faulty"), Fibre(legs=1, tally=[0]))
    message = str(caught.value)
    line = line_of(faulty.__name__)
    if line is not None:
        assert message.startswith(f"{__file__}:{line}: "), message
    assert "model faulty" in message or re.search("given a float|rows cannot|with the text", message)
    assert not re.search("numba|Traceback|lowering", message, re.IGNORECASE), message


@pytest.mark.parametrize(
    "faulty", [ReadsUnknown, WritesUnknown, UnknownPart, UnknownRate, UnknownKey, SpawnsInArena, FloatIntoInt,
               FloatIntoScalar, FloatIntoArray, WritesParam, ReplacesTable, Undefined],
)  # fmt: skip
def test_plain_python_refuses_it_too(faulty):
    """What does not compile does not run as plain Python either."""
    with pytest.raises(FireError, match=rf"{faulty.__name__}\(leg 0\)\.(fire|rate) at t="):
        Simulation(Model(Fibre, [faulty]), Fibre(legs=1, tally=[0]), jit=False).run(events=1)


def test_a_model_mended_in_place_compiles():
    """After an error, the same process compiles the mended model."""
    with pytest.raises(CompileError):
        Simulation(Model(Fibre, [UnknownKey]), Fibre(legs=1))
    simulation = Simulation(Model(Fibre, [Walk]), Fibre(legs=1))
    assert simulation.run(events=5).n_events == 5
    assert simulation.world.legs[0].site == 5
