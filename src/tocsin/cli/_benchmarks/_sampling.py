"""Piecewise-deterministic samplers: events a second, a sparse image, and tall data against nutpie's NUTS.

nutpie needs PyMC, whose Numba is older: TOCSIN_NUTPIE names a Python that has both (by default this one); without, tall data are
compared with a prototype's figures. pdmp-jax needs an older JAX: TOCSIN_PDMP_JAX names a Python that has it; without, its row
is left out.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tocsin.cli._benchmarks._comparison import Comparison, require
from tocsin.errors import InputError, SimulationError

TALL = ((10_000, 40.0, 1_000, 27_560.0), (100_000, 200.0, 500, 14_300.0), (1_000_000, 2_000.0, 40, 12_050.0))
"""Data points, ratio to reach, draws of NUTS, effective draws a CPU second of a prototype of this sampler."""
IMAGE = ((100, 1.5), (200, 11.0), (300, 35.0), (400, 81.0))
"""Side of the image, CPU seconds of a prototype with one binary heap."""
EVENTS = (("iid", 1_000, 9.0e6), ("grid", 32, 1.6e6), ("grid", 316, 0.27e6))
"""Precision, size, events a CPU second of that prototype (one core of a shared AMD EPYC)."""

SPIKES, SECONDS = ((100, 60), (200, 100)), 0.5
"""Coefficients and observations; CPU seconds of each run."""


def sampling() -> Iterator[Comparison]:
    """Samplers: flips and a sticky image against a prototype's figures, tall data against nutpie's NUTS."""
    require("scipy", "'tocsin[sampling]'")
    require("arviz", "'tocsin[sampling]'")
    yield from events()
    yield from image()
    yield from spikes()
    yield from tall()


def events() -> Iterator[Comparison]:
    """Events a CPU second of the local Zig-Zag on Gaussians; the best of five runs, as others use the machine too."""
    for kind, size, peer in EVENTS:
        chain = _gaussian(kind, size)
        d = len(chain.world.coordinates)
        chain.warm_up(2.0)
        rate = chain.world.n_flips / chain.simulation.now / d
        best = 0.0
        for _ in range(5):
            before, begun = chain.simulation.n_events, time.process_time()
            chain.warm_up(2e6 / (rate * d))
            best = max(best, (chain.simulation.n_events - before) / (time.process_time() - begun))
        yield Comparison(f"Zig-Zag, {kind}, d = {d:,}", best, peer, "events/CPU s", 1.0)
        if (kind, size) == EVENTS[0][:2] and "TOCSIN_PDMP_JAX" in os.environ:
            theirs = _other_python("TOCSIN_PDMP_JAX", "_pdmp_jax_model.py", "50", "30000")
            if abs(theirs["rate"] * math.sqrt(2.0 * math.pi) - 1.0) > 0.05:
                raise SimulationError(f"pdmp-jax turned {theirs['rate']:.4g} times a unit of time; no figure is given")
            name = f"Zig-Zag, iid, d = {d:,}; pdmp-jax, d = 50"
            yield Comparison(name, best, theirs["events"] / theirs["cpu"], "events/CPU s")


def image() -> Iterator[Comparison]:
    """A sticky image of a heart, T = 500: CPU seconds, without making the target."""
    for side, peer in IMAGE:
        chain = _heart(side)
        begun = time.process_time()
        chain.simulation.run(until=500.0)
        spent = time.process_time() - begun
        name = f"sticky image, {side * side:,} pixels, {chain.simulation.n_events:,} events"
        yield Comparison(name, spent, peer, "CPU s", 1.0, (peer / spent,))


def tall() -> Iterator[Comparison]:
    """Least effective sample size a CPU second on a logistic regression, d = 5; preparation of data apart."""
    is_alone = "TOCSIN_NUTPIE" not in os.environ and find_spec("nutpie") is None
    for n, goal, draws, prototype in TALL:
        X, y = _logistic(n)
        ours = _zigzag(X, y)
        if is_alone:
            yield Comparison(f"logistic, n = {n:,}, a prototype", ours["ess"] / ours["cpu"], prototype, "min ESS/CPU s")
            continue
        peer = _nutpie(X, y, draws)
        for a, b, sd, e in zip(ours["mean"], peer["mean"], peer["sd"], [peer["ess"]] * 5, strict=True):
            if abs(a - b) > 4.5 * sd / math.sqrt(e):
                raise SimulationError(f"posterior means differ at n = {n:,}: {a:.6g} and {b:.6g}; no figure is given")
        name = (
            f"logistic, n = {n:,} ({ours['data'] / ours['ess']:.2f} data points an effective sample, "
            f"{ours['prepare']:.1f} CPU s of preparation), nutpie"
        )
        speeds = ours["ess"] / ours["cpu"], peer["ess"] / peer["cpu_draws"]
        yield Comparison(name, *speeds, "min ESS/CPU s", goal)


def spikes() -> Iterator[Comparison]:
    """Squared error of inclusion probabilities at equal CPU time, sticky Zig-Zag and Gibbs, against a long run of each."""
    import numpy as np

    from tocsin.cli._benchmarks._gibbs import design, gibbs, zigzag
    from tocsin.models.sampling import LinearRegression

    for d, n in SPIKES:
        target = LinearRegression(*design(d, n), noise_sd=1.0, prior_sd=1.0, inclusion=0.1)
        truth = 0.5 * (zigzag(target, 20.0 * SECONDS, 1) + gibbs(target, 20.0 * SECONDS, 1))
        errors = [
            [float(np.mean((run(target, SECONDS, seed) - truth) ** 2)) for seed in range(2, 7)]
            for run in (zigzag, gibbs)
        ]
        mine, theirs = (float(np.mean(e)) for e in errors)
        name = f"spike and slab, d = {d}, Gibbs, {SECONDS} CPU s each"
        yield Comparison(name, mine, theirs, "squared error", None, (theirs / mine,))


def _gaussian(kind: str, size: int) -> Any:
    import numpy as np
    import scipy.sparse as sparse

    from tocsin.models.sampling import Gaussian

    precision = sparse.identity(size) if kind == "iid" else 0.01 * sparse.identity(size * size) + _laplacian(size)
    target = Gaussian(precision)
    rng = np.random.default_rng(1)
    return target.zigzag(0.5 * rng.normal(size=target.d), 1, speeds=np.ones(target.d))


def _laplacian(n: int) -> Any:
    """Return the Laplacian of an n by n grid."""
    import numpy as np
    import scipy.sparse as sparse

    side = sparse.diags([np.ones(n - 1)], [1], shape=(n, n))
    path = sparse.diags(np.asarray((side + side.T).sum(axis=1)).ravel()) - side - side.T
    return sparse.kron(path, sparse.identity(n)) + sparse.kron(sparse.identity(n), path)


def _heart(n: int) -> Any:
    """Return a sticky Zig-Zag on a noisy heart: kappa 0.15, unit speeds, some 14 % of the pixels at work."""
    import numpy as np
    import scipy.sparse as sparse
    from scipy.sparse.linalg import cg

    from tocsin.models.sampling import Gaussian

    u = np.linspace(-2.5, 2.5, n)
    x, y = np.meshgrid(u, -u)
    inside = (x**2 + y**2 - 1.0) ** 3 < x**2 * y**3
    observed = 2.0 * inside.ravel() + math.sqrt(0.5) * np.random.default_rng(1).normal(size=n * n)
    precision = (2.0 * _laplacian(n) + 2.1 * sparse.identity(n * n)).tocsr()
    mean = cg(precision, 2.0 * observed, rtol=1e-10)[0]
    target = Gaussian(precision, mean, inclusion=0.5, slab_sd=1.0 / (0.15 * math.sqrt(2.0 * math.pi)))
    return target.zigzag(np.zeros(n * n), 1, speeds=np.ones(n * n))


def _logistic(n: int) -> tuple[Any, Any]:
    import numpy as np

    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 4))])
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ [0.5, -1.0, 0.8, 0.3, -0.4]))).astype(float)
    return X, y


def _zigzag(X: Any, y: Any) -> dict[str, Any]:
    import arviz as az

    from tocsin.models.sampling import LogisticRegression

    begun = time.process_time()
    target = LogisticRegression(X, y, prior_sd=10.0)
    chain = target.zigzag(target.mode()[0], 1)
    chain.warm_up(100.0)
    prepared = time.process_time()
    chain.record(200_000, 1.0, range(5))
    chain.run()
    spent = time.process_time() - prepared
    draws = chain.draws()
    least = min(float(az.ess(draws[None, :, k])) for k in range(5))
    counts = chain.counts()
    return {
        "ess": least, "cpu": spent, "prepare": prepared - begun, "mean": draws.mean(axis=0).tolist(),
        "data": int(counts["data_points"][-1]),
    }  # fmt: skip


def _nutpie(X: Any, y: Any, draws: int) -> dict[str, Any]:
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        return _other_python("TOCSIN_NUTPIE", "_nutpie_model.py", str(path), str(draws), str(draws))


def _other_python(variable: str, script: str, *arguments: str) -> dict[str, Any]:
    """Run a script beside this file in the Python that a variable names; return the JSON that it prints last."""
    python = os.environ.get(variable, sys.executable)
    done = subprocess.run(  # noqa: S603
        [python, str(Path(__file__).with_name(script)), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise InputError(
            f"{script} did not run: {last[0][:300]}. Name a Python that has what it imports: {variable}=path"
        )
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
