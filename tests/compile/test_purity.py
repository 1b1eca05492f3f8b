"""A function that may only read cannot write, wherever the write hides, compiled or interpreted."""

from __future__ import annotations

import inspect
import re

import pytest

from tocsin import (
    Action,
    Arena,
    Array,
    Entity,
    Model,
    Observable,
    Pool,
    PurityError,
    Rng,
    Simulation,
    Touched,
    World,
    int64,
)
from tocsin.run import access_of


class Leg(Entity):
    """A row."""

    site: int64
    n_asked: int64

    def note(self) -> int:
        """Look harmless."""
        self.n_asked += 1  # method
        return self.n_asked

    @property
    def count(self) -> int:
        """Look harmless too."""
        self.n_asked += 1  # property
        return self.n_asked


class Fly(Entity):
    """A row of a pool."""

    n: int64


class Fibre(World):
    """A world."""

    legs: Arena[Leg]
    flies: Pool[Fly]
    tally: Array[int64]
    n_asked: int64 = 0


def note_down(leg: Leg, by: int = 1) -> float:
    """Write far from where it is called."""
    return indirectly(leg, by)


def indirectly(leg: Leg, by: int) -> float:
    """Write two calls away."""
    leg.n_asked += by  # helper
    return 1.0


class Quiet(Action):
    """Does nothing."""

    leg: Leg

    def rate(self, world: Fibre) -> float:
        return 1.0

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        self.leg.site += 1


class InSchedule(Quiet):
    """Writes in `schedule`."""

    def schedule(self, world: Fibre, now: float, rng: Rng) -> float:
        self.leg.n_asked += 1  # schedule
        return now + 1.0

    rate = Action.rate


class InRate(Quiet):
    """Writes in `rate`."""

    def rate(self, world: Fibre) -> float:
        world.n_asked += 1  # rate
        return 1.0


class InHelper(Quiet):
    """Writes in a function that `rate` calls."""

    def rate(self, world: Fibre) -> float:
        return note_down(self.leg, by=2)


class InMethod(Quiet):
    """Writes in a method of the row."""

    def rate(self, world: Fibre) -> float:
        return 1.0 * self.leg.note()


class InProperty(Quiet):
    """Writes in a property of the row."""

    def rate(self, world: Fibre) -> float:
        return 1.0 * self.leg.count


class InArray(Quiet):
    """Writes an entry of an array."""

    def rate(self, world: Fibre) -> float:
        world.tally[self.leg.index] = 1  # array
        return 1.0


class Spawns(Quiet):
    """Spawns a row."""

    def rate(self, world: Fibre) -> float:
        world.flies.spawn()  # spawn
        return 1.0


class Shuffles(Quiet):
    """Hands an array to a draw that permutes it."""

    def schedule(self, world: Fibre, now: float, rng: Rng) -> float:
        rng.shuffle(world.tally, 2)
        return now + 1.0

    rate = Action.rate


class Counts(Observable):
    """Writes in `value`."""

    leg: Leg

    def value(self, world: Fibre) -> float:
        self.leg.n_asked += 1  # value
        return 1.0


CASES = [
    (InSchedule, r"InSchedule\.schedule writes Leg\.n_asked", "schedule"),
    (InRate, r"InRate\.rate writes n_asked", "rate"),
    (InHelper, r"InHelper\.rate writes Leg\.n_asked", "helper"),
    (InMethod, r"InMethod\.rate writes Leg\.n_asked", "method"),
    (InProperty, r"InProperty\.rate writes Leg\.n_asked", "property"),
    (InArray, r"InArray\.rate writes tally", "array"),
    (Spawns, r"Spawns\.rate writes (Fly \(spawn\)|flies)", "spawn"),
    (Shuffles, r"Shuffles\.schedule writes tally", None),
    (Counts, r"Counts\.value writes Leg\.n_asked", "value"),
]


def model(faulty):
    """Return a model with the faulty action or observable."""
    if issubclass(faulty, Observable):
        return Model(Fibre, [Quiet], observables=[faulty])
    return Model(Fibre, [faulty])


def line_of(mark):
    """Return the line of this file that carries a mark."""
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize(("faulty", "text", "mark"), CASES)
def test_a_write_is_refused(faulty, text, mark, jit):
    """The message names file and line of the write, the function, the field and the remedy."""
    with pytest.raises(PurityError, match=text) as caught:
        Simulation(model(faulty), Fibre(legs=2, tally=[5, 6]), jit=jit).run(events=1)
    message = str(caught.value)
    assert re.search(r"it may only read the world\. Move the change to a `fire`\.", message)
    if mark is not None:
        assert message.startswith(f"{__file__}:{line_of(mark)}: ")


def test_the_world_is_untouched_by_a_refused_write():
    """Interpreted, the write is refused before it is done, and the world can be read."""
    simulation = Simulation(model(InRate), Fibre(legs=2, tally=[5, 6]), jit=False)
    with pytest.raises(PurityError):
        simulation.run(events=1)
    assert (simulation.world.n_asked, simulation.n_events) == (0, 0)


def test_what_a_function_reads_and_writes():
    """The compiler knows the fields that each function reads and writes, and the rows it touches."""
    access = access_of(Model(Fibre, [Quiet]))
    assert set(access) == {"Quiet.rate", "Quiet.fire"}
    assert access["Quiet.rate"].to_json() == {"reads": [], "writes": {}, "touches": [], "seen": []}
    assert access["Quiet.fire"].reads == {"Leg.site"}
    assert list(access["Quiet.fire"].writes) == ["Leg.site"]


class Cell(Entity):
    """A row that comes and goes."""

    mass: int64


class Dish(World):
    """Rows that come and go."""

    cells: Pool[Cell]


class CountsLive(Action):
    """Reads how many rows there are, in one of three ways."""

    def rate(self, world: Dish) -> float:
        return 1.0 * world.cells.n_live

    def fire(self, world: Dish, now: float, rng: Rng, touched: Touched) -> None: ...


class Walks(CountsLive):
    """Walks over them."""

    def rate(self, world: Dish) -> float:
        total = 0.0
        for _cell in world.cells:
            total += 1.0
        return total


class Measures(CountsLive):
    """Takes the length of the pool."""

    def rate(self, world: Dish) -> float:
        return 1.0 * len(world.cells)


@pytest.mark.parametrize("action", [CountsLive, Walks, Measures])
def test_which_rows_are_live_is_read(action):
    """A rate that depends on which rows are live says so."""
    assert access_of(Model(Dish, [action]))[f"{action.__name__}.rate"].reads == {"Cell (live)"}
