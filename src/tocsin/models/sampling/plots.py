"""Pictures of continuous paths: over time, and in the plane of two coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError, needed

Vector = NDArray[np.float64]


def path_of(result: Any, coordinate: int, chain: int = 0) -> tuple[Vector, Vector]:
    """Return times and positions of the corners of one coordinate's path, from the skeleton of a result.

    Raises InputError if no skeleton was kept, or if the path is not made of straight lines in this coordinate.
    """
    if "skeleton" not in result.groups():
        raise InputError("this result has no skeleton; sample with skeleton=True")
    if result.posterior.attrs["sampler"].endswith("boomerang"):
        raise InputError("a Boomerang's path is made of arcs; plot its draws instead")
    if "spacing" in result.posterior.attrs and result.posterior.attrs["target"].endswith("regression"):
        raise InputError("the skeleton of a regression is kept in its own scale; plot its draws instead")
    turns = result.skeleton.isel(chain=chain)
    times = turns["time"].values
    if "coordinate" in turns:
        own = turns["coordinate"].values == coordinate
        return times[own], turns["x"].values[own]
    is_there = ~np.isnan(times)
    return times[is_there], turns["x"].values[is_there, coordinate]


def plot_trace(result: Any, coordinate: int = 0, *, chain: int = 0, turns: int = 500, ax: Any = None) -> Any:
    """Draw the first `turns` turns of one coordinate over time; return the axes. Needs matplotlib."""
    ax = _axes(ax)
    times, x = path_of(result, coordinate, chain)
    ax.plot(times[:turns], x[:turns], linewidth=0.8)
    ax.set(xlabel="time", ylabel=str(coordinate))
    return ax


def plot_phase(
    result: Any, first: int = 0, second: int = 1, *, chain: int = 0, turns: int = 500, ax: Any = None
) -> Any:
    """Draw the path in the plane of two coordinates; return the axes. Needs matplotlib.

    Between its own turns a coordinate moves straight, so each is interpolated at the turns of both.
    """
    ax = _axes(ax)
    (t, x), (s, y) = path_of(result, first, chain), path_of(result, second, chain)
    end = min(t[-1], s[-1])
    times = np.unique(np.concatenate([t, s]))
    times = times[times <= end][:turns]
    ax.plot(np.interp(times, t, x), np.interp(times, s, y), linewidth=0.8)
    ax.set(xlabel=str(first), ylabel=str(second))
    return ax


def plot_pair(result: Any, first: int = 0, second: int = 1, *, ax: Any = None) -> Any:
    """Draw the draws of two coordinates against each other, all chains; return the axes. Needs matplotlib."""
    ax = _axes(ax)
    names = list(result.posterior.data_vars)
    x = result.posterior[names[0]].values.reshape(-1, result.posterior[names[0]].shape[-1])
    ax.plot(x[:, first], x[:, second], ".", markersize=2, alpha=0.4)
    ax.set(xlabel=str(first), ylabel=str(second))
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return needed("matplotlib.pyplot", "a plot", "plot").subplots()[1]
