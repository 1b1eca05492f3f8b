"""Ciw: a network of one node."""

import ciw
from cases import ARRIVAL, CUSTOMERS, SERVICE
from contestant import serve


def mm1():
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(ARRIVAL)],
        service_distributions=[ciw.dists.Exponential(SERVICE)],
        number_of_servers=[1],
    )

    def program(seed):
        ciw.seed(seed)
        simulation = ciw.Simulation(network)
        simulation.simulate_until_max_customers(CUSTOMERS, method="Finish")
        records = simulation.get_all_records()
        return {"present": sum(r.exit_date - r.arrival_date for r in records) / max(r.exit_date for r in records)}

    return program


serve({"mm1": mm1})
