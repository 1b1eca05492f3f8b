"""Piecewise-deterministic Monte Carlo: exact samplers whose particles move freely until a clock rings."""

from tocsin.models.sampling._sample import sample
from tocsin.models.sampling.density import LogDensity
from tocsin.models.sampling.estimates import batch_ess, split_rhat
from tocsin.models.sampling.gaussian import Gaussian
from tocsin.models.sampling.pymc import from_pymc
from tocsin.models.sampling.regression import LinearRegression, LogisticRegression, PoissonRegression

__all__ = [
    "Gaussian",
    "LinearRegression",
    "LogDensity",
    "LogisticRegression",
    "PoissonRegression",
    "batch_ess",
    "from_pymc",
    "sample",
    "split_rhat",
]
