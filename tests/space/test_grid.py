"""A grid finds the cells and rows that brute force finds, and keeps its lists while rows move."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin import InputError, SimulationError
from tocsin.space import Grid, Grid3

from ._cells import simulation

KINDS = ("moore", "von neumann", "hex")


def cube(x, y):
    """Return cube coordinates of a hexagon; rows with odd y are shifted to the right."""
    q = x - (y - (y & 1)) // 2
    return q, y, -q - y


def distance(kind, one, other):
    """Return the distance of two cells with no way around."""
    if kind == "hex":
        return max(abs(a - b) for a, b in zip(cube(*one[:2]), cube(*other[:2]), strict=True))
    steps = [abs(a - b) for a, b in zip(one, other, strict=True)]
    return max(steps) if kind == "moore" else sum(steps)


def around(kind, size, torus, cell, radius):
    """Return the cells that have an image within the radius, the centre left out."""
    turns = [range(-1, 2) if is_torus else (0,) for is_torus in torus]
    cells = list(itertools.product(*(range(n) for n in reversed(size))))
    at = tuple(reversed(cells[cell]))
    found = []
    for number, other in enumerate(cells):
        images = (
            tuple(x + t * n for x, t, n in zip(reversed(other), turn, size, strict=True))
            for turn in itertools.product(*turns)
        )
        if number != cell and any(distance(kind, at, image) <= radius for image in images):
            found.append(number)
    return found


@st.composite
def lattices(draw, n_axes):
    """A grid, its rows and radii, tori with one or two cells on an axis included."""
    kind = draw(st.sampled_from(KINDS[: 5 - n_axes]))
    size = [draw(st.integers(1, 6)) for _ in range(n_axes)]
    torus = [draw(st.booleans()) for _ in range(n_axes)]
    if kind == "hex" and torus[1]:
        size[1] += size[1] % 2
    n_cells = int(np.prod(size))
    rows = draw(st.lists(st.integers(-1, n_cells - 1), min_size=1, max_size=12))
    return kind, size, torus, rows, [draw(st.integers(0, 2)), draw(st.integers(1, 7))]


def compare(lattice):
    """Check all cells of one grid; return how many queries that were."""
    kind, size, torus, rows, radii = lattice
    run = simulation((Grid, Grid3)[len(size) - 2](*size, torus=torus, neighbourhood=kind), rows, radii)
    run.run(events=1)
    ends = run.world.ends.values
    found = [part.tolist() for part in np.split(run.world.found.values[: ends[-1]], ends[:-1])]
    n_cells, query = int(np.prod(size)), 0
    for radius in radii:
        for cell in range(n_cells):
            cells, people = found[query], found[query + 1]
            assert sorted(cells) == around(kind, size, torus, cell, min(radius, 7))
            assert people == [row for near in cells for row, where in enumerate(rows) if where == near]
            query += 2
    return query


@pytest.mark.parametrize("n_axes", [2, 3])
def test_around_is_brute_force(n_axes):
    """Each cell within the radius comes once, never the centre; its rows by number."""
    n_queries = []

    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(lattices(n_axes))
    def law(lattice):
        n_queries.append(compare(lattice))

    law()
    assert sum(n_queries) > 1000


@pytest.mark.parametrize(
    ("kind", "radius", "corner", "inner"),
    [("moore", 1, 3, 8), ("moore", 2, 8, 24), ("von neumann", 1, 2, 4), ("von neumann", 2, 5, 12), ("hex", 1, 2, 6)],
)
def test_numbers_of_neighbours(kind, radius, corner, inner):
    """(2r + 1)^2 - 1 and 2r(r + 1) inside, fewer in a corner; none at radius 0."""
    run = simulation(Grid(9, 9, neighbourhood=kind), [-1], [0, radius])
    run.run(events=1)
    n_found = np.diff(run.world.ends.values, prepend=0)[::2].reshape(2, 9, 9)
    assert not n_found[0].any()
    assert (n_found[1, 0, 0], n_found[1, 4, 4]) == (corner, inner)


@pytest.mark.parametrize("capacity", [1, 3, None])
def test_lists_are_kept(capacity):
    """After 2,000 moves the lists are those of a grid that is made anew; compiled and interpreted alike."""
    rows = list(range(20)) + [-1] * 5
    runs = [simulation(Grid(6, 5, capacity=capacity), rows, is_moving=True, jit=jit) for jit in (True, False)]
    for run in runs:
        run.run(events=2000 if run.jit else 200)
    again = simulation(Grid(6, 5, capacity=capacity), rows, is_moving=True)
    again.run(events=200)
    assert again.state_hash() == runs[1].state_hash()
    grid, cells = runs[0].world.grid, runs[0].world.walkers["cell"].tolist()
    anew = simulation(Grid(6, 5, capacity=capacity), cells).world.grid
    for name in ("cell_of", "n_on", "head", "n_empty"):
        one, other = (np.asarray(getattr(g, name)) for g in (grid, anew))
        assert (one == other).all(), name
    for k, cell in enumerate(cells):
        if cell >= 0:
            assert grid.after[k] == anew.after[k]
            assert grid.before[k] == anew.before[k]
    assert set(grid.empty.values[: grid.n_empty]) == set(anew.empty.values[: anew.n_empty])
    assert capacity is None or max(grid.n_on.values) <= capacity


def test_empty_cells_are_equally_likely():
    """Of 4 empty cells each is drawn as often, within 4.5 standard errors."""
    run = simulation(Grid(3, 3), [0, 2, 4, 6, 8])
    grid, n, hits = run.world.grid, 4000, np.zeros(9)

    class Draws:
        def __init__(self):
            self.numbers = np.random.default_rng(5)

        def integers(self, low, high):
            return int(self.numbers.integers(low, high))

    rng = Draws()
    for _ in range(n):
        hits[grid.random_empty(rng)] += 1
    assert hits[[0, 2, 4, 6, 8]].sum() == 0
    assert np.abs(hits[[1, 3, 5, 7]] - n / 4).max() < 4.5 * (n * 0.25 * 0.75) ** 0.5


def test_full_grid_and_other_mistakes():
    """A full grid, a full cell, a cell outside, a bad radius: refused by name; the row stays."""
    grid = simulation(Grid(2, 2, capacity=1), [0, 1, 2, 3]).world.grid
    with pytest.raises(ValueError, match="no cell of the grid is empty"):
        grid.random_empty(None)
    row = grid.rows[0]
    with pytest.raises(ValueError, match="this cell is full"):
        grid.move(row, 1)
    for cell in (4, -1):
        with pytest.raises(IndexError, match=r"not on the grid: cells are 0 .. n_cells\(\) - 1, and cell_at"):
            grid.move(row, cell)
    assert (row.cell, grid.place_of(row)) == (0, 0)
    with pytest.raises(ValueError, match="radius must be >= 0"):
        list(grid.neighbours(row, -1))
    grid.remove(row)
    with pytest.raises(ValueError, match="on no cell"):
        list(grid.neighbours(row))
    run = simulation(Grid(2, 2), [0], [-1])
    with pytest.raises(SimulationError, match="radius must be >= 0"):
        run.run(events=1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Grid(0, 3), "width must be in 1"), (lambda: Grid(2.5, 3), "width must be a whole number"),
        (lambda: Grid(2, 2, torus=(True,)), "torus must be"), (lambda: Grid(2, 2, neighbourhood="more"), "one of moore"),
        (lambda: Grid(4, 3, neighbourhood="hex", torus=True), "even height"), (lambda: Grid(2, 2, capacity=0), "capacity"),
        (lambda: Grid3(2, 2, 2, neighbourhood="hex"), "two dimensions"), (lambda: Grid(1 << 20, 1 << 20), "cells"),
        (lambda: simulation(Grid(2, 2), [4]), "in 0..3"), (lambda: simulation(Grid(2, 2, capacity=1), [1, 1]), "capacity is 1"),
    ],
)  # fmt: skip
def test_bad_grids(make, text):
    """What makes no grid is refused when it is made."""
    with pytest.raises(InputError, match=text):
        make()
