"""Laws of synchronous systems: a frozen view, own rows only, births and deaths as the tick ends, any number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tocsin import InputError, Model, PurityError, Simulation, System
from tocsin.errors import CompileError, FireError

from ._bugs import MODEL, Bug, Follow, Nest, nest


def run(world, until=6.0, **options):
    """Run a nest and return the simulation."""
    simulation = Simulation(MODEL, world, seed=11, **options)
    simulation.run(until=until)
    return simulation


def test_all_see_the_world_as_it_was():
    """In a chain of followers, each has after a tick the number of its leader from before it."""
    before = np.arange(3000)
    after = run(nest(3000), until=1.0).world.bugs["x"]
    assert after[0] == 0
    assert ((before[:-1] <= after[1:]) & (after[1:] < before[:-1] + 0.5)).all()


@pytest.mark.parametrize("breed", [False, True])
def test_the_number_of_threads_changes_nothing(breed):
    """State, pending times and observables are the same bits with 1, 2, 3, 4 and 13 threads."""
    runs = [run(nest(9000, breed), threads=n) for n in (1, 2, 3, 4, 13)]
    assert len({simulation.state_hash() for simulation in runs}) == 1
    assert len({str(simulation.observe()) for simulation in runs}) == 1
    assert runs[0].counts["Ring"] > 1000


@pytest.mark.parametrize("breed", [False, True])
def test_compiled_interpreted_audited_and_saved_agree(breed, tmp_path):
    """The same bits in every way to run, with deaths, births, and rows that the pool has to grow for."""
    runs = [run(nest(40, breed), **options) for options in ({}, {"jit": False}, {"jit": False, "audit": True})]
    half = run(nest(40, breed), until=3.5)
    half.save(tmp_path / "half")
    for rest in (half.copy(), Simulation.load(tmp_path / "half", MODEL, jit=False)):
        rest.run(until=6.0)
        runs.append(rest)
    assert len({simulation.state_hash() for simulation in runs}) == 1
    assert len({str(simulation.observe()) for simulation in runs}) == 1


def test_births_come_in_order_of_parent_then_of_asking():
    """Children take free rows and then new ones, in the order of their parents' rows; twins stay together."""
    world = run(nest(6000, breed=True), until=1.0, threads=4).world
    n = len(world.bugs)
    born = [bug for bug in world.bugs if bug.born_at == 1.0 and bug.index >= 6000]
    assert len(born) > 1000
    assert n == world.bugs.n_live
    parents = [bug.parent.index for bug in born if bug.parent is not None]
    assert parents == sorted(parents)
    tail = [bug.child_number for bug in born]
    assert tail[len(tail) % 2 :] == [0, 1] * (len(tail) // 2)


def test_newborns_act_from_the_next_tick_on():
    """A bug born at t = 1 breeds or rings first at t = 2; its numbers are those that its parent gave it."""
    first = run(nest(500, breed=True), until=1.0).world
    children = first.bugs["born_at"][[bug.index for bug in first.bugs if bug.parent is not None]]
    assert len(children) > 20
    assert (children == 1.0).all()
    assert all(bug.rings_at == -1.0 and bug.n_rung == 0 for bug in first.bugs if bug.parent is not None)


def test_counts_of_births_and_deaths():
    """Births are twice binomial(n, 0.2), deaths binomial(n, 0.8 * 0.3), within 4.5 standard errors."""
    n = 20_000
    world = run(nest(n, breed=True), until=1.0).world
    n_born = int((world.bugs["born_at"] == 1.0).sum())
    n_dead = n + n_born - world.bugs.n_live
    assert abs(n_born / 2 - 0.2 * n) < 4.5 * math.sqrt(0.2 * 0.8 * n)
    assert abs(n_dead - 0.24 * n) < 4.5 * math.sqrt(0.24 * 0.76 * n)


def synchronous(update, name="Odd", **body):
    """Return a synchronous system with this update."""
    plain = {"__annotations__": {"bug": Bug}, "update": update, "mode": "synchronous"}
    return type(name, (System,), {**plain, **body})


def writes_leader(self, world, now, rng):
    if self.bug.leader is not None:
        self.bug.leader.x = 1.0


def writes_row(self, world, now, rng):
    world.bugs[0].x = 1.0


def writes_scalar(self, world, now, rng):
    world.total += 1.0


def removes_other(self, world, now, rng):
    world.bugs.remove(world.bugs[0])


def refers_to_unborn(self, world, now, rng):
    self.bug.leader = world.bugs.spawn()


@pytest.mark.parametrize(
    ("update", "compiled", "interpreted"),
    [
        (writes_leader, "writes Bug.x of the world or of another row; it may write its own row only", "writes Bug.x"),
        (writes_row, "writes Bug.x of the world or of another row", "writes Bug.x"),
        (writes_scalar, "writes total of the world or of another row", "writes total"),
        (removes_other, "may remove its own row only", "may remove its own row only"),
        (refers_to_unborn, "cannot be referred to before it is born", "Bug.leader refers to Bug"),
    ],
)
def test_what_it_may_not_write(update, compiled, interpreted):
    """A write elsewhere does not compile, and is refused in plain Python: the message has the place and the rule."""
    model = Model(Nest, systems=[synchronous(update)])
    with pytest.raises((PurityError, CompileError), match=compiled) as error:
        Simulation(model, nest(3))
    assert "test_synchronous.py:" in str(error.value)
    with pytest.raises((PurityError, FireError), match=interpreted):
        Simulation(model, nest(3), jit=False).run(until=1.0)


def raises_late(self, world, now, rng):
    if self.bug.index == 5000:
        self.bug.x = world.bugs[len(world.bugs)].x


@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_names_the_row_at_any_number_of_threads(threads):
    """The row that failed is named, and the simulation says that it cannot go on."""
    simulation = Simulation(Model(Nest, systems=[synchronous(raises_late)]), nest(9000), threads=threads)
    with pytest.raises(FireError, match=r"Odd\(bug 5000\).update at t=1.0 \(event 1\) raised IndexError"):
        simulation.run(until=1.0)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_refused_numbers_of_threads(threads):
    """Threads are a whole number from 1 on."""
    with pytest.raises(InputError, match="threads must be a whole number >= 1"):
        Simulation(MODEL, nest(3), threads=threads)


def test_single_streams_are_refused():
    """A source that is one stream for all cannot serve rows that are updated at once."""
    with pytest.raises(InputError, match="synchronous systems draw from keyed streams"):
        Simulation(MODEL, nest(3), source="pcg64")


def test_draws_belong_to_a_row_and_a_tick():
    """Other bugs that breed or die move no draw of a bug that stays: the first tick's draws are those of its row."""
    alone, crowd = run(nest(50), until=1.0).world.bugs["x"], run(nest(5000), until=1.0).world.bugs["x"]
    assert (alone == crowd[:50]).all()
    assert len(np.unique(crowd[1:] - np.arange(4999))) > 4900


def test_follow_is_the_only_system():
    """The model's one system is synchronous and its clock is the world's."""
    (member,) = MODEL.systems
    assert (member.cls, member.is_synchronous, member.code) == (Follow, True, 0)
