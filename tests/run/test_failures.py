"""Laws of runs that cannot go on: the error names clock, entity and time, and the world stays readable."""

from __future__ import annotations

import math

import pytest

from tocsin import (
    NEVER,
    Action,
    Arena,
    Entity,
    FireError,
    Model,
    Observable,
    Rng,
    ScheduleError,
    Simulation,
    SimulationError,
    Touched,
    World,
    ZenoError,
    float64,
    int64,
)

(FINE, NAN_TIME, PAST_TIME, ZENO, DIVIDE, RAISE, DIVIDE_IN_SCHEDULE, NEGATIVE_RATE, NAN_RATE, INFINITE_RATE,
 DIVIDE_IN_VALUE, DIVIDE_IN_RATE) = range(12)  # fmt: skip


class Thing(Entity):
    """Something that happens."""

    n: int64


class Room(World):
    """Where it goes wrong, in a chosen way, after a few events."""

    things: Arena[Thing]
    trouble: int64 = FINE
    zero: int64 = 0
    nan: float64 = math.nan


class Tick(Action):
    """Every unit of time."""

    thing: Thing

    def schedule(self, world: Room, now: float, rng: Rng) -> float:
        if self.thing.n == 3:
            if world.trouble == NAN_TIME:
                return world.nan
            if world.trouble == PAST_TIME:
                return now - 0.25
            if world.trouble == ZENO:
                return now
            if world.trouble == DIVIDE_IN_SCHEDULE:
                return now + 1 // world.zero
        return now + 1.0

    def fire(self, world: Room, now: float, rng: Rng, touched: Touched) -> None:
        if world.trouble != ZENO or self.thing.n < 3:
            self.thing.n += 1
        if self.thing.n == 3 and world.trouble == DIVIDE:
            self.thing.n = 7 // world.zero
        if self.thing.n == 3 and world.trouble == RAISE:
            raise ValueError("the third tick is one too many")


class Decay(Action):
    """Memoryless, and never unless in trouble."""

    thing: Thing

    def rate(self, world: Room) -> float:
        if self.thing.n == 3:
            if world.trouble == NEGATIVE_RATE:
                return -0.5
            if world.trouble == INFINITE_RATE:
                return math.inf
            if world.trouble == NAN_RATE:
                return world.nan
            if world.trouble == DIVIDE_IN_RATE:
                return 1.0 / world.zero
        return 0.0

    def fire(self, world: Room, now: float, rng: Rng, touched: Touched) -> None:
        touched.add(self.thing)


class Sum(Observable):
    """Ticks so far."""

    thing: Thing

    def value(self, world: Room) -> float:
        if self.thing.n == 3 and world.trouble == DIVIDE_IN_VALUE:
            return 1 // world.zero
        return self.thing.n


MODEL = Model(Room, [Tick, Decay], observables=[Sum])


class Wake(Action):
    """Touches the thing, so that its rate is asked again."""

    thing: Thing

    def schedule(self, world: Room, now: float, rng: Rng) -> float:
        return now + 1.0 if self.thing.n < 3 else NEVER

    def fire(self, world: Room, now: float, rng: Rng, touched: Touched) -> None:
        self.thing.n += 1
        touched.add(self.thing)


RATES = Model(Room, [Wake, Decay])

CASES = [
    (MODEL, NAN_TIME, ScheduleError,
     r"Tick\(thing 1\)\.schedule returned NaN, at t=3\.0 \(event \d\)\. It must return a time >= now, or NEVER\."),
    (MODEL, PAST_TIME, ScheduleError,
     r"Tick\(thing 1\)\.schedule returned 2\.75, which is before now, at t=3\.0"),
    (MODEL, ZENO, ZenoError,
     r"500 events fired at t=3\.0 without time advancing; the next would be Tick\(thing 1\)"),
    (MODEL, DIVIDE, FireError, r"Tick\(thing 1\)\.fire at t=3\.0 \(event \d\) raised ZeroDivisionError"),
    (MODEL, RAISE, FireError, r"Tick\(thing 1\)\.fire at t=3\.0 .* raised ValueError: the third tick is one too many"),
    (MODEL, DIVIDE_IN_SCHEDULE, FireError, r"Tick\(thing 1\)\.schedule at t=3\.0 .* raised ZeroDivisionError"),
    (MODEL, DIVIDE_IN_VALUE, FireError, r"Sum\(thing 1\)\.value at t=3\.0 .* raised ZeroDivisionError"),
    (RATES, NEGATIVE_RATE, ScheduleError,
     r"Decay\(thing 1\)\.rate returned NaN or a negative or infinite rate, at t=3\.0 .* A rate must be >= 0"),
    (RATES, NAN_RATE, ScheduleError, r"Decay\(thing 1\)\.rate returned NaN or a negative or infinite rate"),
    (RATES, INFINITE_RATE, ScheduleError, r"Decay\(thing 1\)\.rate returned NaN or a negative or infinite rate"),
    (RATES, DIVIDE_IN_RATE, FireError, r"Decay\(thing 1\)\.rate at t=3\.0 .* raised ZeroDivisionError"),
]  # fmt: skip


def trouble(model, kind, jit):
    """Return a simulation in which thing 1 gets into trouble at t=3, before the others."""
    room = Room(things={"n": [-100, 0, -100]}, trouble=kind)
    simulation = Simulation(model, room, jit=jit)
    simulation._kernel.still_limit = 500
    return simulation


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize(("model", "kind", "error", "text"), CASES)
def test_the_error_says_where(model, kind, error, text, jit):
    """The message names the clock, its row, the time and the rule, compiled and interpreted alike."""
    with pytest.raises(error, match=text):
        trouble(model, kind, jit).run(until=10.0)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize(("model", "kind", "error", "text"), CASES)
def test_the_world_can_be_read(model, kind, error, text, jit):
    """After an error the world, the time and the counts can be read, and no event is fired any more."""
    simulation = trouble(model, kind, jit)
    with pytest.raises(error):
        simulation.run(until=10.0)
    assert simulation.now == 3.0
    assert 5 <= simulation.n_events <= 600
    assert simulation.world.things["n"][1] == 3
    assert simulation.to_arrow("things")["n"].to_pylist()[0] in (-98, -97)
    assert "things=3" in repr(simulation.world)
    before = simulation.n_events
    for again in (lambda: simulation.run(until=20.0), simulation.step):
        with pytest.raises(SimulationError):
            again()
    assert simulation.n_events == before
    assert simulation.world.copy().things["n"].tolist() == simulation.world.things["n"].tolist()


@pytest.mark.parametrize("jit", [True, False])
def test_no_trouble(jit):
    """The same models run where nothing goes wrong."""
    simulation = trouble(MODEL, FINE, jit)
    assert simulation.run(until=10.0).n_events == 30


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("kind", [NAN_TIME, PAST_TIME])
def test_trouble_at_the_start(kind, jit):
    """A clock that cannot be set at the start stops the run before its first event."""
    simulation = Simulation(MODEL, Room(things={"n": [0, 3]}, trouble=kind), jit=jit)
    with pytest.raises(ScheduleError, match=r"Tick\(thing 1\)\.schedule returned .* at t=0\.0 \(event 0\)"):
        simulation.run(until=1.0)
    assert simulation.world.things["n"].tolist() == [0, 3]


@pytest.mark.parametrize("jit", [True, False])
def test_touch_tells_of_a_bad_time(jit):
    """A change by hand after which a clock cannot be set is an error at once."""
    simulation = trouble(MODEL, NAN_TIME, jit)
    simulation.run(until=1.0)
    simulation.world.things[2].n = 3
    with pytest.raises(ScheduleError, match=r"Tick\(thing 2\)\.schedule returned NaN, at t=1\.0"):
        simulation.touch(simulation.world.things[2])


@pytest.mark.parametrize("jit", [True, False])
def test_events_before_an_error_are_recorded(jit, tmp_path):
    """A recording that ends in an error leaves a file with what happened before."""
    import pyarrow.parquet as pq

    path = tmp_path / "events.parquet"
    with pytest.raises(FireError):
        trouble(MODEL, DIVIDE, jit).record_events(until=10.0).to_parquet(path)
    assert pq.read_table(path).num_rows == 7
