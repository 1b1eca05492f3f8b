"""PyMC models as targets; PyMC is not among the packages of the tests, as it pins an older Numba."""

import numpy as np
import pytest

from tocsin import InputError
from tocsin.models.sampling import sample

pm = pytest.importorskip("pymc")


def test_posterior_of_a_normal_mean():
    """Known variance, normal prior: mean and deviation in closed form; a positive variable comes back positive."""
    y = np.array([1.0, 2.0, 4.0])
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        mu = pm.Normal("mu", 0.0, 2.0, dims="side")
        rate = pm.Exponential("rate", 2.0)
        pm.Deterministic("double", 2.0 * rate)
        pm.Normal("y", mu[0], 1.0, observed=y)
    found = sample(model, draws=4_000, chains=2, seed=1)
    variance = 1.0 / (1.0 / 4.0 + 3.0)
    left = found.posterior["mu"].sel(side="left")
    ess = found.path["ess"].values
    assert abs(float(left.mean()) - 7.0 * variance) < 4.5 * np.sqrt(variance / ess[0])
    assert abs(float(found.posterior["mu"].sel(side="right").mean())) < 4.5 * 2.0 / np.sqrt(ess[1])
    assert float(found.posterior["rate"].min()) > 0.0
    assert abs(float(found.posterior["rate"].mean()) - 0.5) < 4.5 * 1.0 / np.sqrt(ess[2])
    np.testing.assert_allclose(found.posterior["double"], 2.0 * found.posterior["rate"])
    assert found.posterior.attrs["bounds"] == "approximate"


def test_discrete_variables_are_refused():
    with pm.Model() as model:
        pm.Poisson("n", 3.0)
    with pytest.raises(InputError, match="n is discrete"):
        sample(model)
