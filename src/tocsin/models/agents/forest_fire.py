"""Forest fire: a fire that starts at one side goes from tree to tree.

Each cell of a bounded grid has a tree with probability `density`; those of the first column burn. At each tick
a tree next to one that burnt (up, down, left or right) catches fire, and one that burnt is ash. Whether the fire
crosses depends on the density, with a threshold near 0.593: site percolation. Drossel and Schwabl 1992,
doi:10.1103/PhysRevLett.69.1629, without growth and lightning.
"""

from __future__ import annotations

import numpy as np

from tocsin import Arena, Entity, InputError, Model, Observable, Rng, System, World, int8, int64
from tocsin.export.marks import Cells, View
from tocsin.kernel import uniforms

EMPTY, TREE, BURNING, ASH = 0, 1, 2, 3


class Cell(Entity):
    """A cell; that at (x, y) is number x * height + y."""

    state: int8  # EMPTY, TREE, BURNING or ASH


class Forest(World):
    """A bounded grid of cells."""

    cells: Arena[Cell]
    width: int64
    height: int64

    def burns(self, x: int, y: int) -> bool:
        """Say whether there is a burning tree at (x, y); outside there is none."""
        if x < 0 or y < 0 or x >= self.width or y >= self.height:
            return False
        return self.cells[x * self.height + y].state == BURNING


class Spread(System):
    """Fire spreads to trees, and what burnt is ash."""

    cell: Cell
    mode = "synchronous"

    def update(self, world: Forest, now: float, rng: Rng) -> None:
        cell = self.cell
        if cell.state == BURNING:
            cell.state = ASH
        elif cell.state == TREE:
            x, y = cell.index // world.height, cell.index % world.height
            if world.burns(x - 1, y) or world.burns(x + 1, y) or world.burns(x, y - 1) or world.burns(x, y + 1):
                cell.state = BURNING


class Burning(Observable):
    """Number of trees that burn."""

    def value(self, world: Forest) -> float:
        n = 0
        for cell in world.cells:
            n += cell.state == BURNING
        return n


def make_world(width: int = 100, height: int = 100, density: float = 0.7, seed: int = 0) -> Forest:
    """Return a forest whose first column (x = 0) burns. Raises InputError for values out of range."""
    if width < 1 or height < 1 or not 0.0 <= density <= 1.0:
        raise InputError(f"a forest needs 1 x 1 cells and density in 0..1, got {width} x {height}, {density!r}")
    state = np.where(uniforms(seed, width * height) < density, TREE, EMPTY).reshape(width, height)
    state[0][state[0] == TREE] = BURNING
    return Forest(cells={"state": state.ravel()}, width=width, height=height)


MODEL = Model(Forest, systems=[Spread], observables=[Burning], name="forest_fire")

VIEW = View(
    (Cells(table="cells", value="state", by_column=True),), box=("width", "height"), labels=("tree", "burning", "ash"),
    blank="no tree", colours=("#2f9367", "#e0521a", "#55504a"), speed=10.0,
)  # fmt: skip
