"""Laws of worlds that are made from what a user gives: each breach is an InputError with a name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import (
    Arena,
    Array,
    Array2,
    Entity,
    InputError,
    OptionalRef,
    Params,
    Pool,
    Ref,
    World,
    boolean,
    float32,
    float64,
    int8,
    int32,
    int64,
    param,
    uint8,
)


class Node(Entity):
    """A row of the fixed table."""

    size: int8
    weight: float64
    is_open: boolean
    next: Ref[Node]
    guest: OptionalRef[Guest]


class Guest(Entity):
    """A row of the pool."""

    host: OptionalRef[Node]
    friend: OptionalRef[Guest]


class Rates(Params):
    """Parameters of all kinds."""

    speed: float64 = param(1.0, unit="1/s", gt=0, doc="speed")
    share: float64 = param(0.5, ge=0, le=1)
    n_tries: int64 = param(3, ge=1, lt=10)
    is_fast: boolean = param(False)


class House(World):
    """A world with every kind of part."""

    nodes: Arena[Node]
    guests: Pool[Guest]
    level: Array[int32]
    grid: Array2[float64]
    small: uint8 = 7
    temperature: float32 = 0.5
    is_lit: boolean = False
    rates: Rates


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"node": 3}, r"House has no part 'node'\. Did you mean 'nodes'\? It has: nodes, guests, level"),
        ({"nodes": -1}, "nodes must be >= 0 rows, got -1"),
        ({"nodes": True}, "nodes must be a number of rows or columns of values, got True"),
        ({"nodes": 2.0}, r"nodes must be a number of rows or columns of values, got 2\.0"),
        ({"nodes": "ab"}, "nodes must be a number of rows or columns of values, got 'ab'"),
        ({"nodes": [1, 2]}, r"nodes must be a number of rows or columns of values, got \[1, 2\]"),
        ({"nodes": None}, "nodes must be a number of rows or columns of values, got None"),
        ({"nodes": {"sise": [1]}}, r"nodes has no column 'sise'\. Did you mean 'size'\? It has: size, weight"),
        ({"nodes": {"size": [1, 2], "weight": [1.0]}}, r"nodes: columns have different lengths \[1, 2\]"),
        ({"nodes": {"size": [1, 128]}}, r"nodes\.size: entry 1 is 128, which int8 cannot hold"),
        ({"nodes": {"size": [1, 2.5]}}, r"nodes\.size: entry 1 is 2\.5, which int8 cannot hold"),
        ({"nodes": {"size": [np.nan]}}, r"nodes\.size: entry 0 is nan, which int8 cannot hold"),
        ({"nodes": {"size": ["a"]}}, r"nodes\.size must hold numbers"),
        ({"nodes": {"size": [None]}}, r"nodes\.size must hold numbers, got object"),
        ({"nodes": {"size": [[1, 2], [3]]}}, r"nodes\.size must be an array of numbers"),
        ({"nodes": {"size": [[1, 2], [3, 4]]}}, r"nodes\.size must have 1 dimension, got shape \(2, 2\)"),
        ({"nodes": {"is_open": [2]}}, r"nodes\.is_open: entry 0 is 2, which bool cannot hold"),
        ({"nodes": {"next": [0, 2]}}, r"nodes\.next must refer to rows 0\.\.1 of Node"),
        ({"nodes": {"next": [0, -1]}}, r"nodes\.next must refer to rows 0\.\.1 of Node"),
        ({"nodes": {"guest": [0]}}, r"nodes\.guest must refer to rows -1\.\.-1 of Guest"),
        ({"level": [[1]]}, r"level must have 1 dimension\(s\), got shape \(1, 1\)"),
        ({"level": 3}, r"level must have 1 dimension\(s\), got shape \(\)"),
        ({"level": [1 << 31]}, r"level: entry 0 is 2147483648, which int32 cannot hold"),
        ({"level": [0.5]}, r"level: entry 0 is 0\.5, which int32 cannot hold"),
        ({"grid": [1.0]}, r"grid must have 2 dimension\(s\), got shape \(1,\)"),
        ({"grid": [[1.0], [1.0, 2.0]]}, "grid must be an array of numbers"),
        ({"small": 256}, r"House\.small: entry 0 is 256, which uint8 cannot hold"),
        ({"small": -1}, r"House\.small: entry 0 is -1, which uint8 cannot hold"),
        ({"small": 1.5}, r"House\.small must be a whole number, got 1\.5"),
        ({"small": np.nan}, r"House\.small must be a whole number, got nan"),
        ({"small": np.inf}, r"House\.small must be a whole number, got inf"),
        ({"small": "7"}, r"House\.small must be a whole number, got '7'"),
        ({"small": [7]}, r"House\.small must be a whole number, got \[7\]"),
        ({"temperature": None}, r"House\.temperature must be a number, got None"),
        ({"is_lit": 0.5}, r"House\.is_lit must be true or false, got 0\.5"),
        ({"is_lit": 2}, r"House\.is_lit: entry 0 is 2, which bool cannot hold"),
        ({"rates": 3}, "rates must be Rates or a mapping, got 3"),
        ({"rates": {"sped": 1.0}}, r"Rates has no parameter 'sped'\. Did you mean 'speed'\?"),
        ({"rates": {"speed": 0.0}}, r"Rates\.speed must be > 0, got 0\.0"),
        ({"rates": {"speed": np.inf}}, r"Rates\.speed must be finite, got inf"),
        ({"rates": {"speed": "fast"}}, r"Rates\.speed must be a number, got 'fast'"),
        ({"rates": {"share": 1.5}}, r"Rates\.share must be <= 1, got 1\.5"),
        ({"rates": {"share": -0.5}}, r"Rates\.share must be >= 0, got -0\.5"),
        ({"rates": {"n_tries": 10}}, r"Rates\.n_tries must be < 10, got 10"),
        ({"rates": {"n_tries": 2.0}}, r"Rates\.n_tries must be a whole number, got 2\.0"),
        ({"rates": {"n_tries": True}}, r"Rates\.n_tries must be a whole number, got True"),
        ({"rates": {"is_fast": 1}}, r"Rates\.is_fast must be true or false, got 1"),
    ],
)  # fmt: skip
def test_bad_inputs(values, text):
    """Each breach names the part, the rule and what was given."""
    with pytest.raises(InputError, match=text):
        House(**values)


def test_defaults():
    """Nothing given is: no rows, empty arrays, the declared defaults."""
    house = House()
    assert (len(house.nodes), len(house.guests), house.level.shape, house.grid.shape) == (0, 0, (0,), (0, 0))
    assert (house.small, house.temperature, house.is_lit) == (7, 0.5, False)
    assert house.rates == Rates(speed=1.0, share=0.5, n_tries=3, is_fast=False)


def test_ways_to_give_a_table():
    """A number of rows, columns, single values for all rows, a structured array, another table."""
    columns = {"size": [1, 2, 3], "weight": 0.5, "next": [1, 2, 0], "guest": [-1, 1, 0]}
    guests = {"host": [2, 1], "friend": [1, -1]}
    first = House(nodes=columns, guests=guests)
    assert first.nodes["weight"].tolist() == [0.5] * 3
    assert [g.friend and g.friend.index for g in first.guests] == [1, None]
    assert first.nodes[2].guest.host == first.nodes[2]
    again = House(nodes=first.nodes, guests=first.guests)
    for table, other in ((first.nodes, again.nodes), (first.guests, again.guests)):
        for name in table.schema.fields:
            assert table[name].tolist() == other[name].tolist()
    records = np.zeros(2, [("size", "i2"), ("is_open", "?")])
    records["size"] = [5, 6]
    structured = House(nodes=records)
    assert structured.nodes["size"].tolist() == [5, 6]
    assert structured.nodes[0].guest is None
    assert len(House(nodes=np.int64(4)).nodes) == 4


def test_ways_to_give_scalars_and_params():
    """NumPy numbers and whole floats are numbers; params come as an instance, a mapping, or not."""
    house = House(small=np.float64(9.0), temperature=np.int32(2), is_lit=np.bool_(True), rates={"speed": 2})
    assert (house.small, house.temperature, house.is_lit, house.rates.speed) == (9, 2.0, True, 2.0)
    assert House(rates=Rates(share=0.25)).rates.share == 0.25


@given(st.lists(st.integers(-(1 << 40), 1 << 40), max_size=5))
def test_whole_numbers_are_kept_or_refused(values):
    """Whole numbers arrive unchanged, or not at all."""
    if all(-(1 << 31) <= v < 1 << 31 for v in values):
        assert list(House(level=values).level) == values
    else:
        with pytest.raises(InputError, match="which int32 cannot hold"):
            House(level=values)


def test_arrays_are_copied():
    """A world owns its arrays: what was given is not changed by it, nor it by that."""
    given_array = np.array([1, 2, 3], np.int32)
    house = House(level=given_array)
    house.level[0] = 9
    given_array[1] = 8
    assert (given_array.tolist(), list(house.level)) == ([1, 8, 3], [9, 2, 3])


def test_a_copy_is_independent():
    """A copy has the same state in its own memory, references and params included."""
    house = House(nodes={"size": [1, 2], "guest": [0, -1]}, guests={"host": [1]}, level=[4], rates={"speed": 3.0})
    other = house.copy()
    house.nodes[0].size, house.level[0], house.rates.speed, house.small = 5, 6, 7.0, 8
    house.guests.remove(house.guests[0])
    assert (other.nodes[0].size, other.level[0], other.rates.speed, other.small) == (1, 4, 3.0, 7)
    assert other.guests.n_live == 1
    assert other.nodes[0].guest.host._world is other
