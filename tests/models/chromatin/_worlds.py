"""Worlds for the tests: random ones, with everything on, and runs that are watched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tocsin import Model
from tocsin.models.chromatin import Chromatin, LefSpecies, RateChange, make_chromatin
from tocsin.models.chromatin.model import ACTIONS, OBSERVABLES

LIMIT = 4.5  # standard errors


def everything(seed: int, *, bypass: float = 0.3, n_lefs: int = 14) -> Chromatin:
    """Return three crowded chromosomes, one a ring, with every option on and changing rates."""
    rng = np.random.default_rng(seed)
    lengths = [22, 17, 25]
    sites = rng.choice(sum(lengths), 14, replace=False)
    species = [
        LefSpecies(
            name="walker", share=2.0, step=1.0, respawn=0.02, respawn_blocked=0.07, respawn_captured=0.03,
            load=0.3, release=0.1, pause=0.2, resume=0.5, bypass=bypass,
        ),
        LefSpecies(
            name="slider", step_left=0.2, step_right=0.4, respawn=0.05, slide=0.8, release=0.05, bypass=bypass,
        ),
        LefSpecies(name="one-sided", anchor="either", respawn=0.05, load=0.5, bound=0.5, slide=0.1),
    ]  # fmt: skip
    changes = [
        RateChange(at=30.0, species="walker", multiply={"step": 2.0, "slide": 1.0}, set={"slide": 0.3}),
        RateChange(at=60.0, multiply={"respawn": 2.0, "ctcf_binding": 0.5}),
        RateChange(at=90.0, multiply={"ctcf_unbinding": 3.0}),
    ]
    return make_chromatin(
        lengths, n_lefs, is_ring=[False, True, False], ctcf_sites=sites,
        captures_from=rng.choice(["left", "right", "both"], len(sites)), strength=rng.choice([0.3, 0.8, 1.0], len(sites)),
        ctcf_bound=rng.choice([0.3, 0.8, 1.0], len(sites)), ctcf_residence=rng.choice([2.0, 20.0], len(sites)),
        when_unbound="release" if seed % 3 else "hold",
        loading=rng.uniform(0.2, 3.0, sum(lengths)), species=species, changes=changes, seed=seed,
    )  # fmt: skip


class Marks:
    """What an event touches, noted on its way to the kernel."""

    def __init__(self, touched: Any) -> None:
        self.touched, self.rows = touched, set[tuple[int, int]]()

    def add(self, row: Any) -> None:
        self.rows.add((row._code, row.index))
        self.touched.add(row)

    def all(self, table: Any) -> None:
        self.rows.update((table._code, index) for index in range(len(table)))
        self.touched.all(table)


class WatchedModel(Model):
    """The model, which notes what the last event touched. For runs with jit=False."""

    def __init__(self, actions: Any = ACTIONS) -> None:
        super().__init__(Chromatin, actions, observables=OBSERVABLES, tie="entity")
        self.touched: set[tuple[int, int]] = set()

    def fire(self, action: int, world: Any, index: int, now: float, rng: Any, touched: Any) -> None:
        marks = Marks(touched)
        super().fire(action, world, index, now, rng, marks)
        self.touched = marks.rows
        self.fired = (action, index)

    def answers(self, world: Any) -> dict[tuple[str, int, int], float]:
        """Return the rate of every clock and the value of every observed row: (name, code, row)."""
        found = {}
        for member in (*self.actions, *self.observables):
            if member.code:
                table = world._tables[self.schema.by_code(member.code).name]
                for index in range(len(table)):
                    one = self._carrier(member, world, index)
                    value = one.rate(world) if hasattr(one, "rate") else one.value(world)
                    found[member.name, member.code, index] = float(value)
        return found


def untouched_changes(simulation: Any, n_events: int) -> Iterator[str]:
    """Run, and yield every clock or observed row that changes its answer without being touched."""
    model, world = simulation.model, simulation.world
    before = model.answers(world)
    for _ in range(n_events):
        simulation.step()
        after = model.answers(world)
        action, row = model.fired
        own = (model.actions[action].name, model.actions[action].code, row)
        for key, value in after.items():
            if value != before[key] and key[1:] not in model.touched and key != own:
                yield f"{own} changed {key} from {before[key]} to {value} without touching it"
        before = after


def crossings(world: Any) -> list[str]:
    """Return the pairs of loops on linear chromosomes that are interleaved: legs that cannot jump never pass."""
    site, chromosome = world.legs["site"].reshape(-1, 2).tolist(), world.sites["chromosome"]
    loops = [(a, b) for a, b in site if a >= 0 and not world.chromosomes["is_ring"][chromosome[a]]]
    return [f"loops {one} and {two} cross" for one in loops for two in loops if one[0] < two[0] < one[1] < two[1]]


def violations(world: Any) -> list[str]:
    """Return every rule that a state breaks."""
    legs, sites, found = world.legs, world.sites, []
    site, state, facing = legs["site"].tolist(), legs["state"].tolist(), legs["facing"].tolist()
    chromosome, standing = sites["chromosome"].tolist(), {}
    ctcf_at, walked = sites["ctcf"].tolist(), legs["walked"].tolist()
    for leg, place in enumerate(site):
        if (place < 0) != (state[leg] == 4):
            found.append(f"leg {leg} is at {place} in state {state[leg]}")
        if place >= 0:
            standing.setdefault(place, []).append(leg)
        if state[leg] == 1 and ctcf_at[place] < 0:
            found.append(f"leg {leg} is captured at {place}, where there is no CTCF")
        if facing[leg] != (1 if leg % 2 else -1):
            found.append(f"leg {leg} has turned")
    for place, those in standing.items():
        if len(those) > 1 and (
            len(those) > 2 or those[0] // 2 != those[1] // 2 or walked[those[0]] or walked[those[1]]
        ):
            found.append(f"legs {those} share site {place}")
        if sites["leg"][place] not in those:
            found.append(f"site {place} names leg {sites['leg'][place]}, and legs {those} stand there")
    if np.count_nonzero(sites["leg"] >= 0) != len(standing):
        found.append("a site names a leg that stands elsewhere")
    start, end = world.chromosomes["start"], world.chromosomes["end"]
    is_ring = world.chromosomes["is_ring"]
    for lef in range(len(site) // 2):
        left, right = site[2 * lef : 2 * lef + 2]
        if (left < 0) != (right < 0):
            found.append(f"LEF {lef} is half bound")
        if left < 0:
            continue
        c = chromosome[left]
        if chromosome[right] != c:
            found.append(f"LEF {lef} spans chromosomes {c} and {chromosome[right]}")
        loop, length = walked[2 * lef] + walked[2 * lef + 1], int(end[c] - start[c])
        if not 0 <= loop < length or loop != ((right - left) % length if is_ring[c] else right - left):
            found.append(f"LEF {lef} at {left}, {right} says a loop of {loop}")
    return found
