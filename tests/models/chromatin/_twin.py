"""The rules of chromatin a second time: slow, in plain Python, from lists of positions.

`Twin` knows the rate of every clock and what every event may lead to, and nothing of the model's
tables of sites, touches or streams. With `tests.oracle.extrusion.stationary` it gives the master
equation of a small world, solved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LEFT, RIGHT = -1, 1
MOVING, CAPTURED, PAUSED, ANCHORED, UNBOUND = range(5)
LEG_KINDS = ("Step", "Evict", "Release", "Pause", "Slide", "Bypass")
LEF_KINDS = ("Respawn", "Load")
KINDS = (*LEG_KINDS, *LEF_KINDS, "Exchange")

State = tuple[tuple[int, ...], tuple[int, ...], tuple[bool, ...]]
"""Position and status of every leg, and which CTCFs are on."""


class Twin:
    """Chromosomes [(start, end, is_ring)], CTCFs, the rates of each LEF, and a state."""

    def __init__(self, world: Any) -> None:
        columns = world.chromosomes
        self.chromosomes = list(
            zip(columns["start"].tolist(), columns["end"].tolist(), columns["is_ring"], strict=True)
        )
        ctcfs = world.ctcfs
        self.site = ctcfs["site"].tolist()
        self.ctcf_at = {s: k for k, s in enumerate(self.site)}
        self.side, self.strength = ctcfs["captures_from"].tolist(), ctcfs["strength"].tolist()
        self.binding, self.unbinding = ctcfs["binding"].tolist(), ctcfs["unbinding"].tolist()
        self.is_releasing = ctcfs["is_releasing"].tolist()
        kind = world.lefs["species"]
        row = world.species["rates"][kind]
        self.rates = [{name: float(world.rates[name][r]) for name in world.rates.rows.dtype.names} for r in row]
        self.anchor = world.species["anchor"][kind].tolist()
        running = world.loading.values
        self.weight = np.diff(running, prepend=0.0) if len(running) else np.ones(len(world.sites))
        self.state: State = (
            tuple(world.legs["site"].tolist()), tuple(world.legs["state"].tolist()), tuple(map(bool, ctcfs["is_on"])),
        )  # fmt: skip

    def at(self, state: State) -> Twin:
        """Return the same world in another state."""
        other = object.__new__(Twin)
        other.__dict__.update(self.__dict__)
        other.state = state
        return other

    @property
    def pos(self) -> tuple[int, ...]:
        return self.state[0]

    @property
    def status(self) -> tuple[int, ...]:
        return self.state[1]

    @property
    def clocks(self) -> list[tuple[str, int]]:
        """All (kind, row) pairs."""
        n = len(self.pos)
        legs = [(kind, leg) for leg in range(n) for kind in LEG_KINDS]
        lefs = [(kind, lef) for lef in range(n // 2) for kind in LEF_KINDS]
        return [*legs, *lefs, *(("Exchange", k) for k in range(len(self.site)))]

    @staticmethod
    def facing(leg: int) -> int:
        return RIGHT if leg % 2 else LEFT

    def next_to(self, site: int, towards: int) -> int | None:
        """Return the next site that way, None past an end."""
        start, end, is_ring = next(c for c in self.chromosomes if c[0] <= site < c[1])
        there = site + towards
        if start <= there < end:
            return there
        return start + (there - start) % (end - start) if is_ring else None

    def legs_on(self, site: int) -> list[int]:
        return [leg for leg, p in enumerate(self.pos) if p == site]

    def ahead(self, leg: int) -> tuple[str, float]:
        """Return end, leg, held, bare or free, and the strength of a CTCF met from behind."""
        site = self.next_to(self.pos[leg], self.facing(leg))
        if site is None:
            return "end", 0.0
        k = self.ctcf_at.get(site)
        is_behind = k is not None and self.state[2][k] and self.side[k] == self.facing(leg)
        there = self.legs_on(site)
        if is_behind and any(self.status[other] == CAPTURED for other in there):
            return "held", self.strength[k]
        if there:
            return "leg", 0.0
        return ("bare", self.strength[k]) if is_behind else ("free", 0.0)

    def is_protected(self, leg: int) -> bool:
        return self.status[leg ^ 1] == CAPTURED

    def is_blocked(self, leg: int) -> bool:
        if self.status[leg] not in (MOVING, PAUSED):
            return False
        case = self.ahead(leg)[0]
        return case in ("end", "leg") or (case == "held" and self.is_protected(leg))

    def rate(self, kind: str, row: int) -> float:
        """Return the rate that a clock has in this state."""
        if kind == "Exchange":
            return self.unbinding[row] if self.state[2][row] else self.binding[row]
        if kind in LEF_KINDS:
            return self._lef_rate(kind, row)
        status, rates = self.status[row], self.rates[row // 2]
        if kind == "Release":
            return rates["release"] if status == CAPTURED else 0.0
        if kind == "Pause":
            return {MOVING: rates["pause"], PAUSED: rates["resume"]}.get(status, 0.0)
        if status != MOVING:
            return 0.0
        if kind == "Slide":
            return rates["slide"] * len(self.slides(row))
        case, p = self.ahead(row)
        step = rates["step_right" if row % 2 else "step_left"]
        if kind == "Step":
            return {"free": step, "bare": step if self.is_protected(row) else step * (1.0 - p)}.get(case, 0.0)
        if kind == "Evict":
            return 0.0 if self.is_protected(row) else {"bare": step * p, "held": step}.get(case, 0.0)
        return rates["bypass"] if case != "end" and self.is_blocked(row) else 0.0

    def _lef_rate(self, kind: str, lef: int) -> float:
        rates, legs = self.rates[lef], (2 * lef, 2 * lef + 1)
        is_unbound = self.status[2 * lef] == UNBOUND
        if kind == "Load":
            return rates["load"] if is_unbound else 0.0
        if is_unbound:
            return 0.0
        if any(self.status[leg] == CAPTURED for leg in legs):
            return rates["respawn_captured"]
        return rates["respawn_blocked" if any(map(self.is_blocked, legs)) else "respawn"]

    def slides(self, leg: int) -> list[int]:
        """Return the directions in which a leg may slide."""
        found = []
        for towards in (LEFT, RIGHT):
            site = self.next_to(self.pos[leg], towards)
            is_past_partner = towards != self.facing(leg) and self.pos[leg] == self.pos[leg ^ 1]
            if site is not None and not self.legs_on(site) and not is_past_partner:
                found.append(towards)
        return found

    def moved(self, leg: int, site: int, towards: int) -> list[tuple[float, State]]:
        """Return what the arrival of a leg at a site may lead to."""
        pos, status, on = self.state
        k = self.ctcf_at.get(site)
        p = self.strength[k] if k is not None and on[k] and self.side[k] != towards else 0.0
        there = put(pos, {leg: site})
        ends = [(p, (there, put(status, {leg: CAPTURED}), on)), (1.0 - p, (there, status, on))]
        return [(q, state) for q, state in ends if q > 0.0]

    def landings(self, lef: int) -> list[tuple[float, State]]:
        """Return where a LEF may land, and which leg it drops anchor with."""
        taken = {p for leg, p in enumerate(self.pos) if leg // 2 != lef}
        weight = {s: w for s, w in enumerate(self.weight) if s not in taken and s not in self.ctcf_at and w > 0.0}
        total, legs = sum(weight.values()), (2 * lef, 2 * lef + 1)
        anchors = [(0.5, LEFT), (0.5, RIGHT)] if self.anchor[lef] == 2 else [(1.0, self.anchor[lef])]
        return [
            (w / total * p, (
                put(self.pos, dict.fromkeys(legs, s)),
                put(self.status, {leg: ANCHORED if self.facing(leg) == anchor else MOVING for leg in legs}),
                self.state[2],
            ))
            for s, w in weight.items() for p, anchor in anchors
        ]  # fmt: skip

    def outcomes(self, kind: str, row: int) -> list[tuple[float, State]]:
        """Return what the firing of a clock leads to: (probability, state) pairs."""
        pos, status, on = self.state
        if kind == "Step":
            return self.moved(row, self.next_to(pos[row], self.facing(row)), self.facing(row))
        if kind == "Slide":
            ways = self.slides(row)
            return [(q / len(ways), s) for d in ways for q, s in self.moved(row, self.next_to(pos[row], d), d)]
        if kind == "Bypass":
            return self._bypassed(row)
        if kind == "Load":
            return self.landings(row)
        if kind in ("Evict", "Respawn"):
            lef = row if kind == "Respawn" else row // 2
            legs = (2 * lef, 2 * lef + 1)
            off = self.at((put(pos, dict.fromkeys(legs, -1)), put(status, dict.fromkeys(legs, UNBOUND)), on))
            return off.landings(lef) if self.rates[lef]["load"] == np.inf else [(1.0, off.state)]
        if kind == "Exchange":
            freed = [leg for leg in self.legs_on(self.site[row]) if on[row] and self.is_releasing[row]]
            free = {leg: MOVING for leg in freed if status[leg] == CAPTURED}
            return [(1.0, (pos, put(status, free), put(on, {row: not on[row]})))]
        new = {"Release": MOVING, "Pause": PAUSED if status[row] == MOVING else MOVING}[kind]
        return [(1.0, (pos, put(status, {row: new}), on))]

    def _bypassed(self, leg: int) -> list[tuple[float, State]]:
        site = self.next_to(self.pos[leg], self.facing(leg))
        while site is not None and self.legs_on(site):
            if any(other // 2 == leg // 2 for other in self.legs_on(site)):
                return [(1.0, self.state)]
            site = self.next_to(site, self.facing(leg))
        return [(1.0, self.state)] if site is None else self.moved(leg, site, self.facing(leg))

    def loop(self, lef: int) -> int:
        """Return the number of sites in a LEF's loop, 0 if it is unbound."""
        left, right = self.pos[2 * lef : 2 * lef + 2]
        if left < 0:
            return 0
        start, end, is_ring = next(c for c in self.chromosomes if c[0] <= left < c[1])
        return (right - left) % (end - start) if is_ring else right - left


def put(values: tuple[Any, ...], new: dict[int, Any]) -> tuple[Any, ...]:
    """Return a tuple with some entries replaced."""
    return tuple(new.get(k, v) for k, v in enumerate(values))


def features(twin: Twin) -> dict[str, float]:
    """Return what is compared of one state: event rates by kind, classes, occupancies."""
    here: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    for clock in twin.clocks:
        here[clock[0]] += twin.rate(*clock)
    legs = range(len(twin.pos))
    here["LoopSize"] = sum(twin.loop(lef) for lef in range(len(legs) // 2))
    here["Captured"] = sum(twin.status[leg] == CAPTURED for leg in legs)
    here["Blocked"] = sum(twin.is_blocked(leg) for leg in legs)
    here["Bound"] = sum(twin.status[leg] != UNBOUND for leg in legs) / 2
    here["CtcfOn"] = sum(twin.state[2])
    for site in range(twin.chromosomes[-1][1]):
        here[f"site {site}"] = float(bool(twin.legs_on(site)))
    return here
