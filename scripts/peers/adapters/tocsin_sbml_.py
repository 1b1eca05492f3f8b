"""Ours again, but the networks come as SBML."""

from _sbml import sbml
from cases import CHEMISTRY
from contestant import serve


def chemistry(name):
    from tocsin.models.reactions import Network

    case = CHEMISTRY[name]
    network = Network.from_sbml(sbml(case))

    def program(seed):
        made = network.run([case.until], seed=seed)
        return {case.seen: float(made[case.seen][-1])}

    return program


serve({name: (lambda name=name: chemistry(name)) for name in CHEMISTRY})
