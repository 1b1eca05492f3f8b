"""The races: what is simulated, how much work it is, and which answers must agree.

A case's `work` is counted in its unit and is the same for all who run: the number of customers, of
events that the law gives on average, of epidemics. Answers are compared as means over rounds.
"""

from dataclasses import dataclass

ARRIVAL, SERVICE, CUSTOMERS = 0.8, 1.0, 50_000
COUNTED = 1_000_000
PHOLD_EVENTS, SIZES = 100_000, (1_000, 100_000)
PEOPLE, DEGREE, TRANSMISSION, RECOVERY, CASES_AT_START = 10_000, 10, 0.3, 1.0, 20
EPIDEMICS = 50


def contacts():
    """Return the pairs who meet in the epidemic, shape (m, 2): one random network for all."""
    import numpy as np

    rng, m = np.random.default_rng(1), PEOPLE * DEGREE // 2
    a, b = rng.integers(0, PEOPLE, 2 * m), rng.integers(0, PEOPLE, 2 * m)
    keys = rng.permutation(np.unique((np.minimum(a, b) * PEOPLE + np.maximum(a, b))[a != b]))[:m]
    return np.stack([keys // PEOPLE, keys % PEOPLE], axis=1)


@dataclass(frozen=True)
class Case:
    """One race."""

    name: str
    title: str
    unit: str
    work: float
    rounds: int = 5


@dataclass(frozen=True)
class Chemistry:
    """A reaction network in mass action: rates, reactants, products.

    A rate is that of one way to pick the reactants: `("X", "X")` fires at rate X (X - 1) / 2.
    """

    species: dict
    reactions: list
    until: float
    seen: str


def ways(before):
    """Return in how many orders a tool counts the same pick that has no notion of pairs: 2 for `("X", "X")`."""
    from math import factorial, prod

    return prod(factorial(before.count(s)) for s in set(before))


def chain(n, amount=1_000, until=20.0):
    """Return S0 -> S1 -> ... -> Sn and back, each at rate 1, all in S0 at first."""
    reactions = []
    for k in range(n):
        reactions += [(1.0, (f"S{k}",), (f"S{k + 1}",)), (1.0, (f"S{k + 1}",), (f"S{k}",))]
    return Chemistry({f"S{k}": amount if k == 0 else 0 for k in range(n + 1)}, reactions, until, "S0")


CHEMISTRY = {
    "lotka_volterra": Chemistry(
        {"prey": 1_000, "hunter": 1_000},
        [(10.0, ("prey",), ("prey", "prey")), (0.01, ("prey", "hunter"), ("hunter", "hunter")), (10.0, ("hunter",), ())],
        10.0, "prey",
    ),
    "enzyme": Chemistry(
        {"S": 30_000, "E": 1_000, "SE": 0, "P": 0},
        [(0.001, ("S", "E"), ("SE",)), (5.0, ("SE",), ("S", "E")), (1.0, ("SE",), ("E", "P"))],
        20.0, "P",
    ),
    "dimers": Chemistry(
        {"P": 100_000, "P2": 0, "Q": 0},
        [(1.0, ("P",), ()), (0.004, ("P", "P"), ("P2",)), (0.5, ("P2",), ("P", "P")), (0.04, ("P2",), ("Q",))],
        20.0, "P2",
    ),
    "brusselator": Chemistry(
        {"X": 1_000, "Y": 2_000},
        [(5_000.0, (), ("X",)), (1e-5, ("X", "X", "Y"), ("X", "X", "X")), (25.0, ("X",), ("Y",)), (5.0, ("X",), ())],
        20.0, "X",
    ),
    "chain_50": chain(50),
    "chain_500": chain(500, amount=300, until=30.0),
}  # fmt: skip

CASES = [
    Case("mm1", "M/M/1 at load 0.8, customers as rows or processes", "customers", CUSTOMERS),
    Case("mm1_counted", "M/M/1 at load 0.8, events that count", "customers", COUNTED),
    *(
        Case(f"phold_{n}", f"PHOLD, {n:,} pending events, exponential waits", "events", PHOLD_EVENTS, rounds=5)
        for n in SIZES
    ),
    Case("lotka_volterra", "Lotka-Volterra, 3 reactions", "events", 0),
    Case("enzyme", "Michaelis-Menten, 3 reactions", "events", 0),
    Case("dimers", "dimerisation and decay, 4 reactions", "events", 0),
    Case("brusselator", "Brusselator, 4 reactions, one of them of three molecules", "events", 0),
    Case("chain_50", "chain of 100 reactions", "events", 0),
    Case("chain_500", "chain of 1,000 reactions", "events", 0, rounds=5),
    Case("sir", "SIR on 10,000 people, 10 contacts each, 50 epidemics", "epidemics", EPIDEMICS),
    Case("sir_gillespie", "SIR on 10,000 people, one epidemic, against Gillespie's algorithm", "epidemics", 1),
]
