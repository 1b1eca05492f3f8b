"""The Python that models may use means the same compiled and interpreted, bit for bit."""

from __future__ import annotations

import math

import pytest

from tocsin import (
    NEVER,
    Action,
    Arena,
    Array,
    Array2,
    Array3,
    Entity,
    Model,
    OptionalRef,
    Params,
    Pool,
    Ref,
    Rng,
    Simulation,
    Touched,
    World,
    boolean,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    param,
    uint8,
    uint16,
    uint32,
)

BIG, HALF, FLAG = 1 << 40, 0.5, True


class Settings(Params):
    """Parameters with a method, a property and a constant."""

    speed: float64 = param(2.0, gt=0)
    n_most: int64 = param(7, ge=1)
    is_loud: boolean = param(True)

    SCALE = 3

    def scaled(self, by: float = 1.5) -> float:
        """Return the speed, scaled."""
        return self.speed * by * self.SCALE

    @property
    def half(self) -> float:
        """Half the speed."""
        return self.speed / 2


class Item(Entity):
    """A row with a field of every type."""

    a: int8
    b: int16
    c: int32
    d: int64
    e: uint8
    f: uint16
    g: uint32
    x: float32
    y: float64
    is_on: boolean
    next: Ref[Item]
    other: OptionalRef[Item]
    bug: OptionalRef[Bug]

    def follow(self, n: int) -> Item:
        """Return the row that is `n` links away."""
        row = self
        for _ in range(n):
            row = row.next
        return row

    def nearest(self) -> Item | None:
        """Return the other row, or none for a row that is off."""
        if not self.is_on:
            return None
        return self.other


class Bug(Entity):
    """A row of a pool."""

    host: Ref[Item]
    age: int64


class Zoo(World):
    """A world with arrays of every dimension and type."""

    items: Arena[Item]
    bugs: Pool[Bug]
    line: Array[int32]
    weights: Array[float64]
    flags: Array[boolean]
    sheet: Array2[float32]
    block: Array3[int16]
    total: float64 = 0.0
    n: int64 = 0
    is_full: boolean = False
    settings: Settings

    def at(self, index: int) -> Item:
        """Return a row, counted round and round."""
        return self.items[index % len(self.items)]

    @property
    def width(self) -> int:
        """Number of rows."""
        return len(self.items)


def spread(x: float, y: float = 2.0, z: float = 0.25) -> tuple[float, float]:
    """Return two numbers."""
    return x * y + z, x - y


def collatz(n: int) -> int:
    """Count steps, with a loop that breaks."""
    steps = 0
    while True:
        if n <= 1 or steps > 50:
            break
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def fibonacci(n: int) -> int:
    """Call itself."""
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


class Numbers(Action):
    """Whole and real numbers, signs, bits, rounding."""

    item: Item

    def schedule(self, world: Zoo, now: float, rng: Rng) -> float:
        return now + rng.exponential(1.0 + 0.125 * self.item.index)

    def fire(self, world: Zoo, now: float, rng: Rng, touched: Touched) -> None:
        item, k = self.item, rng.integers(-50, 50)
        item.d = item.d + (k // 7) * 3 - k % 7 + (k >> 1) + (k & 12) + (k ^ 5) + (k | 3)
        item.a = min(max(k, -100), 100)
        item.b, item.c = -k, abs(k) * 1000
        item.e, item.f, item.g = abs(k), abs(k) * 100, BIG % 65_537
        item.d += int(-2.7) + int(2.7) + round(k / 4) + math.floor(-k / 3) + math.ceil(k / 3)
        item.x = item.x * HALF + k / 3
        low, high = spread(item.y, z=1.0)
        item.y = math.sqrt(abs(low)) - high / (1 + abs(high)) + (2.0 if k > 0 and FLAG else -1.0)
        item.y = item.y % 3.0 + float(k // 4) // 3.0 + k**2 / 100 + 2.0**-3
        item.is_on = not item.is_on if -10 < k < 10 else k % 2 == 0
        world.total += item.x - item.y
        world.n += collatz(abs(k)) + fibonacci(abs(k) % 8)
        world.is_full = item.is_on or (world.is_full and k > 3)


class Rows(Action):
    """Rows, references and none."""

    item: Item

    STRIDE = 2

    def rate(self, world: Zoo) -> float:
        return world.settings.scaled() if self.item.is_on else world.settings.half

    def fire(self, world: Zoo, now: float, rng: Rng, touched: Touched) -> None:
        item = self.item
        far = item.follow(self.STRIDE + rng.integers(0, 3))
        near = item.nearest()
        if near is None:
            item.other = far if far != item else None
        elif near == item.next or near == far:
            item.other = None
            near.c += 1
        else:
            item.next, near.next = near.next, item.next
        world.at(item.index - 5).d += item.key
        for index in range(world.width):
            row = world.items[index]
            if row.other == item:
                row.d -= 1
                touched.add(row)
                continue
            if index > world.settings.n_most:
                break
        if item.bug is not None and world.bugs.n_live > 4:
            world.bugs.remove(item.bug)
            item.bug = None
        elif item.bug is None:
            bug = world.bugs.spawn()
            bug.host = item
            item.bug = bug
        touched.all(world.items)


class Draws(Action):
    """Every kind of draw, and every kind of array."""

    def schedule(self, world: Zoo, now: float, rng: Rng) -> float:
        return now + rng.uniform(0.5, 1.5) if world.n > -BIG else NEVER

    def fire(self, world: Zoo, now: float, rng: Rng, touched: Touched) -> None:
        i = rng.integers(0, len(world.line))
        world.line[i] += rng.poisson(3.0) + rng.binomial(10, 0.3) + rng.poisson(40.0)
        world.weights[rng.choice(world.weights, 4)] += rng.gamma(2.5) + rng.gamma(0.5, 2.0)
        world.flags[i] = rng.bernoulli(0.4)
        world.sheet[i % 2, 1] = world.sheet[i % 2, 0] + rng.normal()
        world.sheet[1, 0] += rng.normal(sd=0.5, mean=1.0)
        world.block[0, i % 2, 1] = 3 + world.block[0, 1, i % 2] % 1000
        rng.shuffle(world.line, len(world.line))
        world.total += rng.random() + rng.exponential(0.7)
        if world.flags[i] and not world.flags[0]:
            world.n += int(world.sheet[1, 0] > 0.0)


class Age(Action):
    """Rows of a pool grow older, and jump."""

    bug: Bug

    def rate(self, world: Zoo) -> float:
        return 0.5

    def fire(self, world: Zoo, now: float, rng: Rng, touched: Touched) -> None:
        bug = self.bug
        bug.age += 1
        if bug.age > 3:
            host = bug.host
            host.bug = None
            world.bugs.remove(bug)
            touched.add(host)


MODEL = Model(Zoo, [Numbers, Rows, Draws, Age])
BY_ENTITY = Model(Zoo, [Age, Draws, Rows, Numbers], tie="entity")


def zoo():
    """Return six rows in a ring."""
    items = {"next": [1, 2, 3, 4, 5, 0], "is_on": [True, False] * 3, "other": [3, -1, 2, 1, -1, 0]}
    return Zoo(items=items, line=[1, 2, 3, 4], weights=[1.0, 0.0, 2.0, 0.5], flags=[False] * 4,
               sheet=[[0.5, 1.0], [1.5, 2.0]], block=[[[1, 2], [3, 4]]])  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("model", [MODEL, BY_ENTITY])
def test_the_same_bits(model, seed):
    """Every construct leaves the same bits in every field, array and pending time."""
    runs = [Simulation(model, zoo(), seed=seed, jit=jit) for jit in (True, False)]
    for simulation in runs:
        simulation.run(events=700)
    assert min(runs[0].counts.values()) > 5
    for part in ("items", "bugs"):
        tables = [simulation.to_arrow(part) for simulation in runs]
        assert tables[0].equals(tables[1])
    for part in ("line", "weights", "flags", "sheet", "block"):
        values = [getattr(simulation.world, part).values for simulation in runs]
        assert values[0].tobytes() == values[1].tobytes(), part
    assert (runs[0].world.total, runs[0].world.n) == (runs[1].world.total, runs[1].world.n)
    assert runs[0].state_hash() == runs[1].state_hash()
