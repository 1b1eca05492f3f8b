"""Laws of equal times: clocks that ring together ring in the declared order, whatever came before."""

from __future__ import annotations

import pytest

from tocsin import Action, Arena, Entity, Model, Rng, Simulation, Touched, World, int64

N = 10_000


class Bell(Entity):
    """A bell."""

    n_rung: int64


class Gong(Entity):
    """Another kind of bell."""

    n_rung: int64


class Tower(World):
    """Bells that ring at whole times."""

    bells: Arena[Bell]
    gongs: Arena[Gong]
    hours: int64 = 0


def next_hour(now: float) -> float:
    """Return the first whole time after now."""
    return int(now) + 1.0


class Strike(Action):
    """A gong is struck."""

    gong: Gong

    def schedule(self, world: Tower, now: float, rng: Rng) -> float:
        return next_hour(now)

    def fire(self, world: Tower, now: float, rng: Rng, touched: Touched) -> None:
        self.gong.n_rung += 1


class Low(Action):
    """A bell sounds low."""

    bell: Bell

    def schedule(self, world: Tower, now: float, rng: Rng) -> float:
        return next_hour(now)

    def fire(self, world: Tower, now: float, rng: Rng, touched: Touched) -> None:
        self.bell.n_rung += 1


class High(Action):
    """A bell sounds high."""

    bell: Bell

    def schedule(self, world: Tower, now: float, rng: Rng) -> float:
        return next_hour(now)

    def fire(self, world: Tower, now: float, rng: Rng, touched: Touched) -> None:
        self.bell.n_rung += 1


class Hour(Action):
    """The world's own clock, on the hour."""

    def schedule(self, world: Tower, now: float, rng: Rng) -> float:
        return next_hour(now)

    def fire(self, world: Tower, now: float, rng: Rng, touched: Touched) -> None:
        world.hours = int(now)


class Shake(Action):
    """Between the hours, bells drawn at random are disturbed: their clocks are set again."""

    def schedule(self, world: Tower, now: float, rng: Rng) -> float:
        return int(now + 0.5) + 0.5

    def fire(self, world: Tower, now: float, rng: Rng, touched: Touched) -> None:
        for _ in range(1 + len(world.bells) // 3):
            touched.add(world.bells[rng.integers(0, len(world.bells))])


ACTIONS = [Strike, High, Hour, Low, Shake]
BY_ACTION = Model(Tower, ACTIONS)
BY_ENTITY = Model(Tower, ACTIONS, tie="entity")
HOURS = (1.0, 2.0, 3.0)


def rung(model, n_bells, jit):
    """Return by hour the clocks that rang then, in order, among 7 gongs and `n_bells` bells."""
    simulation = Simulation(model, Tower(bells=n_bells, gongs=7), seed=1, jit=jit)
    events = simulation.record_events(until=HOURS[-1]).to_arrow().to_pylist()
    return {t: [(e["action"], e["index"]) for e in events if e["time"] == t] for t in HOURS}


@pytest.mark.parametrize(("jit", "n"), [(True, N), (False, 30)])
def test_by_action(jit, n):
    """With tie="action", equal times ring by action as listed, then by row."""
    expected = [("Strike", i) for i in range(7)] + [("High", i) for i in range(n)]
    expected += [("Hour", 0)] + [("Low", i) for i in range(n)]
    assert rung(BY_ACTION, n, jit) == dict.fromkeys(HOURS, expected)


@pytest.mark.parametrize(("jit", "n"), [(True, N), (False, 30)])
def test_by_entity(jit, n):
    """With tie="entity", equal times ring by world, then table, then row, then action as listed."""
    expected = [("Hour", 0)] + [(a, i) for i in range(n) for a in ("High", "Low")]
    expected += [("Strike", i) for i in range(7)]
    assert rung(BY_ENTITY, n, jit) == dict.fromkeys(HOURS, expected)


@pytest.mark.parametrize("model", [BY_ACTION, BY_ENTITY])
def test_compiled_is_interpreted(model):
    """Hours of equal times leave the same bits compiled and interpreted."""
    runs = [Simulation(model, Tower(bells=40, gongs=5), seed=2, jit=jit) for jit in (True, False)]
    for simulation in runs:
        simulation.run(until=4.0)
    assert runs[0].state_hash() == runs[1].state_hash()
