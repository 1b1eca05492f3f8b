"""Insulation of a contact map and the boundaries of domains: Crane et al. 2015.

The score of a bin is the mean contact of the `window` bins before it with the `window` bins
after it, as log2 of the ratio to the mean over all bins: it dips where few contacts cross.
Source: doi:10.1038/nature14450, methods; 500 kb windows there, shorter ones for simulated maps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion.analysis.contacts import ContactMap

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Insulation:
    """The score along the chromosome, and where it dips.

    Attributes
    ----------
    score : float64, shape (n_bins,)
        log2; NaN within a window of the ends, and where no contact crosses at all.
    delta : float64, shape (n_bins,)
        Mean score of the `window` bins after minus that of those before: below 0 on the way
        down to a boundary, above 0 on the way up. NaN near the ends.
    boundary : int64, shape (n_boundaries,)
        Bins with a local minimum of the score.
    strength : float64, shape (n_boundaries,)
        Rise of delta across the boundary, from its lowest before to its highest after.
    """

    score: Floats
    delta: Floats
    boundary: NDArray[np.int64]
    strength: Floats


def insulation(
    contacts: ContactMap, *, window_bp: int = 100_000, delta_bp: int | None = None, min_strength: float = 0.1
) -> Insulation:
    """The insulation score and its boundaries; O(n_bins window^2).

    Parameters
    ----------
    contacts : ContactMap with max_bp >= 2 window_bp
    window_bp : side of the square, bp; at least one bin
    delta_bp : how far delta looks to each side, bp; window_bp by default
    min_strength : boundaries weaker than this are left out

    Raises
    ------
    InputError
        The map is empty or too narrow, or a window is shorter than a bin.
    """
    window = _in_bins("window_bp", window_bp, contacts)
    reach = window if delta_bp is None else _in_bins("delta_bp", delta_bp, contacts)
    crossing = _crossing(contacts, window)
    seen = crossing[np.isfinite(crossing)]
    if not len(seen) or seen.mean() == 0.0:
        raise InputError(
            "no contact crosses any bin at this window: take a larger window_bp, more states, or kind 'distance'"
        )
    with np.errstate(divide="ignore"):
        score = np.log2(crossing / seen.mean())
    score[~np.isfinite(score)] = np.nan
    delta = _delta(score, reach)
    boundary, strength = _boundaries(score, delta)
    boundary, strength = _strongest(boundary, strength)
    is_strong = strength >= min_strength
    return Insulation(score, delta, boundary[is_strong], strength[is_strong])


def _in_bins(name: str, bp: int, contacts: ContactMap) -> int:
    if not bp >= contacts.bins.bin_bp:
        raise InputError(f"{name} must be at least one bin, {contacts.bins.bin_bp} bp, got {bp}")
    return int(bp) // contacts.bins.bin_bp


def _crossing(contacts: ContactMap, window: int) -> Floats:
    """Mean contact across each bin, float64, shape (n_bins,); NaN within a window of the ends."""
    n = contacts.bins.n_bins
    if contacts.width <= 2 * window:
        raise InputError(
            f"window_bp needs contacts up to {2 * window * contacts.bins.bin_bp} bp, and the map ends at "
            f"{(contacts.width - 1) * contacts.bins.bin_bp}; take a larger max_bp or a smaller window"
        )
    band, total = contacts.band(), np.zeros(n)
    inside = np.arange(window, n - window)
    for before in range(1, window + 1):
        for after in range(1, window + 1):
            total[inside] += band[inside - before, before + after]
    found = np.full(n, np.nan)
    found[inside] = total[inside] / window**2
    return found


def _delta(score: Floats, reach: int) -> Floats:
    found = np.full(len(score), np.nan)
    for i in range(reach, len(score) - reach):
        found[i] = score[i + 1 : i + reach + 1].mean() - score[i - reach : i].mean()
    return found


def _boundaries(score: Floats, delta: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The bottom of the score at each rise of delta through zero, and how far delta rises there."""
    with np.errstate(invalid="ignore"):
        before = np.flatnonzero((delta[:-1] < 0) & (delta[1:] >= 0))
    bins, strengths = [], []
    for i in before.tolist():
        bins.append(_bottom(score, i if score[i] <= score[i + 1] else i + 1))
        strengths.append(_peak(delta, i + 1, 1) + _peak(-delta, i, -1))
    return np.array(bins, np.int64), np.array(strengths, np.float64)


def _strongest(boundary: NDArray[np.int64], strength: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Each bin once, in order, with the largest of its strengths."""
    bins, where = np.unique(boundary, return_inverse=True)
    most = np.zeros(len(bins))
    np.maximum.at(most, where, strength)
    return bins, most


def _bottom(score: Floats, at: int) -> int:
    """The local minimum down the slope from `at`."""
    for direction in (-1, 1):
        while 0 <= at + direction < len(score) and score[at + direction] < score[at]:
            at += direction
    return at


def _peak(values: Floats, at: int, direction: int) -> float:
    """The top of the slope that rises from `at` in a direction."""
    while 0 <= at + direction < len(values) and values[at + direction] >= values[at]:
        at += direction
    return float(values[at])
