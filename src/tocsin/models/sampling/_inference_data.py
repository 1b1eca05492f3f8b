"""From chains to an ArviZ InferenceData."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling.estimates import batch_ess


def path_groups(chains: Sequence[Chain], dims: tuple[str, ...], coords: dict[str, Any]) -> Any:
    """Return a data set of what is exact along the paths: means, second moments, effective sample sizes."""
    import xarray as xr

    every = chains[0].world.draw_every
    areas = np.stack([c.areas() for c in chains]) / every
    draws = np.stack([c.draws() for c in chains])
    total = areas.shape[1]
    squares = [c.squares() for c in chains]
    mean = areas[:, -1] / total
    found = {"mean": (("chain", *dims), mean)}
    if squares[0] is not None:
        second = np.stack([s[-1] for s in squares if s is not None]) / (every * total)
        found["second_moment"] = (("chain", *dims), second)
        variance = second.mean(axis=0) - mean.mean(axis=0) ** 2
    else:
        variance = draws.reshape(-1, draws.shape[2]).var(axis=0)
    ess, lengths = batch_ess(areas, variance)
    found["ess"], found["batch_length"] = (dims, ess), (dims, lengths * every)
    found["sd"] = (dims, np.sqrt(np.maximum(variance, 0.0)))
    return xr.Dataset(found, coords=coords)


def skeleton(chains: Sequence[Chain]) -> Any:
    """Return a data set of the turns written down; shorter chains are padded with NaN and -1. None without any.

    Where it has `centre` and `scale`, the turns are those of z, and positions are centre + scale z.
    """
    import xarray as xr

    lists = [np.concatenate(c.knots) if c.knots else None for c in chains]
    rows = [r for r in lists if r is not None]
    if len(rows) < len(lists):
        return None
    longest = max(map(len, rows))
    found: dict[str, Any] = {}
    for name in rows[0].dtype.names or ():
        inner = rows[0][name].shape[1:]
        kind = rows[0][name].dtype
        padded = np.full((len(rows), longest, *inner), np.nan if kind.kind == "f" else -1, kind)
        for k, row in enumerate(rows):
            padded[k, : len(row)] = row[name]
        found[name] = (("chain", "knot", *(f"{name}_dim" for _ in inner)), padded)
    first = chains[0]
    if first.scale is not None and first.centre is not None and rows[0]["x"].ndim == 1:
        found["centre"] = (("x_dim",), first.centre)
        found["scale"] = (("x_dim", "z_dim"), first.scale)
    return xr.Dataset(found)


def inference_data(
    chains: Sequence[Chain], names: Sequence[str], variable: str, attributes: dict[str, Any], translate: Any = None
) -> Any:
    """Return an InferenceData: posterior, sample_stats (counts up to each draw), path, and skeleton if kept."""
    import arviz as az
    import xarray as xr

    dims = (f"{variable}_dim",)
    coords = {dims[0]: list(names)}
    draws = np.stack([c.draws() for c in chains])
    whole = {"chain": np.arange(len(chains)), "draw": np.arange(draws.shape[1]), **coords}
    posterior = xr.Dataset({variable: (("chain", "draw", *dims), draws)}, coords=whole, attrs=attributes)
    if translate is not None:
        posterior = translate(draws).assign_coords({k: whole[k] for k in ("chain", "draw")}).assign_attrs(attributes)
    counts = [c.counts() for c in chains]
    stats = {f"n_{k}": (("chain", "draw"), np.stack([c[k] for c in counts])) for k in counts[0]}
    sample_stats = xr.Dataset(stats, coords={k: whole[k] for k in ("chain", "draw")}, attrs=attributes)
    groups = {"posterior": posterior, "sample_stats": sample_stats, "path": path_groups(chains, dims, coords)}
    turns = skeleton(chains)
    if turns is not None:
        groups["skeleton"] = turns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return az.InferenceData(attrs=attributes, **groups)
