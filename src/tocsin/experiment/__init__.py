"""Experiments: many runs of a scenario, planned, run anywhere, kept, and made sense of."""

from tocsin.experiment._abc import Generation
from tocsin.experiment._axes import Axis
from tocsin.experiment._calibrate import Posterior, calibrate
from tocsin.experiment._compare import Comparison, compare
from tocsin.experiment._ensemble import Ensemble, ensemble
from tocsin.experiment._executors import Executor, Futures, Threads
from tocsin.experiment._intervals import Interval, bootstrap_interval, mean_interval, quantile_interval
from tocsin.experiment._optimise import Finalist, Optimum, optimise
from tocsin.experiment._plan import Plan
from tocsin.experiment._query import query
from tocsin.experiment._results import Results
from tocsin.experiment._run import Progress, run_sweep
from tocsin.experiment._sensitivity import Design, Index, sensitivity
from tocsin.experiment._sensitivity_of import Sensitivity, sensitivity_of
from tocsin.experiment._sweep import Sweep

__all__ = [
    "Axis", "Comparison", "Design", "Ensemble", "Executor", "Finalist", "Futures", "Generation", "Index", "Interval", "Optimum",
    "Plan", "Posterior", "Progress", "Results", "Sensitivity", "Sweep", "Threads", "bootstrap_interval", "calibrate",
    "compare", "ensemble", "mean_interval", "optimise", "quantile_interval", "query", "run_sweep", "sensitivity", "sensitivity_of",
]  # fmt: skip
