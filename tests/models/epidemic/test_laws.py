"""Exact laws of epidemics on small networks, by people's clocks and by contacts' clocks."""

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models.epidemic import BY_CONTACT, MODEL, RECOVERED, SUSCEPTIBLE, VACCINATED, Rates, Vaccination, make_town
from tocsin.space import Network, complete

from ._copies import LIMIT, assert_law, assert_part, copies, master, run

N = 6_000
KITE = [(0, 1), (1, 2), (2, 0), (2, 3)]
WEIGHTS = [1.0, 0.5, 2.0, 1.5]
CASES = {
    "SIR": ("SIR", Rates(transmission=0.8, recovery=1.0), 0.9),
    "SIR at the end": ("SIR", Rates(transmission=0.8, recovery=1.0), 60.0),
    "SIS": ("SIS", Rates(transmission=1.1, recovery=0.9), 1.7),
    "SIS, imported": ("SIS", Rates(transmission=0.5, recovery=1.0, importation=0.3), 2.0),
    "SIRS": ("SIR", Rates(transmission=1.5, recovery=1.0, waning=0.7), 2.0),
    "SI": ("SIR", Rates(transmission=0.7, recovery=0.0), 1.0),
}


@pytest.fixture(params=[False, True], ids=["people", "contacts"])
def by_contact(request):
    """Let people have the clocks, then contacts."""
    return request.param


@pytest.mark.parametrize("name", CASES)
def test_master_equation_of_a_weighted_kite(name, by_contact):
    """All 3**4 (or 2**4) states of four people are as likely as the Markov chain says."""
    course, rates, time = CASES[name]
    network = copies(4, KITE, N, WEIGHTS)
    states = run(network, 4, [0], time, course=course, rates=rates, by_contact=by_contact)
    assert_law(states, master(4, KITE, WEIGHTS, rates, course, (2, 0, 0, 0), time))


@pytest.mark.parametrize("course", ["SIR", "SIS"])
def test_master_equation_with_direction(course, by_contact):
    """A contact with a direction infects one way only, also one who is susceptible again."""
    edges, weights = [(0, 1), (1, 2), (2, 0), (3, 2), (0, 3)], [1.0, 2.0, 1.0, 0.7, 1.0]
    rates, time = Rates(transmission=1.0, recovery=0.8), 1.5
    network = copies(4, edges, N, weights, directed=True)
    states = run(network, 4, [0], time, course=course, rates=rates, by_contact=by_contact, seed=2)
    assert_law(states, master(4, edges, weights, rates, course, (2, 0, 0, 0), time, directed=True))


def test_sis_on_a_complete_graph(by_contact):
    """The number infectious among six is a birth-death chain: birth b i (6 - i), death g i."""
    n, rates, time = 6, Rates(transmission=0.4, recovery=1.0), 3.0
    states = run(
        copies(n, complete(n).to_edges(), N), n, [0, 1], time, course="SIS", rates=rates, by_contact=by_contact
    )
    q = np.zeros((n + 1, n + 1))
    for i in range(n):
        q[i, i + 1] = rates.transmission * i * (n - i)
        q[i + 1, i] = rates.recovery * (i + 1)
    q -= np.diag(q.sum(axis=1))
    from scipy.linalg import expm

    assert_law((states == 2).sum(axis=1, keepdims=True), {(k,): p for k, p in enumerate(expm(q * time)[2])})


@pytest.mark.parametrize("shape", [0.0, 1.0, 3.0])
def test_one_contact_and_the_law_of_the_infectious_period(shape, by_contact):
    """P(transmission) is 1 minus the Laplace transform of the infectious period at the rate."""
    rates = Rates(transmission=0.9, recovery=0.5, recovery_shape=shape)
    states = run(copies(2, [(0, 1)], N), 2, [0], 1e9, rates=rates, by_contact=by_contact)
    mean = 1 / rates.recovery
    escape = np.exp(-0.9 * mean) if shape == 0.0 else (1 + 0.9 * mean / shape) ** -shape
    assert_part(states[:, 1] == RECOVERED, 1 - escape)


def test_latent_period_delays(by_contact):
    """SEIR: the end is that of SIR; before a fixed latent period is over nobody infects a third."""
    rates = Rates(transmission=1.0, recovery=1.0, onset=0.25, onset_shape=0.0)
    network = copies(3, [(0, 1), (1, 2)], N)
    early = run(network, 3, [0], 4.0, course="SEIR", rates=rates, by_contact=by_contact)
    assert (early[:, 2] == SUSCEPTIBLE).all()
    assert (early[:, 1] == 1).any()
    late = run(network, 3, [0], 1e9, course="SEIR", rates=rates, by_contact=by_contact)
    assert_part(late[:, 1] == RECOVERED, 0.5)
    assert_part(late[:, 2] == RECOVERED, 0.25)


def test_contacts_that_come_and_go(by_contact):
    """Two snapshots: 0-1 is there before t = 1, 1-2 from 2 to 3; nobody recovers before 10.

    1 is infected with probability a = 1 - exp(-b); 2 then with a again: 1 is infectious all the while.
    """
    network = copies(3, [(0, 1), (1, 2)], N, keep_edges=True)
    since, until = np.tile([-np.inf, 2.0], N), np.tile([1.0, 3.0], N)
    rates = Rates(transmission=0.8, recovery=0.1, recovery_shape=0.0)
    given = {"since": since, "until": until, "rates": rates, "by_contact": by_contact}
    states = run(network, 3, [0], 9.0, **given)
    a = 1 - np.exp(-0.8)
    assert_part(states[:, 1] != SUSCEPTIBLE, a)
    assert_part(states[:, 2] != SUSCEPTIBLE, a * a)
    between = run(network, 3, [0], 2.5, seed=3, **given)
    assert_part(between[:, 2] != SUSCEPTIBLE, a * (1 - np.exp(-0.4)))


def test_a_pair_may_meet_twice(by_contact):
    """Two meetings of one pair add up; what lies between them does not count; also for SIS."""
    edges = [(0, 1), (1, 0)]
    network = copies(2, edges, N, keep_edges=True, repeated="keep")
    times = {"since": np.tile([0.5, 2.0], N), "until": np.tile([1.0, 2.25], N)}
    rates = Rates(transmission=1.3, recovery=0.0)
    states = run(network, 2, [0], 9.0, rates=rates, course="SIS", by_contact=by_contact, **times)
    assert_part(states[:, 1] != SUSCEPTIBLE, 1 - np.exp(-1.3 * 0.75))


def test_susceptibility_and_infectivity(by_contact):
    """They multiply the rate of a contact, also one that cannot end."""
    rates = Rates(transmission=1.0, recovery=1.0)
    network = copies(2, [(0, 1)], N)
    given = {"susceptibility": np.tile([1.0, 0.3], N), "infectivity": np.tile([2.0, 1.0], N), "rates": rates}
    assert_part(run(network, 2, [0], 1e9, by_contact=by_contact, **given)[:, 1] == RECOVERED, 0.6 / 1.6)
    given["rates"] = Rates(transmission=1.0, recovery=0.0)
    assert_part(run(network, 2, [0], 1.0, by_contact=by_contact, **given)[:, 1] != SUSCEPTIBLE, 1 - np.exp(-0.6))
    given["susceptibility"] = 0.0
    assert (run(network, 2, [0], 1e3, by_contact=by_contact, **given)[:, 1] == SUSCEPTIBLE).all()


def test_vaccination_at_one_time(by_contact):
    """At t = 1 half of those still well get a dose that works for 4 in 5 and leaves the others half susceptible."""
    rates = Rates(transmission=0.5, recovery=0.0)
    campaign = Vaccination(starts_at=1.0, coverage=0.5, efficacy=0.8, leak=0.5)
    states = run(copies(2, [(0, 1)], N), 2, [0], 3.0, rates=rates, vaccinations=[campaign], by_contact=by_contact)
    well = np.exp(-0.5)
    assert_part(states[:, 1] == VACCINATED, well * 0.4)
    assert_part(states[:, 1] == SUSCEPTIBLE, well * (0.5 * np.exp(-1.0) + 0.1 * np.exp(-0.5)))


def test_vaccination_at_a_rate_and_waning(by_contact):
    """Doses at rate v from 1 to 3 until they run out; immunity wanes at rate w."""
    rates = Rates(transmission=0.0, vaccine_waning=0.4)
    network = Network.from_edges(N, [])
    campaign = Vaccination(starts_at=1.0, ends_at=3.0, rate=0.7)
    states = run(network, 1, [], 3.0, rates=rates, vaccinations=[campaign], by_contact=by_contact)
    total = 0.7 + 0.4
    assert_part(states[:, 0] == VACCINATED, 0.7 / total * (1 - np.exp(-2 * total)))
    town = make_town(network, [], rates=rates, vaccinations=[Vaccination(rate=9.0, doses=100)])
    simulation = Simulation(MODEL, town, seed=4)
    simulation.run(until=1.0)
    assert simulation.world.campaigns["doses_left"][0] == 0
    assert 0 < simulation.observe()["Vaccinated"].value <= 100


def test_clocks_of_people_and_of_contacts_give_one_law():
    """On one network of 300 people the mean numbers at a time agree, SEIRS with weights and Gamma periods."""
    from tocsin.space import small_world

    plain = small_world(300, 6, 0.2, seed=1)
    weights = np.random.default_rng(2).uniform(0.2, 2.0, plain.n_edges)
    rates = Rates(transmission=0.4, recovery=1.0, recovery_shape=2.0, onset=2.0, waning=0.3)
    network = copies(300, plain.to_edges(), 40, weights)
    seen = [
        run(network, 300, range(10), 4.0, course="SEIR", rates=rates, by_contact=b, seed=5 + b) for b in (False, True)
    ]
    for state in range(4):
        one, other = ((states == state).sum(axis=1) for states in seen)
        error = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 40)
        assert abs(one.mean() - other.mean()) <= LIMIT * error


def test_a_branching_process_dies_out_as_it_should():
    """On a tree of degree 4 an epidemic from a leafless root ends early with the branching probability.

    Each person infects each of three others with T = b / (b + g); given the infectious period these
    are independent: extinction q solves q = E[(1 - p + p q)**3] with p = 1 - exp(-b L), L exponential.
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    b, depth = 1.0, 5
    parent = [(k - 1) // 3 for k in range(1, (3 ** (depth + 1) - 1) // 2)]
    edges = [(p, k + 1) for k, p in enumerate(parent)]
    n = len(edges) + 1
    states = run(copies(n, edges, 1_500), n, [0], 1e9, rates=Rates(transmission=b, recovery=1.0))
    leaves = slice((3**depth - 1) // 2, n)

    def generating(q):
        return quad(lambda life: np.exp(-life) * (np.exp(-b * life) + (1 - np.exp(-b * life)) * q) ** 3, 0, 60)[0]

    q = 0.0
    for _ in range(depth):
        q = generating(q)
    assert brentq(lambda x: generating(x) - x, 0.0, 0.9) > q
    assert_part((states[:, leaves] == SUSCEPTIBLE).all(axis=1), q)


@pytest.mark.parametrize(
    "rates", [{"recovery_shape": 2.0}, {"recovery": 0.0}, {"transmission": 0.0}, {"transmission": 1e6}]
)
def test_contacts_of_one_rate_are_as_any_others(rates):
    """Without weights, hits are found without looking at the contacts between them: by the same draws."""
    pairs = np.random.default_rng(5).permutation(np.array([(i, j) for i in range(40) for j in range(i)]))[:200]
    logs = []
    for weights in (None, np.ones(len(pairs))):
        town = make_town(
            Network.from_edges(40, pairs, weights),
            [0, 1],
            rates=Rates(**rates),
            susceptibility=np.linspace(0.2, 1.0, 40),
        )
        simulation = Simulation(MODEL, town, seed=11)
        logs.append(simulation.record_events(until=50.0, events=300).to_arrow().to_pydict())
    short, long = logs
    np.testing.assert_allclose(short.pop("time"), long.pop("time"), rtol=1e-12, atol=1e-13)
    assert short == long
    assert len(short) > 0


def test_few_doses_go_to_anybody():
    """Doses that do not suffice for all are dealt with equal chances, whatever number a person has."""
    n, doses, runs = 20, 5, 2_000
    network = Network.from_edges(n, [(0, 1)])
    dealt = np.zeros(n)
    for seed in range(runs):
        town = make_town(network, [], vaccinations=[Vaccination(starts_at=1.0, coverage=0.9, doses=doses)])
        simulation = Simulation(MODEL, town, seed=seed)
        simulation.run(until=2.0)
        is_immune = simulation.world.people["state"] == VACCINATED
        assert is_immune.sum() == doses
        dealt += is_immune
    share = doses / n
    assert (np.abs(dealt / runs - share) <= 4.5 * np.sqrt(share * (1.0 - share) / runs)).all()


@pytest.mark.parametrize("weight", [5e-324, 1e-310])
def test_contacts_that_hardly_are(weight):
    """Whoever never recovers infects by the next contact, however weak the one before."""
    network = Network.from_edges(3, [(0, 1), (0, 2)], [weight, 1.0])
    simulation = Simulation(MODEL, make_town(network, [0], rates=Rates(transmission=1.0, recovery=0.0)), seed=3)
    simulation.run(until=100.0)
    assert simulation.world.people["state"].tolist() == [2, 0, 2]


@pytest.mark.parametrize("by_contact", [False, True])
def test_each_model_has_its_town(by_contact):
    """A town of the other model would run and infect nobody, so it is refused."""
    town = make_town(complete(5), [0], by_contact=by_contact)
    with pytest.raises(InputError, match="Town"):
        Simulation(MODEL if by_contact else BY_CONTACT, town, seed=1)


def test_a_run_may_start_late():
    """What begins at once begins when the run does."""
    simulation = Simulation(MODEL, make_town(complete(20), [0], rates=Rates(transmission=50.0)), seed=1, start=100.0)
    simulation.run(until=1_000.0)
    assert simulation.world.n_in[RECOVERED] == 20
