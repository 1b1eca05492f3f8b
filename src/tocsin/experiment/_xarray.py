"""Results as labelled arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from tocsin.experiment._results import Results


def to_xarray(results: Results) -> xr.Dataset:
    """Return the metrics over the axes (if they make a grid) or over the candidates, and over replicates."""
    try:
        import xarray
    except ImportError:
        raise InputError("to_xarray needs xarray, which is not installed; run: pip install xarray") from None
    import numpy as np

    values = results.candidate_values()
    candidates, n_replicates = sorted(values), _n_replicates(results)
    axes = {name: sorted({values[c][k] for c in candidates}, key=_order) for k, name in enumerate(results.axes)}
    is_grid = bool(axes) and np.prod([len(v) for v in axes.values()]) == len(candidates) == len(
        {*map(repr, values.values())}
    )
    place = {c: n for n, c in enumerate(candidates)}
    if is_grid:
        shape = tuple(len(v) for v in axes.values())
        spots = [tuple(axes[name].index(v) for name, v in zip(axes, values[c], strict=True)) for c in candidates]
        place = {c: int(np.ravel_multi_index(spot, shape)) for c, spot in zip(candidates, spots, strict=True)}
    at = (
        np.array([place[c] for c in results.table.column("candidate").to_pylist()], np.int64),
        np.asarray(results.table.column("replicate")),
    )
    dims: tuple[str, ...] = (*axes, "replicate") if is_grid else ("candidate", "replicate")
    coords: dict[str, Any] = {"replicate": np.arange(n_replicates)}
    if is_grid:
        coords |= axes
    else:
        coords |= {"candidate": candidates} | {
            n: ("candidate", [values[c][k] for c in candidates]) for k, n in enumerate(axes)
        }
    arrays = {}
    for metric in results.metrics:
        filled = np.full((len(candidates), n_replicates), np.nan)
        filled[at] = results.column(metric)
        arrays[metric] = (dims, filled.reshape(*(len(coords[d]) for d in dims)))
    return xarray.Dataset(arrays, coords)


def _n_replicates(results: Results) -> int:
    found = results.table.column("replicate").to_pylist()
    return max(found, default=-1) + 1


def _order(value: Any) -> tuple[str, Any]:
    """Sort numbers by size, and the rest as text."""
    return ("", value) if isinstance(value, (int, float)) else ("text", str(value))
