"""Sequential random sources: the generators' own outputs, their samplers, compiled = interpreted."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tocsin import (
    NEVER,
    Action,
    Arena,
    Array,
    Entity,
    InputError,
    Model,
    Rng,
    Simulation,
    Touched,
    World,
    float64,
    int64,
)
from tocsin.kernel._edges import EDGES
from tocsin.kernel._sequential import fdlibm_log, remainder64, times64
from tocsin.kernel._sources import SOURCES, pcg64_outputs, rand_seeded, source_named

SEEDS = (0, 1, 42, 0x5EED, 2**63, 2**64 - 1)
SEQUENTIAL = ("pcg64", "pcg64-rand", "splitmix64")
MASK64 = 2**64 - 1


def stream(name, seed):
    """Return a source's row, seeded, as plain Python."""
    source = SOURCES[name]
    kernel = source.clockwork(rngs=1)
    for field, value in source.fields(seed).items():
        kernel.rngs[field][0] = value
    stream.kernel = kernel  # a row does not keep its table's memory
    return kernel.rngs[0]


def raw(rng, n):
    """Return n outputs as unsigned numbers."""
    return [rng.bits64() & MASK64 for _ in range(n)]


def split_mix(seed):
    """Yield SplitMix64's outputs, in Python's own whole numbers."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK64
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK64
        yield z ^ z >> 31


@pytest.mark.parametrize("seed", SEEDS)
def test_pcg64_is_numpys(seed):
    """The outputs are those of `numpy.random.PCG64(seed)`."""
    assert raw(stream("pcg64", seed), 500) == np.random.PCG64(seed).random_raw(500).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_rand_pcg64_is_the_same_generator(seed):
    """From rand's state and increment, NumPy's PCG64 gives the same outputs."""
    state, increment = rand_seeded(seed)
    judge = np.random.PCG64()
    inner = {"state": state, "inc": increment}
    judge.state = {"bit_generator": "PCG64", "state": inner, "has_uint32": 0, "uinteger": 0}
    expected = judge.random_raw(500).tolist()
    assert raw(stream("pcg64-rand", seed), 500) == expected
    assert list(itertools.islice(pcg64_outputs(state, increment), 500)) == expected


def test_splitmix64_known_outputs():
    """The outputs for the seed 1234567 are the published ones; others are those of a second program."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert raw(stream("splitmix64", 1234567), 4) == published
    for seed in SEEDS:
        assert raw(stream("splitmix64", seed), 500) == list(itertools.islice(split_mix(seed), 500))


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_opening_goes_on(name):
    """`open` leaves the stream where it stands, and counts the draws from there."""
    rng, straight = stream(name, 5), stream(name, 5)
    kept = rng._table.world
    got = []
    for k in range(20):
        rng.open(k, 3 * k, 7)
        assert rng.block == 0
        got += raw(rng, k)
        assert rng.block == k
    assert kept is not None
    assert got == raw(straight, len(got))


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_numpys_samplers(seed):
    """`random`, `uniform`, `integers` (half draws kept) and `shuffle`, mixed, are those of `default_rng`."""
    rng, judge, order = stream("pcg64", seed), np.random.default_rng(seed), np.random.default_rng(1)
    spans = [1, 2, 3, 7, 1000, 3 * 2**30, 2**32 - 1, 2**32, 2**32 + 1, 5 * 2**40, 2**62]
    for _ in range(2_000):
        if order.random() < 0.7:
            low, span = int(order.integers(-50, 50)), spans[order.integers(len(spans))]
            assert rng.integers(low, low + span) == judge.integers(low, low + span)
        elif order.random() < 0.5:
            assert (rng.random(), rng.uniform(-2.5, 3.1)) == (judge.random(), judge.uniform(-2.5, 3.1))
        else:
            n = int(order.integers(0, 20))
            ours, theirs = list(range(n)), list(range(n))
            rng.shuffle(ours, n)
            judge.shuffle(theirs)
            assert ours == theirs


@pytest.mark.parametrize("seed", SEEDS)
def test_numpys_exponential(seed):
    """Waits are those of `default_rng(seed).exponential`, also after a rejection; in the tail to 1 ulp."""
    rng, judge, tails = stream("pcg64", seed), np.random.default_rng(seed), 0
    for rate in np.geomspace(1e-3, 1e3, 10_000).tolist():
        ours, theirs = rng.exponential(rate), judge.exponential(1.0 / rate)
        if theirs * rate > EDGES[1]:
            tails += 1
            assert abs(ours - theirs) <= np.spacing(theirs)
        else:
            assert ours == theirs
        assert rng.random() == judge.random()
    assert tails > 0


def test_numpys_strips():
    """The edges are the solution of the equation of equal areas, rounded to double."""
    with mpmath.workdps(50):
        tail = mpmath.findroot(lambda r: strip_edges(r)[-1], 7.697117470131)
        edges = strip_edges(tail)
        assert [float(e) for e in edges[:-1]] == list(EDGES[:-1])
        assert abs(edges[-1]) < 1e-30
    assert EDGES[-1] == 0.0


def strip_edges(tail):
    """Return the right edges of 256 strips and the tail, of equal areas; the last is 0 if the tail is right."""
    area = mpmath.exp(-tail) * (tail + 1)
    edges = [tail + 1, tail]
    while len(edges) < 257:
        edges.append(-mpmath.log(area / edges[-1] + mpmath.exp(-edges[-1])))
    return edges


def test_rands_integers():
    """A whole number is the upper half of a 32-bit draw times the span, in the zone of the span."""
    for span in (1, 2, 3, 500, 2**16, 2**31 - 1, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 1):
        rng, outputs = stream("pcg64-rand", span), pcg64_outputs(*rand_seeded(span))
        for _ in range(200):
            shifted = span
            while shifted < 2**31:
                shifted *= 2
            product = (next(outputs) % 2**32) * span
            while product % 2**32 >= shifted:
                product = (next(outputs) % 2**32) * span
            assert rng.integers(-5, span - 5) == product // 2**32 - 5


def test_rands_coin():
    """A coin falls where 64 bits are below floor(p 2**64), exactly; a sure one draws nothing."""
    rng, outputs = stream("pcg64-rand", 1), pcg64_outputs(*rand_seeded(1))
    draws = np.random.default_rng(3)
    for _ in range(1_000):
        near = next(outputs)
        p = float(draws.choice([draws.random(), near / 2**64, np.nextafter(near / 2**64, 1.0), 0.0, 1e-300]))
        assert rng.bernoulli(p) == (near < int(Fraction(p) * 2**64))
    rng.open(0, 0, 0)
    assert rng.bernoulli(1.0)
    assert rng.block == 0


def test_splitmixs_samplers():
    """Index, choice and shuffle are the remainders that a second program takes."""

    def index(outputs, n):
        return next(u for u in outputs if u >= 2**64 % n) % n

    for n in (1, 2, 3, 10, 2**31 - 1, 2**31):
        rng, outputs = stream("splitmix64", n), split_mix(n)
        assert [rng.integers(0, n) for _ in range(100)] == [index(outputs, n) for _ in range(100)]
    rng, outputs = stream("splitmix64", 8), split_mix(8)
    ours, theirs = list(range(20)), list(range(20))
    for _ in range(20):
        rng.shuffle(ours, 20)
        for i in range(19, 0, -1):
            j = index(outputs, i + 1)
            theirs[i], theirs[j] = theirs[j], theirs[i]
        rng.choose(ours, 20, 6)
        for i in range(6):
            j = i + index(outputs, 20 - i)
            theirs[i], theirs[j] = theirs[j], theirs[i]
        assert ours == theirs
    assert ours != sorted(ours)


def test_words():
    """Products and remainders in words of 32 bits are those of whole numbers."""
    draws = np.random.default_rng(0)
    for _ in range(1_000):
        a, b = (int(x) for x in draws.integers(0, 2**64, 2, dtype=np.uint64))
        low, high = times64(a & 0xFFFFFFFF, a >> 32, b & 0xFFFFFFFF, b >> 32)
        assert high << 32 | low == a * b & MASK64
        span = int(draws.integers(1, 2 ** draws.integers(1, 32)))
        assert remainder64(a & 0xFFFFFFFF, a >> 32, span) == a % span


def test_fdlibms_log():
    """fdlibm's logarithm is within 1 ulp on all that a wait may take, and is 0 at 1."""
    draws = np.random.default_rng(0)
    points = np.concatenate([draws.random(2_000), 10.0 ** draws.uniform(-16, 0, 2_000), [2.0**-53, 0.5, 1 - 2.0**-53]])
    with mpmath.workdps(40):
        for x in points.tolist():
            exact = mpmath.log(x)
            assert abs(fdlibm_log(x) - exact) < np.spacing(abs(float(exact)))
    assert fdlibm_log(1.0) == 0.0


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_waits_are_exponential(name):
    """The mean wait is 1 / rate, within 4.5 standard errors."""
    rng = stream(name, 11)
    waits = np.array([rng.exponential(0.25) for _ in range(4_000)])
    assert waits.min() > 0
    assert abs(waits.mean() - 4.0) < 4.5 * 4.0 / np.sqrt(len(waits))


class Urn(Entity):
    """What is shuffled."""

    n_rings: int64


class Draws(World):
    """Where every sampler writes what it drew."""

    urns: Arena[Urn]
    floats: Array[float64]
    wholes: Array[int64]


class Draw(Action):
    """Draw from every sampler that a source may have of its own, at times that are drawn too."""

    urn: Urn

    def schedule(self, world: Draws, now: float, rng: Rng) -> float:
        return now + rng.exponential(2.0) if self.urn.n_rings < 150 else NEVER

    def fire(self, world: Draws, now: float, rng: Rng, touched: Touched) -> None:
        self.urn.n_rings += 1
        n = self.urn.n_rings % 10
        world.floats[n] = rng.random()
        world.floats[10 + n] += rng.uniform(-1.0, 2.0)
        world.floats[20 + n] += rng.exponential(0.01)
        world.wholes[n] += rng.integers(-3, 1000 + 4_000_000 * self.urn.n_rings) + rng.integers(0, 1)
        world.wholes[10 + n] += rng.integers(0, 5_000_000_000) + rng.integers(0, 3_000_000_000)
        if rng.bernoulli(0.5) and rng.bernoulli(1.0):
            rng.shuffle(world.wholes, 30)


MODEL = Model(Draws, [Draw])


@pytest.mark.parametrize("name", ["pcg64", *(pytest.param(n, marks=pytest.mark.slow) for n in SEQUENTIAL[1:])])
def test_compiled_is_interpreted(name):
    """Machine code and plain Python draw the same bits from these samplers, and end at the same place."""
    start = Draws(urns=2, floats=np.zeros(30), wholes=np.arange(30))
    runs = [Simulation(MODEL, start, seed=2**64 - 3, jit=jit, source=name) for jit in (True, False)]
    for run in runs:
        assert run.run(until=1e6).n_events == 300
    assert runs[0].state_hash() == runs[1].state_hash()
    assert (runs[0].world.floats.values != 0).all()


def test_the_source_is_part_of_the_state():
    """The hash of a state knows where a single stream stands, and which source it is."""
    hashes = set()
    for name in SOURCES:
        run = Simulation(MODEL, Draws(urns=2, floats=np.zeros(30), wholes=np.arange(30)), source=name, jit=False)
        assert run.source.is_keyed == (name == "philox")
        hashes.add(run.state_hash())
        other = Simulation(MODEL, run.world, source=name, jit=False)
        other._kernel.rngs[0].bits64()
        hashes.add(other.state_hash())
    assert len(hashes) == 2 * len(SEQUENTIAL) + 1


def test_unknown_source_is_refused():
    """An unknown source is an error that lists those there are."""
    with pytest.raises(InputError, match="source must be one of philox, pcg64, pcg64-rand, splitmix64, got 'mt19937'"):
        source_named("mt19937")
