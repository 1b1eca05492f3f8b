"""Next reaction, composition-rejection and lefsim 0.1.0 are one process: 64 runs of each, eleven
lattices, every mean compared.

Both start from LEFs placed uniformly, so events are counted from time 0. Loop sizes, classes and
occupancies are averages over time after a burn-in: exact ones here, over snapshots in the middle of
equal intervals there. `PYTHONPATH=src python -m pytest -s` shows the tables.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tocsin import Simulation
from tocsin.models.extrusion import MODEL, make_fibre

from ...oracle.extrusion import KINDS, LEFT, RIGHT

lefsim = pytest.importorskip("lefsim", "0.1.0")

N_SEEDS = 64
LIMIT = 4.5  # standard errors of the difference of two means
SNAPSHOTS = 256

RATES = {"step": 1.0, "respawn": 0.01, "respawn_blocked": 0.05, "respawn_captured": 0.002}
PAIRS = [(s, "right" if s % 100 == 25 else "left") for s in range(25, 400, 50)]
"""What eight CTCFs do: convergent pairs 25-75, 125-175, ..."""


def ctcfs(sites, sides, strengths):
    """Return columns as both programs take them."""
    n = len(sites)
    sides = [sides] * n if isinstance(sides, str) else list(sides)
    return {"site": list(sites), "captures_from": sides, "strength": np.resize(strengths, n).tolist()}


NONE = ctcfs([], [], 1.0)
PAIRED = ctcfs([s for s, _ in PAIRS], [side for _, side in PAIRS], 0.8)
MIXED = ctcfs(range(10, 120, 10), np.resize(["left", "left", "right"], 11), [0.0, 0.3, 0.8, 1.0])
CONFIGURATIONS = {
    # name: (sites, LEFs, CTCFs, rates, end of a run)
    "sparse, no CTCF": (1000, 8, NONE, RATES, 1200.0),
    "dense, no CTCF": (150, 40, NONE, RATES, 1000.0),
    "convergent pairs": (400, 12, PAIRED, RATES, 2000.0),
    "all on one side": (200, 10, ctcfs(range(15, 200, 20), "left", 1.0), RATES, 1500.0),
    "strengths 0 to 1": (130, 10, MIXED, RATES, 1500.0),
    "other rates": (
        120, 9, MIXED, {"step": 3.0, "respawn": 0.3, "respawn_blocked": 0.04, "respawn_captured": 0.6}, 700.0,
    ),
    "tiny, with ends": (
        9, 3, ctcfs([0, 3, 8], ["right", "left", "left"], [1.0, 0.5, 0.7]), {**RATES, "respawn": 0.05}, 4000.0,
    ),
    "very crowded": (
        41, 20, ctcfs([13, 28], ["right", "left"], 0.9), {**RATES, "respawn_captured": 0.02}, 1000.0,
    ),
    "one LEF between two": (60, 1, ctcfs([12, 47], ["right", "left"], [0.6, 0.9]), RATES, 6000.0),
    "rates over decades": (
        110, 6, MIXED | {"site": [s - 8 for s in MIXED["site"]]},
        {"step": 7.3, "respawn": 0.0021, "respawn_blocked": 0.9, "respawn_captured": 0.011}, 1200.0,
    ),
    "weak, facing away": (
        250, 9, ctcfs(range(20, 250, 30), np.resize(["left", "right"], 8), 0.2), RATES, 1500.0,
    ),
}  # fmt: skip


def ours(configuration, seed, until, method="next-reaction"):
    """Return the observables of one run of Tocsin."""
    n_sites, n_lefs, columns, rates, _ = configuration
    fibre = make_fibre(
        n_sites, n_lefs, ctcf_sites=columns["site"], captures_from=columns["captures_from"],
        strength=columns["strength"], rates=rates, seed=10_000 + seed,
    )  # fmt: skip
    simulation = Simulation(MODEL, fibre, seed=seed, method=method)
    simulation.run(until=until / 4)
    simulation.reset_observables()
    simulation.run(until=until)
    seen = simulation.observe()
    events = [simulation.counts[kind] / until for kind in KINDS]
    classes = [
        seen["LoopSize"].mean / n_lefs,
        seen["Captured"].mean / (2 * n_lefs),
        seen["Blocked"].mean / (2 * n_lefs),
    ]
    return [*events, *classes, *simulation.row_means("Occupancy")[columns["site"]]]


def theirs(configuration, seed, until):
    """Return the observables of one run of lefsim."""
    n_sites, n_lefs, columns, rates, _ = configuration
    lattice = lefsim.Lattice(n_sites, columns if columns["site"] else None)
    world = lefsim.populate(lattice, n_lefs, seed=10_000 + seed)
    simulation = lefsim.Sim(lefsim.Model(world, lefsim.Rates(**rates)), seed=seed)
    dt = 0.75 * until / SNAPSHOTS
    record = simulation.record_until(until, dt=dt, t0=until / 4 + dt / 2, events=True)
    actions = record.events.to_pyarrow()["action"].to_numpy(zero_copy_only=False)
    # a LEF that lands has a row for each leg
    events = [np.count_nonzero(actions == kind) / (1 if kind == "Step" else 2) / until for kind in KINDS]
    table = record.snapshots.to_pyarrow()
    pos, captured = (
        np.stack([table[f"{side}_{what}"].to_numpy(zero_copy_only=False) for side in ("left", "right")], axis=1)
        for what in ("pos", "mobility")
    )
    pos = pos.astype(int).reshape(SNAPSHOTS, 2 * n_lefs)
    captured = (captured == "Captured").reshape(SNAPSHOTS, 2 * n_lefs)
    size = pos[:, 1::2] - pos[:, ::2]
    is_blocked = blocked(n_sites, columns, pos, captured)
    occupancy = [(pos == site).any(axis=1).mean() for site in columns["site"]]
    return [*events, size.mean(), captured.mean(), is_blocked.mean(), *occupancy]


def blocked(n_sites, columns, pos, captured):
    """Return which legs are blocked, [snapshot, leg]: moving, with an obstacle ahead or held while protected."""
    rows = np.arange(len(pos))[:, None]
    taken = np.zeros((len(pos), n_sites + 2), bool)  # both ends are walls; site s in column s + 1
    taken[rows, pos + 1] = True
    taken[:, [0, -1]] = True
    held = np.zeros_like(taken)
    held[np.nonzero(captured)[0], pos[captured] + 1] = True
    side = np.zeros(n_sites + 2, int)
    side[np.array(columns["site"], int) + 1] = [LEFT if s == "left" else RIGHT for s in columns["captures_from"]]
    facing = np.resize([LEFT, RIGHT], pos.shape[1])
    ahead = pos + 1 + facing
    is_held = held[rows, ahead] & (side[ahead] == facing)
    is_protected = captured.reshape(len(pos), -1, 2)[:, :, ::-1].reshape(captured.shape)
    return ~captured & taken[rows, ahead] & (~is_held | is_protected)


def by_rates(configuration, seed, until):
    """Return the observables of one run of Tocsin by composition-rejection, with seeds of its own."""
    return ours(configuration, 5_000 + seed, until, "composition-rejection")


PROGRAMS = {"next reaction": ours, "composition-rejection": by_rates, "lefsim": theirs}


def compare(name, factor):
    """Return, for each pair of programs, {observable: (mean of one, of the other, z)} and the joint z.

    The runs are `factor` times as long as usual.
    """
    configuration = CONFIGURATIONS[name]
    until = factor * configuration[-1]
    means = {
        program: np.array([run(configuration, seed, until) for seed in range(N_SEEDS)])
        for program, run in PROGRAMS.items()
    }
    return {pair: gaps(configuration, means[pair[0]], means[pair[1]]) for pair in combinations(PROGRAMS, 2)}


def gaps(configuration, a, b):
    """Return {observable: (mean of a, mean of b, z)} and the joint z of two programs' runs."""
    error = np.sqrt((a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / N_SEEDS)  # Welch
    gap = a.mean(axis=0) - b.mean(axis=0)
    z = np.divide(gap, error, out=np.where(gap == 0.0, 0.0, np.inf), where=error > 0.0)
    labels = [*KINDS, "loop size", "captured", "blocked", *(f"CTCF {s}" for s in configuration[2]["site"])]
    varied = error > 0.0
    return {
        label: (float(x), float(y), float(d))
        for label, x, y, d, v in zip(labels, a.mean(axis=0), b.mean(axis=0), z, varied, strict=True)
        if v or d != 0.0
    }, joint(a[:, varied], b[:, varied])


def joint(a, b):
    """Return Hotelling's two-sample T^2, which knows that the means are correlated, as a normal z of its tail."""
    (n, k), m = a.shape, len(b)
    pooled = ((n - 1) * np.cov(a.T) + (m - 1) * np.cov(b.T)) / (n + m - 2)
    gap = a.mean(axis=0) - b.mean(axis=0)
    t2 = n * m / (n + m) * gap @ np.linalg.solve(pooled, gap)
    return float(stats.norm.isf(stats.f.sf(t2 * (n + m - k - 1) / ((n + m - 2) * k), k, n + m - k - 1)))


def check(factor):
    """Compare all configurations: every |z| < 4.5, each lattice as a whole too, and z as wide as chance makes them."""
    tables = {(name, *pair): found for name in CONFIGURATIONS for pair, found in compare(name, factor).items()}
    for case, (table, together) in tables.items():
        z = np.array([d for _, _, d in table.values()])
        rms = np.sqrt((z**2).mean())
        print(
            f"\n{', '.join(case)}: {len(z)} means, max |z| {abs(z).max():.2f}, rms z {rms:.2f}, joint z {together:.2f}"
        )
        for label, (x, y, d) in table.items():
            print(f"  {label:10s} {x:12.6g} {y:12.6g} {d:6.2f}")
    every = {(case, label): row[-1] for case, (table, _) in tables.items() for label, row in table.items()}
    assert {key: z for key, z in every.items() if not abs(z) < LIMIT} == {}
    assert {case: z for case, (_, z) in tables.items() if not z < LIMIT} == {}
    for pair in combinations(PROGRAMS, 2):
        z = np.array([z for (case, _), z in every.items() if case[1:] == pair])
        print(f"{pair}: {len(z)} means, rms z {np.sqrt((z**2).mean()):.3f}")
        assert len(z) >= 70
        assert np.sqrt((z**2).mean()) < 1.3


def test_all_means_agree():
    """Event rates, loop size, classes and CTCF occupancies agree within 4.5 standard errors, and rms z < 1.3."""
    check(2.0)


@pytest.mark.slow
def test_all_means_agree_over_long_runs():
    """The same over runs ten times longer, where the standard errors are three times smaller."""
    check(20.0)
