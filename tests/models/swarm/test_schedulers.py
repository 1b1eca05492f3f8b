"""Who looks when: turns, rounds, waits, and their bounds."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from tocsin.models.swarm.robot import IGNORED, MAX_TURNS, MOVED, QUIET, RUNNING

from ._swarms import events_of, looks_of, places, rest, swarm


@pytest.mark.parametrize(
    ("schedule", "end", "expected"),
    [([], "round_robin", [0, 1, 2, 0, 1, 2, 0, 1]), ([1, 1, 0], "round_robin", [1, 1, 0, 0, 1, 2, 0, 1]),
     ([0, 1, 2, 1], "repeat", [0, 1, 2, 1, 0, 1, 2, 1])],
)  # fmt: skip
def test_turns(schedule, end, expected):
    """Turns come in the order of the list, then round robin or the list again."""
    simulation = swarm([[-300, 0], [300, 0], [0, 400]], scheduler="sequential", schedule=schedule, schedule_end=end)
    assert looks_of(simulation, 17)[:8] == expected


def test_one_at_a_time():
    """With the sequential scheduler nobody looks while another moves, and all turns move time on by the moves only."""
    log = events_of(swarm(6, scheduler="sequential"), 60)[1:]
    for (_, action, who), (_, following, then) in itertools.pairwise(log):
        if action == "Look" and following == "Arrive":
            assert who == then
    assert {action for _, action, _ in log} == {"Look", "Arrive"}


def test_shuffled_turns_are_permutations():
    """Each epoch of shuffled turns is a permutation, and they differ."""
    looks = looks_of(swarm(6, "SEC", scheduler="sequential", order="shuffled", rules={"tolerance": 1e-9}), 100)
    epochs = [tuple(looks[k : k + 6]) for k in range(0, len(looks) - 5, 6)]
    assert all(sorted(epoch) == list(range(6)) for epoch in epochs)
    assert len(set(epochs)) > len(epochs) // 2


def test_epochs_and_turn_limit():
    """Six turns of three robots are two epochs; then the turn limit ends the run."""
    simulation = rest(swarm([[-300, 0], [300, 0], [0, 400]], scheduler="sequential", max_turns=6))
    world = simulation.world
    assert (world.outcome, world.n_turns, world.n_epochs) == (MAX_TURNS, 6, 2)


def test_epoch_of_uneven_turns():
    """An epoch ends only when every robot has had a turn: looks 0,0,0,1,2 are one epoch."""
    simulation = swarm([[-300, 0], [300, 0], [0, 400]], scheduler="sequential", schedule=[0, 0, 0, 1, 2])
    epochs = []
    while len(epochs) < 7:
        if simulation.step().action == "Look":
            epochs.append(simulation.world.n_epochs)
    assert epochs == [0, 0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("k", [1, 3])
def test_fair_turns(k):
    """With k-fair turns nobody has more than k turns between two turns of another."""
    looks = looks_of(swarm(5, "SEC", scheduler="sequential", order="fair", rules={"k": k, "tolerance": 1e-9}), 300)
    last = {}
    for place, who in enumerate(looks):
        if who in last:
            assert max(Counter(looks[last[who] + 1 : place]).values(), default=0) <= k
        last[who] = place
    assert len(set(looks)) == 5


def test_fair_turns_without_bound_are_uniform():
    """Without a bound each robot has a fifth of the turns."""
    looks = looks_of(swarm(5, "TwoTask", scheduler="sequential", order="fair", seed=2), 1500)
    counts = np.bincount(looks, minlength=5)
    error = 4.5 * math.sqrt(len(looks) * 0.2 * 0.8)
    assert abs(counts - len(looks) / 5).max() < error


def most_looks(k):
    """Return how often a robot looked, at most, during a move of another, and how many looks were put off."""
    speeds = np.geomspace(1.0, 300.0, 6)
    simulation = swarm(6, speed=speeds, rules={"k": k, "gap": 0.1, "tolerance": 1e-9})
    moving, worst, n_late = {}, 0, 0
    for _ in range(400):
        event = simulation.step()
        if event is None:
            break
        code = simulation.world.code
        if event.action == "Arrive":
            del moving[event.index]
        elif event.action == "Look" and code == IGNORED:
            n_late += 1
        elif event.action == "Look":
            for other, counts in moving.items():
                if simulation.world.robots[other].due > event.time:  # else it is there, if its event is yet to come
                    counts[event.index] += 1
                    worst = max(worst, counts[event.index])
            if code == MOVED:
                moving[event.index] = Counter()
    return worst, n_late


@pytest.mark.parametrize("k", [1, 2])
def test_bounded_asynchrony(k):
    """With k-bounded asynchrony nobody looks more than k times in another's move; without it, somebody does."""
    worst, n_late = most_looks(k)
    assert worst == k
    assert n_late > 0
    assert most_looks(0)[0] > k


def test_fsync_gathers_in_one_round():
    """Fully synchronous and rigid, all go to one centre of gravity in the first round, from one snapshot."""
    simulation = swarm(9, scheduler="fsync", rules={"tolerance": 1e-9})
    log = events_of(simulation, 19)
    assert [action for _, action, _ in log].count("Look") == 9
    assert np.ptp(simulation.world.robots["x"]) < 1e-9
    targets = simulation.world.robots["target_x"]
    assert np.ptp(targets) < 1e-9


def test_ssync_rounds():
    """Half of the robots are active in a round, at least one, and all have arrived before the next."""
    simulation = swarm(20, "SEC", scheduler="ssync", rules={"tolerance": 1e-12}, seed=3)
    rounds = [[]]
    for _, action, who in events_of(simulation, 2_000):
        if action == "Begin":
            rounds.append([])
        elif action == "Look":
            rounds[-1].append(who)
    sizes = np.array([len(one) for one in rounds[1:-1]])
    assert sizes.min() >= 1
    assert abs(sizes.mean() - 10.0) < 4.5 * math.sqrt(20 * 0.25 / len(sizes))
    assert all(len(set(one)) == len(one) for one in rounds)


def test_ssync_is_fair():
    """With k = 2 nobody sleeps more than two rounds."""
    simulation = swarm(6, "TwoTask", scheduler="ssync", rules={"k": 2, "chance": 0.1}, seed=1)
    active, number = dict.fromkeys(range(6), 0), 0
    for _, action, who in events_of(simulation, 600):
        if action == "Begin":
            number += 1
        elif action == "Look":
            assert number - active[who] <= 3
            active[who] = number
    assert number > 20


def test_planned_rounds():
    """Rounds of an explicit schedule wake exactly the robots named."""
    plan = [(0, 0.0, 1), (2, 0.0, 1), (1, 0.0, 3)]
    simulation = swarm(4, "SEC", scheduler="ssync", schedule=plan)
    rounds, number = {}, 0
    for _, action, who in events_of(simulation, 14):
        number += action == "Begin"
        if action == "Look":
            rounds.setdefault(number, []).append(who)
    assert rounds[1] == [0, 2]
    assert rounds[3] == [1]
    assert len(rounds[2]) == 1  # nobody is named: one is drawn


def test_planned_waits():
    """Planned waits of asynchronous robots are kept to the bit."""
    plan = [(0, 0.0, 2.0), (1, 0.0, 0.5), (2, 0.0, 1.0)]
    log = events_of(swarm([[-300, 0], [300, 0], [0, 400]], schedule=plan, speed=1.0), 4)
    assert log[1:] == [(0.5, "Look", 1), (1.0, "Look", 2), (2.0, "Look", 0)]


@pytest.mark.parametrize(
    ("gaps", "spread", "deviation"),
    [("exponential", 0.5, 0.2), ("constant", 0.5, 0.0), ("uniform", 0.5, 0.1 / math.sqrt(3)), ("gamma", 0.3, 0.06)],
)
def test_laws_of_waits(gaps, spread, deviation):
    """First waits have the mean and the standard deviation that the rules say."""
    n = 4_000
    simulation = swarm(places(n), gaps=gaps, rules={"gap": 0.2, "gap_spread": spread})
    simulation.step()
    first = simulation.world.robots["due"]
    assert abs(first.mean() - 0.2) <= 4.5 * deviation / math.sqrt(n) + 1e-15
    kurtosis = 9.0 if gaps == "exponential" else 4.0
    assert abs(first.var() - deviation**2) <= 4.5 * deviation**2 * math.sqrt((kurtosis - 1.0) / n) + 1e-15
    if gaps == "uniform":
        assert 0.1 <= first.min() < first.max() < 0.3


def test_waits_and_starts_are_independent():
    """Where a robot stands says nothing about when it first looks."""
    n = 400
    simulation = swarm(n, seed=7)
    simulation.step()
    x, due = simulation.world.robots["x"], simulation.world.robots["due"]
    ranks = [np.argsort(np.argsort(values)) for values in (x, due)]
    assert abs(np.corrcoef(*ranks)[0, 1]) < 4.5 / math.sqrt(n - 1)


def test_rest_is_found():
    """A run is over when all have looked since the last move and stay; before that it is not."""
    simulation = rest(swarm(5))
    world = simulation.world
    assert world.outcome == QUIET
    assert world.n_settled == world.n_counted == 5
    assert simulation.next_event() is None
    assert rest(swarm(5), events=20).world.outcome == RUNNING
