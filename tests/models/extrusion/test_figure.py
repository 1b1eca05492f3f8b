"""The picture of a state: what is drawn is what was given."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tocsin.errors import InputError, OutputError
from tocsin.models.extrusion._panels import HELD, PLAIN
from tocsin.models.extrusion.figure import draw_arcs
from tocsin.models.extrusion.sites import CtcfSites, read_example

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.image import imread  # noqa: E402


@pytest.fixture(scope="module")
def sites() -> CtcfSites:
    """The shipped map of chromosome 21."""
    return read_example()


def some_loops(n_loops: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Loops of 0 to 400 kb, all over the arm that holds CTCF sites."""
    rng = np.random.default_rng(n_loops)
    left = rng.integers(14_000, 46_000, n_loops)
    return left, left + rng.integers(0, 400, n_loops)


@pytest.mark.parametrize("n_loops", [0, 1, 20, 500])
def test_png_is_written_with_one_arc_a_loop(tmp_path: Path, sites: CtcfSites, n_loops: int) -> None:
    """A PNG with content; as many arcs as loops and triangles as CTCF sites."""
    left, right = some_loops(n_loops)
    occupancy = np.bincount(np.append(left, right), minlength=sites.n_sites) / 2.0
    held = np.arange(n_loops) % 3
    path = tmp_path / "x.png"
    picture = draw_arcs(path, left, right, sites, occupancy=occupancy, n_held=held, dpi=60)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    pixels = imread(path)
    assert pixels.shape[:2] == (216, 432)
    assert 0.01 < float((pixels[..., :3].min(axis=2) < 0.9).mean()) < 0.6
    (arcs,) = picture.arcs.collections
    assert len(arcs.get_paths()) == picture.n_arcs == n_loops
    drawn = sum(len(np.asarray(points.get_offsets())) for points in picture.ctcf.collections)
    assert drawn == picture.n_triangles == sites.n_ctcfs


def test_arc_spans_its_loop_and_peaks_at_its_size(tmp_path: Path, sites: CtcfSites) -> None:
    """Ends at the middles of the two sites (Mb), height the square root of kb."""
    picture = draw_arcs(tmp_path / "x.svg", [20_000], [20_400], sites)
    (arc,) = picture.arcs.collections[0].get_paths()
    x, y = np.asarray(arc.vertices).T
    assert x.min() == pytest.approx(20.0005, abs=1e-9)
    assert x.max() == pytest.approx(20.4005, abs=1e-9)
    assert y.max() == pytest.approx(20.0, abs=1e-9)
    assert picture.track is None


def test_zoom_draws_the_loops_that_reach_in(tmp_path: Path, sites: CtcfSites) -> None:
    """Left of it, into it, over it, right of it: two of four are seen."""
    picture = draw_arcs(
        tmp_path / "x.png",
        [20_000, 20_000, 20_000, 40_000],
        [20_900, 21_500, 30_000, 40_100],
        sites,
        region="chr21:21,000,000-22,000,000",
        occupancy=np.ones(sites.n_sites),
    )
    assert picture.n_arcs == 2
    assert picture.arcs.get_xlim() == (21.0, 22.0)
    inside = (sites.site >= 21_000) & (sites.site < 22_000)
    assert picture.n_triangles == inside.sum()


def test_triangles_tell_side_and_strength(tmp_path: Path, sites: CtcfSites) -> None:
    """One colour a side, and the stronger the more opaque."""
    picture = draw_arcs(tmp_path / "x.png", [20_000], [20_400], sites)
    for points, side in zip(picture.ctcf.collections, (1, -1), strict=True):
        mine = sites.captures_from == side
        rgba = np.asarray(points.get_facecolor())
        assert len(np.unique(rgba[:, :3], axis=0)) == 1
        order = np.argsort(sites.strength[mine])
        assert (np.diff(rgba[order, 3]) >= 0).all()


def test_arcs_are_coloured_by_legs_held(tmp_path: Path, sites: CtcfSites) -> None:
    """Three colours for 0, 1 and 2 held legs, the most held in front; else one."""
    left, right, held = [20_000] * 4, [20_400] * 4, [2, 0, 1, 0]
    picture = draw_arcs(tmp_path / "x.png", left, right, sites, n_held=held)
    edges = np.asarray(picture.arcs.collections[0].get_edgecolor())
    assert [to_hex(rgba) for rgba in edges] == [HELD[0], HELD[0], HELD[1], HELD[2]]
    plain = draw_arcs(tmp_path / "x.png", left, right, sites).arcs.collections[0]
    assert {to_hex(rgba) for rgba in np.asarray(plain.get_edgecolor())} == {PLAIN}


def test_draws_into_given_axes_and_writes_nothing(tmp_path: Path, sites: CtcfSites) -> None:
    """With axes the caller saves; the axes hold the panels."""
    ax = Figure().add_subplot()
    picture = draw_arcs(ax, [20_000], [20_400], sites, title="a state")
    assert picture.path is None
    assert picture.arcs in ax.child_axes
    assert picture.arcs.get_title(loc="left") == "a state"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kw", "rule"),
    [
        ({"n_held": [3]}, "n_held must hold 0, 1 or 2 for each of 1 loops"),
        ({"n_held": [0, 1]}, "n_held must hold"),
        ({"occupancy": [1.0]}, "occupancy must be 46710 finite numbers >= 0"),
        ({"region": "chr1"}, "region must lie in chr21:0-46709983, got 'chr1'"),
        ({"region": "chr21:50,000,000-60,000,000"}, "region must lie in"),
    ],
)
def test_what_does_not_fit_the_sites_is_refused(
    tmp_path: Path, sites: CtcfSites, kw: dict[str, object], rule: str
) -> None:
    """Arrays and regions of another lattice are named."""
    with pytest.raises(InputError, match=rule):
        draw_arcs(tmp_path / "x.png", [0], [1], sites, **kw)  # type: ignore[arg-type]


def test_leg_off_the_lattice_is_refused(tmp_path: Path, sites: CtcfSites) -> None:
    """Site numbers stay below n_sites."""
    with pytest.raises(InputError, match="right_sites must be < n_sites, 46710"):
        draw_arcs(tmp_path / "x.png", [0], [46_710], sites)


def test_unknown_suffix_and_missing_folder(tmp_path: Path, sites: CtcfSites) -> None:
    """The suffixes that can be drawn are listed; a missing folder is an OutputError."""
    with pytest.raises(InputError, match=r"suffix must be one of .*\.png"):
        draw_arcs(tmp_path / "x.doc", [0], [1], sites)
    with pytest.raises(OutputError, match="there is no folder"):
        draw_arcs(tmp_path / "no" / "x.png", [0], [1], sites)


def test_missing_matplotlib_names_the_remedy(tmp_path: Path, sites: CtcfSites, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Matplotlib the error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'tocsin\[plot\]'"):
        draw_arcs(tmp_path / "x.png", [0], [1], sites)
