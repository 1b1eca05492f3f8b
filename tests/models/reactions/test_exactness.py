"""All methods draw from one law, and compiled code gives the bits of plain Python."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from tocsin.models.reactions import Event, Network, Reaction

from ._cases import (
    CLOCKS,
    IMMIGRATION,
    METHODS,
    NETWORKS,
    SMALL,
    TIMES,
    agree,
    immigration_mean,
    immigration_variance,
)


@pytest.mark.parametrize("name", NETWORKS)
def test_methods_agree(name):
    """Next reaction and composition-rejection have the means, the variances and the distributions of the direct method."""
    network = NETWORKS[name]
    direct = network.ensemble(4_000, TIMES, seed=1, method="direct", keep=True).values
    for k, method in enumerate(CLOCKS):
        found = network.ensemble(1_500, TIMES, seed=10_000 * (k + 1), method=method, keep=True).values
        agree(found, direct)
        columns = [
            (x, y) for x, y in zip(*(v.reshape(len(v), -1).T for v in (found, direct)), strict=True) if x.std() > 0
        ]
        least = min(ks_2samp(x, y).pvalue for x, y in columns)
        assert least * len(columns) * len(NETWORKS) * len(CLOCKS) > 1e-3, (method, least)


@pytest.mark.parametrize("method", METHODS)
def test_closed_form(method):
    """Immigration and death follow their closed form: starters that are left, and a Poisson number."""
    n = 20_000 if method == "direct" else 300
    found = IMMIGRATION.ensemble(n, TIMES, seed=7, method=method, keep=True)
    values = found.values[:, 1:, 0]
    squares = (values - values.mean(axis=0)) ** 2
    mean, variance = (f(10, 3.0, 0.5, TIMES[1:]) for f in (immigration_mean, immigration_variance))
    assert (np.abs(values.mean(axis=0) - mean) <= 4.5 * np.sqrt(variance / n)).all()
    assert (np.abs(squares.mean(axis=0) - variance) <= 4.5 * squares.std(axis=0) / np.sqrt(n)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NETWORKS)
def test_interpreted(name, method):
    """Plain Python gives the same bits as compiled code."""
    network = NETWORKS[name]
    compiled = network.run(TIMES, seed=5, method=method)
    interpreted = network.run(TIMES, seed=5, method=method, jit=False)
    assert compiled.values.tobytes() == interpreted.values.tobytes()
    assert compiled.n_events == interpreted.n_events > 3


@pytest.mark.parametrize("name", ["enzyme", "reset"])
def test_audit(name):
    """Every event touches all that depends on it."""
    simulation = NETWORKS[name].simulation(seed=3, method="next-reaction", audit=True, jit=False)
    assert simulation.run(events=60).n_events == 60


def test_kept_or_not_one_thread_or_three():
    """An ensemble's numbers depend neither on threads nor on what is kept; trajectory k has seed + k."""
    plain = IMMIGRATION.ensemble(700, TIMES, seed=2)
    threads = IMMIGRATION.ensemble(700, TIMES, seed=2, threads=3, keep=True)
    assert plain.mean.tobytes() == threads.mean.tobytes()
    assert plain.variance.tobytes() == threads.variance.tobytes()
    assert np.allclose(threads.values.var(axis=0, ddof=1), plain.variance, rtol=1e-12)
    assert (IMMIGRATION.run(TIMES, seed=2 + 555).values == threads.values[555]).all()
    assert plain.values is None


@pytest.mark.parametrize("method", METHODS)
def test_a_place_is_as_new_for_each_trajectory(method):
    """Trajectory k of an ensemble is the run with seed + k, draws of its events too, however often the network has run."""
    network = Network(
        {"X": 0},
        [Reaction("X -> 0", 1.0)],
        {"last": 0.0},
        [Event("time - last >= 1", {"X": "X + poisson(9)", "last": "time"})],
    )
    values = network.ensemble(3, TIMES, seed=5, method=method, keep=True).values
    for k in (2, 0, 1):
        assert network.run(TIMES, seed=5 + k, method=method).values.tolist() == values[k].tolist()


def test_the_grid_does_not_move_a_trajectory():
    """More times to record, or a stop in between, change no event."""
    fine = IMMIGRATION.run(np.linspace(0, 4, 41), seed=9)
    coarse = IMMIGRATION.run([4.0], seed=9)
    assert fine.values[-1].tolist() == coarse.values[-1].tolist()
    assert fine.n_events == coarse.n_events


def test_conserved():
    """What no reaction changes stays as it is, at every time of every trajectory."""
    enzyme, dimers = (NETWORKS[k].ensemble(50, TIMES, keep=True).values for k in ("enzyme", "dimers"))
    assert (enzyme[..., 1] + enzyme[..., 2] == 10).all()
    assert (enzyme[..., 0] + enzyme[..., 2] + enzyme[..., 3] == 80).all()
    assert (dimers[..., 0] + 2 * dimers[..., 1] == 60).all()
    assert (dimers >= 0).all()


def test_many_reactions_go_by_composition_rejection():
    """Above some dozens of reactions another method is chosen, with the same means."""
    n = 60
    ring = Network({f"S{k}": 20 for k in range(n)}, [Reaction(f"S{k} -> S{(k + 1) % n}", 1.0) for k in range(n)])
    by_rule, by_name = (ring.run([1.0], seed=4, method=m) for m in ("auto", "composition-rejection"))
    assert (by_rule.values == by_name.values).all()
    total = ring.run([3.0], seed=4, method="direct")
    assert total.values.sum() == 20 * n
    assert abs(total.n_events - 60 * n) <= 4.5 * np.sqrt(60 * n)


@pytest.mark.parametrize("method", CLOCKS)
def test_trajectories_are_simulations(method):
    """A trajectory of an ensemble has the bits of a Simulation with its seed."""
    network = NETWORKS["enzyme"]
    found = network.ensemble(2, [2.0], seed=8, method=method, keep=True)
    simulations = [network.simulation(seed, method) for seed in (8, 9)]
    n_events = sum(simulation.run(until=2.0).n_events for simulation in simulations)
    assert found.values[:, 0].tolist() == [s.world.values.values[:4].tolist() for s in simulations]
    assert found.n_events == n_events


@pytest.mark.parametrize("name", SMALL)
def test_machine_code_of_its_own(name, monkeypatch):
    """Code written out for one network has the bits of the loop for all, wherever it takes over."""
    from tocsin.models.reactions import _seats

    given = SMALL[name]
    slow, fast = (Network(given.species, given.reactions, given.parameters, given.events) for _ in range(2))
    monkeypatch.setattr(_seats, "FIRST_SLICE", 1 << 60)
    one = slow.ensemble(40, TIMES, seed=3, method="direct", keep=True)
    monkeypatch.setattr(_seats, "FIRST_SLICE", 100)
    other = fast.ensemble(40, TIMES, seed=3, method="direct", keep=True)
    assert slow._burst is None
    assert fast._burst is not None
    assert one.values.tobytes() == other.values.tobytes()
    assert one.n_events == other.n_events > 200


@pytest.mark.parametrize("first", [1, 1 << 60])
def test_a_half_molecule(first, monkeypatch):
    """Half an amount makes x (x - 1) negative, and both kinds of code say so."""
    from tocsin import SimulationError
    from tocsin.models.reactions import _seats

    monkeypatch.setattr(_seats, "FIRST_SLICE", first)
    network = Network({"A": 60.5}, [Reaction("2 A -> A", 1.0, "pair")])
    with pytest.raises(
        SimulationError, match=r"reaction pair: its propensity is -0\.125.*\(at A=0\.5\), time .*seed 0"
    ):
        network.run([1e6], method="direct")
    assert (network._burst is None) == (first > 1)
