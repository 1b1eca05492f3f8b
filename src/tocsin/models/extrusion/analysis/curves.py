"""What a contact map says by distance: expected contacts, observed over expected, P(s), its slope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.models.extrusion.analysis.contacts import ContactMap
from tocsin.models.extrusion.analysis.distances import check_count

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaling:
    """P(s): contacts by genomic distance; all arrays of shape (n_points,), s rising.

    Attributes
    ----------
    s_bp : float64
        Distance, bp: the geometric mean over the pairs of bins.
    p : float64
        Mean contacts of a pair of bins that far apart.
    slope : float64
        d log p / d log s at each point (second order inside, first order at both ends); NaN
        for fewer than two points.
    n_pairs : int64
        Pairs of bins behind each point.
    """

    s_bp: Floats
    p: Floats
    slope: Floats
    n_pairs: NDArray[np.int64]


def expected(contacts: ContactMap) -> Floats:
    """Mean contacts of each diagonal, float64, shape (width,); NaN where it has no pair."""
    total, n = _diagonals(contacts)
    found: Floats = np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)
    return found


def observed_over_expected(contacts: ContactMap) -> Floats:
    """The matrix over the mean of its diagonals, shape (n_bins, n_bins); NaN where that is 0."""
    full, mean = contacts.matrix(), np.full(contacts.bins.n_bins, np.nan)
    mean[: contacts.width] = expected(contacts)
    mean[mean == 0.0] = np.nan
    i = np.arange(contacts.bins.n_bins)
    found: Floats = full / mean[np.abs(i[:, None] - i)]
    return found


def scaling(contacts: ContactMap | Sequence[ContactMap], *, per_decade: int = 10) -> Scaling:
    """P(s) in logarithmic bins of s, and its slope; the diagonal (s = 0) is left out.

    Near the diagonal, where diagonals are farther apart than the bins, each is its own point.

    Parameters
    ----------
    contacts : ContactMap of at least one state and two bins; or several with bins of one length,
        whose pairs are counted together
    per_decade : logarithmic bins of s a decade, >= 1

    Raises
    ------
    InputError
        The map is empty or has one diagonal only.
    """
    maps = [contacts] if isinstance(contacts, ContactMap) else list(contacts)
    if len({one.bins.bin_bp for one in maps}) != 1:
        raise InputError("P(s) of several maps needs at least one map, and bins of one length")
    total, n = np.zeros((2, max(one.width for one in maps)))
    for one in maps:
        sums, n_here = _diagonals(one)
        total[: one.width] += sums
        n[: one.width] += n_here
    total, n = total[1:], n[1:]
    s = np.arange(1, len(n) + 1, dtype=np.float64)
    if not n.any():
        raise InputError("P(s) needs pairs of bins apart: take smaller bins, or a larger max_bp")
    group = np.floor(np.log10(s) * check_count("per_decade", per_decade, 1) + 1e-9).astype(np.int64)
    _, group = np.unique(group, return_inverse=True)
    pairs = np.bincount(group, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.bincount(group, total) / pairs
        s_bp = np.exp(np.bincount(group, n * np.log(s)) / pairs) * maps[0].bins.bin_bp
    has_pairs = pairs > 0
    s_bp, p, pairs = s_bp[has_pairs], p[has_pairs], pairs[has_pairs]
    return Scaling(s_bp, p, _slope(s_bp, p), pairs.astype(np.int64))


def write_scaling(path: StrPath, curve: Scaling) -> None:
    """Write P(s) as a table: s_bp, p, slope, n_pairs, tabs between. Raises OutputError."""
    rows = zip(curve.s_bp.tolist(), curve.p.tolist(), curve.slope.tolist(), curve.n_pairs.tolist(), strict=True)
    lines = [f"{s:.1f}\t{p!r}\t{slope:.6g}\t{n}\n" for s, p, slope, n in rows]
    write_text(path, "s_bp\tp\tslope\tn_pairs\n" + "".join(lines))


def _diagonals(contacts: ContactMap) -> tuple[Floats, Floats]:
    """Sum and number of the pairs of each diagonal, float64, shape (width,) each."""
    band = contacts.band()
    return np.nansum(band, axis=0), np.isfinite(band).sum(axis=0).astype(np.float64)


def _slope(s: Floats, p: Floats) -> Floats:
    if len(s) < 2:
        return np.full(len(s), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.gradient(np.log(p), np.log(s))
    return found
