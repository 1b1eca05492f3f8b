"""From prior probabilities of inclusion to the rates at which halts at zero end."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.sampling import _input

Vector = NDArray[np.float64]


def thaw_constant(inclusion: ArrayLike | None, slab_sd: ArrayLike | None, low: Vector, high: Vector) -> Vector:
    """Return kappa (d,): a halt at zero ends at rate kappa |v|; inf where there is no spike.

    kappa = w / (1 - w) * density of the slab at zero, w the prior probability of inclusion, which gives the prior
    w slab + (1 - w) point mass at zero. The slab is a normal around zero, cut off at the walls `low`, `high` (d,). A zero
    that is itself a wall is reached from one side only, hence half as often: kappa is half as large.

    Raises InputError: w outside (0, 1), no slab_sd, slab_sd <= 0, a zero outside the walls.
    """
    d = len(low)
    if inclusion is None:
        if slab_sd is not None:
            raise InputError("slab_sd belongs to a spike and slab prior: give inclusion, its prior probability, too")
        return np.full(d, np.inf)
    try:
        given = np.asarray(inclusion, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"inclusion must be numbers, got {inclusion!r}"[:200]) from None
    if given.shape not in ((), (d,)):
        raise InputError(f"inclusion must have {d} entries or be one number, got shape {given.shape}")
    given = np.broadcast_to(given, (d,))
    has = ~np.isnan(given)  # NaN marks coordinates without a spike
    w = np.full(d, 0.5)
    w[has] = _input.probability("inclusion", given[has], int(has.sum()))
    sd = _input.vector("slab_sd", slab_sd, d)
    if (sd <= 0.0).any() or not np.isfinite(sd).all():
        raise InputError(f"slab_sd must be > 0 and finite, got {sd.min():g}")
    bad = has & ((low > 0.0) | (high < 0.0))
    if bad.any():
        raise InputError(
            f"coordinate {int(np.flatnonzero(bad)[0])} has a spike at zero, but zero lies outside its walls: "
            f"leave the spike or the wall"
        )
    return np.where(has, w / (1.0 - w) * _density_at_zero(sd, low, high), np.inf)


def _density_at_zero(sd: Vector, low: Vector, high: Vector) -> Vector:
    ndtr = _input.scipy("special").ndtr
    mass = ndtr(high / sd) - ndtr(low / sd)
    sides = np.where((low == 0.0) | (high == 0.0), 0.5, 1.0)
    found: Vector = sides / (sd * math.sqrt(2.0 * math.pi) * mass)
    return found
