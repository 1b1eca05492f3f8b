"""Insulation: by brute force, on a map with known domains, and on a bare fibre."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tocsin.errors import InputError
from tocsin.models.extrusion.analysis import ContactMap, draw_insulation, insulation, make_bins


def map_of(value: np.ndarray) -> ContactMap:
    """A map of 10 kb bins with a given upper triangle."""
    n = len(value)
    band = np.zeros((n, n))
    for k in range(n):
        band[: n - k, k] = np.diagonal(value, k)
    return ContactMap.from_band(make_bins("c", 0, n * 10_000, resolution=10_000), band, kind="counts")


def domains(sizes: list[int], within: float = 8.0) -> np.ndarray:
    """Contacts `within` a domain and 1 between domains."""
    name = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(name[:, None] == name, within, 1.0)


def test_score_by_brute_force() -> None:
    """The score is log2 of the mean of the square over the mean of all squares."""
    rng = np.random.default_rng(1)
    value = rng.random((40, 40))
    value += value.T
    found = insulation(map_of(value), window_bp=50_000, min_strength=0.0)
    wanted = np.full(40, np.nan)
    for i in range(5, 35):
        wanted[i] = value[i - 5 : i, i + 1 : i + 6].mean()
    assert np.allclose(found.score, np.log2(wanted / np.nanmean(wanted)), rtol=1e-12, equal_nan=True)
    for i in range(10, 30):
        delta = found.score[i + 1 : i + 6].mean() - found.score[i - 5 : i].mean()
        assert found.delta[i] == pytest.approx(delta, rel=1e-12)


def test_boundaries_of_known_domains() -> None:
    """Every border between two domains is a boundary, give or take the bin, and nothing else is."""
    sizes = [20, 30, 25, 35, 20]
    found = insulation(map_of(domains(sizes)), window_bp=80_000)
    borders = np.cumsum(sizes)[:-1]
    assert len(found.boundary) == len(borders)
    assert (np.abs(found.boundary - borders + 0.5) <= 1).all()


def test_stronger_borders_are_stronger() -> None:
    """A border between denser domains has the larger strength, and min_strength leaves out the weaker."""
    value = domains([30, 30, 30])
    value[:45, :45] = domains([30, 15], within=2.0)
    contacts = map_of(value)
    weak, strong = insulation(contacts, window_bp=80_000).strength
    assert weak < strong
    assert len(insulation(contacts, window_bp=80_000, min_strength=(weak + strong) / 2).boundary) == 1


def test_bare_fibre_has_none() -> None:
    """A fibre without loops is insulated nowhere."""
    contacts = ContactMap(make_bins("c", 0, 600_000, bin_bp=10_000))
    contacts.add([], [])
    found = insulation(contacts, window_bp=100_000)
    assert np.allclose(found.score[10:50], 0.0, atol=1e-10)
    assert len(found.boundary) == 0


def test_the_gap_between_two_loops_is_a_boundary() -> None:
    """Two loops side by side: fewer contacts cross the gap between them than the loops themselves."""
    contacts = ContactMap(make_bins("c", 0, 600_000, bin_bp=10_000))
    contacts.add([100, 350], [250, 500])
    found = insulation(contacts, window_bp=60_000)
    assert found.score[30] < found.score[17] - 0.2
    assert found.score[30] < found.score[42] - 0.2
    inner = found.boundary[(found.boundary > 15) & (found.boundary < 45)]
    assert len(inner) == 1
    assert 25 <= inner[0] <= 35


def test_refuses() -> None:
    """A map too narrow for the window, or a window shorter than a bin, is named."""
    contacts = ContactMap(make_bins("c", 0, 600_000, bin_bp=10_000), max_bp=100_000)
    contacts.add([], [])
    with pytest.raises(InputError, match=r"window_bp needs contacts up to 200000 bp, and the map ends at 100000"):
        insulation(contacts, window_bp=100_000)
    with pytest.raises(InputError, match=r"window_bp must be at least one bin, 10000 bp, got 5000"):
        insulation(contacts, window_bp=5_000)
    empty = ContactMap.from_band(contacts.bins, np.zeros((60, 60)), kind="loops")
    with pytest.raises(InputError, match="no contact crosses any bin"):
        insulation(empty, window_bp=50_000)


def test_picture(tmp_path: Path) -> None:
    """The score is drawn as a line, boundaries as marks."""
    contacts = map_of(domains([20, 30, 25]))
    ax = draw_insulation(tmp_path / "x.png", contacts, insulation(contacts, window_bp=80_000))
    assert len(ax.collections) == 1
    assert (tmp_path / "x.png").stat().st_size > 1000
