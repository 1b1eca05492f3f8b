"""Where LEFs land: loading weights of lattice sites, as a running sum to draw from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.kernel import uniforms
from tocsin.models.extrusion.regions import parse_region
from tocsin.models.extrusion.sites import CtcfSites
from tocsin.schema._annotations import nearest

PLACE_STREAM = 3 << 32
LEAST_FREE = 1e-6
"""Share of all weight that must stay free whatever sites are taken: landings draw until one is free."""


def read_weights(given: Any, plain: NDArray[np.bool_], n_lefs: int) -> NDArray[np.float64]:
    """Return the running sum of the weights of the plain sites, shape (n_sites,); empty without weights.

    Raises InputError for weights that are not finite or < 0, of another length, or so
    concentrated that a LEF might find no site that is free.
    """
    if given is None:
        return np.zeros(0)
    weights = np.asarray(given, np.float64)
    if weights.shape != plain.shape:
        raise InputError(f"loading must have one weight a lattice site, {len(plain)}, got shape {weights.shape}")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(f"loading must be finite and >= 0, got {weights[bad[0]]} at site {bad[0]}")
    weights = np.where(plain, weights, 0.0)
    _check_room(weights, n_lefs)
    return np.cumsum(weights)


def _check_room(weights: NDArray[np.float64], n_lefs: int) -> None:
    """Refuse weights of which the other LEFs' legs, two each, could cover all but a trace."""
    n_taken = max(0, 2 * (n_lefs - 1))
    rest = np.sort(weights)[: max(0, len(weights) - n_taken)].sum()
    total = weights.sum()
    if not rest >= LEAST_FREE * total or not total > 0.0:
        raise InputError(
            f"loading is too concentrated: the legs of {n_lefs} LEFs may take {n_taken} sites, and "
            f"the others have {rest / total if total > 0.0 else 0.0:.2g} of the weight, less than {LEAST_FREE:g}; "
            f"give more sites a weight, or take fewer LEFs"
        )


def draw_places(running: NDArray[np.float64], n: int, seed: int) -> NDArray[np.int64]:
    """Return n different sites, drawn one after another by weight among those not yet drawn."""
    taken, stream = np.zeros(0, np.int64), PLACE_STREAM
    while len(taken) < n:
        target = uniforms(seed, 2 * n + 64, stream) * running[-1]
        more = np.searchsorted(running, target, side="right")
        taken = np.concatenate([taken, np.minimum(more, len(running) - 1)])
        first = np.sort(np.unique(taken, return_index=True)[1])
        taken, stream = taken[first], stream + 1
    return taken[:n]


def region_weights(
    chromosomes: Sequence[CtcfSites], given: Sequence[tuple[str, float]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weights of all sites, replaced where a region holds a site's middle; later regions win.

    `given` holds regions and weights. Raises InputError for a region that is not simulated.
    """
    weights, ends = weights.copy(), np.cumsum([part.n_sites for part in chromosomes])
    names = [part.chrom for part in chromosomes]
    for text, weight in given:
        region = parse_region(text)
        if region.chrom not in names:
            raise InputError(
                f"loading {text!r}: there is no chromosome {region.chrom!r}.{nearest(region.chrom, names)}"
            )
        k = names.index(region.chrom)
        part = chromosomes[k]
        end = part.end if region.end is None else region.end
        middle = part.start + (np.arange(part.n_sites) + 0.5) * part.resolution
        inside = (middle >= region.start) & (middle < end)
        if not inside.any():
            raise InputError(f"loading {text!r} holds no site of the simulated region {part.region}")
        weights[ends[k] - part.n_sites : ends[k]][inside] = weight
    return weights
