"""Between what biologists quote (kb) and what the model runs on (sites, rates).

A lattice site is `resolution` bp. Time is the model's own: at `step = 1.0` a free leg
moves one site per unit of time on average.
"""

from __future__ import annotations

import math

from tocsin.errors import InputError

BP_PER_KB = 1000


def lefs_from_spacing(length_bp: float, spacing_kb: float) -> int:
    """How many LEFs make one per `spacing_kb`: the nearest whole number, at least 1.

    Parameters
    ----------
    length_bp : float
        Length of the simulated region, bp, > 0.
    spacing_kb : float
        Mean distance between LEFs, kb, > 0; 100 to 200 is usual in mammals.

    Raises
    ------
    InputError
        A number is not finite or not > 0, or the spacing exceeds the region.
    """
    length_kb = _positive("length_bp", length_bp) / BP_PER_KB
    spacing = _positive("spacing_kb", spacing_kb)
    if spacing > length_kb:
        raise InputError(
            f"spacing_kb must be <= the region's length, {length_kb:g} kb, "
            f"got {spacing:g}: no LEF would fit; take a longer region"
        )
    return max(1, math.floor(length_kb / spacing + 0.5))


def respawn_from_processivity(processivity_kb: float, *, resolution: int = 1000, step: float = 1.0) -> float:
    """The `respawn` rate that makes a free LEF's mean loop `processivity_kb` long.

    Two legs step at rate `step`, so an unhindered loop grows by 2 step sites per unit
    of time over a lifetime of mean 1/respawn: its mean size is 2 step/respawn sites.
    Hence respawn = 2 step (resolution/1000) / processivity_kb.

    Parameters
    ----------
    processivity_kb : float
        Mean loop size of a LEF that meets nothing, kb, > 0; 100 to 500 is usual.
    resolution : int
        Length of a lattice site, bp, > 0.
    step : float
        Rate of a leg's steps, sites per unit of time, > 0.

    Raises
    ------
    InputError
        A number is not finite or not > 0.
    """
    return _growth_kb(resolution, step) / _positive("processivity_kb", processivity_kb)


def processivity_from_respawn(respawn: float, *, resolution: int = 1000, step: float = 1.0) -> float:
    """A free LEF's mean loop size, kb: the inverse of `respawn_from_processivity`.

    Raises
    ------
    InputError
        A number is not finite or not > 0.
    """
    return _growth_kb(resolution, step) / _positive("respawn", respawn)


def _growth_kb(resolution: float, step: float) -> float:
    """Growth of a free loop, kb per unit of time."""
    site_kb = _positive("resolution", resolution) / BP_PER_KB
    return 2.0 * _positive("step", step) * site_kb


def _positive(name: str, number: float) -> float:
    try:
        value = float(number)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"{name} must be a finite number > 0, got {number!r}")
    return value
