"""A draw that no law has stops the run and names the clock, compiled or not."""

import pytest

from tocsin import Action, FireError, Model, Rng, Simulation, Touched, World, float64, int64


class Die(World):
    """What is drawn, and with which parameters."""

    law: int64 = 0
    a: float64 = 0.0
    b: float64 = 0.0
    total: float64 = 0.0


class Throw(Action):
    """Draw from one of the laws."""

    def rate(self, world: Die) -> float:
        return 1.0

    def fire(self, world: Die, now: float, rng: Rng, touched: Touched) -> None:
        if world.law == 0:
            world.total += rng.exponential(world.a)
        elif world.law == 1:
            world.total += rng.normal(world.a, world.b)
        elif world.law == 2:
            world.total += rng.integers(int(world.a), int(world.b))
        elif world.law == 3:
            world.total += rng.poisson(world.a)
        elif world.law == 4:
            world.total += rng.binomial(int(world.a), world.b)
        elif world.law == 5:
            world.total += rng.gamma(world.a, world.b)
        else:
            world.total += 1.0 if rng.bernoulli(world.a) else 0.0


MODEL = Model(Die, [Throw])
NAN = float("nan")


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize(
    ("law", "a", "b", "says"),
    [
        (0, -0.3, 0.0, r"rng.exponential\(rate\): rate must be >= 0"),
        (0, NAN, 0.0, r"rng.exponential\(rate\): rate must be >= 0"),
        (1, 0.0, -1.0, r"rng.normal\(mean, sd\): sd must be >= 0"),
        (2, 5.0, 5.0, r"rng.integers\(low, high\): high must be > low"),
        (3, -1.0, 0.0, r"rng.poisson\(mean\): mean must be >= 0"),
        (4, -3.0, 0.5, r"rng.binomial\(n, p\): n must be >= 0"),
        (5, 0.0, 1.0, r"rng.gamma\(shape, scale\): shape must be > 0, and scale >= 0"),
        (6, 7.0, 0.0, r"rng.bernoulli\(p\): p must be in 0..1"),
        (6, NAN, 0.0, r"rng.bernoulli\(p\): p must be in 0..1"),
    ],
)
def test_what_is_no_law_stops_the_run(law, a, b, says, jit):
    """The clock, the time and the rule are named."""
    simulation = Simulation(MODEL, Die(law=law, a=a, b=b), seed=1, jit=jit)
    with pytest.raises(FireError, match=rf"Throw.*event 1.*{says}"):
        simulation.run(until=100.0)


@pytest.mark.parametrize(
    ("law", "a", "b"), [(0, 0.0, 0.0), (1, 3.0, 0.0), (2, 4.0, 5.0), (3, 0.0, 0.0), (6, 1.0 + 1e-12, 0.0)]
)
def test_the_edges_are_laws(law, a, b):
    """A rate of 0 is never, a spread of 0 is certain, and the last bit of a probability does not matter."""
    simulation = Simulation(MODEL, Die(law=law, a=a, b=b), seed=1)
    assert simulation.run(events=5).n_events == 5
