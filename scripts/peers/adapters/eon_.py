"""EoN: fast_SIR, and Gillespie_SIR in one round, as it needs a minute."""

import random

import EoN
import networkx as nx
import numpy as np
from cases import CASES_AT_START, EPIDEMICS, PEOPLE, RECOVERY, TRANSMISSION, contacts
from contestant import serve


def sir(method, epidemics):
    graph = nx.Graph()
    graph.add_nodes_from(range(PEOPLE))
    graph.add_edges_from(contacts().tolist())

    def program(seed):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # EoN draws from the global generator
        runs = [
            method(graph, TRANSMISSION, RECOVERY, initial_infecteds=range(CASES_AT_START)) for _ in range(epidemics)
        ]
        return {"recovered": float(np.mean([found[3][-1] for found in runs]))}

    return program


serve({"sir": lambda: sir(EoN.fast_SIR, EPIDEMICS), "sir_gillespie": lambda: sir(EoN.Gillespie_SIR, 1)})
