"""GillesPy2: its compiled SSA; the program runs as a process of its own, whose CPU time is counted."""

import resource

import gillespy2
from cases import CHEMISTRY
from contestant import serve


def chemistry(name):
    case = CHEMISTRY[name]
    model = gillespy2.Model(name=name)
    species = {s: gillespy2.Species(name=s, initial_value=v) for s, v in case.species.items()}
    model.add_species(list(species.values()))
    for k, (rate, before, after) in enumerate(case.reactions):
        constant = gillespy2.Parameter(name=f"k{k}", expression=rate)
        model.add_parameter(constant)
        counts = [{species[s]: side.count(s) for s in side} for side in (before, after)]
        model.add_reaction(gillespy2.Reaction(name=f"r{k}", reactants=counts[0], products=counts[1], rate=constant))
    model.timespan(gillespy2.TimeSpan([0.0, case.until]))
    solver = gillespy2.SSACSolver(model=model)

    def program(seed):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = solver.run(seed=seed + 1)  # it takes no 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {case.seen: float(found[case.seen][-1]), "child_seconds": spent}

    return program


serve({name: (lambda name=name: chemistry(name)) for name in CHEMISTRY if name != "chain_500"})
