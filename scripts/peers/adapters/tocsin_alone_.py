"""Ours again, but each epidemic has a simulation made for it."""

from cases import EPIDEMICS
from contestant import serve
from tocsin_models import epidemic

from tocsin import Simulation


def sir():
    model, town = epidemic()

    def program(seed):
        recovered = 0.0
        for k in range(EPIDEMICS):
            simulation = Simulation(model, town, seed=EPIDEMICS * seed + k)
            simulation.run(until=1e9)
            recovered += simulation.observe()["Recovered"].value
        return {"recovered": recovered / EPIDEMICS}

    return program


serve({"sir": sir})
