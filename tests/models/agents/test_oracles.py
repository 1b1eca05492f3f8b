"""Schelling, wolves and sheep, and boids go step by step as slow twins in plain Python do, for 50 ticks."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.agents import flocking, schelling, wolf_sheep

from . import _oracle as oracle

N_TICKS = 50


@pytest.mark.parametrize(("radius", "wanted", "n"), [(1, 3, 1000), (2, 8, 1280)])
def test_schelling(radius, wanted, n):
    """Everybody lives where the twin says, after each tick, with the parameters of both sizes of the comparison."""
    wishes = schelling.Wishes(radius=radius, wanted=wanted)
    world = schelling.make_world(40, 40, n, seed=3, wishes=wishes)
    assert len(world.agents) == n == np.count_nonzero(world.kinds.values)
    simulation = Simulation(schelling.MODEL, world, seed=8)
    homes = list(zip(world.agents["x"].tolist(), world.agents["y"].tolist(), strict=True))
    empty = [divmod(cell, 40) for cell in world.empty.values.tolist()]
    twin = oracle.schelling((40, 40), homes, world.agents["kind"].tolist(), empty, radius, wanted, 8, N_TICKS)
    n_moves = 0
    for tick, homes in enumerate(twin):
        before = simulation.world.agents["x"].copy()
        simulation.run(until=tick + 1.0)
        agents = simulation.world.agents
        assert list(zip(agents["x"].tolist(), agents["y"].tolist(), strict=True)) == homes
        n_moves += int((before != agents["x"]).sum())
    assert n_moves > n / 4


def animals(pool):
    """Return (x, y, energy) of live rows by number."""
    return {row.index: (row.x, row.y, row.energy) for row in pool}


@pytest.mark.parametrize(("birth", "regrowth", "counts"), [((0.2, 0.1), 20, (60, 40)), ((0.4, 0.2), 10, (62, 31))])
def test_wolf_sheep(birth, regrowth, counts):
    """Every animal is where and as fit as the twin says, and so is the grass, after each tick."""
    rules = wolf_sheep.Rules(sheep_birth=birth[0], wolf_birth=birth[1], regrowth=regrowth)
    world = wolf_sheep.make_world(25, 25, *counts, seed=5, rules=rules)
    simulation = Simulation(wolf_sheep.MODEL, world, seed=6)
    herds = [[list(values) for values in animals(pool).values()] for pool in (world.sheep, world.wolves)]
    wait = {divmod(k, 25): int(w) for k, w in enumerate(world.patches["wait"])}
    twin = oracle.wolf_sheep((25, 25), wait, *herds, rules, 6, N_TICKS)
    for tick, (herds, wait) in enumerate(twin):
        simulation.run(until=tick + 1.0)
        now = simulation.world
        assert [animals(now.sheep), animals(now.wolves)] == herds
        assert now.patches["wait"].tolist() == [wait[divmod(k, 25)] for k in range(625)]
    assert now.sheep.n_live > 0
    assert now.wolves.n_live > 0


@pytest.mark.parametrize(("size", "n", "sight"), [(100.0, 100, 5.0), (40.0, 60, 15.0)])
def test_flocking(size, n, sight):
    """Every bird is within 1e-9 of where the twin, which looks at all pairs, says; sums are in another order."""
    steering = flocking.Steering(sight=sight)
    world = flocking.make_world(size, size, n, seed=4, steering=steering)
    simulation = Simulation(flocking.MODEL, world, seed=0)
    columns = ("x", "y", "dx", "dy")
    twin = oracle.flocking(
        (size, size), zip(*(world.birds[c].tolist() for c in columns), strict=True), steering, N_TICKS
    )
    for tick, birds in enumerate(twin):
        simulation.run(until=tick + 1.0)
        for column, wanted in zip(columns, zip(*birds, strict=True), strict=True):
            apart = np.abs(simulation.world.birds[column] - wanted)
            if column in "xy":
                apart = np.minimum(apart, size - apart)
            assert apart.max() < 1e-9


def test_grass_grows_again_in_time():
    """What is eaten at tick t with regrowth time R is edible again at t + R + 1, and not before."""
    rules = wolf_sheep.Rules(sheep_birth=0.0, regrowth=4, sheep_gain=0.0)
    world = wolf_sheep.make_world(3, 3, 1, 0, rules=rules)
    world.patches["wait"][:] = 0
    world.sheep["energy"][:] = 1000.0
    simulation = Simulation(wolf_sheep.MODEL, world, seed=1)
    eaten_at, n_meals = {}, 0
    for tick in range(1, 200):
        simulation.run(until=tick)
        (sheep,) = simulation.world.sheep
        cell = sheep.x * 3 + sheep.y
        waits = simulation.world.patches[cell].wait
        if waits == rules.regrowth:  # eaten now, and one tick of growth is over
            assert tick - eaten_at.get(cell, -9) >= rules.regrowth + 1
            eaten_at[cell], n_meals = tick, n_meals + 1
        else:
            assert tick - eaten_at[cell] < rules.regrowth + 1
    assert n_meals > 40
