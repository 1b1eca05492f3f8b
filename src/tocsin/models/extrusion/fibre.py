"""Make a fibre: a lattice, its CTCF sites, and LEFs put on it at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.kernel import sample_without_replacement
from tocsin.models.extrusion._arguments import check_room, read_ctcfs, read_whole
from tocsin.models.extrusion.model import LEFT, RIGHT, Fibre, Rates
from tocsin.models.extrusion.sites import CtcfSites

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def make_fibre(
    n_sites: int,
    n_lefs: int,
    *,
    ctcf_sites: ArrayLike = (),
    captures_from: Sequence[str | int] | NDArray[Any] | str = (),
    strength: ArrayLike = 1.0,
    rates: Rates | Mapping[str, float] | None = None,
    seed: int = 0,
) -> Fibre:
    """Return a fibre with `n_lefs` LEFs, each with both legs on one plain, empty site.

    Parameters
    ----------
    n_sites : length of the lattice, >= 1
    n_lefs : number of LEFs; plain sites must be at least 2 * n_lefs - 1
    ctcf_sites : site numbers of the CTCFs, at most one a site
    captures_from : 'left' or 'right' (or -1, +1) for each CTCF, or one for all: the side a leg
        has to come from to be captured
    strength : probability of capture, 0..1, for each CTCF or one for all
    rates : Rates, or a mapping of some of them
    seed : of the placement; every set of plain sites is equally likely

    Raises InputError naming the CTCF, the number and the rule that is broken.
    """
    if n_lefs < 0:
        raise InputError(f"n_lefs must be >= 0, got {n_lefs}")
    sites, sides, strengths = read_ctcfs(n_sites, ctcf_sites, captures_from, strength)
    plain = np.ones(n_sites, bool)
    plain[sites] = False
    free = np.flatnonzero(plain)
    check_room(n_lefs, len(free))
    places = free[sample_without_replacement(seed, len(free), n_lefs)]
    return _fibre(n_sites, (sites, sides, strengths), places, places, np.zeros(2 * n_lefs, bool), rates)


def fibre_of(sites: CtcfSites, n_lefs: int, *, rates: Any = None, seed: int = 0) -> Fibre:
    """Return a fibre on CTCF sites read from a file. Raises InputError as `make_fibre`."""
    return make_fibre(
        sites.n_sites, n_lefs, ctcf_sites=sites.site, captures_from=sites.captures_from,
        strength=sites.strength, rates=rates, seed=seed,
    )  # fmt: skip


def fibre_from_legs(
    n_sites: int, ctcf_sites: Any, sides: Any, strengths: Any, left: Any, right: Any,
    *, captured_left: Any = False, captured_right: Any = False, rates: Any = None,
) -> Fibre:  # fmt: skip
    """Return a fibre with the legs where you say (no check that loops are nested).

    Raises InputError if a CTCF breaks a rule of `make_fibre`, a leg is off the lattice, left >
    right, two LEFs share a site, a leg is captured where no CTCF faces it, or the LEFs are too
    many for the plain sites.
    """
    sites, sides, strengths = read_ctcfs(n_sites, ctcf_sites, sides, strengths)
    left, right = read_whole("left", left), read_whole("right", right)
    n_lefs = len(left)
    _check_legs(n_sites, left, right)
    check_room(n_lefs, n_sites - len(sites))
    captured = np.column_stack([_flags(captured_left, n_lefs), _flags(captured_right, n_lefs)]).ravel()
    return _fibre(n_sites, (sites, sides, strengths), left, right, captured, rates)


def _fibre(n_sites: int, ctcfs: tuple[Any, Any, Any], left: Any, right: Any, captured: Any, rates: Any) -> Fibre:
    """Return a fibre of checked parts."""
    (sites, sides, strengths), n_lefs = ctcfs, len(left)
    ctcf_at = np.full(n_sites, -1)
    ctcf_at[sites] = np.arange(len(sites))
    places = np.column_stack([left, right]).ravel()
    facing = np.tile([LEFT, RIGHT], n_lefs)
    _check_captured(places, facing, captured, ctcf_at, sides)
    at_site = np.full(n_sites, -1)
    for some in (facing == RIGHT, facing == LEFT, captured):  # a captured leg shows, if two share
        at_site[places[some]] = np.flatnonzero(some)
    legs = {
        "site": places, "facing": facing, "captured": captured,
        "lef": np.repeat(np.arange(n_lefs), 2), "partner": np.arange(2 * n_lefs) ^ 1,
    }  # fmt: skip
    return Fibre(
        sites={"leg": at_site, "ctcf": ctcf_at},
        ctcfs={"captures_from": sides, "strength": strengths},
        legs=legs,
        lefs={"left": 2 * np.arange(n_lefs), "right": 2 * np.arange(n_lefs) + 1},
        rates=rates if isinstance(rates, Rates) else Rates(**(rates or {})),
    )


def _flags(given: Any, n_lefs: int) -> NDArray[np.bool_]:
    values = np.asarray(given, bool)
    if values.ndim and len(values) != n_lefs:
        raise InputError(f"captured has {len(values)} entries for {n_lefs} LEFs")
    return np.broadcast_to(values, n_lefs)


def _check_captured(places: Any, facing: Any, captured: Any, ctcf_at: Any, sides: Any) -> None:
    for leg in np.flatnonzero(captured):
        ctcf = ctcf_at[places[leg]]
        if ctcf < 0 or sides[ctcf] == facing[leg]:
            raise InputError(
                f"LEF {leg // 2}: the leg at site {places[leg]} cannot be captured: no CTCF there faces it"
            )


def _check_legs(n_sites: int, left: Any, right: Any) -> None:
    if len(left) != len(right):
        raise InputError(f"left has {len(left)} entries and right {len(right)}; one a LEF each")
    if len(left) and not (left.min() >= 0 and right.max() < n_sites):
        raise InputError(f"legs must stand on sites 0..{n_sites - 1}")
    if (left > right).any():
        raise InputError(f"LEF {np.flatnonzero(left > right)[0]}: left leg is right of its right leg")
    taken = np.concatenate([left, right[right != left]])
    values, counts = np.unique(taken, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"two LEFs stand on site {values[counts > 1][0]}; at most one leg a site")
