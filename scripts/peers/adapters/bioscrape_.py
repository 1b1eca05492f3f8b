"""bioscrape: the direct method in Cython."""

import numpy as np
from bioscrape.random import py_seed_random
from bioscrape.simulator import ModelCSimInterface, SSASimulator
from bioscrape.types import Model
from cases import CHEMISTRY, ways
from contestant import serve


def chemistry(name):
    case = CHEMISTRY[name]
    reactions = [(list(a), list(b), "massaction", {"k": rate / ways(a)}) for rate, a, b in case.reactions]
    model = Model(species=list(case.species), reactions=reactions, initial_condition_dict=case.species)
    interface, times = ModelCSimInterface(model), np.array([0.0, case.until])

    def program(seed):
        py_seed_random(seed)
        found = SSASimulator().py_simulate(interface, times).py_get_result()
        return {case.seen: float(found[-1, model.get_species_index(case.seen)])}

    return program


serve({name: (lambda name=name: chemistry(name)) for name in CHEMISTRY})
