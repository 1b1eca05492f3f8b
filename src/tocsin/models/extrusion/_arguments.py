"""Checked arguments of those who build fibres: CTCF sites, their sides and strengths, room for LEFs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.extrusion.model import LEFT, RIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDES: Mapping[Any, int] = {"left": LEFT, "right": RIGHT, LEFT: LEFT, RIGHT: RIGHT}


def read_ctcfs(
    n_sites: int, sites: Any, sides: Any, strength: Any, *, known: Mapping[Any, int] = SIDES
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return sites, sides and strengths of the CTCFs, one entry each; shape (n_ctcfs,).

    `known` maps what a side may be called to its number. Raises InputError naming the CTCF, the
    number and the rule that is broken.
    """
    if n_sites < 1:
        raise InputError(f"n_sites must be >= 1, got {n_sites}")
    sites = read_whole("ctcf_sites", sites)
    n = len(sites)
    bad = np.flatnonzero((sites < 0) | (sites >= n_sites))
    if len(bad):
        raise InputError(f"CTCF {bad[0]} is at site {sites[bad[0]]}, outside the lattice 0..{n_sites - 1}")
    values, counts = np.unique(sites, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"site {values[counts > 1][0]} has two CTCFs; at most one is allowed")
    return sites, _sides(n, sides, known), read_shares("strength", n, strength)


def read_whole(name: str, given: Any) -> NDArray[np.int64]:
    """Return whole numbers as int64. Raises InputError for others."""
    values = np.atleast_1d(np.asarray(given))
    if len(values) and not np.issubdtype(values.dtype, np.integer):
        raise InputError(f"{name} must be whole numbers, got {values.dtype}")
    return values.astype(np.int64)


def _sides(n: int, given: Any, known: Mapping[Any, int]) -> NDArray[np.int64]:
    listed = [given] * n if isinstance(given, (str, int)) else list(given)
    if len(listed) != n:
        raise InputError(f"captures_from has {len(listed)} entries for {n} CTCFs")
    for k, side in enumerate(listed):
        if side not in known:
            words = " or ".join(repr(word) for word in known if isinstance(word, str))
            raise InputError(f"CTCF {k}: captures_from must be {words}, got {side!r}")
    return np.array([known[side] for side in listed], np.int64)


def read_shares(name: str, n: int, given: Any) -> NDArray[np.float64]:
    """Return a number in 0..1 for each CTCF, from as many or one for all; shape (n_ctcfs,)."""
    values = np.asarray(given, np.float64)
    if values.ndim and len(values) != n:
        raise InputError(f"{name} has {len(values)} entries for {n} CTCFs")
    values = np.broadcast_to(values, n)
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(bad):
        raise InputError(f"CTCF {bad[0]}: {name} must be in 0..1, got {values[bad[0]]}")
    return values


def check_room(n_lefs: int, n_plain: int) -> None:
    """Refuse what could leave a LEF without a free plain site to land on."""
    if n_lefs and n_plain < 2 * n_lefs - 1:
        raise InputError(
            f"{n_lefs} LEFs need at least {2 * n_lefs - 1} sites without a CTCF, but the lattice "
            f"has {n_plain}. Use fewer LEFs or a longer lattice."
        )
