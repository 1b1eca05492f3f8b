"""A town as a model: bits, audits, rows, and what is refused."""

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models.epidemic import BY_CONTACT, MODEL, Rates, Vaccination, make_town
from tocsin.space import Network, erdos_renyi, small_world

from ._copies import copies


def busy_town(by_contact, n=60):
    """Return a town in which everything happens: SEIRS, weights, direction, meetings, vaccines, import."""
    base = small_world(n, 4, 0.3, seed=1).to_edges()
    rng = np.random.default_rng(1)
    network = Network.from_edges(n, base, rng.uniform(0.5, 2.0, len(base)), directed=True, keep_edges=True)
    since = rng.uniform(0.0, 3.0, len(base))
    rates = Rates(transmission=2.0, recovery=1.0, recovery_shape=2.0, onset=3.0, waning=1.0, vaccine_waning=0.5,
                  importation=0.05, onset_shape=0.0)  # fmt: skip
    plans = [Vaccination(starts_at=1.0, coverage=0.3, efficacy=0.5, leak=0.5), Vaccination(0.5, 4.0, rate=0.2, doses=9)]
    return make_town(network, [0, 1, 2], course="SEIR", rates=rates, since=since, until=since + 4.0,
                     susceptibility=rng.uniform(0.3, 1.0, n), vaccinations=plans, by_contact=by_contact)  # fmt: skip


@pytest.mark.parametrize("by_contact", [False, True])
def test_compiled_is_interpreted_and_audited(by_contact):
    """Machine code and plain Python leave the same bits, and no clock goes stale untouched."""
    model, town = BY_CONTACT if by_contact else MODEL, busy_town(by_contact)
    compiled, plain = (Simulation(model, town, seed=2, jit=jit) for jit in (True, False))
    for simulation in (compiled, plain):
        simulation.run(until=6.0)
    assert compiled.state_hash() == plain.state_hash()
    assert min(compiled.counts.values()) > 0
    audited = Simulation(model, town, seed=2, jit=False, audit=True)
    audited.run(events=120)
    assert audited.n_events == 120


def test_counts_are_those_of_the_rows():
    """After any number of events the numbers in each state are those of the people, who are all there."""
    simulation = Simulation(MODEL, busy_town(False), seed=3)
    for _ in range(10):
        simulation.run(events=23)
        assert (
            simulation.world.n_in.values.tolist() == np.bincount(simulation.world.people["state"], minlength=5).tolist()
        )
        assert sum(simulation.observe()[name].value for name in simulation.observe()) == 60


def test_states_in_order():
    """SIR without waning: S, I, R in that order, so events are twice the infections, and the start's."""
    simulation = Simulation(MODEL, make_town(erdos_renyi(500, 6.0, 1), range(5), rates=Rates(transmission=1.0)), seed=1)
    simulation.run(until=1e9)
    caught = simulation.counts["Catch"]
    assert simulation.counts["Progress"] == caught + 2 * 5
    assert simulation.world.n_infections == caught
    assert simulation.observe()["Recovered"].value == caught + 5


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"infectious": [9]}, r"people are numbered 0\.\.3, got infectious 9\.\.9"),
        ({"infectious": [0.5]}, "numbers of people"),
        ({"course": "SIRS"}, "got 'SIRS': SIRS is SIR with rates.waning > 0"),
        ({"course": "SRI"}, "course must be one of SIR, SIS, SEIR, SEIS, got 'SRI'"),
        ({"susceptibility": 1.5}, r"susceptibility must be in 0\.\.1"),
        ({"susceptibility": [1.0]}, "one number or 4"),
        ({"infectivity": -1.0}, "infectivity must be >= 0 and finite"),
        ({"infectivity": 1e39}, "infectivity must be >= 0 and finite, also with 32 bits"),
        ({"susceptibility": list("abcd")}, "susceptibility must be numbers, got"),
        ({"since": [0.0] * 3}, "keep_edges=True"),
    ],
)
def test_bad_towns(given, text):
    """What makes no town is refused, and the message says why."""
    network = Network.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    with pytest.raises(InputError, match=text):
        make_town(network, **{"infectious": [0], **given})


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ({"since": [1.0, 0.0], "until": [0.5, 1.0]}, "since <= until"),
        ({"since": [np.nan, 0.0]}, "neither NaN"),
        ({"since": [0.0, 1.0, 2.0], "until": [3.0, 3.0]}, r"since must have one entry for each of 2 edges, got shape"),
        ({"since": ["a", "b"]}, "since must be numbers"),
        ({"until": [1.0]}, r"one entry for each of 2 edges, got shape \(1,\)"),
    ],
)
def test_bad_meetings(times, text):
    """Meetings that end before they begin are refused."""
    with pytest.raises(InputError, match=text):
        make_town(copies(3, [(0, 1), (1, 2)], 1, keep_edges=True), [0], **times)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"coverage": 1.5}, r"coverage of a vaccination must be in 0\.\.1, got 1.5"),
        ({"efficacy": -0.1}, "efficacy"),
        ({"rate": -1.0}, "rate of a vaccination must be >= 0"),
        ({"rate": np.nan}, "rate of a vaccination must be >= 0"),
        ({"starts_at": 2.0, "ends_at": 1.0}, "start before it ends, got 2.0 and 1.0"),
        ({"doses": -1}, "doses of a vaccination must be a whole number >= 0"),
    ],
)
def test_bad_vaccinations(given, text):
    """A campaign out of bounds is refused."""
    with pytest.raises(InputError, match=text):
        Vaccination(**given)
