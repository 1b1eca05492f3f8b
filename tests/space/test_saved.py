"""A world with a space is saved, copied and goes on as any other."""

from __future__ import annotations

from tocsin import Simulation
from tocsin.space import Grid

from ._cells import FIELD, simulation


def test_a_saved_space_goes_on_alike(tmp_path):
    """By a file and by a copy, the next 100 moves are the same, and the lists with them."""
    run = simulation(Grid(6, 5, capacity=2), list(range(20)), is_moving=True)
    run.run(events=100)
    run.save(tmp_path / "run.tocsin")
    others = [run.copy(), Simulation.load(tmp_path / "run.tocsin", FIELD)]
    assert "grid.head" in "".join(run.world._state()["arrays"])
    for one in (run, *others):
        one.run(events=100)
    assert run.state_hash() == others[0].state_hash() == others[1].state_hash()
    assert others[1].world.grid.n_empty == run.world.grid.n_empty < 30
