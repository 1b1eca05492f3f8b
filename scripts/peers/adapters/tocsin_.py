"""Ours. Compiling is before the first run; making the simulations is inside."""

from cases import (
    ARRIVAL,
    CHEMISTRY,
    COUNTED,
    CUSTOMERS,
    EPIDEMICS,
    PHOLD_EVENTS,
    SERVICE,
    SIZES,
)
from contestant import serve
from tocsin_models import epidemic

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
        return {"present": simulation.world.area / simulation.world.last}

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
    from tocsin.experiment import ensemble

    model, town = epidemic()

    def program(seed):
        runs = ensemble(model, town, EPIDEMICS, until=[1e9], seed=EPIDEMICS * seed, threads=1)
        return {"recovered": float(runs.observable("Recovered", "value").mean())}

    return program


def sir_alone():
    model, town = epidemic()

    def program(seed):
        simulation = Simulation(model, town, seed=seed)
        simulation.run(until=1e9)
        return {"recovered": simulation.observe()["Recovered"].value}

    return program


serve({
    "mm1": mm1, "mm1_counted": mm1_counted, "sir": sir, "sir_gillespie": sir_alone,
    **{name: (lambda name=name: chemistry(name)) for name in CHEMISTRY},
    **{f"phold_{n}": (lambda n=n: phold(n)) for n in SIZES},
})  # fmt: skip
