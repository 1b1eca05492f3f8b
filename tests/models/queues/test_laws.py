"""Closed forms of the classic queues, within 4.5 standard errors of batch means."""

import math
from math import factorial

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models.classic import mm1
from tocsin.models.queues import machine_shop, priority, station, tandem

from ._batches import assert_mean, batches


def erlang_c(load, c):
    """Return the probability that a customer waits in M/M/c with `load` = arrival * service."""
    full = load**c / factorial(c) * c / (c - load)
    return full / (sum(load**k / factorial(k) for k in range(c)) + full)


@pytest.mark.parametrize(("c", "rho"), [(1, 0.6), (3, 0.7), (8, 0.8)])
def test_erlang_c(c, rho):
    """M/M/c: the line has mean C rho / (1 - rho), and rho c servers are busy."""
    world = station.make_world(c, station.Law(arrival=rho * c, service=1.0))
    measure = lambda s: [s.observe()["Waiting"].mean, s.observe()["Busy"].mean]  # noqa: E731
    seen = batches(station.MODEL, world, measure, burn=300, span=2_000)
    assert_mean(seen[:, 0], erlang_c(rho * c, c) * rho / (1 - rho))
    assert_mean(seen[:, 1], rho * c)


@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 4.0])
def test_pollaczek_khinchine(shape):
    """M/G/1: a wait has mean lambda E[S**2] / (2 (1 - rho)); as counted, and by Little's law."""
    arrival, service = 0.35, 2.0
    square = service**2 * (1 + (0.0 if shape == 0.0 else 1 / shape))
    wait = arrival * square / (2 * (1 - arrival * service))
    world = station.make_world(1, station.Law(arrival=arrival, service=service, shape=shape))
    counted = [0.0, 0]

    def measure(simulation):
        world = simulation.world
        n_begun = world.n_served + int(world.servers[0].customer is not None)
        new = world.total_wait - counted[0], n_begun - counted[1]
        counted[:] = world.total_wait, n_begun
        return [simulation.observe()["Waiting"].mean, new[0] / max(new[1], 1)]

    seen = batches(station.MODEL, world, measure, burn=1_000, span=8_000, seed=2)
    assert_mean(seen[:, 0], arrival * wait)
    assert_mean(seen[:, 1], wait)


ARRIVALS, SERVICES, SHAPES = [0.2, 0.15, 0.1], [1.0, 1.5, 2.0], [1.0, 3.0, 0.0]


@pytest.mark.parametrize("preemptive", [False, True])
def test_cobham(preemptive):
    """Mean times of three classes: Cobham's without preemption, White and Christie's with it."""
    world = priority.make_world(ARRIVALS, SERVICES, SHAPES, priority.Rules(preemptive=preemptive))
    before = np.zeros((2, 3))

    def measure(simulation):
        classes = simulation.world.classes
        now = np.array([classes["total_time"], classes["n_served"]])
        new, before[:] = now - before, now
        return new[0] / np.maximum(new[1], 1)

    seen = batches(priority.MODEL, world, measure, burn=1_000, span=8_000, seed=3)
    squares = [s**2 * (1 + (1 / k if k else 0.0)) for s, k in zip(SERVICES, SHAPES, strict=True)]
    loads = np.cumsum([0.0, *(a * s for a, s in zip(ARRIVALS, SERVICES, strict=True))])
    residual = np.cumsum([a * q / 2 for a, q in zip(ARRIVALS, squares, strict=True)])
    for k in range(3):
        better, own = 1 - loads[k], 1 - loads[k + 1]
        if preemptive:
            expected = SERVICES[k] / better + residual[k] / (better * own)
        else:
            expected = SERVICES[k] + residual[-1] / (better * own)
        assert_mean(seen[:, k], expected)


def test_jackson():
    """Stations in a row are M/M/c queues of their own: numbers present, and parts of time without any."""
    services, n_servers, arrival = [1.5, 0.6, 2.0], [1, 2, 1], 0.9
    world = tandem.make_world(services, n_servers, tandem.Rates(arrival=arrival))

    def measure(simulation):
        return np.concatenate([simulation.row_means("Present"), simulation.row_means("Idle")])

    seen = batches(tandem.MODEL, world, measure, burn=500, span=4_000, seed=4)
    for k, (service, c) in enumerate(zip(services, n_servers, strict=True)):
        load = arrival / service
        rho = load / c
        assert_mean(seen[:, k], erlang_c(load, c) * rho / (1 - rho) + load)
        idle = 1 / (sum(load**j / factorial(j) for j in range(c)) + load**c / factorial(c) / (1 - rho))
        assert_mean(seen[:, 3 + k], idle)


@pytest.mark.parametrize(("repairmen", "shape"), [(1, 25.0), (3, 0.0), (3, 1.0)])
def test_machine_repair(repairmen, shape):
    """Machines down are a birth-death chain; those that run make parts at rate 1 / part, interrupted or not."""
    n, times = 10, machine_shop.Times(part_shape=shape, failure=100.0, repair=20.0)
    weights = [1.0]
    for k in range(n):
        weights.append(weights[-1] * (n - k) / times.failure / (min(k + 1, repairmen) / times.repair))
    down = np.dot(np.arange(n + 1), weights) / np.sum(weights)
    made = [0]

    def measure(simulation):
        n_parts = int(simulation.world.machines["n_parts"].sum())
        new, made[0] = n_parts - made[0], n_parts
        return [simulation.observe()["Down"].mean, new]

    span = 20_000
    world = machine_shop.make_world(n, repairmen, times)
    seen = batches(machine_shop.MODEL, world, measure, burn=2_000, span=span, seed=5)
    assert_mean(seen[:, 0], down)
    assert_mean(seen[:, 1], (n - down) / times.part * span)


@pytest.mark.parametrize("module", [station, priority, tandem, machine_shop])
def test_compiled_is_interpreted_and_audited(module):
    """Machine code and plain Python leave the same bits, and no clock goes stale untouched."""
    world = module.make_world(rules=priority.Rules(preemptive=True)) if module is priority else module.make_world()
    compiled, plain = (Simulation(module.MODEL, world, seed=6, jit=jit, audit=not jit) for jit in (True, False))
    for simulation in (compiled, plain):
        simulation.run(events=800)
    assert (compiled.now, compiled.counts) == (plain.now, plain.counts)
    assert min(compiled.counts.values()) > 0


def test_customers_are_conserved():
    """Who came is served, in service or in line; and a line is first come, first served."""
    simulation = Simulation(station.MODEL, station.make_world(2, station.Law(arrival=1.9)), seed=7)
    for _ in range(20):
        simulation.run(events=137)
        world = simulation.world
        assert simulation.counts["Arrive"] == world.n_served + world.customers.n_live
        waiting, customer = [], world.line[0].first
        while customer is not None:
            waiting.append(customer.came_at)
            customer = customer.next
        assert waiting == sorted(waiting)
        assert len(waiting) == world.line[0].n


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: priority.make_world([0.1], [1.0, 2.0]), "each class an arrival, a service and a shape, got 1, 2, 1"),
        (lambda: priority.make_world([-0.1], [1.0]), "arrivals must be >= 0"),
        (lambda: priority.make_world([math.inf, 0.1], [1.0, 1.0]), "all finite, got .inf, 0.1"),
        (lambda: priority.make_world([0.1, 0.1], [1.0, math.nan]), "all finite"),
        (lambda: station.make_world(0), "whole number >= 1, got 0"),
        (lambda: station.make_world(1.5), "whole number >= 1, got 1.5"),
        (lambda: tandem.make_world([1.0, math.nan]), "services must be > 0 and finite"),
        (lambda: tandem.make_world([]), "each station a service and a number of servers, got 0 and 0"),
        (lambda: tandem.make_world([0.0]), "services must be > 0"),
        (lambda: tandem.make_world([1.0], [0]), "n_servers >= 1"),
        (lambda: tandem.make_world([1.0], ["3"]), "n_servers must be a list of numbers, got .'3'."),
        (lambda: tandem.make_world(5), "services must be a list of numbers, got 5"),
        (lambda: priority.make_world("ab", "cd"), "arrivals must be a list of numbers, got 'ab'"),
        (lambda: priority.make_world([0.1], [1.0], ["x"]), "shapes must be a list of numbers, got .'x'."),
        (lambda: machine_shop.make_world(3, -1), "n_repairmen must be a whole number >= 0, got -1"),
        (lambda: mm1.make_world(-5), "n_present must be >= 0, got -5"),
    ],
)
def test_bad_worlds(make, text):
    """Numbers that make no queue are refused."""
    with pytest.raises(InputError, match=text):
        make()
