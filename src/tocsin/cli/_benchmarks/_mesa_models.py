"""Schelling, wolves and sheep, and boids as one writes them for Mesa 3.3, with the same rules as ours."""

from __future__ import annotations

from typing import Any

import mesa
import numpy as np
from mesa.discrete_space import CellAgent, FixedAgent, OrthogonalMooreGrid
from mesa.experimental.continuous_space import ContinuousSpace, ContinuousSpaceAgent
from mesa.experimental.devs import ABMSimulator


class Settler(CellAgent):  # type: ignore[misc]
    """An agent of Schelling's model."""

    def __init__(self, model: Any, cell: Any, kind: int) -> None:
        super().__init__(model)
        self.cell, self.kind, self.is_happy = cell, kind, False

    def step(self) -> None:
        """Look around, and move if not content."""
        around = self.cell.get_neighborhood(radius=self.model.radius).agents
        self.is_happy = sum(a.kind == self.kind for a in around) >= self.model.wanted
        if not self.is_happy:
            self.cell = self.model.grid.select_random_empty_cell()


class Schelling(mesa.Model):  # type: ignore[misc]
    """Segregation with exactly n agents on a bounded grid."""

    def __init__(self, size: int, n: int, radius: int, wanted: int, seed: int) -> None:
        super().__init__(seed=seed)
        self.radius, self.wanted = radius, wanted
        self.grid = OrthogonalMooreGrid((size, size), torus=False, capacity=1, random=self.random)
        cells = self.random.sample(list(self.grid.all_cells), n)
        for k, cell in enumerate(cells):
            Settler(self, cell, 1 if 2 * k < n else 2)

    def step(self) -> None:
        """All agents in a fresh random order."""
        self.agents.shuffle_do("step")


class Animal(CellAgent):  # type: ignore[misc]
    """A sheep or a wolf."""

    def __init__(self, model: Any, cell: Any, energy: float) -> None:
        super().__init__(model)
        self.cell, self.energy = cell, energy

    def feed(self) -> None:
        """Eat, if there is something."""

    def step(self) -> None:
        """Walk, pay, die or eat, and perhaps bear a child."""
        self.cell = self.cell.neighborhood.select_random_cell()
        self.energy -= 1
        if self.energy < 0:
            self.remove()
            return
        self.feed()
        if self.random.random() < self.birth:
            self.energy /= 2
            type(self)(self.model, self.cell, self.energy)


class Sheep(Animal):
    """Eats grass."""

    gain, birth = 5.0, 0.4

    def feed(self) -> None:
        """Eat grass that has grown."""
        grass = next(a for a in self.cell.agents if isinstance(a, Grass))
        if grass.is_grown:
            self.energy += self.gain
            grass.eaten()


class Wolf(Animal):
    """Eats sheep."""

    gain, birth = 13.0, 0.2

    def feed(self) -> None:
        """Eat one of the sheep here."""
        sheep = [a for a in self.cell.agents if isinstance(a, Sheep)]
        if sheep:
            self.energy += self.gain
            self.random.choice(sheep).remove()


class Grass(FixedAgent):  # type: ignore[misc]
    """Grows again by an event."""

    def __init__(self, model: Any, cell: Any, wait: int) -> None:
        super().__init__(model)
        self.cell, self.is_grown = cell, wait == 0
        if wait:
            model.simulator.schedule_event_relative(self.regrow, wait)

    def regrow(self) -> None:
        """Be edible."""
        self.is_grown = True

    def eaten(self) -> None:
        """Wait."""
        self.is_grown = False
        self.model.simulator.schedule_event_relative(self.regrow, self.model.regrowth + 1)


class Meadow(mesa.Model):  # type: ignore[misc]
    """Wolves, sheep and grass on a torus; the simulator is advanced, so grass really grows again."""

    def __init__(self, size: int, n_sheep: int, n_wolves: int, regrowth: int, seed: int, simulator: Any) -> None:
        super().__init__(seed=seed)
        self.regrowth, self.simulator = regrowth, simulator
        simulator.setup(self)
        self.grid = OrthogonalMooreGrid((size, size), torus=True, random=self.random)
        cells = list(self.grid.all_cells)
        for cell in cells:
            Grass(self, cell, 0 if self.random.random() < 0.5 else 1 + self.random.randrange(regrowth))
        for kind, n in ((Sheep, n_sheep), (Wolf, n_wolves)):
            for _ in range(n):
                kind(self, self.random.choice(cells), 1 + self.random.randrange(int(2 * kind.gain)))

    def step(self) -> None:
        """Sheep, then wolves, each in a fresh random order."""
        self.agents_by_type[Sheep].shuffle_do("step")
        self.agents_by_type[Wolf].shuffle_do("step")


class Bird(ContinuousSpaceAgent):  # type: ignore[misc]
    """A boid."""

    def __init__(self, model: Any, space: Any, position: Any, direction: Any) -> None:
        super().__init__(space, model)
        self.position, self.direction = position, direction

    def step(self) -> None:
        """Steer by those within sight, and fly on."""
        others, apart = self.get_neighbors_in_radius(radius=self.model.sight)
        others = [other for other in others if other is not self]
        if others:
            by = self.space.calculate_difference_vector(self.position, agents=others)
            turn = 0.03 * by.sum(axis=0) - 0.015 * by[apart < 1.0].sum(axis=0)
            turn += 0.05 * np.asarray([other.direction for other in others]).sum(axis=0)
            self.direction = self.direction + turn / len(others)
            self.direction /= np.linalg.norm(self.direction)
        self.position += self.direction


class Flock(mesa.Model):  # type: ignore[misc]
    """Boids over a torus."""

    def __init__(self, size: float, n: int, sight: float, seed: int) -> None:
        super().__init__(seed=seed)
        self.sight = sight
        space = ContinuousSpace([[0, size], [0, size]], torus=True, random=self.random, n_agents=n)
        angles = self.rng.uniform(0, 2 * np.pi, n)
        for angle, place in zip(angles, self.rng.uniform(0, size, (n, 2)), strict=True):
            Bird(self, space, place, np.array([np.cos(angle), np.sin(angle)]))

    def step(self) -> None:
        """All birds in a fresh random order."""
        self.agents.shuffle_do("step")


def meadow(size: int, n_sheep: int, n_wolves: int, regrowth: int, seed: int) -> tuple[Meadow, ABMSimulator]:
    """Return a meadow and the simulator that advances it."""
    simulator = ABMSimulator()
    return Meadow(size, n_sheep, n_wolves, regrowth, seed, simulator), simulator
