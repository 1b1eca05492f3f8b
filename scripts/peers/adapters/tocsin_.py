"""Ours. Every run makes its simulation anew; compiling is before the first."""

from cases import (
    ARRIVAL,
    CASES_AT_START,
    CHEMISTRY,
    COUNTED,
    CUSTOMERS,
    PEOPLE,
    PHOLD_EVENTS,
    RECOVERY,
    SERVICE,
    SIZES,
    TRANSMISSION,
    contacts,
)
from contestant import serve

from tocsin import Simulation


def mm1():
    from tocsin.models.queues.station import MODEL, Law, make_world

    world = make_world(1, Law(arrival=ARRIVAL, service=1.0 / SERVICE))

    def program(seed):
        simulation = Simulation(MODEL, world, seed=seed)
        while simulation.world.n_served < CUSTOMERS:
            simulation.run(events=2 * (CUSTOMERS - simulation.world.n_served))
        seen = simulation.observe()
        return {"present": seen["Waiting"].mean + seen["Busy"].mean}

    return program


def mm1_counted():
    from tocsin_models import COUNTED as MODEL
    from tocsin_models import Queue

    world = Queue()

    def program(seed):
        simulation = Simulation(MODEL, world, seed=seed, method="composition-rejection")
        while simulation.world.n_served < COUNTED:
            simulation.run(events=2 * (COUNTED - simulation.world.n_served))
        return {"present": simulation.observe()["Present"].mean}

    return program


def phold(n):
    from tocsin.cli._benchmarks._clocks import PHOLD, Clocks

    world = Clocks(clocks=n)

    def program(seed):
        simulation = Simulation(PHOLD, world, seed=seed)
        simulation.run(events=PHOLD_EVENTS)
        return {"time": simulation.now * n}

    return program


def chemistry(name):
    from tocsin.models.reactions import Network, Reaction

    case = CHEMISTRY[name]
    text = [(" + ".join(a) or "0") + " -> " + (" + ".join(b) or "0") for _, a, b in case.reactions]
    network = Network(case.species, [Reaction(t, r[0]) for t, r in zip(text, case.reactions, strict=True)])

    def program(seed):
        made = network.run([case.until], seed=seed)
        return {case.seen: float(made[case.seen][-1]), "events": made.n_events}

    return program


def sir():
    import numpy as np

    from tocsin.models.epidemic import MODEL, Rates, make_town
    from tocsin.space import Network

    town = make_town(Network.from_edges(PEOPLE, contacts()), np.arange(CASES_AT_START),
                     rates=Rates(transmission=TRANSMISSION, recovery=RECOVERY))  # fmt: skip

    def program(seed):
        simulation = Simulation(MODEL, town, seed=seed)
        simulation.run(until=1e9)
        return {"recovered": simulation.observe()["Recovered"].value}

    return program


serve({
    "mm1": mm1, "mm1_counted": mm1_counted, "sir": sir, "sir_gillespie": sir,
    **{name: (lambda name=name: chemistry(name)) for name in CHEMISTRY},
    **{f"phold_{n}": (lambda n=n: phold(n)) for n in SIZES},
})  # fmt: skip
