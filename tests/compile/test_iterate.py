"""`for row in world.rows` means the same compiled and as plain Python."""

from __future__ import annotations

import pytest

from tocsin import Action, Arena, Entity, Model, Pool, Rng, Simulation, Touched, World, int32, int64


class Node(Entity):
    """A fixed row."""

    x: int32


class Leaf(Entity):
    """A row that comes and goes."""

    age: int32


class Tree(World):
    """Rows of both kinds."""

    nodes: Arena[Node]
    leaves: Pool[Leaf]
    total: int64

    def age(self) -> int:
        """Return the sum of all ages."""
        total = 0
        for leaf in self.leaves:
            total += leaf.age
        return total


class Grow(Action):
    """Goes over tables, in one another, with break and continue, while rows come and go."""

    node: Node

    def rate(self, world: Tree) -> float:
        return 1.0

    def fire(self, world: Tree, now: float, rng: Rng, touched: Touched) -> None:
        for number, node in enumerate(world.nodes):
            node.x += number
            if node.x % 7 == 3:
                continue
            for other in world.nodes:
                if other == node:
                    break
                world.total += other.x % 5
        for leaf in world.leaves:
            leaf.age += 1
            if leaf.age > 5 and rng.bernoulli(0.5):
                world.leaves.remove(leaf)
            elif leaf.age == 3:
                world.leaves.spawn().age = rng.integers(0, 3)
        world.total += world.age()
        if world.leaves.n_live == 0:
            world.leaves.spawn()


MODEL = Model(Tree, [Grow])


@pytest.mark.parametrize("n_leaves", [0, 3])
def test_iteration_is_that_of_python(n_leaves):
    """All rows of an arena and the live ones of a pool, as many as there were when the loop began."""
    compiled, plain = (Simulation(MODEL, Tree(nodes=4, leaves=n_leaves), seed=3, jit=jit) for jit in (True, False))
    compiled.run(events=200)
    plain.run(events=200)
    assert plain.world.total > 0
    assert compiled.state_hash() == plain.state_hash()


def test_no_row_is_no_turn():
    """A loop over an empty table has no turn, and the run goes on."""
    simulation = Simulation(MODEL, Tree(nodes=1, leaves=0), seed=1)
    simulation.run(events=1)
    assert simulation.world.leaves.n_live == 1
