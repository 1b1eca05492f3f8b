"""Run by a Python that has PyMC and nutpie: NUTS on a logistic regression; prints JSON.

Arguments: a .npz file with X and y, draws, warm-up draws. CPU seconds are those of sampling, without compilation.
"""

import json
import os
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"


def main(path: str, draws: int, tune: int) -> None:
    """Sample one chain and print its effective sample sizes, means and CPU seconds."""
    import arviz as az
    import numpy as np
    import nutpie
    import pymc as pm

    data = np.load(path)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 10.0, shape=data["X"].shape[1])
        pm.Bernoulli("y", logit_p=pm.math.dot(data["X"], beta), observed=data["y"].astype(np.int64))
    compiled = nutpie.compile_pymc_model(model, backend="numba")
    nutpie.sample(compiled, draws=2, tune=2, chains=1, cores=1, seed=1, progress_bar=False)
    begun = time.process_time()
    found = nutpie.sample(compiled, draws=draws, tune=tune, chains=1, cores=1, seed=2, progress_bar=False)
    seconds = time.process_time() - begun
    share = draws / (draws + tune)
    beta = found.posterior["beta"]
    print(json.dumps({
        "ess": float(az.ess(beta)["beta"].min()), "cpu": seconds, "cpu_draws": seconds * share,
        "mean": beta.mean(("chain", "draw")).values.tolist(), "sd": beta.std(("chain", "draw")).values.tolist(),
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
