"""Keys of rows that were removed, rows that were removed, and numbers of no row are caught, compiled and interpreted."""

from __future__ import annotations

import pytest

from tocsin import (
    Action,
    Arena,
    Array,
    Entity,
    FireError,
    Model,
    Observable,
    OptionalRef,
    Pool,
    Ref,
    Rng,
    Simulation,
    Touched,
    World,
    float64,
    int64,
)

REMOVE, SPAWN, LOOK, INSIST, USE, SET, TWICE, NO_ROW, NO_ENTRY, NO_HOLDER, TAKE, TOUCH = range(12)


class Item(Entity):
    """Something that comes and goes."""

    value: float64


class Holder(Entity):
    """Refers to an item in both ways."""

    maybe: OptionalRef[Item]
    surely: Ref[Item]


class Store(World):
    """What the next event does is in `todo`."""

    items: Pool[Item]
    holders: Arena[Holder]
    prices: Array[float64]
    todo: int64
    number: int64
    result: float64


class Act(Action):
    """Does what it is told, at rate 1."""

    def rate(self, world: Store) -> float:
        return 1.0

    def fire(self, world: Store, now: float, rng: Rng, touched: Touched) -> None:
        holder = world.holders[0]
        if world.todo == REMOVE:
            world.items.remove(holder.surely)
        elif world.todo == SPAWN:
            world.items.spawn().value = 7.0
        elif world.todo == LOOK:
            item = holder.maybe
            world.result = -1.0 if item is None else item.value
        elif world.todo == INSIST:
            world.result = holder.surely.value
        elif world.todo == TAKE:
            holder.maybe = world.items[world.number]
            holder.surely = world.items[world.number]
        elif world.todo == TOUCH:
            touched.add(holder.maybe)
        elif world.todo == NO_ROW:
            world.result = world.items[world.number].value
        elif world.todo == NO_ENTRY:
            world.result = world.prices[world.number]
        elif world.todo == NO_HOLDER:
            world.holders[world.number].maybe = None
        else:
            item = holder.surely
            world.items.remove(item)
            if world.todo == USE:
                world.result = item.value
            elif world.todo == SET:
                item.value = 3.0
            else:
                world.items.remove(item)


class Held(Observable):
    """Value of what a holder may hold; 0 for nothing."""

    holder: Holder

    def value(self, world: Store) -> float:
        item = self.holder.maybe
        return 0.0 if item is None else item.value


MODEL = Model(Store, [Act], observables=[Held])


def store(jit):
    """Return a simulation of two items, of which the first is held."""
    world = Store(
        items={"value": [5.0, 6.0]}, holders={"maybe": [0, 1], "surely": [0, 1]}, prices=[1.0, 2.0], result=0.0
    )
    return Simulation(MODEL, world, seed=1, jit=jit)


def do(simulation, *todo, number=0):
    """Fire one event for each thing to do."""
    simulation.world.number = number
    for one in todo:
        simulation.world.todo = one
        simulation.run(events=1)
    return simulation.world


def said(sentence, kind="IndexError"):
    """Return a pattern of the error: the clock, the time, the kind and the sentence."""
    return rf"Act\(\)\.fire at t=[0-9.]+ \(event \d\) raised {kind}: {sentence}"


@pytest.fixture(params=[True, False], ids=["compiled", "interpreted"])
def jit(request):
    """Run every test in both ways."""
    return request.param


def test_references_to_live_rows_are_read(jit):
    """Before anything is removed, both kinds of reference give the row."""
    assert do(store(jit), LOOK).result == 5.0
    assert do(store(jit), INSIST).result == 5.0


def test_an_optional_reference_to_a_removed_row_is_none(jit):
    """Also when the row is in use again, for another item."""
    assert do(store(jit), REMOVE, LOOK).result == -1.0
    world = do(store(jit), REMOVE, SPAWN, LOOK)
    assert world.items.n_live == 2
    assert world.items[0].value == 7.0
    assert world.result == -1.0


def test_a_reference_that_is_taken_again_is_good_again(jit):
    """A reference to the new item in the same row has its key, and reads its value."""
    world = do(store(jit), REMOVE, SPAWN, TAKE, LOOK)
    assert world.result == 7.0
    assert do(store(jit), REMOVE, SPAWN, TAKE, INSIST).result == 7.0


@pytest.mark.parametrize("then", [(), (SPAWN,), (SPAWN, SPAWN)])
def test_a_reference_that_must_hold_stops_the_run(jit, then):
    """It is told that the row is not live, whether its place is empty or used by another."""
    with pytest.raises(FireError, match=said(r"Holder(\[0\])?\.surely points to no live row")):
        do(store(jit), REMOVE, *then, INSIST)


@pytest.mark.parametrize("todo", [USE, SET])
def test_a_field_of_a_removed_row_stops_the_run(jit, todo):
    """Reading and setting it are told alike."""
    with pytest.raises(FireError, match=said(r"Item\.value of a row that was removed")):
        do(store(jit), todo)


def test_a_row_removed_twice_stops_the_run(jit):
    """The second time is told."""
    with pytest.raises(FireError, match="this row was removed before: a reference to it was kept too long"):
        do(store(jit), TWICE)


@pytest.mark.parametrize("number", [-1, 2, 1 << 40])
@pytest.mark.parametrize("todo", [NO_ROW, NO_ENTRY, NO_HOLDER])
def test_a_number_of_no_row_stops_the_run(jit, todo, number):
    """Rows of a pool and of an arena, and entries of an array, are counted from 0 to their number - 1."""
    with pytest.raises(
        FireError, match=said(r"\w+\[(-?\d+|\.\.\.)\]: (index must be in 0\.\.[01]|the index is out of range)")
    ):
        do(store(jit), todo, number=number)


def test_the_number_of_a_removed_row_is_no_way_to_it(jit):
    """A row taken by its number, not by a reference, is looked at too."""
    with pytest.raises(FireError, match=said(r"Item\.value of a row that was removed")):
        do(store(jit), REMOVE, NO_ROW, number=0)


def test_recordings_of_stale_references_are_null(jit):
    """`to_arrow` and snapshots show what the model would read: nothing, also when the row is in use again."""
    simulation = store(jit)
    do(simulation, REMOVE, SPAWN)
    table = simulation.to_arrow("holders")
    assert table["maybe"].to_pylist() == table["surely"].to_pylist() == [None, 1]
    do(simulation, LOOK)
    end = simulation.now + 1.0
    simulation.world.todo = LOOK
    rows = simulation.record(every=0.5, until=end, columns="holders").to_arrow()
    assert rows["maybe"].null_count == len(rows) // 2 > 0


def test_both_ways_leave_the_same_state():
    """Removal, use of the row by another, and stale reads give the same bits compiled and interpreted."""
    hashes = []
    for jit in (True, False):
        simulation = store(jit)
        do(simulation, LOOK, REMOVE, LOOK, SPAWN, LOOK, TAKE, LOOK, INSIST)
        hashes.append(simulation.state_hash())
    assert hashes[0] == hashes[1]


def test_rows_in_python_are_the_same(jit):
    """Between two runs, a row in the reader's hand says that it was removed; a stale reference is none."""
    simulation = store(jit)
    item, holder = simulation.world.items[0], simulation.world.holders[0]
    do(simulation, REMOVE)
    with pytest.raises(IndexError, match=r"Item\.value of a row that was removed"):
        _ = item.value
    assert repr(item) == "Item[0](removed)"
    assert holder.maybe is None
    with pytest.raises(IndexError, match=r"Holder\[0\]\.surely points to no live row"):
        _ = holder.surely


def test_touching_no_row_is_refused(jit):
    """`touched.add` of a reference that points to no row, or no longer, is an error and no write anywhere."""
    simulation = store(jit)
    do(simulation, TOUCH, REMOVE)
    with pytest.raises(FireError, match=said(r".*(points to no row|'_code')", "AttributeError")):
        do(simulation, TOUCH)
