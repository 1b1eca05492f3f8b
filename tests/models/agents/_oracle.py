"""Slow twins of three models in plain Python: other data structures, the same rules and the same draws.

They share nothing with the models but the random streams, which are keyed by (system, row, tick).
"""

from __future__ import annotations

import math

from tocsin.kernel import Clockwork


class Draws:
    """The streams of one simulation: `of(purpose, row, tick)` opens one."""

    def __init__(self, seed):
        clockwork = Clockwork(rngs=1)
        clockwork.rngs["key_low"][0], clockwork.rngs["key_high"][0] = seed & 0xFFFFFFFF, seed >> 32
        self.rng = clockwork.rngs[0]

    def row(self, system, row, tick):
        self.rng.open(2 * system + 1, row, tick)
        return self.rng

    def order(self, system, keys, tick):
        self.rng.open(2 * system, 0, tick)
        keys = list(keys)
        self.rng.shuffle(keys, len(keys))
        return keys


def schelling(size, homes, kinds, empty, radius, wanted, seed, n_ticks):
    """Yield after each tick where everybody lives; `homes` is a list of (x, y), `empty` the empty cells in order."""
    width, height = size
    at = dict(zip(homes, kinds, strict=True))
    homes, empty, draws = list(homes), list(empty), Draws(seed)
    for tick in range(n_ticks):
        for agent in draws.order(0, range(len(homes)), tick):
            x, y = homes[agent]
            around = [
                (x + dx, y + dy)
                for dx in range(-radius, radius + 1)
                for dy in range(-radius, radius + 1)
                if (dx, dy) != (0, 0) and 0 <= x + dx < width and 0 <= y + dy < height
            ]
            if sum(at.get(cell) == kinds[agent] for cell in around) < wanted:
                k = draws.row(0, agent, tick).integers(0, len(empty))
                homes[agent], empty[k] = empty[k], homes[agent]
                del at[x, y]
                at[homes[agent]] = kinds[agent]
        yield list(homes)


MOORE = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def wolf_sheep(size, wait, sheep, wolves, rules, seed, n_ticks):
    """Yield after each tick the energies by row number, of sheep and wolves, and the grass.

    `sheep` and `wolves` are lists of [x, y, energy]; rows are used again as in a pool, last freed first.
    """
    width, height = size
    draws, wait = Draws(seed), dict(wait)
    herds = []
    for animals in (sheep, wolves):
        herds.append({"live": {k: list(a) for k, a in enumerate(animals)}, "free": [], "n": len(animals), "born": {}})
    flocks = {}
    for k, (x, y, _) in herds[0]["live"].items():
        flocks.setdefault((x, y), []).insert(0, k)

    def die(herd, k):
        del herd["live"][k]
        herd["free"].append(k)

    def bear(herd, k, chance, rng, now):
        animal = herd["live"][k]
        if rng.random() < chance:
            animal[2] /= 2.0
            new = herd["free"].pop() if herd["free"] else herd["n"]
            herd["n"] = max(herd["n"], new + 1)
            herd["live"][new] = list(animal)
            herd["born"][new] = now
            return new
        return None

    def walk(animal, rng):
        dx, dy = MOORE[rng.integers(0, 8)]
        animal[0], animal[1] = (animal[0] + dx) % width, (animal[1] + dy) % height
        animal[2] -= 1.0

    for tick in range(n_ticks):
        now = tick + 1.0
        herd = herds[0]
        for k in draws.order(0, sorted(herd["live"]), tick):
            rng, animal = draws.row(0, k, tick), herd["live"][k]
            flocks[animal[0], animal[1]].remove(k)
            walk(animal, rng)
            if animal[2] < 0.0:
                die(herd, k)
                continue
            cell = animal[0], animal[1]
            flocks.setdefault(cell, []).insert(0, k)
            if wait[cell] == 0:
                wait[cell] = rules.regrowth + 1
                animal[2] += rules.sheep_gain
            new = bear(herd, k, rules.sheep_birth, rng, now)
            if new is not None:
                flocks[cell].insert(0, new)
        for k in draws.order(1, sorted(herds[1]["live"]), tick):
            rng, animal = draws.row(1, k, tick), herds[1]["live"][k]
            walk(animal, rng)
            if animal[2] < 0.0:
                die(herds[1], k)
                continue
            flock = flocks.get((animal[0], animal[1]), [])
            if flock:
                prey = flock.pop(rng.integers(0, len(flock)))
                die(herds[0], prey)
                animal[2] += rules.wolf_gain
            bear(herds[1], k, rules.wolf_birth, rng, now)
        for cell, ticks in wait.items():
            wait[cell] = max(ticks - 1, 0)
        yield [{k: tuple(a) for k, a in herd["live"].items()} for herd in herds], dict(wait)


def flocking(size, birds, steering, n_ticks):
    """Yield after each tick the birds, as a list of (x, y, dx, dy); each looks at all others."""
    width, height = size
    birds = [tuple(bird) for bird in birds]

    def short(d, length):
        return d - length if d > length / 2 else d + length if d < -length / 2 else d

    for _ in range(n_ticks):
        after = []
        for k, (x, y, dx, dy) in enumerate(birds):
            seen = []
            for j, other in enumerate(birds):
                by = short(other[0] - x, width), short(other[1] - y, height)
                if j != k and by[0] ** 2 + by[1] ** 2 <= steering.sight**2:
                    seen.append((by, other))
            if seen:
                n = len(seen)
                near = [by for by, _ in seen if by[0] ** 2 + by[1] ** 2 < steering.separation**2]
                to = [math.fsum(by[a] for by, _ in seen) for a in (0, 1)]
                off = [-math.fsum(by[a] for by in near) for a in (0, 1)]
                along = [math.fsum(other[2 + a] for _, other in seen) for a in (0, 1)]
                turn = [
                    (steering.cohere * to[a] + steering.separate * off[a] + steering.match * along[a]) / n
                    for a in (0, 1)
                ]
                length = math.hypot(dx + turn[0], dy + turn[1])
                dx, dy = (dx + turn[0]) / length, (dy + turn[1]) / length
            after.append(((x + steering.speed * dx) % width, (y + steering.speed * dy) % height, dx, dy))
        birds = after
        yield birds
