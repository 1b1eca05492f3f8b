"""Boids: birds that fly together because each steers by those near to it.

At each tick every bird looks at all others within `sight`, as they were when the tick began. It turns
towards where they are on average (cohere), away from those nearer than `separation` (separate) and into
their mean direction (match), and flies on at a constant speed over a torus. Reynolds 1987,
doi:10.1145/37402.37406; the weights are those of ABMFrameworksComparison.
"""

from __future__ import annotations

import math

from tocsin import Arena, Entity, InputError, Model, Observable, Params, Rng, System, World, float64, param
from tocsin.export.marks import Motion, Points, View
from tocsin.kernel import uniforms
from tocsin.models.agents._start import unit_vectors
from tocsin.space import Plane


class Steering(Params):
    """How far birds see, and how much they turn."""

    sight: float64 = param(5.0, unit="length", ge=0, doc="radius within which a bird sees others, inclusive")
    separation: float64 = param(1.0, unit="length", ge=0, doc="distance below which birds turn away")
    speed: float64 = param(1.0, unit="length/tick", ge=0, doc="distance flown at a tick")
    cohere: float64 = param(0.03, doc="weight of where the others are")
    separate: float64 = param(0.015, doc="weight of turning away from those too near")
    match: float64 = param(0.05, doc="weight of the direction in which the others fly")


class Bird(Entity):
    """A bird: where it is, and its direction, a vector of length 1."""

    x: float64
    y: float64
    dx: float64
    dy: float64


class Sky(World):
    """Birds over a torus."""

    birds: Arena[Bird]
    plane: Plane[Bird]
    steering: Steering


class Fly(System):
    """A bird steers by those it sees, then flies on."""

    bird: Bird
    mode = "synchronous"

    def update(self, world: Sky, now: float, rng: Rng) -> None:
        bird, steering, plane = self.bird, world.steering, world.plane
        near = steering.separation * steering.separation
        n, to_x, to_y, off_x, off_y, along_x, along_y = 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for other in plane.within(bird, steering.sight):
            by_x, by_y = plane.x_to(bird, other), plane.y_to(bird, other)
            n += 1
            to_x += by_x
            to_y += by_y
            if by_x * by_x + by_y * by_y < near:
                off_x -= by_x
                off_y -= by_y
            along_x += other.dx
            along_y += other.dy
        if n > 0:
            dx = bird.dx + (steering.cohere * to_x + steering.separate * off_x + steering.match * along_x) / n
            dy = bird.dy + (steering.cohere * to_y + steering.separate * off_y + steering.match * along_y) / n
            length = math.sqrt(dx * dx + dy * dy)
            if length > 0.0:
                bird.dx, bird.dy = dx / length, dy / length
        plane.move(bird, bird.x + steering.speed * bird.dx, bird.y + steering.speed * bird.dy)


class AlongX(Observable):
    """Mean direction along x: near 1 or -1 once all fly together."""

    def value(self, world: Sky) -> float:
        total = 0.0
        for bird in world.birds:
            total += bird.dx
        return total / max(len(world.birds), 1)


def make_world(
    width: float = 100.0, height: float = 100.0, n_birds: int = 200, seed: int = 0, steering: Steering | None = None
) -> Sky:
    """Return birds at random places of a torus, in random directions. Raises InputError for sizes out of range."""
    if n_birds < 0:
        raise InputError(f"n_birds must be >= 0, got {n_birds}")
    steering = steering or Steering()
    dx, dy = unit_vectors(seed, n_birds, 2)
    return Sky(
        birds={"x": width * uniforms(seed, n_birds, 0), "y": height * uniforms(seed, n_birds, 1),
               "dx": dx, "dy": dy},
        plane=Plane(width, height, torus=True, reach=steering.sight), steering=steering,
    )  # fmt: skip


MODEL = Model(Sky, systems=[Fly], name="flocking")

VIEW = View(
    (Points("birds", "x", "y", size=4.0, motion=Motion(velocity=("dx", "dy"), times="steering.speed")),),
    box=("plane.width", "plane.height"), speed=8.0,
)  # fmt: skip
