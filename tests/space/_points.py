"""Models that ask a plane of two or three dimensions, and the same by brute force in NumPy."""

from __future__ import annotations

import numpy as np

from tocsin import Action, Arena, Array, Array2, Entity, Model, Rng, Simulation, Touched, World, float64, int32, int64
from tocsin.space import LivePlane, LivePlane3, Plane, Plane3

SIZES = ("width", "height", "depth")


class Point(Entity):
    """A point of a rectangle."""

    x: float64
    y: float64


class Spot(Entity):
    """A point of a box."""

    x: float64
    y: float64
    z: float64


class Flat(World):
    """Points, and what was asked: the answers of query q are found[ends[q - 1] : ends[q]]."""

    points: Arena[Point]
    plane: Plane[Point]
    radii: Array[float64]
    counts: Array[int32]
    goals: Array2[float64]  # where rows are sent before anything is asked: (row, axis)
    found: Array[int32]
    ends: Array[int64]

    def send(self, point: Point, i: int) -> None:
        """Move a row to its goal."""
        self.plane.move(point, self.goals[i, 0], self.goals[i, 1])


class FlatLive(World):
    """The same, found where they are now."""

    points: Arena[Point]
    plane: LivePlane[Point]
    radii: Array[float64]
    counts: Array[int32]
    goals: Array2[float64]  # where rows are sent before anything is asked: (row, axis)
    found: Array[int32]
    ends: Array[int64]

    def send(self, point: Point, i: int) -> None:
        """Move a row to its goal."""
        self.plane.move(point, self.goals[i, 0], self.goals[i, 1])


class Solid(World):
    """The same in three dimensions."""

    points: Arena[Spot]
    plane: Plane3[Spot]
    radii: Array[float64]
    counts: Array[int32]
    goals: Array2[float64]  # where rows are sent before anything is asked: (row, axis)
    found: Array[int32]
    ends: Array[int64]

    def send(self, point: Spot, i: int) -> None:
        """Move a row to its goal."""
        self.plane.move(point, self.goals[i, 0], self.goals[i, 1], self.goals[i, 2])


class SolidLive(World):
    """The same in three dimensions, found where they are now."""

    points: Arena[Spot]
    plane: LivePlane3[Spot]
    radii: Array[float64]
    counts: Array[int32]
    goals: Array2[float64]  # where rows are sent before anything is asked: (row, axis)
    found: Array[int32]
    ends: Array[int64]

    def send(self, point: Spot, i: int) -> None:
        """Move a row to its goal."""
        self.plane.move(point, self.goals[i, 0], self.goals[i, 1], self.goals[i, 2])


class Ask(Action):
    """Asks, for each row, who is within each radius, and who are the nearest."""

    def schedule(self, world: Flat, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Flat, now: float, rng: Rng, touched: Touched) -> None:
        for i in range(len(world.goals)):
            world.send(world.points[i], i)
        world.plane.index(now)
        n, query = 0, 0
        for point in world.points:
            for i in range(len(world.radii)):
                for other in world.plane.within(point, world.radii[i]):
                    world.found[n] = other.index
                    n += 1
                world.ends[query] = n
                query += 1
            for i in range(len(world.counts)):
                for other in world.plane.nearest(point, world.counts[i]):
                    world.found[n] = other.index
                    n += 1
                world.ends[query] = n
                query += 1


KINDS = {
    (2, False): (Flat, Model(Flat, [Ask]), Plane), (2, True): (FlatLive, Model(FlatLive, [Ask]), LivePlane),
    (3, False): (Solid, Model(Solid, [Ask]), Plane3), (3, True): (SolidLive, Model(SolidLive, [Ask]), LivePlane3),
}  # fmt: skip


def asking(columns, size, torus, radii=(), counts=(), *, reach=0.0, live=False, jit=True, goals=None):
    """Return a simulation whose first event asks for each row and each radius, then each count."""
    n_axes, n = len(size), len(columns[0])
    kind, model, space = KINDS[n_axes, live]
    n_queries = n * (len(radii) + len(counts))
    world = kind(
        points=dict(zip("xyz", columns, strict=False)), plane=space(*size, torus=torus, reach=reach),
        radii=radii, counts=counts, found=np.zeros(n_queries * n), ends=np.zeros(n_queries),
        goals=np.zeros((0, n_axes)) if goals is None else np.transpose(goals),
    )  # fmt: skip
    return Simulation(model, world, jit=jit)


def answers(*what, **how):
    """Return for each row, and each radius then each count, the row numbers found, in order."""
    simulation = asking(*what, **how)
    simulation.run(events=1)
    found, ends = simulation.world.found.values, simulation.world.ends.values
    return [part.tolist() for part in np.split(found[: ends[-1] if len(ends) else 0], ends[:-1])]


def squares(columns, size, torus):
    """Return the squares of all distances (n x n), each axis the short way around."""
    total = 0.0
    for x, length, is_torus in zip(columns, size, torus, strict=True):
        x = np.asarray(x, float)
        d = np.abs(x[None, :] - x[:, None])
        d = np.minimum(d, length - d) if is_torus else d
        total = total + d * d
    return total
