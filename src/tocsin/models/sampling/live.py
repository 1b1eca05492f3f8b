"""A sampler in a live page: where its particle flies, and the marginals that grow under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tocsin.errors import InputError
from tocsin.export.marks import Along, Marginals, Trajectory, View
from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._sample import _as_target, _begin, _starts, chain_seed
from tocsin.run import Simulation

MOST_MARGINALS = 4


def live(
    target: Any, sampler: str = "zigzag", *, seed: int = 0, start: ArrayLike | None = None, tune: float = 0.0,
    show: tuple[int, ...] = (0, 1), every: float = 0.1,
) -> tuple[Simulation[Any], View]:  # fmt: skip
    """Return one chain as a simulation with its picture: `page_of(*live(target))`, or `simulation.view(view)`.

    Parameters
    ----------
    target : as in `sample`
    sampler : one that the target offers
    seed : of the chain
    start : position, (d,); by default one from the target's own guess
    tune : time that it runs here first, and fits its scale in
    show : coordinates: the first two are the axes, up to four have marginals
    every : time between two samples of the picture

    Raises InputError for an unknown sampler or coordinate. A target whose gradient is a function of NumPy arrays has
    no page (`page_of` says so): it runs here alone.
    """
    target = _as_target(target)
    if len(show) < 2 or any(not 0 <= k < target.d for k in show):
        raise InputError(f"show must name two or more coordinates in 0..{target.d - 1}, got {show!r}")
    chain = _begin(target, sampler, _starts(target, start, 1, seed)[0], chain_seed(seed, 0), 0)
    if tune > 0.0:
        chain.warm_up(tune)
    places = [_along(chain, k, _label(target.names[k])) for k in show[:MOST_MARGINALS]]
    marks = (Trajectory(places[0], places[1]), Marginals(tuple(places)))
    return chain.simulation, View(marks, every=every, speed=5.0)


def _label(name: str) -> str:
    return f"x[{name}]" if name.isdigit() else name


def _along(chain: Chain, k: int, label: str) -> Along:
    """Return how coordinate k moves, in the target's own scale."""
    world, tables = chain.world, chain.world.schema().tables()
    if "particles" in tables:
        centre, scale = world.centre.values[k], world.scale.values[k, k]
        if world.is_mixed:
            label, centre, scale = f"z[{k}]", 0.0, 1.0
        return Along(
            f"z[0,{k}]", f"v[0,{k}]", "particles[0].at", float(centre), float(scale), circle="is_circle", label=label
        )
    table = "coordinates" if "coordinates" in tables else "sites"
    centre, scale = (0.0, 1.0) if chain.centre is None else (chain.centre[k], _scale(chain, k))
    row = f"{table}[{k}]"
    return Along(f"{row}.x", f"{row}.v", f"{row}.since", float(centre), float(scale), label=label)


def _scale(chain: Chain, k: int) -> float:
    scale = np.asarray(chain.scale)
    return float(scale[k, k] if scale.ndim == 2 else scale[k])
