"""Cells that divide and die: a pool that grows and shrinks, with laws of conservation."""

from __future__ import annotations

from tocsin import (
    Action,
    Entity,
    Model,
    Observable,
    OptionalRef,
    Pool,
    Rng,
    Simulation,
    Touched,
    World,
    float64,
    int32,
    int64,
)


class Cell(Entity):
    """One cell."""

    mother: OptionalRef[Cell]
    mass: float64
    generation: int32
    n_daughters: int32


class Dish(World):
    """Cells, and what became of them."""

    cells: Pool[Cell]
    n_births: int64 = 0
    n_deaths: int64 = 0
    dead_mass: float64 = 0.0
    division: float64 = 1.0
    death: float64 = 0.5


class Divide(Action):
    """A cell gives half of its mass to a daughter."""

    cell: Cell

    def rate(self, world: Dish) -> float:
        return world.division

    def fire(self, world: Dish, now: float, rng: Rng, touched: Touched) -> None:
        daughter = world.cells.spawn()
        self.cell.mass *= 0.5
        self.cell.n_daughters += 1
        daughter.mass = self.cell.mass
        daughter.mother = self.cell
        daughter.generation = self.cell.generation + 1
        world.n_births += 1


class Die(Action):
    """A cell dies."""

    cell: Cell

    def rate(self, world: Dish) -> float:
        return world.death

    def fire(self, world: Dish, now: float, rng: Rng, touched: Touched) -> None:
        world.dead_mass += self.cell.mass
        world.n_deaths += 1
        world.cells.remove(self.cell)


class Population(Observable):
    """Number of live cells."""

    def value(self, world: Dish) -> float:
        return world.cells.n_live


class Mass(Observable):
    """Mass of the live cells, summed over rows."""

    cell: Cell

    def value(self, world: Dish) -> float:
        return self.cell.mass


MODEL = Model(Dish, [Divide, Die], observables=[Population, Mass])


def culture(n_cells=20, seed=3, jit=True, **rates):
    """Return a simulation of `n_cells` cells of mass 1."""
    dish = Dish(cells={"mass": [1.0] * n_cells}, **rates)
    return Simulation(MODEL, dish, seed=seed, jit=jit)
