"""Cimba: compiled events that count, and the PHOLD of `tocsin bench cimba`. One worker."""

import importlib

import cimba
from cases import PHOLD_EVENTS, SIZES
from contestant import serve

Counted = importlib.import_module("cimba_models").Counted
Phold = importlib.import_module("tocsin.cli._benchmarks._cimba_model").Phold


def trial(model):
    def program(seed):
        results = cimba.Experiment(model, seed=seed).run(workers=1)
        if results.failed.any():
            raise RuntimeError(str(results.failure_reasons))
        return results[model]

    return program


def mm1_counted():
    model = Counted()
    run = trial(model)
    return lambda seed: {"present": run(seed).present.values.item()}


def phold(n):
    model = Phold()
    model.n, model.most = n, PHOLD_EVENTS
    run = trial(model)
    return lambda seed: {"time": run(seed).time.values.item() * n}


serve({
    "mm1_counted": mm1_counted,
    **{f"phold_{n}": (lambda n=n: phold(n)) for n in SIZES},
})  # fmt: skip
