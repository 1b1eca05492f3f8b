"""GillesPy2: its compiled SSA; the program runs as a process of its own, whose CPU time is counted."""

import resource

import gillespy2
from cases import CHEMISTRY, ways
from contestant import serve


def falling(constant, before):
    """Return the propensity as a formula: mass action knows no third reactant."""
    factors = [s if k == 0 else f"({s} - {k})" for s in dict.fromkeys(before) for k in range(before.count(s))]
    return "*".join([constant, *factors])


def chemistry(name):
    case = CHEMISTRY[name]
    model = gillespy2.Model(name=name)
    species = {s: gillespy2.Species(name=s, initial_value=v) for s, v in case.species.items()}
    model.add_species(list(species.values()))
    for k, (rate, before, after) in enumerate(case.reactions):
        constant = gillespy2.Parameter(name=f"k{k}", expression=rate / ways(before))
        model.add_parameter(constant)
        counts = [{species[s]: side.count(s) for s in side} for side in (before, after)]
        given = {"reactants": counts[0], "products": counts[1]}
        law = {"rate": constant} if len(before) <= 2 else {"propensity_function": falling(f"k{k}", before)}
        model.add_reaction(gillespy2.Reaction(name=f"r{k}", **given, **law))
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
