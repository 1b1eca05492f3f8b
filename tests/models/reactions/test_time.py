"""Rates that depend on time, and reactions whose products come later."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin import InputError, SimulationError
from tocsin.models.reactions import Event, Network, Reaction

from ._cases import METHODS

N = {"direct": 5_000, "next-reaction": 1_000, "composition-rejection": 1_000}
LAWS = {
    "a wave": ("3 * (1 + sin(time))", lambda t: 3 * (t + 1 - math.cos(t))),
    "a decay": ("8 * exp(-time)", lambda t: 8 * (1 - math.exp(-t))),
    "a pulse": ("if(time >= 1 and time < 1.25, 40, 0)", lambda t: 40 * min(max(t - 1, 0), 0.25)),
    "growth": ("time ^ 2 + sqrt(time) / 2", lambda t: t**3 / 3 + t**1.5 / 3),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LAWS)
def test_a_rate_of_time_alone(name, method):
    """Arrivals at a rate of time alone are Poisson, with the integral of the rate as mean and variance."""
    law, mean = LAWS[name]
    times = [0.7, 1.1, 4.0]
    network = Network({"X": 0}, [Reaction("0 -> X", law=law)])
    n = N[method]
    x = network.ensemble(n, times, seed=1, method=method, keep=True).values[..., 0]
    wanted = np.array([mean(t) for t in times])
    squares = (x - x.mean(axis=0)) ** 2
    assert (np.abs(x.mean(axis=0) - wanted) <= 4.5 * np.sqrt(wanted / n)).all()
    assert (np.abs(squares.mean(axis=0) - wanted) <= 4.5 * squares.std(axis=0) / np.sqrt(n) + 1e-12).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_rate_of_time_and_amounts(method):
    """Decay at rate 1 + cos(time) for each leaves a binomial number, with a bound given or worked out."""
    n = N[method]
    left = math.exp(-(2.0 + math.sin(2.0)))
    for bound in (None, "2 * X"):
        network = Network({"X": 60}, [Reaction("X -> 0", law="X * (1 + cos(time))", bound=bound)])
        x = network.ensemble(n, [2.0], seed=2, method=method, keep=True).values[:, 0, 0]
        variance = 60 * left * (1 - left)
        assert abs(x.mean() - 60 * left) <= 4.5 * math.sqrt(variance / n)
        squares = (x - x.mean()) ** 2
        assert abs(squares.mean() - variance) <= 4.5 * squares.std() / math.sqrt(n)
        found = network.run([2.0, 50.0], seed=2, method=method)
        assert found.n_events == 60 - found["X"][-1]


@pytest.mark.parametrize("method", METHODS)
def test_interpreted_and_compiled(method):
    """Rates of time and delays have the same bits in plain Python; more times move no event."""
    network = Network(
        {"X": 5, "Y": 0},
        [Reaction("0 -> X", law="3 * (1 + sin(time))"), Reaction("X -> Y", 0.7, delay="0.5 + uniform(0, 1)"), Reaction("Y -> 0", 0.2)],
        events=[Event("time >= 2", {"X": "X + 3"})],
    )  # fmt: skip
    compiled = network.run([1.0, 2.0, 6.0], seed=5, method=method)
    plain = network.run([1.0, 2.0, 6.0], seed=5, method=method, jit=False)
    assert compiled.values.tobytes() == plain.values.tobytes()
    assert compiled.n_events == plain.n_events > 15
    assert network.run([6.0], seed=5, method=method).values[-1].tolist() == compiled.values[-1].tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_delay(method):
    """X turns to Y some time after it has begun: at time t, a delay d, Y has a binomial number of mean 30 (1 - exp(d - t))."""
    n = N[method]
    network = Network({"X": 30, "Y": 0}, [Reaction("X -> Y", 1.0, delay="d")], {"d": 1.5})
    found = network.ensemble(n, [1.4, 2.0, 3.0], seed=3, method=method, keep=True).values
    assert (found[:, 0, 1] == 0).all()
    for k, t in ((1, 2.0), (2, 3.0)):
        p, q = 1 - math.exp(1.5 - t), math.exp(-t)
        for column, share in ((1, p), (0, q)):
            assert abs(found[:, k, column].mean() - 30 * share) <= 4.5 * math.sqrt(30 * share * (1 - share) / n)
    assert (found.sum(axis=2) <= 30).all()


@pytest.mark.parametrize("method", METHODS)
def test_drawn_delays(method):
    """Arrivals at rate 4 that stay for an exponential time: in the steady state a Poisson number of mean 4 / 2."""
    n = N[method]
    network = Network(
        {"in": 0, "out": 0}, [Reaction("0 -> in", 4.0), Reaction("in -> out", law="1e6 * in", delay="exponential(2)")]
    )
    x = network.ensemble(n, [8.0], seed=4, method=method, keep=True).values[:, 0, 1]
    wanted = 4.0 * (8.0 - 0.5)
    assert abs(x.mean() - wanted) <= 4.5 * math.sqrt(wanted / n) + 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("reaction", "says"),
    [
        (Reaction("0 -> X", law="time", bound=2.0, name="R"), r"reaction R: its propensity is .* more than its bound .*X=.*time .*seed 3"),
        (Reaction("0 -> X", law="2 - time", name="R"), r"reaction R: its propensity is -"),
        (Reaction("0 -> X", law="log(1 - time)", name="R"), r"reaction R: its propensity is"),
        (Reaction("0 -> X", 1.0, delay="1 - X", name="R"), r"reaction R: its delay is -1\.0; it must be finite and >= 0"),
        (Reaction("0 -> X", 1e6, delay=1.0, name="R"), "reaction R: more than 65,536 .* on their way"),
    ],
)  # fmt: skip
def test_what_cannot_be(reaction, says, method):
    """A propensity above its bound or below 0, a delay below 0, too much on its way: an error names the reaction."""
    with pytest.raises(SimulationError, match=says):
        Network({"X": 0}, [reaction]).run([50.0], seed=3, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_a_delayed_event(method):
    """An event happens its delay later, with the values of then, as often as it was due."""
    events = [
        Event("X >= 2", {"Y": "Y + X", "seen": "time"}, delay=0.5, name="slow"),
        Event("time >= 1", {"X": 3}), Event("time >= 1.2", {"X": 1}), Event("time >= 1.3", {"X": 7}),
    ]  # fmt: skip
    network = Network({"X": 0, "Y": 0}, [], {"seen": 0.0}, events, ["X", "Y", "seen"])
    found = network.run([1.0, 1.4, 1.5, 1.7, 1.8, 9.0], method=method)
    assert found["Y"].tolist() == [0, 0, 7, 7, 14, 14]
    assert found["seen"].tolist() == pytest.approx([0, 0, 1.5, 1.5, 1.8, 1.8])
    bad = Network({"X": 0}, [], {}, [Event("time >= 1", {"X": 1}, delay="X - 1", name="odd")])
    with pytest.raises(SimulationError, match=r"event odd: its delay is -1\.0.*time 1\.0"):
        bad.run([5.0], method=method)
    with pytest.raises(InputError, match="event e: one that is not persistent cannot have a delay"):
        Event("X > 1", {"X": 0}, "e", persistent=False, delay=1)


@pytest.mark.parametrize("method", METHODS)
def test_priorities(method):
    """Of events due at one instant the highest priority happens first, also one that depends on amounts; none is last."""

    def add(digit):
        return {"X": f"10 * X + {digit}"}

    events = [
        Event("time >= 1", add(1)), Event("time >= 1", add(2), priority=1), Event("time >= 1", add(3), priority="5 - X"),
        Event("time >= 1", add(4), priority=3), Event("time >= 1 and X < 30", add(5), priority=0, persistent=False),
    ]  # fmt: skip
    assert Network({"X": 0}, [], {}, events).run([2.0], method=method)["X"].tolist() == [3421]


def test_no_bound():
    """Where no bound can be found, the error says so at the start."""
    with pytest.raises(InputError, match="reaction R: its propensity is"):
        Network({"X": 1}, [Reaction("0 -> X", law="1 / (1 + sin(time) * X / X - 1)", name="R")]).world()


_LEAVES = st.sampled_from(["time", "A", "0.5", "2", "-1"])
_FORMULAS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(st.sampled_from(["sin", "cos", "abs", "exp", "sqrt", "log", "floor", "ceil", "-"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, st.sampled_from(["<", "<=", "==", "!="]), inner, inner).map(lambda t: f"if({t[0]} {t[1]} {t[2]}, {t[3]}, {t[0]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "0", "0.5"])).map(lambda t: f"({t[0]}) ^ {t[1]}"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"(({t[0]} > 1) {t[1]} not {t[2]} > 0.5)"),
    ),
    max_leaves=8,
)  # fmt: skip


@given(_FORMULAS, st.floats(0, 20), st.floats(0, 10), st.floats(-3, 3))
@settings(max_examples=150, deadline=None)
def test_bounds_are_bounds(text, start, length, amount):
    """No value of a formula between two times is above the bound that is worked out for it."""
    from tocsin.formula import Table, formula, run_formula
    from tocsin.models.reactions._bounds import most_of

    class World:
        pass

    table = Table({"A": 0}, [amount])
    first, last = table.add(formula(text))
    world = World()
    world.ops, world.args, world.values, world.stack = (
        table.ops,
        table.args,
        table.values,
        [0.0] * (2 * table.deepest + 8),
    )
    high = most_of(world, first, last, start, start + length)
    for t in np.linspace(start, start + length, 40):
        value = run_formula(world, first, last, float(t), None)
        assert not value > high, (text, float(t))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("network", "says"),
    [
        (Network({"A": 10, "B": 0}, [Reaction("A -> B", 100.0, delay="0 - 1", name="R")]), r"reaction R: its delay is -1\.0"),
        (Network({"A": 10, "B": 0}, [Reaction("A -> B", 100.0, delay="normal(0.1, 1)", name="R")]), r"reaction R: its delay is -"),
        (Network({"A": 70_000, "B": 0}, [Reaction("A -> B", 100.0, delay=50, name="R")]), r"reaction R: more than .* on their way"),
        (Network({"A": 1_000}, [Reaction("A -> 0", law="A * (5 + 4 * sin(time))", bound="A * 2", name="R")]), r"reaction R: .*more than its bound"),
        (Network({"A": 5}, [Reaction("0 -> A", 1.0)], events=[Event("time >= 1", {"A": "log(A - A - 1)"}, "E")]), r"event E: it would set a species to nan"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_by_every_method(network, says, method):
    """Nothing is lost without a word: the run stops, whichever method it goes by."""
    with pytest.raises(SimulationError, match=says):
        network.run([20.0], seed=1, method=method)
