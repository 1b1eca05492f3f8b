"""COPASI through basico: the direct method on small networks, Gibson and Bruck's on chains."""

import basico
from _sbml import sbml
from cases import CHEMISTRY
from contestant import serve


def chemistry(name):
    case = CHEMISTRY[name]
    model = basico.load_model_from_string(sbml(case))
    method = "stochastic" if len(case.reactions) > 10 else "directMethod"

    def program(seed):
        found = basico.run_time_course(
            duration=case.until, intervals=1, method=method, use_seed=True, seed=seed, use_numbers=True, model=model,
            update_model=False, max_steps=10**9,
        )  # fmt: skip
        return {case.seen: float(found[case.seen].iloc[-1])}

    return program


serve({name: (lambda name=name: chemistry(name)) for name in CHEMISTRY})
