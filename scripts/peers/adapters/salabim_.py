"""salabim: a component a customer, without yield."""

import random

import salabim as sim
from cases import ARRIVAL, CUSTOMERS, SERVICE
from contestant import serve


def mm1():
    def program(seed):
        rng = random.Random(seed)
        env = sim.Environment(trace=False, yieldless=False, random_seed=seed)
        server, served = sim.Resource("server", monitor=False), [0, 0.0]
        env.done = sim.State("done", monitor=False)

        class Customer(sim.Component):
            def process(self):
                came_at = env.now()
                yield self.request(server)
                yield self.hold(rng.expovariate(SERVICE))
                self.release()
                served[0] += 1
                served[1] += env.now() - came_at
                if served[0] == CUSTOMERS:
                    env.main().activate()

        class Source(sim.Component):
            def process(self):
                while True:
                    yield self.hold(rng.expovariate(ARRIVAL))
                    Customer()

        Source()
        env.run()
        return {"present": served[1] / env.now()}

    return program


serve({"mm1": mm1})
