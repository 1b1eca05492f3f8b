"""rebop: the direct method in Rust."""

import rebop
from cases import CHEMISTRY, ways
from contestant import serve


def chemistry(name):
    case = CHEMISTRY[name]
    network = rebop.Gillespie()
    for rate, before, after in case.reactions:
        network.add_reaction(rate / ways(before), list(before), list(after))
    is_sparse = len(case.reactions) > 50

    def program(seed):
        made = network.run(case.species, tmax=case.until, nb_steps=1, rng=seed, sparse=is_sparse)
        return {case.seen: float(made[case.seen][-1])}

    return program


serve({name: (lambda name=name: chemistry(name)) for name in CHEMISTRY})
