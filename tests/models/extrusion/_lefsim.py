"""Random fibres, given to lefsim and to our own model, and the events of both as tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import lefsim
import numpy as np

from tocsin.models.extrusion import Fibre, fibre_from_legs
from tocsin.models.extrusion.lefsim import lefsim_fibre

ROW = np.dtype([("time", "<f8"), ("leg", "<u4"), ("site", "<u4"), ("captured", "u1"), ("kind", "u1")])
KINDS = {"Step": 0, "Respawn": 1, "Keyframe": 2, "Evict": 3}
MOBILITIES = {"Moving": 0, "Captured": 1}
SIDES = ("left", "right")


class Pair(NamedTuple):
    """The same initial state twice."""

    theirs: lefsim.Model
    ours: Fibre
    label: str


def lattice_of(n_sites: int, sites: Any, sides: Any, strength: Any) -> lefsim.Lattice:
    """Return lefsim's lattice; a CTCF for each entry of `sites`."""
    columns = {"site": list(map(int, sites)), "captures_from": list(sides), "strength": list(map(float, strength))}
    return lefsim.Lattice(n_sites, columns if len(sites) else None)


def random_pair(number: int) -> Pair:
    """Return a fibre of 1 to 2,000 sites: bare, crowded, weak or strong CTCFs, placed or by hand."""
    rng = np.random.default_rng([2026, number])
    n_sites = int(rng.choice([rng.integers(1, 7), rng.integers(7, 60), rng.integers(60, 400), rng.integers(400, 2000)]))
    n_ctcfs = int(n_sites * rng.choice([0.0, 0.05, 0.3, 0.9]))
    sites = rng.choice(n_sites, n_ctcfs, replace=False)
    sides = rng.choice(SIDES, n_ctcfs)
    kinds = np.array([rng.random(n_ctcfs), np.zeros(n_ctcfs), np.ones(n_ctcfs), 10.0 ** rng.uniform(-12, 0, n_ctcfs)])
    strength = kinds[rng.integers(0, 4, n_ctcfs) if rng.random() < 0.5 else 0, np.arange(n_ctcfs)]
    most = (n_sites - n_ctcfs + 1) // 2
    n_lefs = min(most, int(rng.choice([1, max(1, most // 10), most])))
    names = ("step", "respawn", "respawn_blocked", "respawn_captured")
    rates = dict(zip(names, (10.0 ** rng.uniform(-4, 2, 4)).tolist(), strict=True))
    lattice = lattice_of(n_sites, sites, sides, strength)
    label = f"case {number}: {n_sites} sites, {n_ctcfs} CTCFs, {n_lefs} LEFs, {rates}"
    if rng.random() < 0.5:
        seed = int(rng.integers(0, 2**64, dtype=np.uint64))
        world = lefsim.populate(lattice, n_lefs, seed=seed)
        ours = lefsim_fibre(
            n_sites, n_lefs, ctcf_sites=sites, captures_from=sides, strength=strength, rates=rates, seed=seed
        )
    else:
        legs = hand_made(rng, n_sites, n_lefs, dict(zip(sites.tolist(), sides.tolist(), strict=True)))
        world = lefsim.World(lattice, {**legs, **{m: [_NAMES[c] for c in legs[m]] for m in legs if "mobility" in m}})
        ours = fibre_from_legs(
            n_sites, sites, sides, strength, legs["left_pos"], legs["right_pos"],
            captured_left=legs["left_mobility"], captured_right=legs["right_mobility"], rates=rates,
        )  # fmt: skip
    return Pair(lefsim.Model(world, lefsim.Rates(**rates)), ours, label)


_NAMES = {False: "Moving", True: "Captured"}


def hand_made(rng: Any, n_sites: int, n_lefs: int, ctcfs: dict[int, str]) -> dict[str, list[Any]]:
    """Return legs on different sites, loops crossing or not, every third LEF with both legs on one site."""
    places = rng.permutation(n_sites)[: 2 * n_lefs].tolist()
    places += places[-1:] * (2 * n_lefs - len(places))  # an odd lattice that is full
    left, right = map(list, zip(*map(sorted, zip(places[::2], places[1::2], strict=True)), strict=True))
    for lef in range(0, n_lefs, 3):
        right[lef] = left[lef]
    legs: dict[str, list[Any]] = {"left_pos": left, "right_pos": right}
    for side, other in (("left", "right"), ("right", "left")):
        legs[f"{side}_mobility"] = [ctcfs.get(p) == other and bool(rng.random() < 0.5) for p in legs[f"{side}_pos"]]
    return legs


def their_events(run: lefsim.Sim, n: int, **keyframes: bool) -> np.ndarray[Any, Any]:
    """Run lefsim for n events and return its log: a row for a step, two where a LEF lands."""
    table = run.record_events(n, events=True, **keyframes).events.to_pyarrow()
    rows = np.zeros(table.num_rows, ROW)
    rows["time"], rows["leg"], rows["site"] = (table.column(c).to_numpy() for c in ("time", "leg_id", "pos"))
    rows["captured"] = [MOBILITIES[m] for m in table.column("mobility").to_pylist()]
    rows["kind"] = [KINDS[a] for a in table.column("action").to_pylist()]
    return rows


def our_events(run: Any, n: int) -> np.ndarray[Any, Any]:
    """Run our model for n events and return the log that lefsim would write."""
    site, captured = run.world.legs["site"], run.world.legs["captured"]
    rows: list[tuple[Any, ...]] = []
    for _ in range(n):
        event = run.step()
        if event is None:
            break
        first = event.index if event.action == "Step" else 2 * (event.index // (1 + (event.action == "Evict")))
        for leg in range(first, first + 1 + (event.action != "Step")):
            rows.append((event.time, leg, site[leg], captured[leg], KINDS[event.action]))
    return np.array(rows, ROW)
