"""Conway's game of life: cells live and die by how many of the 8 around them live.

A live cell with 2 or 3 live neighbours stays alive, a dead one with 3 comes to life; all at once, on a
torus. Gardner 1970, doi:10.1038/scientificamerican1070-120.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from tocsin import Arena, Entity, InputError, Model, Observable, Rng, System, World, boolean, int64
from tocsin.export.marks import Cells, View
from tocsin.kernel import uniforms


class Cell(Entity):
    """A cell; that at (x, y) is number x * height + y."""

    is_alive: boolean


class Board(World):
    """A torus of cells."""

    cells: Arena[Cell]
    width: int64
    height: int64

    def n_alive_around(self, cell: Cell) -> int:
        """Return how many of the 8 neighbours live."""
        x, y, n = cell.index // self.height, cell.index % self.height, 0
        for i in range(x - 1, x + 2):
            line = (i % self.width) * self.height
            for j in range(y - 1, y + 2):
                n += self.cells[line + j % self.height].is_alive
        return n - cell.is_alive


class Live(System):
    """A cell lives or dies."""

    cell: Cell
    mode = "synchronous"

    def update(self, world: Board, now: float, rng: Rng) -> None:
        n = world.n_alive_around(self.cell)
        self.cell.is_alive = n == 3 or (n == 2 and self.cell.is_alive)


class Alive(Observable):
    """Number of live cells."""

    def value(self, world: Board) -> float:
        n = 0
        for cell in world.cells:
            n += cell.is_alive
        return n


def make_world(
    width: int = 64, height: int = 64, alive: float = 0.3, seed: int = 0, cells: ArrayLike | None = None
) -> Board:
    """Return a board on which each cell lives with probability `alive`, or as `cells` says (shape (width, height)).

    Raises InputError for a board of less than 3 cells a side, on which neighbours would count twice, or a probability out of range.
    """
    if cells is not None:
        import numpy as np

        given = np.asarray(cells, dtype=bool)
        if given.ndim != 2 or min(given.shape) < 3:
            raise InputError(f"cells must have shape (width, height), each at least 3, got {given.shape}")
        return Board(cells={"is_alive": given.ravel()}, width=given.shape[0], height=given.shape[1])
    if width < 3 or height < 3 or not 0.0 <= alive <= 1.0:
        raise InputError(f"a board needs 3 x 3 cells and alive in 0..1, got {width} x {height}, {alive!r}")
    return Board(cells={"is_alive": uniforms(seed, width * height) < alive}, width=width, height=height)


MODEL = Model(Board, systems=[Live], observables=[Alive], name="life")

VIEW = View(
    (Cells(table="cells", value="is_alive", by_column=True),),
    box=("width", "height"),
    labels=("alive",),
    blank="dead",
    speed=8.0,
)
