"""What a plane refuses, what happens at its border, and rows that come and go."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tocsin import (
    Action,
    Arena,
    Entity,
    InputError,
    Model,
    ModelError,
    Pool,
    Rng,
    Simulation,
    SimulationError,
    Touched,
    World,
    float64,
    int32,
    int64,
)
from tocsin.space import LivePlane, Plane, Plane3
from tocsin.space._axis import fold

from ._points import KINDS, asking

NOWHERE = (math.nan, math.inf, -math.inf, -0.1, 2.1)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize(("live", "radius"), [(False, -1.0), (False, math.nan), (True, -1.0), (True, math.nan)])
def test_bad_radius(live, radius, jit):
    """A radius that is negative or NaN stops the run, by name."""
    run = asking([[0.5], [0.5]], (2.0, 2.0), True, [radius], live=live, jit=jit)
    with pytest.raises(SimulationError, match="radius must be >= 0"):
        run.run(events=1)


@pytest.mark.parametrize("x", NOWHERE)
@pytest.mark.parametrize("is_torus", [False, True])
def test_bad_position(x, is_torus):
    """NaN and infinity are always refused; outside is refused on a bounded axis and folded on a torus."""
    if is_torus and math.isfinite(x):
        run = asking([[x, 1.0], [0.5, 0.5]], (2.0, 2.0), True, [5.0])
        run.run(events=1)
        assert run.world.plane.n_indexed == 2
        return
    run = asking([[1.0, x], [0.5, 0.5]], (2.0, 2.0), is_torus, [1.0])
    with pytest.raises(SimulationError, match="stands outside the space or at NaN"):
        run.run(events=1)
    assert run.world.plane.bad_row == 1
    with pytest.raises(InputError, match=r"got .* for row 1"):
        asking([[1.0, x], [0.5, 0.5]], (2.0, 2.0), is_torus, [1.0], live=True)


def test_no_index_yet():
    """A query before the first index is refused; the age says how old an index is."""
    world = asking([[0.5, 0.6], [0.5, 0.5]], (2.0, 2.0), False).world
    plane, row = world.plane, world.points[0]
    for query in (plane.within(row, 1.0), plane.nearest(row, 1), plane.around(0.0, 0.0, 1.0)):
        with pytest.raises(ValueError, match="there is no index yet"):
            list(query)
    assert plane.age(3.0) == math.inf
    plane.index(2.0)
    assert plane.age(3.0) == 1.0
    row.x = 1.9
    assert [other.index for other in plane.around(0.5, 0.5, 0.2)] == [0, 1]  # where they were
    with pytest.raises(ValueError, match="k must be >= 0"):
        list(plane.nearest(row, -1))


@pytest.mark.parametrize(
    ("border", "x", "ends", "is_kept"),
    [("clamp", 2.5, 2.0, True), ("clamp", -math.inf, 0.0, True), ("reflect", 2.5, 1.5, True), ("reflect", -0.5, 0.5, True),
     ("reflect", 4.5, 0.5, True), ("absorb", 2.5, 2.0, False), ("absorb", 1.5, 1.5, True), ("error", 2.0, 2.0, True)],
)  # fmt: skip
def test_borders(border, x, ends, is_kept):
    """Clamped, reflected as often as needed, or stopped, which `move` tells."""
    world = KINDS[2, True][0](
        points={"x": [1.0], "y": [0.0]}, plane=LivePlane(2.0, 2.0, border=border), goals=np.zeros((0, 2))
    )
    row = world.points[0]
    assert world.plane.move(row, x, 0.0) is is_kept
    assert row.x == ends
    assert [other.index for other in world.plane.around(ends, 0.0, 0.0)] == [0]


@pytest.mark.parametrize("border", ["error", "clamp", "reflect", "absorb"])
def test_a_failed_move_changes_nothing(border):
    """NaN is an error whatever the border, outside where the border is one; the row stays where it was."""
    world = KINDS[2, True][0](
        points={"x": [1.0], "y": [0.5]}, plane=LivePlane(2.0, 2.0, border=border), goals=np.zeros((0, 2))
    )
    row = world.points[0]
    for x, y in ((0.0, math.nan), (math.nan, 0.0)) + (((0.0, 2.5), (-1.0, 0.0)) if border == "error" else ()):
        with pytest.raises(ValueError, match="a coordinate must be"):
            world.plane.move(row, x, y)
        assert (row.x, row.y) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("x", "folded"), [(-1e-20, 0.0), (1.0, 0.0), (-0.25, 0.75), (5.5, 0.5), (0.0, 0.0), (1e15, 0.0)]
)
def test_fold(x, folded):
    """A torus is half-open: its size is 0, and what would round to it."""
    assert fold(x, 1.0) == folded


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Plane(0.0, 1.0), "width must be a number in"), (lambda: Plane(1.0, math.nan), "height"),
        (lambda: Plane(1.0, 1.0, torus=(True,)), "torus must be"), (lambda: Plane(1.0, 1.0, reach=-1.0), "reach must be >= 0"),
        (lambda: Plane(1.0, 1.0, reach=math.nan), "reach must be"), (lambda: Plane(1.0, 1.0, border="wall"), "one of error, clamp"),
        (lambda: Plane3(1.0, 1.0, math.inf), "depth"), (lambda: KINDS[2, False][0](points=1), r"the world needs plane=Plane"),
        (lambda: KINDS[2, False][0](points=1, plane=LivePlane(1.0, 1.0)), "plane must be a Plane"),
    ],
)  # fmt: skip
def test_bad_planes(make, text):
    """What makes no plane is refused when it is made."""
    with pytest.raises(InputError, match=text):
        make()


def test_bad_declarations():
    """A plane of rows without coordinates, or of an entity that the world does not hold, is no declaration."""

    class Bare(Entity):
        x: int32

    class One(World):
        rows: Arena[Bare]
        plane: Plane[Bare]

    with pytest.raises(ModelError, match="Bare needs a field x: float64"):
        One.schema()


class Fly(Entity):
    """A row that comes and goes."""

    x: float64
    y: float64
    n_seen: int64


class Air(World):
    """Flies, seen in a snapshot and live."""

    flies: Pool[Fly]
    old: Plane[Fly]
    new: LivePlane[Fly]


class Live(Action):
    """Flies are born and die; then each looks around."""

    def schedule(self, world: Air, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Air, now: float, rng: Rng, touched: Touched) -> None:
        world.old.index(now)
        for fly in world.flies:
            if rng.bernoulli(0.3):
                world.new.remove(fly)
                world.flies.remove(fly)
        for _ in range(rng.integers(0, 12)):
            fly = world.flies.spawn()
            world.new.move(fly, rng.random(), rng.random())
        for fly in world.flies:
            fly.n_seen = 0
            for other in world.old.within(fly, 0.3):
                fly.n_seen += 1000 + 0 * other.index
            for _ in world.new.within(fly, 0.3):
                fly.n_seen += 1


AIR = Model(Air, [Live])


def test_rows_that_come_and_go():
    """A snapshot leaves out who has died since and never takes a newborn for him; a live plane knows both."""
    start = np.random.default_rng(1).random((2, 20))
    world = Air(
        flies={"x": start[0], "y": start[1]}, old=Plane(1.0, 1.0, torus=True), new=LivePlane(1.0, 1.0, torus=True)
    )
    runs = [Simulation(AIR, world, seed=4, jit=jit) for jit in (True, False)]
    for _ in range(30):
        flies = runs[0].world.flies
        before = {fly.key for fly in flies}
        for run in runs:
            run.run(events=1)
        flies = list(runs[0].world.flies)
        x, y = (np.array([getattr(fly, axis) for fly in flies]) for axis in "xy")
        gap = [np.abs(v[:, None] - v[None, :]) for v in (x, y)]
        square = sum(np.minimum(d, 1.0 - d) ** 2 for d in gap)
        near = (square <= 0.3 * 0.3) & ~np.eye(len(flies), dtype=bool)
        is_old = np.array([fly.key in before for fly in flies])
        seen = 1000 * (near & is_old[None, :]).sum(axis=1) + near.sum(axis=1)
        assert [fly.n_seen for fly in flies] == seen.tolist()
        assert runs[0].state_hash() == runs[1].state_hash()
    assert len(runs[0].world.old.keys) > 20  # the pool has grown, and the planes with it
