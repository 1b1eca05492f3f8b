"""Claims are granted fairly, each row at most one cell, whatever the order in which they are made."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import (
    Action,
    Arena,
    Array,
    Entity,
    InputError,
    Model,
    Rng,
    Simulation,
    Touched,
    World,
    boolean,
    int32,
    int64,
)
from tocsin.space import Claims, Grid


class Walker(Entity):
    """A row that wants a cell."""

    cell: int32
    n_won: int64


class Field(World):
    """Walkers who claim what `wishes` says."""

    walkers: Arena[Walker]
    grid: Grid[Walker]
    claims: Claims[Walker]
    wishes: Array[int32]
    is_backwards: boolean
    is_vacated: boolean
    n_granted: int64


class Want(Action):
    """All claim, the claims are granted, and who moved goes back."""

    def schedule(self, world: Field, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Field, now: float, rng: Rng, touched: Touched) -> None:
        n = len(world.walkers)
        for i in range(n):
            k = n - 1 - i if world.is_backwards else i
            if world.wishes[k] >= 0:
                world.claims.claim(world.walkers[k], world.wishes[k])
        world.n_granted = world.claims.grant(world.grid, rng, world.is_vacated)
        for walker in world.walkers:
            walker.n_won += walker.cell == world.wishes[walker.index]


MODEL = Model(Field, [Want])


def field(cells, wishes, *, size=(4, 1), capacity=1, backwards=False, vacated=True, jit=True, seed=1):
    """Return a simulation whose event grants the claims."""
    world = Field(
        walkers={"cell": cells}, grid=Grid(*size, capacity=capacity), claims=Claims(size[0] * size[1]),
        wishes=wishes, is_backwards=backwards, is_vacated=vacated,
    )  # fmt: skip
    return Simulation(MODEL, world, jit=jit, seed=seed)


def test_each_claimant_is_as_likely():
    """Of 4 rows that want one cell each wins a quarter, within 4.5 standard errors: no low number is favoured."""
    n, won = 2000, np.zeros(4)
    for seed in range(n):
        run = field([0, 1, 2, 3], [4] * 4, size=(5, 1), seed=seed)
        run.run(events=1)
        won += run.world.walkers["n_won"]
        assert run.world.n_granted == 1
    assert won.sum() == n
    assert np.abs(won - n / 4).max() < 4.5 * (n * 0.25 * 0.75) ** 0.5


def test_order_of_claims_does_not_matter():
    """Claims made forwards and backwards, compiled and interpreted, end alike; nobody is lost or doubled."""
    numbers = np.random.default_rng(3)
    for seed in range(10):
        cells, wishes = numbers.permutation(60)[:40], numbers.integers(-1, 60, 40)
        runs = [
            field(cells, wishes, size=(10, 6), backwards=b, jit=jit, seed=seed) for b, jit in ((0, 1), (1, 1), (1, 0))
        ]
        ends = []
        for run in runs:
            run.run(events=1)
            ends.append(run.world.walkers["cell"].tolist())
        assert ends[0] == ends[1] == ends[2]
        assert len(set(ends[0])) == 40
        moved = [k for k in range(40) if ends[0][k] != cells[k]]
        assert all(ends[0][k] == wishes[k] for k in moved)
        taken = set(ends[0])
        lost = [k for k in range(40) if wishes[k] >= 0 and ends[0][k] != wishes[k]]
        assert all(wishes[k] in taken for k in lost)  # rounds went on until no claim could be granted


def test_vacated_cells():
    """A chain moves up together if vacated cells count, one step at a time if not; a swap never happens."""
    for vacated, ends in ((True, [1, 2, 3]), (False, [0, 1, 3])):
        run = field([0, 1, 2], [1, 2, 3], vacated=vacated)
        run.run(events=1)
        assert run.world.walkers["cell"].tolist() == ends
        assert run.world.n_granted == sum(e != c for e, c in zip(ends, [0, 1, 2], strict=True))
    run = field([0, 1], [1, 0])
    run.run(events=1)
    assert run.world.walkers["cell"].tolist() == [0, 1]
    assert [run.world.claims.has_claim(walker) for walker in run.world.walkers] == [True, True]


@pytest.mark.parametrize(("capacity", "n_won"), [(1, 1), (2, 2), (None, 3)])
def test_capacity(capacity, n_won):
    """A cell takes as many winners as it has room for; rows on no cell may claim too."""
    run = field([-1, -1, -1], [2, 2, 2], capacity=capacity)
    run.run(events=1)
    assert run.world.n_granted == n_won
    assert run.world.grid.n_on[2] == n_won


def test_bad_claims():
    """A cell that is not there, or claims for another grid, are refused."""
    world = field([0], [1]).world
    with pytest.raises(IndexError, match="not on the grid"):
        world.claims.claim(world.walkers[0], 4)
    with pytest.raises(InputError, match="n_cells must be in 1"):
        Claims(0)
    other = Field(walkers={"cell": [0]}, grid=Grid(4, 1), claims=Claims(5), wishes=[0])
    with pytest.raises(ValueError, match="another number of cells"):
        other.claims.grant(other.grid, None)
