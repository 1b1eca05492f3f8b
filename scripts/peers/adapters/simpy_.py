"""SimPy: a generator a customer, and a generator a clock."""

import random

import simpy
from cases import ARRIVAL, CUSTOMERS, PHOLD_EVENTS, SERVICE, SIZES
from contestant import serve


def mm1():
    def program(seed):
        rng, env = random.Random(seed), simpy.Environment()
        server, served = simpy.Resource(env, 1), [0, 0.0]
        done = env.event()

        def customer(came_at):
            with server.request() as turn:
                yield turn
                yield env.timeout(rng.expovariate(SERVICE))
            served[0] += 1
            served[1] += env.now - came_at
            if served[0] == CUSTOMERS:
                done.succeed()

        def source():
            while True:
                yield env.timeout(rng.expovariate(ARRIVAL))
                env.process(customer(env.now))

        env.process(source())
        env.run(until=done)
        return {"present": served[1] / env.now}

    return program


def phold(n):
    def program(seed):
        rng, env, fired = random.Random(seed), simpy.Environment(), [0]
        done = env.event()

        def clock():
            while True:
                yield env.timeout(rng.expovariate(1.0))
                fired[0] += 1
                if fired[0] == PHOLD_EVENTS:
                    done.succeed()

        for _ in range(n):
            env.process(clock())
        env.run(until=done)
        return {"time": env.now * n}

    return program


serve({"mm1": mm1, **{f"phold_{n}": (lambda n=n: phold(n)) for n in SIZES}})
