"""Scores to capture probabilities: one stated formula for a whole file."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._rows import Rows

BED_SCORE_MAX = 1000.0
# A file of 0..1000 scores with none above 10 does not occur; one of occupancies with a
# stray 1.2 does, and dividing it by 1000 would switch every barrier off unnoticed.
_AMBIGUOUS_UP_TO = 10.0


def scale_strength(rows: Rows, strength: str | float, score_max: float | None) -> tuple[NDArray[np.float64], str]:
    """Strength of every row (float64, >= 0; above 1 means: cut to 1) and its formula.

    The scale is chosen from the whole file, so that all regions of it agree.

    Raises
    ------
    InputError
        The scores fit no scale, or `score_max` is not a finite number > 0.
    """
    if not isinstance(strength, str):
        if score_max is not None:
            raise InputError("score_max has no use beside a number for strength")
        return np.full(len(rows.value), float(strength)), f"all {float(strength):g}"
    if score_max is not None:
        return _over(rows, _positive(score_max))
    if rows.value_name == "signalValue":
        return _over(rows, _largest(rows))
    top = rows.value.max()
    if rows.value_name == "strength" or top <= 1.0:
        return rows.value, rows.value_name
    if top <= _AMBIGUOUS_UP_TO:
        _refuse_ambiguous(rows)
    return _over(rows, BED_SCORE_MAX)


def _over(rows: Rows, top: float) -> tuple[NDArray[np.float64], str]:
    with np.errstate(over="ignore"):  # a huge score over a tiny maximum: cut to 1
        return rows.value / top, f"min({rows.value_name} / {top:g}, 1)"


def _largest(rows: Rows) -> float:
    top = float(rows.value.max())
    if top <= 0.0:
        raise InputError(f"{rows.name}: every signalValue is 0; pass strength='score' or a number")
    return top


def _refuse_ambiguous(rows: Rows) -> None:
    worst = int(rows.value.argmax())
    raise InputError(
        f"{rows.name}, line {rows.line[worst]}: the largest score is "
        f"{rows.value[worst]:g}: above 1, so not an occupancy, and too low for the BED "
        "scale 0..1000; correct the score, or name the scale with score_max="
    )


def _positive(score_max: float) -> float:
    try:
        value = float(score_max)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"score_max must be a finite number > 0, got {score_max!r}")
    return value
