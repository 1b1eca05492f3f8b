"""EoN: fast_SIR, and Gillespie_SIR in one round, as it needs a minute."""

import random

import EoN
import networkx as nx
import numpy as np
from cases import CASES_AT_START, PEOPLE, RECOVERY, TRANSMISSION, contacts
from contestant import serve


def sir(method):
    graph = nx.Graph()
    graph.add_nodes_from(range(PEOPLE))
    graph.add_edges_from(contacts().tolist())

    def program(seed):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # EoN draws from the global generator
        found = method(graph, TRANSMISSION, RECOVERY, initial_infecteds=range(CASES_AT_START))
        return {"recovered": float(found[3][-1])}

    return program


serve({"sir": lambda: sir(EoN.fast_SIR), "sir_gillespie": lambda: sir(EoN.Gillespie_SIR)})
