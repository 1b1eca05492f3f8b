"""A model that asks a grid, moves rows on it, and draws empty cells."""

from __future__ import annotations

from tocsin import Action, Arena, Array, Entity, Model, Rng, Simulation, Touched, World, boolean, int32, int64
from tocsin.space import Grid, Grid3


class Walker(Entity):
    """A row on a cell."""

    cell: int32


class Field(World):
    """Walkers, and what was asked: the answers of query q are found[ends[q - 1] : ends[q]]."""

    walkers: Arena[Walker]
    grid: Grid[Walker]
    radii: Array[int32]
    is_moving: boolean
    found: Array[int32]
    ends: Array[int64]


class Cube(World):
    """The same in three dimensions."""

    walkers: Arena[Walker]
    grid: Grid3[Walker]
    radii: Array[int32]
    is_moving: boolean
    found: Array[int32]
    ends: Array[int64]


class Ask(Action):
    """Asks, for each cell and radius, for its cells and rows; or moves a row, or takes it off."""

    def schedule(self, world: Field, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Field, now: float, rng: Rng, touched: Touched) -> None:
        if world.is_moving:
            walker = world.walkers[rng.integers(0, len(world.walkers))]
            cell = rng.integers(0, world.grid.n_cells())
            if rng.bernoulli(0.1):
                world.grid.remove(walker)
            elif rng.bernoulli(0.3) and world.grid.n_empty > 0:
                world.grid.move_to_empty(walker, rng)
            elif walker.cell == cell or world.grid.has_room(cell):
                world.grid.move(walker, cell)
            return
        n, query = 0, 0
        for i in range(len(world.radii)):
            for cell in range(world.grid.n_cells()):
                for near in world.grid.cells_around(cell, world.radii[i]):
                    world.found[n] = near
                    n += 1
                world.ends[query] = n
                for walker in world.grid.neighbours_of(cell, world.radii[i]):
                    world.found[n] = walker.index
                    n += 1
                world.ends[query + 1] = n
                query += 2


FIELD, CUBE = Model(Field, [Ask]), Model(Cube, [Ask])


def simulation(grid, cells, radii=(), *, is_moving=False, jit=True, seed=1):
    """Return a simulation of rows on cells."""
    kind, model = (Cube, CUBE) if isinstance(grid, Grid3) else (Field, FIELD)
    n_cells = grid._n_cells
    world = kind(
        walkers={"cell": cells}, grid=grid, radii=radii, is_moving=is_moving,
        found=[0] * (len(radii) * n_cells * (n_cells + len(cells))), ends=[0] * (2 * len(radii) * n_cells),
    )  # fmt: skip
    return Simulation(model, world, jit=jit, seed=seed)
