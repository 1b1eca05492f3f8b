"""Models that ask a plane of two or three dimensions, and the same by brute force in NumPy."""

from __future__ import annotations

import numpy as np

from tocsin import Action, Arena, Array, Entity, Model, Rng, Simulation, Touched, World, float64, int32, int64
from tocsin.space import Plane, Plane3

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
    found: Array[int32]
    ends: Array[int64]


class Solid(World):
    """The same in three dimensions."""

    points: Arena[Spot]
    plane: Plane3[Spot]
    radii: Array[float64]
    counts: Array[int32]
    found: Array[int32]
    ends: Array[int64]


class Ask(Action):
    """Asks, for each row, who is within each radius, and who are the nearest."""

    def schedule(self, world: Flat, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Flat, now: float, rng: Rng, touched: Touched) -> None:
        world.plane.index(now)
        n, query = 0, 0
        for point in world.points:
            for i in range(len(world.radii)):
                for other in world.plane.within(point, world.radii[i]):
                    world.found[n] = other.index
                    n += 1
                world.ends[query] = n
                query += 1


FLAT, SOLID = Model(Flat, [Ask]), Model(Solid, [Ask])


def answers(columns, size, torus, radii=(), counts=(), *, reach=0.0, jit=True):
    """Return for each row, and each radius then each count, the row numbers found, in order."""
    n_axes, n = len(size), len(columns[0])
    kind, model, space = ((Flat, FLAT, Plane), (Solid, SOLID, Plane3))[n_axes - 2]
    n_queries = n * (len(radii) + len(counts))
    world = kind(
        points=dict(zip("xyz", columns, strict=False)), plane=space(*size, torus=torus, reach=reach),
        radii=radii, counts=counts, found=np.zeros(n_queries * n), ends=np.zeros(n_queries),
    )  # fmt: skip
    simulation = Simulation(model, world, jit=jit)
    simulation.run(events=1)
    found, ends = simulation.world.found.values, simulation.world.ends.values
    return [part.tolist() for part in np.split(found[: ends[-1] if n_queries else 0], ends[:-1])]


def squares(columns, size, torus):
    """Return the squares of all distances (n x n), each axis the short way around."""
    total = 0.0
    for x, length, is_torus in zip(columns, size, torus, strict=True):
        x = np.asarray(x, float)
        d = np.abs(x[None, :] - x[:, None])
        d = np.minimum(d, length - d) if is_torus else d
        total = total + d * d
    return total
