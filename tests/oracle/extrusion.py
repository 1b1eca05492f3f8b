"""The rules of loop extrusion a second time: slow, in plain Python, from lists of positions.

`Twin` knows the rate of every clock and what every event may lead to. On it stand four judges:
`TwinRun` (same seed, same events), `stationary` (the master equation, solved), `audit` (does every
pending time belong to the rate that its clock has now?) and `violations` (what no state may be).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import spsolve

from tocsin import NEVER, Model, Simulation
from tocsin.kernel import Clockwork

LEFT, RIGHT = -1, 1
KINDS = ("Step", "Evict", "Respawn")

State = tuple[tuple[int, ...], tuple[bool, ...]]
"""Position and capture of every leg; leg 2 * lef faces left, leg 2 * lef + 1 right."""


class Twin:
    """A lattice, its CTCFs {site: (captures_from, strength)} and the legs on it."""

    def __init__(
        self, n_sites: int, ctcfs: Mapping[int, tuple[int, float]], rates: Mapping[str, float],
        pos: Any, captured: Any = None,
    ) -> None:  # fmt: skip
        self.n_sites, self.ctcfs, self.rates = n_sites, dict(ctcfs), dict(rates)
        self.pos = [int(p) for p in pos]
        self.captured = [bool(c) for c in captured] if captured is not None else [False] * len(self.pos)

    @classmethod
    def of(cls, world: Any) -> Twin:
        """Return the twin of a fibre, from the positions of its legs alone."""
        ctcf_at = world.sites["ctcf"]
        sides, strengths = world.ctcfs["captures_from"], world.ctcfs["strength"]
        ctcfs = {int(s): (int(sides[ctcf_at[s]]), float(strengths[ctcf_at[s]])) for s in np.flatnonzero(ctcf_at >= 0)}
        return cls(len(world.sites), ctcfs, world.rates.to_dict(), world.legs["site"], world.legs["captured"])

    @property
    def state(self) -> State:
        """Everything that changes."""
        return tuple(self.pos), tuple(self.captured)

    def at(self, state: State) -> Twin:
        """Return the same lattice in another state."""
        return Twin(self.n_sites, self.ctcfs, self.rates, *state)

    @property
    def clocks(self) -> list[tuple[str, int]]:
        """All (kind, row) pairs."""
        n = len(self.pos)
        return [(kind, leg) for leg in range(n) for kind in KINDS[:2]] + [("Respawn", lef) for lef in range(n // 2)]

    @staticmethod
    def facing(leg: int) -> int:
        """Return where a leg faces, which its number says."""
        return RIGHT if leg % 2 else LEFT

    def legs_on(self, site: int) -> list[int]:
        """Return the legs on a site."""
        return [leg for leg, p in enumerate(self.pos) if p == site]

    def ahead(self, leg: int) -> tuple[str, float]:
        """Return the case of section 1's table, and the strength of a CTCF met from behind."""
        site = self.pos[leg] + self.facing(leg)
        if not 0 <= site < self.n_sites:
            return "blocked", 0.0
        side, strength = self.ctcfs.get(site, (0, 0.0))
        behind, there = side == self.facing(leg), self.legs_on(site)
        if behind and any(self.captured[other] for other in there):
            return "held", strength
        if there:
            return "blocked", 0.0
        return ("bare", strength) if behind else ("free", 0.0)

    def is_blocked(self, leg: int) -> bool:
        """Moving, and nothing its clocks could do about what is ahead."""
        case = self.ahead(leg)[0]
        return not self.captured[leg] and (case == "blocked" or (case == "held" and self.captured[leg ^ 1]))

    def rate(self, kind: str, row: int) -> float:
        """Return the rate that a clock has in this state, 0 for never."""
        if kind == "Respawn":
            legs = (2 * row, 2 * row + 1)
            if any(self.captured[leg] for leg in legs):
                return self.rates["respawn_captured"]
            return self.rates["respawn_blocked" if any(map(self.is_blocked, legs)) else "respawn"]
        if self.captured[row]:
            return 0.0
        case, p = self.ahead(row)
        step, protected = self.rates["step"], self.captured[row ^ 1]
        if kind == "Step":
            return {"free": step, "bare": step if protected else step * (1.0 - p)}.get(case, 0.0)
        return 0.0 if protected else {"bare": step * p, "held": step}.get(case, 0.0)

    def landings(self, lef: int) -> list[int]:
        """Return the plain sites that are empty once this LEF is off."""
        taken = {p for leg, p in enumerate(self.pos) if leg // 2 != lef}
        return [s for s in range(self.n_sites) if s not in taken and s not in self.ctcfs]

    def stepped(self, leg: int, is_caught: bool) -> State:
        """Return the state after a step."""
        pos, captured = list(self.pos), list(self.captured)
        pos[leg] += self.facing(leg)
        captured[leg] = is_caught
        return tuple(pos), tuple(captured)

    def landed(self, lef: int, site: int) -> State:
        """Return the state after a LEF has landed on a site."""
        pos, captured = list(self.pos), list(self.captured)
        pos[2 * lef : 2 * lef + 2] = site, site
        captured[2 * lef : 2 * lef + 2] = False, False
        return tuple(pos), tuple(captured)

    def catch_probability(self, leg: int) -> float | None:
        """Return the strength of a CTCF ahead that faces the leg, None if there is none."""
        side, strength = self.ctcfs.get(self.pos[leg] + self.facing(leg), (self.facing(leg), 0.0))
        return strength if side != self.facing(leg) else None

    def outcomes(self, kind: str, row: int) -> list[tuple[float, State]]:
        """Return what the firing of a clock leads to: (probability, state) pairs."""
        if kind == "Step":
            p = self.catch_probability(row) or 0.0
            return [(q, self.stepped(row, caught)) for caught, q in ((True, p), (False, 1.0 - p)) if q > 0.0]
        lef = row if kind == "Respawn" else row // 2
        places = self.landings(lef)
        return [(1.0 / len(places), self.landed(lef, s)) for s in places]


# Same seed, same events -------------------------------------------------------------------


class TwinRun:
    """A run of the twin on the kernel's random streams: each clock redraws where its way changed."""

    def __init__(self, twin: Twin, seed: int) -> None:
        self.twin, self.now = twin, 0.0
        self.rng = Clockwork(rngs=1).rngs[0]
        self.rng.key_low, self.rng.key_high = seed & 0xFFFFFFFF, seed >> 32
        self.epoch = dict.fromkeys(twin.clocks, 0)
        self.time: dict[tuple[str, int], float] = {}
        for clock in twin.clocks:
            self._draw(clock)

    def _open(self, clock: tuple[str, int], purpose: int) -> None:
        self.rng.open(2 * KINDS.index(clock[0]) + purpose, clock[1], self.epoch[clock])

    def _draw(self, clock: tuple[str, int]) -> None:
        rate = self.twin.rate(*clock)
        self.time[clock] = NEVER
        if rate > 0.0:
            self._open(clock, 0)
            self.time[clock] = self.now + self.rng.exponential(rate)
            self.epoch[clock] += 1

    def step(self) -> tuple[float, str, int]:
        """Fire the first of all clocks and return (time, kind, row)."""
        kind, row = clock = min(self.time, key=lambda c: self.time[c])
        self.now = self.time[clock]
        before = self.twin
        self._open(clock, 1)
        if kind == "Step":
            p = before.catch_probability(row)
            self.twin = before.at(before.stepped(row, p is not None and self.rng.bernoulli(p)))
        else:
            lef, places = (row if kind == "Respawn" else row // 2), None
            while places not in before.landings(lef):
                places = self.rng.integers(0, before.n_sites)
            self.twin = before.at(before.landed(lef, places))
        self.epoch[clock] += self.rng.block > 0
        for again in self._disturbed(kind, row, before):
            self._draw(again)
        return self.now, kind, row

    def _disturbed(self, kind: str, row: int, before: Twin) -> set[tuple[str, int]]:
        """The clocks of who moved, and of who looks at a site that was emptied or filled."""
        after, legs, lefs = self.twin, set(), set()
        if kind == "Step":
            legs.add(row)
            if after.captured[row]:
                legs.add(row ^ 1)
            if after.captured[row] or after.is_blocked(row):
                lefs.add(row // 2)
        else:
            lef = row if kind == "Respawn" else row // 2
            legs, lefs = {2 * lef, 2 * lef + 1}, {lef}
        movers = {leg for leg in range(len(after.pos)) if leg in legs and (kind != "Step" or leg == row)}
        sites = {before.pos[leg] for leg in movers} | {after.pos[leg] for leg in movers}
        for site in sites:
            still = kind == "Step" and site == before.pos[row] and after.legs_on(site)
            for leg, p in enumerate(after.pos):
                if not still and p + after.facing(leg) == site and leg not in movers:
                    legs.add(leg)
                    lefs.add(leg // 2)
        return {(k, leg) for leg in legs for k in KINDS[:2]} | {("Respawn", lef) for lef in lefs}


# The master equation ----------------------------------------------------------------------


def transitions(twin: Twin) -> Iterator[tuple[float, State]]:
    """Yield (rate, state) for all ways out of a state."""
    for clock in twin.clocks:
        rate = twin.rate(*clock)
        if rate > 0.0:
            for p, state in twin.outcomes(*clock):
                yield rate * p, state


def stationary(twin: Twin) -> tuple[list[State], Any]:
    """Return all states that can be reached and their stationary probabilities."""
    states, index, flows = [twin.state], {twin.state: 0}, []
    for state in states:  # grows while it is walked
        for rate, target in transitions(twin.at(state)):
            if target not in index:
                index[target] = len(states)
                states.append(target)
            flows.append((index[target], index[state], rate))
    n = len(states)
    to, source, rate = (np.array(column) for column in zip(*flows, strict=True))
    matrix = csr_matrix((rate, (to, source)), (n, n)) - csr_matrix(
        (np.bincount(source, rate, n), (np.arange(n), np.arange(n))), (n, n)
    )
    # p sums to 1: fix the weight of the first state, solve for the others, scale
    rest = spsolve(matrix[1:, 1:].tocsc(), -matrix[1:, 0].toarray().ravel())
    weights = np.concatenate([[1.0], rest])
    return states, weights / weights.sum()


def expectations(twin: Twin) -> dict[str, float]:
    """Return the stationary means: events per time by kind, loop size, classes, occupancies."""
    states, weights = stationary(twin)
    found: dict[str, float] = {}
    for state, weight in zip(states, weights, strict=True):
        for name, value in features(twin.at(state)).items():
            found[name] = found.get(name, 0.0) + weight * value
    return found


def features(twin: Twin) -> dict[str, float]:
    """Return what `expectations` averages, for one state."""
    here: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    for clock in twin.clocks:
        here[clock[0]] += twin.rate(*clock)
    n_legs = len(twin.pos)
    here["LoopSize"] = sum(twin.facing(leg) * twin.pos[leg] for leg in range(n_legs))
    here["Captured"] = sum(twin.captured)
    here["Blocked"] = sum(twin.is_blocked(leg) for leg in range(n_legs))
    for site in range(twin.n_sites):
        here[f"site {site}"] = float(bool(twin.legs_on(site)))
    return here


# Missing touches --------------------------------------------------------------------------


class NotingModel(Model):
    """A model that notes, for every clock, the rate with which its pending time was drawn."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.drawn: dict[tuple[str, int], float] = {}

    def rate(self, action: int, world: Any, index: int) -> float:
        """Return the rate, and note it."""
        rate = super().rate(action, world, index)
        self.drawn[self.actions[action].name, index] = rate
        return rate


def pending(simulation: Simulation[Any]) -> dict[tuple[str, int], float]:
    """Return the stored time of every clock."""
    kernel, found = simulation._kernel, {}
    times = kernel.clocks["time"].tolist()
    for member, state in zip(simulation.model.actions, kernel.actions.rows, strict=True):
        for row in range(len(simulation.world.lefs if member.key == "lef" else simulation.world.legs)):
            found[member.name, row] = times[state["base"] + row * state["stride"]]
    return found


def stale(simulation: Simulation[Any]) -> list[str]:
    """Name every clock whose pending time was not drawn with the rate that it has now."""
    model, found = simulation.model, []
    assert isinstance(model, NotingModel)
    twin, times = Twin.of(simulation.world), pending(simulation)
    for clock in twin.clocks:
        wanted, got = twin.rate(*clock), model.drawn[clock]
        if abs(wanted - got) > 1e-12 * wanted:
            found.append(f"{clock}: drawn with rate {got}, has rate {wanted}")
        if (times[clock] == NEVER) != (wanted == 0.0) or times[clock] < simulation.now:
            found.append(f"{clock}: pending at {times[clock]}, has rate {wanted}")
    return found


def audit(simulation: Simulation[Any], n_events: int) -> Iterator[str]:
    """Run, and yield every stale clock after every event (with the event before it)."""
    event = None
    for _ in range(n_events + 1):
        simulation.next_event()  # starts the clocks, if nothing has yet
        for text in stale(simulation):
            yield f"after {event}: {text}"
        event = simulation.step()


# States that cannot be --------------------------------------------------------------------


def violations(world: Any, n_lefs: int) -> list[str]:
    """Return every rule of section 1 that a state breaks."""
    twin, found = Twin.of(world), []
    on: dict[int, list[int]] = {}
    for leg, site in enumerate(twin.pos):
        on.setdefault(site, []).append(leg)
    for site, legs in on.items():
        if not 0 <= site < twin.n_sites:
            found.append(f"legs {legs} are off the lattice, at {site}")
            continue
        if len(legs) > 1 and (len(legs) > 2 or legs[0] // 2 != legs[1] // 2):
            found.append(f"legs {legs} share site {site}")
        if world.sites["leg"][site] not in legs:
            found.append(f"site {site} says leg {world.sites['leg'][site]}, but legs {legs} stand there")
    if np.count_nonzero(world.sites["leg"] >= 0) != len(on):
        found.append("a site names a leg that does not stand there")
    if world.legs["facing"].tolist() != [LEFT, RIGHT] * n_lefs:
        found.append("a leg has turned")
    if world.legs["lef"].tolist() != [k // 2 for k in range(2 * n_lefs)]:
        found.append("a leg has changed its LEF")
    for lef in range(n_lefs):
        left, right = twin.pos[2 * lef : 2 * lef + 2]
        if left > right:
            found.append(f"LEF {lef} is inside out: {left} > {right}")
        if left == right and left in twin.ctcfs:
            found.append(f"LEF {lef} has landed on the CTCF at {left}")
    for leg, caught in enumerate(twin.captured):
        side, strength = twin.ctcfs.get(twin.pos[leg], (0, 0.0))
        if caught and (side != -twin.facing(leg) or strength == 0.0):
            found.append(f"leg {leg} is captured at {twin.pos[leg]}, where nothing can hold it")
    return found + crossings(twin)


def crossings(twin: Twin) -> list[str]:
    """Return the pairs of loops that are interleaved: legs cannot pass, so none may be."""
    loops = [tuple(twin.pos[k : k + 2]) for k in range(0, len(twin.pos), 2)]
    return [f"loops {a} and {b} cross" for a in loops for b in loops if a[0] < b[0] < a[1] < b[1]]
