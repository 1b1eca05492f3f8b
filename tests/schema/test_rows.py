"""Laws of row proxies, arrays and params as plain Python sees them."""

from __future__ import annotations

import pytest

from tocsin import (
    Arena,
    Array,
    Array2,
    Array3,
    Entity,
    InputError,
    OptionalRef,
    Params,
    Ref,
    World,
    float64,
    int32,
    int64,
    param,
)


class Bead(Entity):
    """A row."""

    size: int32
    weight: float64
    next: Ref[Bead]
    twin: OptionalRef[Bead]

    def grow(self, by: int) -> None:
        """Add to the size."""
        self.size += by

    @property
    def double(self) -> int:
        """Twice the size."""
        return 2 * self.size


class Rates(Params):
    """A parameter."""

    speed: float64 = param(1.0, gt=0, unit="1/s", doc="how fast")


class String(World):
    """A world."""

    beads: Arena[Bead]
    line: Array[int64]
    sheet: Array2[float64]
    block: Array3[int64]
    n: int64 = 0
    rates: Rates


@pytest.fixture
def world():
    """Return three beads in a ring."""
    return String(beads={"size": [1, 2, 3], "next": [1, 2, 0]}, line=[1, 2], sheet=[[0.0] * 3] * 2, block=[[[1, 2]]])


def test_a_row_is_where_it_points(world):
    """Rows are equal where they are the same row; references lead to rows, or to None."""
    first = world.beads[0]
    assert first == world.beads[0] != world.beads[1]
    assert hash(first) == hash(world.beads[0])
    assert first.next.next.next == first
    assert first.twin is None
    first.twin = world.beads[2]
    assert first.twin.size == 3
    first.twin = None
    assert first.twin is None
    assert (first.index, first.key) == (0, 0)


def test_methods_and_properties(world):
    """Methods and properties of an entity act on its row."""
    world.beads[1].grow(5)
    assert (world.beads["size"].tolist(), world.beads[1].double) == ([1, 7, 3], 14)


def test_writes_of_the_wrong_kind(world):
    """Fields take what they hold: whole numbers, numbers, rows of their own table."""
    bead = world.beads[0]
    with pytest.raises(TypeError, match=r"Bead\.size holds int, got 1\.5; write int\(\.\.\.\)"):
        bead.size = 1.5
    with pytest.raises(TypeError, match=r"Bead\.next refers to Bead, got None"):
        bead.next = None
    with pytest.raises(TypeError, match=r"Bead\.next refers to Bead, got 1"):
        bead.next = 1
    with pytest.raises(TypeError, match=r"Bead\.twin refers to Bead"):
        bead.twin = world.copy().beads[1]
    with pytest.raises(AttributeError, match=r"Bead has no field 'sise'; it has size, weight, next, twin"):
        bead.sise = 3
    with pytest.raises(TypeError, match=r"n holds whole numbers, got 0\.5"):
        world.n = 0.5
    with pytest.raises(TypeError, match=r"line holds whole numbers, got 0\.5"):
        world.line[0] = 0.5
    assert world.beads["size"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("index", [-1, 3, 100])
def test_rows_out_of_range(world, index):
    """There are no negative and no missing rows."""
    with pytest.raises(IndexError, match=rf"beads\[{index}\]: index must be in 0\.\.2"):
        world.beads[index]


@pytest.mark.parametrize(("array", "index"), [("line", 2), ("line", -1), ("sheet", (0, 3)), ("sheet", (-1, 0)),
                                              ("block", (0, 0, 2))])  # fmt: skip
def test_entries_out_of_range(world, array, index):
    """There are no negative and no missing entries."""
    with pytest.raises(IndexError, match=rf"{array}\[.*\]: index must be in 0\.\."):
        getattr(world, array)[index]
    with pytest.raises(IndexError, match=rf"{array}\[.*\]: index must be in 0\.\."):
        getattr(world, array)[index] = 0


def test_arrays(world):
    """Arrays read and write entries, on the memory of `values`."""
    world.sheet[1, 2] = 4.5
    world.block[0, 0, 1] = 9
    assert world.sheet.values[1, 2] == 4.5
    assert (world.block[0, 0, 1], world.sheet.shape, len(world.line), list(world.line)) == (9, (2, 3), 2, [1, 2])


def test_columns(world):
    """A column is the memory of the rows; an unknown one is refused with the nearest name."""
    world.beads["weight"][:] = [0.5, 1.5, 2.5]
    assert world.beads[1].weight == 1.5
    with pytest.raises(KeyError, match=r"beads has no column 'wieght'\. Did you mean 'weight'"):
        world.beads["wieght"]


def test_params_are_checked_on_every_write(world):
    """A parameter keeps its bounds after the world was made."""
    world.rates.speed = 3
    assert world.rates.speed == 3.0
    with pytest.raises(InputError, match=r"Rates\.speed must be > 0, got -1\.0"):
        world.rates.speed = -1.0
    assert world.rates.speed == 3.0
    assert (Rates.spec("speed").unit, Rates.spec("speed").doc) == ("1/s", "how fast")


def test_reprs(world):
    """Rows, tables and worlds print what they hold."""
    assert repr(world.beads[0]) == "Bead[0](size=1, weight=0.0, next->Bead[1], twin->none)"
    assert repr(world.beads) == "Arena[Bead](3 rows)"
    assert repr(world) == ("String(beads=3, line=(2,), sheet=(2, 3), block=(1, 1, 2), n=0, rates=Rates(speed=1.0))")
