"""Cimba: compiled events that count, and PHOLD. One worker."""

import importlib

import cimba
from cases import PHOLD_EVENTS
from contestant import serve

models = importlib.import_module("cimba_models")


def trial(model):
    def program(seed):
        results = cimba.Experiment(model, seed=seed).run(workers=1)
        if results.failed.any():
            raise RuntimeError(str(results.failure_reasons))
        return results[model]

    return program


def mm1_counted():
    model = models.Counted()
    run = trial(model)
    return lambda seed: {"present": run(seed).present.values.item()}


def phold(n):
    model = models.Phold()
    model.n, model.most = n, PHOLD_EVENTS
    run = trial(model)
    return lambda seed: {"time": run(seed).time.values.item() * n}


serve({
    "mm1_counted": mm1_counted,
    **{f"phold_{n}": (lambda n=n: phold(n)) for n in (1_000, 100_000)},
})  # fmt: skip
