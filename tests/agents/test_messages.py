"""Laws of messages and reductions: order, lifetime, the same bits at any number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tocsin import (
    Arena,
    Array,
    Entity,
    InputError,
    Message,
    Model,
    OptionalRef,
    Pool,
    Simulation,
    System,
    World,
    float64,
    int32,
    int64,
)
from tocsin.space import Buckets, Last, Least, Most, Plane, Sum

N_BUCKETS = 50


class Node(Entity):
    """Somebody who sends and receives."""

    x: float64
    y: float64
    gave: float64
    inbox: float64
    heard: float64
    n_heard: int64
    n_all: int64


class Note(Message):
    """A message to a bucket, sent from a place."""

    bucket: int32
    x: float64
    y: float64
    amount: float64
    sender: OptionalRef[Node]
    number: int32


class Net(World):
    """Nodes, the messages of this tick, and what they add up to."""

    nodes: Arena[Node]
    notes: Pool[Note]
    mail: Buckets[Note]
    air: Plane[Note]
    total: Sum[Node]
    least: Least[Node]
    most: Most[Node]
    last: Last[Node]
    totals: Array[float64]
    n_notes: int64


class Send(System):
    """A node sends up to three notes, and gives to the reductions."""

    node: Node
    mode = "synchronous"

    def update(self, world, now, rng):
        for number in range(rng.integers(0, 4)):
            note = world.notes.spawn()
            note.bucket = rng.integers(-1, N_BUCKETS + 1)
            note.amount = rng.normal()
            note.x = self.node.x
            note.y = self.node.y
            note.sender = self.node
            note.number = number
        amount = rng.normal()
        world.total.give(self.node, amount)
        world.least.give(self.node, amount)
        world.most.give(self.node, amount)
        self.node.gave = amount
        if amount > 1.0:
            world.last.give(self.node, -amount)
            world.last.give(self.node, amount)


class Read(System):
    """A node adds up its bucket, in order, what was sent near it, and how many there are."""

    node: Node
    mode = "synchronous"

    def update(self, world, now, rng):
        node = self.node
        node.inbox = 0.0
        for note in world.mail.at(node.index % N_BUCKETS):
            node.inbox = 0.5 * node.inbox + note.amount
        node.heard = 0.0
        node.n_heard = 0
        for note in world.air.around(node.x, node.y, 1.0):
            node.heard += note.amount
            node.n_heard += 1
        node.n_all = world.notes.n_live


class Keep(System):
    """The world keeps the sums."""

    def update(self, world, now, rng):
        world.totals[int(now)] = world.total.value
        world.n_notes = world.notes.n_live


MODEL = Model(Net, systems=[Send, Read, Keep])


def net(n):
    """Return n nodes on a line."""
    return Net(
        nodes={"x": np.arange(n) % 100 + 0.5, "y": np.arange(n) // 100 % 100 + 0.5}, mail=Buckets(N_BUCKETS),
        air=Plane(100.0, 100.0, torus=True, reach=1.0), total=Sum(), least=Least(), most=Most(), last=Last(), totals=np.zeros(20),
    )  # fmt: skip


def run(n, until=3.0, **options):
    """Return a simulation that has run."""
    simulation = Simulation(MODEL, net(n), seed=3, **options)
    simulation.run(until=until)
    return simulation


def test_the_number_of_threads_changes_nothing():
    """Messages, their order, sums of them and reductions are the same bits with 1, 2, 4 and 7 threads."""
    runs = [run(5000, threads=n) for n in (1, 2, 4, 7)]
    assert len({simulation.state_hash() for simulation in runs}) == 1
    assert runs[0].world.n_notes > 6000


def test_compiled_interpreted_and_saved_agree(tmp_path):
    """The same bits as plain Python, and through a save between sending and reading."""
    runs = [run(60, 4.0), run(60, 4.0, jit=False)]
    half = run(60, 2.0)
    half.run(events=1)
    half.save(tmp_path / "half")
    rest = Simulation.load(tmp_path / "half", MODEL)
    rest.run(until=4.0)
    assert len({simulation.state_hash() for simulation in (*runs, rest)}) == 1


def test_order_and_contents():
    """Notes stand in order of sender, then of sending; a bucket's sum is that of its notes in that order; none is lost."""
    world = run(3000, 2.0, threads=3).world
    notes = list(world.notes)
    order = [(note.sender.index, note.number) for note in notes]
    assert order == sorted(order)
    assert len(notes) == world.notes.n_live == world.n_notes == world.nodes["n_all"][0]
    inbox = np.zeros(N_BUCKETS)
    for note in notes:
        if 0 <= note.bucket < N_BUCKETS:
            inbox[note.bucket] = 0.5 * inbox[note.bucket] + note.amount
    assert (world.nodes["inbox"] == inbox[np.arange(3000) % N_BUCKETS]).all()
    n_at = np.bincount([note.sender.index for note in notes], minlength=3000).reshape(30, 100)
    near = n_at + np.roll(n_at, 1, 1) + np.roll(n_at, -1, 1)
    near[1:] += n_at[:-1]
    near[:-1] += n_at[1:]
    assert (world.nodes["n_heard"] == near.ravel()).all()


def test_messages_live_for_one_tick():
    """After each tick there are about 1.5 a node, not more and more: within 4.5 standard errors."""
    for until in (1.0, 2.0, 5.0):
        n = run(4000, until).world.n_notes
        assert abs(n - 6000) < 4.5 * math.sqrt(4000 * 1.25)


def test_reductions():
    """The sum is that of blocks of 1,024 rows in order, least and most bracket the mean; a new tick begins blank."""
    world = run(5000, 3.0).world
    assert len(set(world.totals.values[1:4].tolist())) == 3
    assert abs(world.totals.values[1:4]).max() < 4.5 * math.sqrt(5000)
    assert -6.0 < world.least.value < -2.5 < 2.5 < world.most.value < 6.0
    assert world.total.value == world.totals[3]
    gave = world.nodes["gave"]
    assert world.last.value == gave[gave > 1.0][-1]
    assert math.isnan(net(3).last.value)


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_refused_numbers_of_buckets(n):
    """A number of buckets is a whole number above 0."""
    with pytest.raises(InputError, match="n_buckets must be a whole number > 0"):
        Buckets(n)


class Cat(Entity):
    """Somebody who writes to a friend, and may be gone before the letter comes."""

    friend: OptionalRef[Cat]
    n_letters: int64


class Letter(Message):
    """A message to one receiver."""

    to: OptionalRef[Cat]


class House(World):
    """Cats and their letters."""

    cats: Pool[Cat]
    letters: Pool[Letter]
    n_returned: int64


class Write(System):
    """Each cat writes to its friend; every third leaves."""

    cat: Cat
    mode = "synchronous"

    def update(self, world, now, rng):
        if self.cat.friend is not None:
            letter = world.letters.spawn()
            letter.to = self.cat.friend
        if self.cat.index % 3 == 0:
            world.cats.remove(self.cat)


class Deliver(System):
    """Letters reach those who are there; the others are counted."""

    def update(self, world, now, rng):
        for letter in world.letters:
            if letter.to is None:
                world.n_returned += 1
            else:
                letter.to.n_letters += 1


HOUSE = Model(House, systems=[Write, Deliver])


@pytest.mark.parametrize("jit", [True, False])
def test_a_message_to_somebody_who_has_gone(jit):
    """Its receiver reads as None, in the tick in which it left too; nobody else gets it."""
    world = House(cats={"friend": np.arange(12)[::-1]})
    simulation = Simulation(HOUSE, world, jit=jit)
    simulation.run(until=1.0)
    cats = simulation.world.cats
    assert simulation.world.n_returned == 4
    assert {cat.index: cat.n_letters for cat in cats} == {k: 1 for k in range(12) if k % 3}
    simulation.run(until=2.0)
    assert simulation.world.n_returned == 4
    assert sum(cat.n_letters for cat in cats) == 8 + sum(cat.friend is not None for cat in cats)
