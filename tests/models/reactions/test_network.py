"""What a network is made of, and what is refused where it is given."""

import numpy as np
import pytest

from tocsin import InputError, SimulationError
from tocsin.models.reactions import Event, Network, Reaction, reversible

from ._cases import IMMIGRATION, METHODS, TIMES


def test_dependencies_follow_from_the_equations():
    """A reaction renews the propensities that read what it changes, and no others."""
    world = Network(
        {"A": 1, "B": 1, "C": 1, "D": 1},
        [Reaction("A -> B", 1.0), Reaction("B + C -> C", 1.0), Reaction("C -> D", 1.0), Reaction("D -> D + A", 1.0)],
    ).world()
    spans = zip(world.channels["first_dependent"], world.channels["last_dependent"], strict=True)
    assert [world.dependents.values[a:b].tolist() for a, b in spans] == [[0, 1], [1], [1, 2, 3], [0]]


@pytest.mark.parametrize(
    ("equation", "propensity"),
    [
        ("0 -> A", 2.0), ("A -> 0", 20.0), ("A + B -> 0", 80.0), ("2 A -> B", 90.0), ("A + A -> B", 90.0),
        ("3 A -> 0", 240.0), ("2 A + 2 B -> 0", 540.0), ("11 A -> 0", 0.0), ("-> B", 2.0), ("A + B + C -> 0", 40.0 * 2),
    ],
)  # fmt: skip
def test_mass_action(equation, propensity):
    """The propensity is the constant times the number of ways to pick the reactants."""
    world = Network({"A": 10, "B": 4, "C": 1}, [Reaction(equation, 2.0)]).world()
    assert world.propensities.values[0] == pytest.approx(propensity, rel=1e-14)


def test_laws_of_mass_action_are_recognised():
    """A formula that is a constant times amounts is worked out without the stack machine, to the same value."""
    A, B, k, V = 3, 7, 0.4, 2.0
    laws = {
        "k * A": (0, k * A), "A * B / V": (0, A * B / V), "k * A * (A - 1) / 2": (0, k * A * (A - 1) / 2),
        "k * A * A": (0, k * A * A), "k * A * (A - 1) * (A - 2) / 6": (1, k * A * (A - 1) * (A - 2) / 6),
        "k * A ^ 2 * B": (1, k * A * A * B), "k * A / V * (B / V) * V": (0, k * A * B / V), "(A - 1) * k": (1, (A - 1) * k),
        "k * A / (1 + A)": (2, k * A / (1 + A)), "k * (B - A)": (2, k * (B - A)), "-k * (0 - A)": (2, k * A), "k / A": (2, k / A),
    }  # fmt: skip
    for law, (kind, wanted) in laws.items():
        world = Network({"A": A, "B": B}, [Reaction("A -> B", law=law)], {"k": k, "V": V}).world()
        assert world.channels["kind"][0] == kind, law
        assert world.propensities.values[0] == pytest.approx(wanted, rel=1e-14)


def test_outputs_and_fixed_species():
    """Outputs are formulas, also of time; a fixed species is used and not used up."""
    network = Network(
        {"F": 5, "X": 0}, [Reaction("F -> X", 2.0)], fixed=["F"], outputs={"twice": "2 * X", "t": "time", "F": "F"}
    )
    found = network.run([0.0, 1.5, 3.0], seed=1)
    assert found["t"].tolist() == [0.0, 1.5, 3.0]
    assert found["F"].tolist() == [5.0] * 3
    assert found["twice"][-1] == 2 * found.n_events > 0
    assert found.to_arrow().column_names == ["time", "twice", "t", "F"]


def test_tables():
    """An ensemble as a table holds means and variances by name."""
    found = IMMIGRATION.ensemble(20, TIMES)
    table = found.to_arrow()
    assert table.column_names == ["time", "X_mean", "X_variance"]
    assert table["X_mean"].to_pylist() == found.mean_of("X").tolist()
    with pytest.raises(InputError, match="no output 'Y'; there are X"):
        found.variance_of("Y")


def test_an_event_that_sets_a_rate():
    """A rate that an event sets to 0 stops its reaction from that moment on."""
    network = Network({"X": 0}, [Reaction("0 -> X", "k")], {"k": 50.0}, [Event("time >= 1", {"k": 0})])
    for method in METHODS:
        values = network.run([0.5, 1.0, 9.0], seed=3, method=method)["X"]
        assert 0 < values[0] < values[1] == values[2]


def test_an_event_rings_on_the_dot():
    """A condition that rounding delays or that recurs is met at each of its times, and once each."""
    network = Network({"N": 0}, [], {"since": 0.0}, [Event("time - since >= 0.1", {"N": "N + 1", "since": "time"})])
    for method in METHODS:
        found = network.run([0.05, 0.15, 0.95, 10.05], seed=3, method=method)["N"]
        assert found.tolist() == [0.0, 1.0, 9.0, 100.0]


def test_strict_and_falling_conditions():
    """`>` is met just after its time, and a condition counts when it becomes true, not while it is."""
    events = [Event("time > 1", {"A": "A + 1"}), Event("2 - time < 0 or time < 0.5", {"B": "B + 1"}),
              Event("time >= 0", {"C": "C + 1"}, was_true=False), Event("time >= 0", {"D": "D + 1"})]  # fmt: skip
    found = Network(dict.fromkeys("ABCD", 0), [], events=events).run([0.0, 0.9, 1.1, 1.9, 2.1])
    assert found["A"].tolist() == [0, 0, 1, 1, 1]
    assert found["B"].tolist() == [0, 0, 0, 0, 1]
    assert found["C"].tolist() == [1] * 5
    assert found["D"].tolist() == [0] * 5


def test_reversible():
    """One equation with two arrows is two reactions."""
    forward, backward = reversible("A + B <-> C", 1.0, 2.0, "bind")
    assert (forward.name, backward.name) == ("bind_forward", "bind_backward")
    assert backward.changes == {"C": -1.0, "A": 1.0, "B": 1.0}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Reaction("A B -> C", 1.0), "'A B' is no species"),
        (lambda: Reaction("A", 1.0), "has one '->'"),
        (lambda: Reaction("A <-> B", 1.0), "`reversible` makes two"),
        (lambda: Reaction("5000 A -> B", 1.0), r"in 1\.\.1000, got 5000"),
        (lambda: Reaction("A -> B"), "give a rate or a law"),
        (lambda: Reaction("A -> B", 1.0, law="A"), "give a rate or a law"),
        (lambda: Reaction("A -> B", float("nan")), "must be a finite number"),
        (lambda: Reaction("A -> B", "2 *"), "column 4: expected a number"),
        (lambda: Network({"A": 1}, [Reaction("A -> B", 1.0)]), "no species 'B'"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", "k")]), "'k' is no species and no parameter"),
        (lambda: Network({"A": -1}, []), "species A must be finite and >= 0"),
        (lambda: Network({"A": 2.0**54}, [Reaction("A -> 0", 1.0, name="R")]), r"reaction R: 1\.80144e\+16 molecules of A"),
        (lambda: Network({"A": "x"}, []), "species A must be a number"),
        (lambda: Network({"A b": 1}, []), "cannot be the name of a species"),
        (lambda: Network({"A": 1}, [], {"A": 1}), "both a species and a parameter"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", 1.0)] * 2), "two reactions are called 'A -> 0'"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", law="A * time", bound="A * time")]), "bound: time may not occur"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", law="A", bound="2 * A")]), "a bound is for a rate or a law"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", 1.0, delay="q")]), "delay: 'q' is no species"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", law="normal(0, 1)")]), "random draws may stand"),
        (lambda: Network({"A": 1}, [], events=[Event("time >= 1", {"B": 1})]), "cannot set 'B'"),
        (lambda: Network({"A": 1}, [], events=[Event("time * time >= 1", {"A": 1})]).world(), "along straight lines"),
        (lambda: Network({"A": 1}, [], events=[Event("time == 1", {"A": 1})]).world(), "== or !="),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", -1.0)]).world(), "its rate must be >= 0"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", law="A - 2", name="bad")]).world(), r"bad: its propensity is -1\.0"),
        (lambda: Network({"A": 1}, [Reaction("A -> 0", law="1 / (A - 1)", name="bad")]).world(), "propensity is nan"),
        (lambda: IMMIGRATION.run([1.0, 0.5]), "ascending"),
        (lambda: IMMIGRATION.run([-1.0]), ">= 0"),
        (lambda: IMMIGRATION.run([]), "at least one time"),
        (lambda: IMMIGRATION.run(["x"]), "times must be numbers"),
        (lambda: IMMIGRATION.run([1.0], method="fast"), "method must be one of"),
        (lambda: IMMIGRATION.run([1.0], most_events=0), "most_events must be a whole number >= 1"),
        (lambda: IMMIGRATION.run([1.0], most_events=2**63), "most_events must be below 2"),
        (lambda: Network({"A": 1}, [Reaction("1000 A -> 0", 1.0)]).run([1.0]), "too many reactants at once, 1,000"),
        (lambda: IMMIGRATION.ensemble(0, [1.0]), "n must be a whole number >= 1"),
        (lambda: IMMIGRATION.ensemble(2, [1.0], seed=2**64 - 1), r"stay below 2\*\*64"),
        (lambda: IMMIGRATION.simulation(method="direct"), "has no clocks"),
    ],
)  # fmt: skip
def test_refused(make, says):
    """What cannot be is refused at once, with the rule."""
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize("method", METHODS)
def test_a_propensity_that_turns_negative(method):
    """A run stops with the name of the reaction, the time and the seed."""
    network = Network({"A": 5}, [Reaction("A -> 0", 1.0), Reaction("0 -> A", law="A - 2", name="odd")])
    with pytest.raises(SimulationError, match=r"reaction odd: its propensity is -1\.0.*time .*seed 11"):
        network.ensemble(1, [1e3], seed=11, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_an_explosion_is_stopped(method):
    """A trajectory with more events than it may have ends with an error that says where it stands; one with as many does not."""
    network = Network({"A": 1}, [Reaction("A -> 2 A", 1.0)])
    with pytest.raises(SimulationError, match=r"seed 6 had 5,001 events by time \d+\.\d+ .*A=5002.*most_events"):
        network.ensemble(3, [1e9], seed=6, method=method, most_events=5000)
    fall = Network({"A": 100}, [Reaction("A -> 0", 1.0)])
    assert fall.run([1e9], method=method, most_events=100).n_events == 100
    with pytest.raises(SimulationError, match="had 100 events"):
        fall.run([1e9], method=method, most_events=99)


def test_a_network_is_pickled_and_copied_without_its_places():
    """A network that has run can be sent to another process, and runs there alike."""
    import copy
    import pickle

    found = IMMIGRATION.run(TIMES, seed=4).values.tolist()
    for other in (pickle.loads(pickle.dumps(IMMIGRATION)), copy.deepcopy(IMMIGRATION)):
        assert other.run(TIMES, seed=4).values.tolist() == found


def test_events_without_end():
    """Events that set each other off at one instant are stopped."""
    flip = [Event("A > 0", {"A": 0}, was_true=False), Event("A <= 0", {"A": 1}, was_true=False)]
    with pytest.raises(SimulationError, match="events follow events without end"):
        Network({"A": 1}, [], events=flip).run([1.0])


def test_draws_have_their_moments():
    """Each distribution has its mean and standard deviation, whole or cut off."""
    moments = {
        "normal(1, 2)": (1, 2), "uniform(2, 4)": (3, 2 / 12**0.5), "exponential(0.5)": (2, 2), "gamma(3, 2)": (6, 12**0.5),
        "poisson(4)": (4, 2), "binomial(20, 0.3)": (6, 4.2**0.5), "bernoulli(0.25)": (0.25, 0.1875**0.5),
        "laplace(1, 2)": (1, 8**0.5), "lognormal(0, 0.5)": (np.exp(0.125), np.exp(0.125) * np.expm1(0.25) ** 0.5),
        "rayleigh(2)": (2 * (np.pi / 2) ** 0.5, 2 * (2 - np.pi / 2) ** 0.5),
        "exponential(1, 2, 3)": (2 + 1 - 1 / np.expm1(1), (1 - np.e / np.expm1(1) ** 2) ** 0.5),
        "min(max(cauchy(0, 1), -1), 1)": (0, (0.5 + (2 / np.pi - 0.5)) ** 0.5),
    }  # fmt: skip
    names = [f"X{k}" for k in range(len(moments))]
    event = Event("time >= 1", dict(zip(names, moments, strict=True)))
    values = Network(dict.fromkeys(names, 0), [], events=[event]).ensemble(20_000, [2.0], keep=True).values[:, 0]
    for x, (mean, sd) in zip(values.T, moments.values(), strict=True):
        squares = (x - mean) ** 2
        assert abs(x.mean() - mean) <= 4.5 * sd / np.sqrt(len(x))
        assert abs(squares.mean() - sd**2) <= 4.5 * squares.std() / np.sqrt(len(x))


def test_other_values_are_another_network():
    """Parameters and starting amounts can be replaced for a run, without writing the network anew."""
    network = Network({"A": 40, "B": 0}, [Reaction("A -> B", "k"), Reaction("B -> 0", "2 * k")], {"k": 0.5})
    other = Network({"A": 70, "B": 0}, [Reaction("A -> B", "k"), Reaction("B -> 0", "2 * k")], {"k": 1.5})
    wanted = other.run(TIMES, seed=4).values.tolist()
    assert network.with_values(k=1.5, A=70).run(TIMES, seed=4).values.tolist() == wanted
    assert network.run(TIMES, seed=4, parameters={"k": 1.5, "A": 70}).values.tolist() == wanted
    found = network.ensemble(3, TIMES, seed=4, keep=True, parameters={"k": 1.5, "A": 70}).values
    assert found[0].tolist() == wanted
    assert network.parameters == {"k": 0.5}
    for values, says in (
        ({"kk": 1.0}, "no species and no parameter is called 'kk'. Did you mean 'k'"),
        ({"A": -1}, "species A must be finite and >= 0"),
        ({"A": 1e16}, "molecules of A are too many to count"),
        ({"k": float("nan")}, "parameter k must be a number"),
    ):
        with pytest.raises(InputError, match=says):
            network.run(TIMES, parameters=values)
