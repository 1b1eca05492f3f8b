"""Wolves, sheep and grass: predators and prey on a torus.

At each tick all sheep, in a fresh random order, walk to one of the 8 cells around, pay one unit of
energy, die below 0, eat the grass if it has grown, and may bear a lamb, with which they share
their energy. Then all wolves do likewise, and eat a sheep of their cell, if there is one, each equally likely.
Then the grass: what was eaten at tick t with regrowth time R is edible again at t + R + 1.
Wilensky 1997, http://ccl.northwestern.edu/netlogo/models/WolfSheepPredation; the numbers are those of
ABMFrameworksComparison.
"""

from __future__ import annotations

import numpy as np

from tocsin import (
    Arena,
    Entity,
    InputError,
    Model,
    Observable,
    OptionalRef,
    Params,
    Pool,
    Rng,
    System,
    World,
    float64,
    int32,
    int64,
    param,
)
from tocsin.export.marks import Cells, Points, View
from tocsin.kernel import uniforms
from tocsin.models.agents._start import whole_numbers


class Rules(Params):
    """Energies, chances and the time that grass takes."""

    sheep_gain: float64 = param(5.0, unit="energy", ge=0, doc="what a sheep gains from grass")
    wolf_gain: float64 = param(13.0, unit="energy", ge=0, doc="what a wolf gains from a sheep")
    sheep_birth: float64 = param(0.2, ge=0, le=1, doc="chance that a sheep bears a lamb at a tick")
    wolf_birth: float64 = param(0.1, ge=0, le=1, doc="chance that a wolf bears a cub at a tick")
    regrowth: int64 = param(20, unit="ticks", ge=0, doc="how long eaten grass takes to grow")


class Patch(Entity):
    """A cell: its grass, and the sheep in it, as a list that begins with the one who came last."""

    wait: int32  # ticks until its grass has grown, 0 if it has
    n_sheep: int32
    flock: OptionalRef[Sheep]


class Sheep(Entity):
    """A sheep."""

    energy: float64
    x: int32
    y: int32
    behind: OptionalRef[Sheep]


class Wolf(Entity):
    """A wolf."""

    energy: float64
    x: int32
    y: int32


class Meadow(World):
    """Patches in rows: that at (x, y) is number x * height + y."""

    patches: Arena[Patch]
    sheep: Pool[Sheep]
    wolves: Pool[Wolf]
    width: int64
    height: int64
    rules: Rules

    def patch(self, x: int, y: int) -> Patch:
        """Return the patch at (x, y)."""
        return self.patches[x * self.height + y]

    def enter(self, sheep: Sheep) -> None:
        """Put a sheep at the head of the list of its cell."""
        patch = self.patch(sheep.x, sheep.y)
        sheep.behind = patch.flock
        patch.flock = sheep
        patch.n_sheep += 1

    def leave(self, sheep: Sheep) -> None:
        """Take a sheep out of the list of its cell."""
        patch = self.patch(sheep.x, sheep.y)
        patch.n_sheep -= 1
        other = patch.flock
        if other == sheep:
            patch.flock = sheep.behind
            return
        while other is not None:
            behind = other.behind
            if behind == sheep:
                other.behind = sheep.behind
                return
            other = behind


def step(here: int, by: int, length: int) -> int:
    """Return a coordinate one step on or back around a torus."""
    there = here + by
    if there < 0:
        return there + length
    return there - length if there >= length else there


def direction(rng: Rng) -> int:
    """Return one of the 9 cells of a block but its middle, each equally likely: 0..8 without 4."""
    k = rng.integers(0, 8)
    return k + 1 if k >= 4 else k


class Graze(System):
    """A sheep walks, eats grass, and may bear a lamb."""

    sheep: Sheep

    def update(self, world: Meadow, now: float, rng: Rng) -> None:
        sheep, rules = self.sheep, world.rules
        world.leave(sheep)
        k = direction(rng)
        sheep.x, sheep.y = step(sheep.x, k // 3 - 1, world.width), step(sheep.y, k % 3 - 1, world.height)
        sheep.energy -= 1.0
        if sheep.energy < 0.0:
            world.sheep.remove(sheep)
            return
        world.enter(sheep)
        patch = world.patch(sheep.x, sheep.y)
        if patch.wait == 0:
            patch.wait = rules.regrowth + 1
            sheep.energy += rules.sheep_gain
        if rng.random() < rules.sheep_birth:
            sheep.energy /= 2.0
            lamb = world.sheep.spawn()
            lamb.x, lamb.y, lamb.energy = sheep.x, sheep.y, sheep.energy
            world.enter(lamb)


class Hunt(System):
    """A wolf walks, eats a sheep, and may bear a cub."""

    wolf: Wolf

    def update(self, world: Meadow, now: float, rng: Rng) -> None:
        wolf, rules = self.wolf, world.rules
        k = direction(rng)
        wolf.x, wolf.y = step(wolf.x, k // 3 - 1, world.width), step(wolf.y, k % 3 - 1, world.height)
        wolf.energy -= 1.0
        if wolf.energy < 0.0:
            world.wolves.remove(wolf)
            return
        patch = world.patch(wolf.x, wolf.y)
        prey = patch.flock
        if prey is not None:
            for _ in range(rng.integers(0, patch.n_sheep)):
                behind = prey.behind
                if behind is not None:
                    prey = behind
            world.leave(prey)
            world.sheep.remove(prey)
            wolf.energy += rules.wolf_gain
        if rng.random() < rules.wolf_birth:
            wolf.energy /= 2.0
            cub = world.wolves.spawn()
            cub.x, cub.y, cub.energy = wolf.x, wolf.y, wolf.energy


class Grow(System):
    """Grass that was eaten grows again."""

    patch: Patch
    order = "key"

    def update(self, world: Meadow, now: float, rng: Rng) -> None:
        self.patch.wait = max(self.patch.wait - 1, 0)


def make_world(
    width: int = 25, height: int = 25, n_sheep: int = 60, n_wolves: int = 40, seed: int = 0, rules: Rules | None = None
) -> Meadow:
    """Return a meadow with animals in random cells, with whole energies of 1 .. twice their gain.

    Half of the patches have grass; the others wait a random part of the time of regrowth. Raises InputError for sizes out of range.
    """
    if width < 3 or height < 3 or n_sheep < 0 or n_wolves < 0:
        raise InputError(f"a meadow needs 3 x 3 cells and counts >= 0, got {width} x {height}, {n_sheep}, {n_wolves}")
    rules = rules or Rules()

    wait = np.where(
        uniforms(seed, width * height, 0) < 0.5, 0, 1 + whole_numbers(seed, width * height, rules.regrowth, 1)
    )
    world = Meadow(
        patches={"wait": wait, "n_sheep": 0}, width=width, height=height, rules=rules,
        sheep={"x": whole_numbers(seed, n_sheep, width, 2), "y": whole_numbers(seed, n_sheep, height, 3),
               "energy": 1.0 + whole_numbers(seed, n_sheep, 2 * rules.sheep_gain, 4)},
        wolves={"x": whole_numbers(seed, n_wolves, width, 5), "y": whole_numbers(seed, n_wolves, height, 6),
                "energy": 1.0 + whole_numbers(seed, n_wolves, 2 * rules.wolf_gain, 7)},
    )  # fmt: skip
    for sheep in world.sheep:
        world.enter(sheep)
    return world


class SheepAlive(Observable):
    """Number of sheep."""

    def value(self, world: Meadow) -> float:
        return world.sheep.n_live


class WolvesAlive(Observable):
    """Number of wolves."""

    def value(self, world: Meadow) -> float:
        return world.wolves.n_live


MODEL = Model(Meadow, systems=[Graze, Hunt, Grow], observables=[SheepAlive, WolvesAlive], name="wolf_sheep")

VIEW = View(
    (Cells(table="patches", value="wait", by_column=True, shades=True, reverse=True), Points("sheep", "x", "y", size=7.0), Points("wolves", "x", "y", shade=1, size=9.0)),
    box=("width", "height"), labels=("sheep", "wolf"), colours=("#e08a1e", "#1c1f23"),
    note="Dark green: grass; the paler, the longer until it has grown again.", speed=5.0,
)  # fmt: skip
