"""From kb to LEF numbers and rates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.models.extrusion.units import (
    lefs_from_spacing,
    processivity_from_respawn,
    respawn_from_processivity,
)


@pytest.mark.parametrize(
    ("length_bp", "spacing_kb", "n_lefs"),
    [
        (46_709_983, 150, 311),
        (1_500_000, 100, 15),
        (149_000, 100, 1),
        (150_000, 100, 2),
    ],
)
def test_lefs_are_the_nearest_whole_number(length_bp: float, spacing_kb: float, n_lefs: int) -> None:
    """One LEF per spacing, rounded, halves up."""
    assert lefs_from_spacing(length_bp, spacing_kb) == n_lefs


def test_respawn_gives_the_mean_loop() -> None:
    """A loop grows 2 sites of 1 kb per 1/step for a mean life of 1/respawn."""
    assert respawn_from_processivity(200) == 0.01
    assert respawn_from_processivity(200, resolution=5000) == 0.05
    assert respawn_from_processivity(200, step=3.0) == pytest.approx(0.03, rel=1e-15)


@settings(database=None, deadline=None)
@given(st.floats(1e-3, 1e6), st.integers(1, 10**6), st.floats(1e-6, 1e6))
def test_processivity_and_respawn_are_inverse(kb: float, resolution: int, step: float) -> None:
    """There and back gives the same kb to rounding."""
    rate = respawn_from_processivity(kb, resolution=resolution, step=step)
    back = processivity_from_respawn(rate, resolution=resolution, step=step)
    assert back == pytest.approx(kb, rel=1e-14)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", None, 10**400])
def test_numbers_must_be_finite_and_positive(bad: float) -> None:
    """Each argument is named with the rule and what was got."""
    with pytest.raises(InputError, match="spacing_kb must be a finite number > 0, got"):
        lefs_from_spacing(10**6, bad)
    with pytest.raises(InputError, match="length_bp must be a finite number > 0, got"):
        lefs_from_spacing(bad, 100)
    with pytest.raises(InputError, match="processivity_kb must be a finite number > 0"):
        respawn_from_processivity(bad)
    with pytest.raises(InputError, match="step must be a finite number > 0"):
        respawn_from_processivity(100, step=bad)


def test_spacing_wider_than_the_region_is_refused() -> None:
    """A region shorter than the spacing holds no LEF."""
    with pytest.raises(InputError, match="must be <= the region's length, 99 kb"):
        lefs_from_spacing(99_000, 100)
