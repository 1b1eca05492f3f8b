"""Make a world of chromatin: chromosomes on one lattice, their CTCF sites, and LEFs put on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.kernel import sample_without_replacement, uniforms
from tocsin.models.chromatin.loading import draw_places, read_weights
from tocsin.models.chromatin.species import ANCHORS, LefSpecies, RateChange, change_tables, read_species, share_out
from tocsin.models.chromatin.world import ANCHORED, BOTH, MOVING, UNBOUND, Chromatin
from tocsin.models.extrusion._arguments import SIDES, check_room, read_ctcfs, read_shares, read_whole
from tocsin.models.extrusion.model import LEFT, RIGHT
from tocsin.models.extrusion.sites import CtcfSites

MAX_SITES = 2**31 - 2
CAPTURES = {**SIDES, "both": BOTH, BOTH: BOTH}
CTCF_STREAM, ANCHOR_STREAM = 1 << 32, 2 << 32
"""Random streams beside the one of the placement."""


def make_chromatin(
    n_sites: int | Sequence[int],
    n_lefs: int,
    *,
    is_ring: bool | Sequence[bool] = False,
    ctcf_sites: ArrayLike = (),
    captures_from: Sequence[str | int] | NDArray[Any] | str = (),
    strength: ArrayLike = 1.0,
    ctcf_bound: ArrayLike = 1.0,
    ctcf_residence: ArrayLike = math.inf,
    when_unbound: Literal["release", "hold"] = "release",
    loading: ArrayLike | None = None,
    species: Sequence[LefSpecies] = (),
    changes: Sequence[RateChange] = (),
    places: ArrayLike | None = None,
    seed: int = 0,
) -> Chromatin:
    """Return chromosomes with `n_lefs` LEFs, each with both legs on one plain, empty site.

    Parameters
    ----------
    n_sites : length of each chromosome; they follow one another on the lattice
    n_lefs : number of LEFs, bound or not; plain sites must be at least 2 * n_lefs - 1
    is_ring : whether a chromosome is closed, for each or for all; a ring has at least 3 sites
    ctcf_sites : lattice sites of the CTCFs, at most one a site
    captures_from : 'left', 'right' or 'both' (-1, +1, 0) for each CTCF, or one for all
    strength : probability of capture, 0..1, for each CTCF or one for all
    ctcf_bound : share of time that a protein is on a CTCF site, 0..1; each or all
    ctcf_residence : mean time that it stays, > 0; each or all. inf: for ever, and sites whose
        share is less than 1 are bound or empty for the whole run, drawn here
    when_unbound : 'release': a captured leg is free when the protein leaves; 'hold': it stays
    loading : weight of each lattice site, >= 0, for landing there (CTCF sites count as 0); all
        plain sites alike if None
    species : kinds of LEFs, in order; one with all defaults if there is none
    changes : rates that change with time
    places : lattice site of each LEF at the start, -1 for unbound, instead of places drawn by
        loading weight
    seed : of what is drawn here: places, bound CTCFs, anchored legs

    Raises InputError naming the entry, the number and the rule that is broken.
    """
    lengths = _lengths(n_sites)
    rings = _rings(lengths, is_ring)
    n_all = int(lengths.sum())
    sites, sides, strengths = read_ctcfs(n_all, ctcf_sites, captures_from, strength, known=CAPTURES)
    plain = np.ones(n_all, bool)
    plain[sites] = False
    n_lefs = _n_lefs(n_lefs)
    check_room(n_lefs, int(plain.sum()))
    running = read_weights(loading, plain, n_lefs)
    kinds = read_species(species)
    of_lef = np.repeat(np.arange(len(kinds)), share_out(n_lefs, [one.share for one in kinds]))
    if places is None:
        at = _draw(running, plain, _starts_bound(of_lef, kinds), seed)
    else:
        at = _given(places, plain, of_lef, kinds)
    rates, steps = change_tables(kinds, changes)
    return Chromatin(
        sites=_site_columns(lengths, sites, at),
        chromosomes={"start": np.cumsum(lengths) - lengths, "end": np.cumsum(lengths), "is_ring": rings},
        ctcfs={
            "site": sites, "captures_from": sides, "strength": strengths,
            **_exchange(len(sites), ctcf_bound, ctcf_residence, seed), "is_releasing": _releasing(when_unbound),
        },
        legs=_leg_columns(at, of_lef, kinds, seed),
        lefs={"left": 2 * np.arange(n_lefs), "right": 2 * np.arange(n_lefs) + 1, "species": of_lef},
        species={"rates": np.arange(len(kinds)), "anchor": [ANCHORS[one.anchor] for one in kinds]},
        rates=rates, changes=steps, loading=running,
    )  # fmt: skip


def chromatin_of(regions: CtcfSites | Sequence[CtcfSites], n_lefs: int, **options: Any) -> Chromatin:
    """Return chromatin on CTCF sites read from a file, one chromosome a region, in order.

    `options` are those of `make_chromatin`; `captures_from` and `strength` come from the regions
    unless given. Raises InputError as `make_chromatin`, and for regions of different resolution.
    """
    regions = [regions] if isinstance(regions, CtcfSites) else list(regions)
    sizes = sorted({region.resolution for region in regions})
    if len(sizes) > 1:
        raise InputError(f"all regions must have one resolution, got {sizes[0]} and {sizes[1]} bp a site")
    lengths = [region.n_sites for region in regions]
    offsets = np.cumsum([0, *lengths[:-1]])
    read = {
        "ctcf_sites": np.concatenate([region.site + offset for region, offset in zip(regions, offsets, strict=True)]),
        "captures_from": np.concatenate([region.captures_from for region in regions]),
        "strength": np.concatenate([region.strength for region in regions]),
    } if regions else {}  # fmt: skip
    return make_chromatin(lengths, n_lefs, **(read | options))


def _lengths(given: Any) -> NDArray[np.int64]:
    lengths = read_whole("n_sites", given)
    bad = np.flatnonzero(lengths < 1)
    if len(bad) or not len(lengths):
        raise InputError(f"n_sites must be >= 1 for each chromosome, got {list(lengths)}")
    if lengths.sum() > MAX_SITES:
        raise InputError(f"the lattice has at most {MAX_SITES:,} sites, got {lengths.sum():,}; take larger ones")
    return lengths


def _rings(lengths: NDArray[np.int64], given: Any) -> NDArray[np.bool_]:
    rings = np.asarray(given)
    if rings.dtype != bool or rings.ndim > 1 or (rings.ndim and len(rings) != len(lengths)):
        raise InputError(f"is_ring must be true or false, for all or each of {len(lengths)} chromosomes, got {given!r}")
    rings = np.broadcast_to(rings, lengths.shape)
    for k in np.flatnonzero(rings & (lengths < 3)):
        raise InputError(f"chromosome {k} is a ring of {lengths[k]} sites; a ring has at least 3")
    return rings


def _n_lefs(given: Any) -> int:
    if isinstance(given, bool) or not hasattr(given, "__index__") or given < 0:
        raise InputError(f"n_lefs must be a whole number >= 0, got {given!r}")
    return int(given)


def _releasing(given: str) -> bool:
    if given not in ("release", "hold"):
        raise InputError(f"when_unbound must be 'release' or 'hold', got {given!r}")
    return given == "release"


def _exchange(n: int, bound: Any, residence: Any, seed: int) -> dict[str, Any]:
    """Return rates and first states of the CTCFs: off = 1 / residence, on = off bound / (1 - bound)."""
    share = read_shares("ctcf_bound", n, bound)
    stay = np.asarray(residence, np.float64)
    if stay.ndim and len(stay) != n:
        raise InputError(f"ctcf_residence has {len(stay)} entries for {n} CTCFs")
    stay = np.broadcast_to(stay, n)
    for k in np.flatnonzero(~(stay > 0)):
        raise InputError(f"CTCF {k}: ctcf_residence must be > 0, got {stay[k]}")
    is_dynamic = (share > 0) & (share < 1)
    off = np.where(is_dynamic, 1.0 / stay, 0.0)
    on = off * share / np.where(is_dynamic, 1.0 - share, 1.0)
    return {"is_on": uniforms(seed, n, CTCF_STREAM) < share, "binding": on, "unbinding": off}


def _starts_bound(of_lef: NDArray[np.int64], kinds: Sequence[LefSpecies]) -> NDArray[np.bool_]:
    """Return which LEFs start bound: the first ones of each species, as many as it says."""
    counts = np.bincount(of_lef, minlength=len(kinds))
    bound = [np.arange(n) < math.floor(n * one.bound + 0.5) for n, one in zip(counts, kinds, strict=True)]
    return np.concatenate(bound)


def _draw(running: Any, plain: NDArray[np.bool_], is_bound: NDArray[np.bool_], seed: int) -> NDArray[np.int64]:
    """Return the lattice site of each LEF, -1 for the unbound ones."""
    at, n = np.full(len(is_bound), -1), int(is_bound.sum())
    if len(running):
        at[is_bound] = draw_places(running, n, seed)
    else:
        free = np.flatnonzero(plain)
        at[is_bound] = free[sample_without_replacement(seed, len(free), n)]
    return at


def _given(places: Any, plain: Any, of_lef: Any, kinds: Sequence[LefSpecies]) -> NDArray[np.int64]:
    at = read_whole("places", places)
    if len(at) != len(of_lef):
        raise InputError(f"places has {len(at)} entries for {len(of_lef)} LEFs")
    for k, place in enumerate(at.tolist()):
        if not -1 <= place < len(plain) or (place >= 0 and not plain[place]):
            raise InputError(f"LEF {k}: its place must be a lattice site without a CTCF, or -1, got {place}")
        if place < 0 and kinds[of_lef[k]].load == math.inf:
            raise InputError(f"LEF {k} cannot start unbound: its species has load = inf")
    values, counts = np.unique(at[at >= 0], return_counts=True)
    if (counts > 1).any():
        raise InputError(f"two LEFs stand on site {values[counts > 1][0]}; at most one may")
    return at


def _site_columns(lengths: Any, ctcf_sites: Any, at: NDArray[np.int64]) -> Mapping[str, Any]:
    n = int(lengths.sum())
    leg, ctcf = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    ctcf[ctcf_sites] = np.arange(len(ctcf_sites))
    bound = np.flatnonzero(at >= 0)
    leg[at[bound]] = 2 * bound
    return {"leg": leg, "ctcf": ctcf, "chromosome": np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)}


def _leg_columns(at: Any, of_lef: Any, kinds: Sequence[LefSpecies], seed: int) -> Mapping[str, Any]:
    n = len(at)
    anchor = np.array([ANCHORS[one.anchor] for one in kinds])[of_lef]
    drawn = np.where(uniforms(seed, n, ANCHOR_STREAM) < 0.5, LEFT, RIGHT)
    anchor = np.where(np.abs(anchor) > 1, drawn, anchor)
    facing = np.tile([LEFT, RIGHT], n)
    state = np.where(facing == np.repeat(anchor, 2), ANCHORED, MOVING)
    state[np.repeat(at < 0, 2)] = UNBOUND
    return {
        "site": np.repeat(at, 2), "walked": 0, "facing": facing, "state": state,
        "lef": np.repeat(np.arange(n), 2), "partner": np.arange(2 * n) ^ 1,
    }  # fmt: skip
