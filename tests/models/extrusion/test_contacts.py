"""Contact maps: the closed form of a bare fibre, every pair by brute force, curves and files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.errors import InputError, OutputError
from tocsin.models.extrusion import MODEL, make_fibre
from tocsin.models.extrusion.analysis import (
    ContactMap,
    LoopGraph,
    contacts_from_simulation,
    draw_contacts,
    draw_scaling,
    expected,
    legs_of,
    load_cool,
    load_npz,
    make_bins,
    observed_over_expected,
    read_pixels,
    save_cool,
    save_npz,
    scaling,
    write_pixels,
    write_scaling,
)


def some_loops(n_sites: int, n_loops: int, seed: int):
    """Random loops, crossed ones among them."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_sites, n_loops)
    return left, np.minimum(left + rng.integers(0, n_sites // 2, n_loops), n_sites - 1)


def example(**settings) -> ContactMap:
    """Three states on bins that do not fit the lattice."""
    contacts = ContactMap(make_bins("chr9", 2_500, 92_300, resolution=1000, bin_bp=7_000), **settings)
    for seed in range(3):
        contacts.add(*some_loops(90, 8, seed))
    return contacts


def test_bare_fibre_has_the_closed_form() -> None:
    """Without LEFs, two sites touch with |i - j|^(-3/2), to the last bit."""
    contacts = ContactMap(make_bins("c", 0, 400_000, resolution=1000, bin_bp=1000))
    contacts.add([], [])
    i = np.arange(400)
    with np.errstate(divide="ignore"):
        wanted = np.abs(i[:, None] - i).astype(float) ** -1.5
    np.fill_diagonal(wanted, np.nan)
    assert np.array_equal(contacts.matrix(), wanted, equal_nan=True)


def test_bare_fibre_in_bins_has_the_mean_of_the_closed_form() -> None:
    """In bins, a pair has the mean of s^(-3/2) over its pairs of sites, of which s has 10 - |s - 10 k|."""
    contacts = ContactMap(make_bins("c", 0, 400_000, resolution=1000, bin_bp=10_000))
    contacts.add([], [])
    for k in range(1, 40):
        s = np.arange(10 * k - 9, 10 * k + 10)
        wanted = ((10 - np.abs(s - 10 * k)) * s**-1.5).sum() / 100
        assert np.allclose(contacts.band()[: 40 - k, k], wanted, rtol=1e-13)
    within = sum((10 - s) * s**-1.5 for s in range(1, 10)) / 45
    assert np.allclose(contacts.band()[:, 0], within, rtol=1e-13)


@pytest.mark.parametrize("max_bp", [None, 20_000])
def test_every_pair_by_brute_force(max_bp: int | None) -> None:
    """Each pair of bins is the mean of d^(-3/2) over its pairs of sites, over the states."""
    contacts = example(max_bp=max_bp)
    bin_of, band = contacts.bins.of_sites(), contacts.band()
    weight = np.zeros((90, 90))
    for seed in range(3):
        far = LoopGraph(90, *some_loops(90, 8, seed)).effective_distances(np.arange(90), np.arange(90))
        weight += np.where(far > 0, np.maximum(far, 1) ** -1.5, 0.0) / 3
    for i in range(contacts.bins.n_bins):
        for k in range(contacts.width):
            pairs = [(a, b) for a in np.flatnonzero(bin_of == i) for b in np.flatnonzero(bin_of == i + k) if a < b]
            if pairs:
                assert math.isclose(band[i, k], np.mean([weight[p] for p in pairs]), rel_tol=1e-12)
            else:
                assert math.isnan(band[i, k])


def test_bare_ring_has_the_closed_form() -> None:
    """On a ring of n sites, two touch with min(|i - j|, n - |i - j|)^(-3/2)."""
    ring = ContactMap(make_bins("c", 0, 100_000, resolution=1000, bin_bp=1000), is_ring=True)
    ring.add([], [])
    i = np.arange(100)
    apart = np.minimum(np.abs(i[:, None] - i), 100 - np.abs(i[:, None] - i)).astype(float)
    off = ~np.eye(100, dtype=bool)
    assert np.array_equal(ring.matrix()[off], apart[off] ** -1.5)


def test_ring_by_brute_force() -> None:
    """Loops over the first site of a ring count as any others, also with a cutoff."""
    left, right = np.array([80, 30, 95]), np.array([10, 50, 99])
    far = LoopGraph(100, left, right, is_ring=True).effective_distances(np.arange(100), np.arange(100))
    for max_bp in (None, 30_000):
        ring = ContactMap(make_bins("c", 0, 100_000, bin_bp=1000), is_ring=True, max_bp=max_bp)
        ring.add(left, right)
        for k in range(1, ring.width):
            assert np.allclose(ring.band()[: 100 - k, k], np.diagonal(far, k) ** -1.5, rtol=1e-14)
    counted = ContactMap(make_bins("c", 0, 100_000, bin_bp=10_000), kind="loops", is_ring=True)
    counted.add(left, right)
    assert counted.matrix()[1, 8] == counted.matrix()[8, 1] == 1
    with pytest.raises(InputError, match="left <= right"):
        ContactMap(counted.bins).add(left, right)


def test_a_region_is_a_part_of_the_whole() -> None:
    """A map of a region, on the same grid of bins, equals that part of the whole map."""
    whole, loops = ContactMap(make_bins("c", 0, 300_000, bin_bp=10_000)), some_loops(300, 20, 1)
    part = ContactMap(make_bins("c", 0, 300_000, bin_bp=10_000, region="c:100,000-200,000"))
    whole.add(*loops)
    part.add(*loops)
    assert part.bins.first == 10
    assert np.array_equal(part.matrix(), whole.matrix()[10:20, 10:20], equal_nan=True)


def test_one_site_a_bin_is_the_map_of_middles() -> None:
    """With one site a bin, only the middle site of each is looked at."""
    contacts = ContactMap(make_bins("c", 0, 100_000, bin_bp=10_000), sites_per_bin=1)
    loops = some_loops(100, 6, 2)
    contacts.add(*loops)
    middles = np.arange(5, 100, 10)
    far = LoopGraph(100, *loops).effective_distances(middles, middles).astype(float)
    off = ~np.eye(10, dtype=bool)
    assert np.allclose(contacts.matrix()[off], far[off] ** -1.5, rtol=1e-14)


def test_loops_are_counted_exactly() -> None:
    """Kind 'loops' counts, for each pair of bins, the LEFs with a foot in each."""
    contacts = example(kind="loops")
    bin_of, wanted = contacts.bins.of_sites(), np.zeros((contacts.bins.n_bins,) * 2)
    for seed in range(3):
        for a, b in zip(*some_loops(90, 8, seed), strict=True):
            wanted[bin_of[a], bin_of[b]] += 1 / 3
    assert np.allclose(np.triu(contacts.matrix()), wanted, atol=1e-15)
    assert np.nansum(contacts.band()) == pytest.approx(8)


def test_states_add_up_and_maps_merge() -> None:
    """The mean over states is that of the maps of each; merging is adding."""
    one, two = example(), example()
    before = one.band()
    one.merge(two)
    assert one.n_states == 6
    assert np.allclose(one.band(), before, rtol=1e-14, equal_nan=True)
    with pytest.raises(InputError, match="only if bins, kind"):
        one.merge(example(max_bp=20_000))


def test_from_a_simulation() -> None:
    """The map of a run is that of its states, taken at now, now + every, ..., until."""
    fibre = make_fibre(200, 4, seed=3)
    bins = make_bins("lattice", 0, 200_000, bin_bp=20_000)
    ours = contacts_from_simulation(Simulation(MODEL, fibre, seed=5), bins, every=10.0, until=100.0)
    theirs, twin = ContactMap(bins), Simulation(MODEL, fibre, seed=5)
    for k in range(11):
        twin.run(until=10.0 * k)
        theirs.add(*legs_of(twin.world))
    assert ours.n_states == 11
    assert np.array_equal(ours.total, theirs.total)
    assert (legs_of(twin.world, is_captured=True)[0]).size == 0
    with pytest.raises(InputError, match="every must be > 0"):
        contacts_from_simulation(twin, bins, every=0.0, until=200.0)


def test_scaling_of_a_bare_fibre() -> None:
    """P(s) of a bare fibre is s^(-3/2), its slope -3/2, and observed over expected is 1.

    The mean of s^(-3/2) over a bin of width w in log s exceeds that of its middle by 9/8 w^2/12,
    0.8 % here: the slope is off by that where bins change in width.
    """
    contacts = ContactMap(make_bins("c", 0, 600_000, bin_bp=1000))
    contacts.add([], [])
    assert np.allclose(expected(contacts)[1:], np.arange(1, 600) ** -1.5, rtol=1e-12)
    curve = scaling(contacts, per_decade=8)
    assert np.allclose(curve.slope, -1.5, atol=0.04)
    assert np.allclose(curve.slope[:4], -1.5, atol=1e-12)
    assert np.allclose(curve.p, (curve.s_bp / 1000) ** -1.5, rtol=0.02)
    assert curve.n_pairs.sum() == 600 * 599 // 2
    assert np.allclose(observed_over_expected(contacts)[np.triu_indices(600, 1)], 1.0, rtol=1e-12)


def test_scaling_file(tmp_path: Path) -> None:
    """The table has one row a point, which reads back."""
    curve = scaling(example())
    write_scaling(tmp_path / "ps.tsv", curve)
    header, *rows = (tmp_path / "ps.tsv").read_text().splitlines()
    assert header == "s_bp\tp\tslope\tn_pairs"
    assert [float(row.split("\t")[1]) for row in rows] == curve.p.tolist()


def test_files_give_the_map_back(tmp_path: Path) -> None:
    """`.cool` and the table to rounding (they hold the mean), `.npz` to the same bits; all settings."""
    for kind in ("distance", "loops"):
        contacts = example(kind=kind, max_bp=60_000)
        save_cool(tmp_path / "x.cool", contacts)
        write_pixels(tmp_path / "x.tsv.gz", contacts)
        save_npz(tmp_path / "x.npz", contacts)
        for found in (load_cool(tmp_path / "x.cool"), read_pixels(tmp_path / "x.tsv.gz"), load_npz(tmp_path / "x.npz")):
            assert found.settings() == contacts.settings()
            assert found.n_states == 3
            assert np.allclose(found.total, contacts.total, rtol=1e-14)
        assert np.array_equal(found.total, contacts.total)
        found.add([], [])
        assert found.n_states == 4


def test_cooler_reads_the_cool(tmp_path: Path) -> None:
    """The library finds the same matrix at the same genomic positions."""
    import cooler

    contacts = ContactMap(make_bins("chr9", 20_000, 92_300, bin_bp=10_000))
    contacts.add(*some_loops(73, 8, 1))
    save_cool(tmp_path / "x.cool", contacts, chrom_bp=150_000, assembly="toy1")
    file = cooler.Cooler(str(tmp_path / "x.cool"))
    assert (file.binsize, file.chromsizes["chr9"], file.info["genome-assembly"]) == (10_000, 150_000, "toy1")
    found = file.matrix(balance=False).fetch("chr9:20,000-90,000")
    assert np.array_equal(found, np.nan_to_num(contacts.matrix())[:7, :7])
    assert file.matrix(balance=False).fetch("chr9:0-20,000").sum() == 0
    part = load_cool(tmp_path / "x.cool", region="chr9:20,000-60,000")
    assert (part.kind, part.bins.first, part.bins.n_bins) == ("counts", 2, 4)
    assert np.array_equal(part.matrix(), np.nan_to_num(contacts.matrix())[:4, :4])
    with pytest.raises(InputError, match="read from a file"):
        part.add([], [])


def test_table_of_pixels(tmp_path: Path) -> None:
    """Rows are bin1, bin2, count below a header; a bad row is named by its line."""
    write_pixels(tmp_path / "x.tsv", example())
    text = (tmp_path / "x.tsv").read_text()
    assert text.splitlines()[1] == "bin1\tbin2\tcount"
    (tmp_path / "y.tsv").write_text(text + "1\tx\t2\n")
    with pytest.raises(InputError, match=rf"y.tsv, line {text.count(chr(10)) + 1}: expected bin1"):
        read_pixels(tmp_path / "y.tsv")
    (tmp_path / "y.tsv").write_text(text + "500\t501\t2\n")
    with pytest.raises(InputError, match=r"outside the map|do not fit|out of bounds"):
        read_pixels(tmp_path / "y.tsv")


def test_files_refused(tmp_path: Path) -> None:
    """What is no such file, or cannot be written, is a plain sentence, and leaves nothing behind."""
    (tmp_path / "x").write_text("nonsense")
    for load in (load_cool, load_npz, read_pixels):
        with pytest.raises(InputError):
            load(tmp_path / "x")
        with pytest.raises(InputError):
            load(tmp_path / "missing")
    with pytest.raises(OutputError, match="there is no folder"):
        save_cool(tmp_path / "none" / "x.cool", example())
    with pytest.raises(InputError, match="no state yet"):
        save_cool(tmp_path / "y.cool", ContactMap(make_bins("c", 0, 10_000)))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without cooler, the error says what to install."""
    import sys

    monkeypatch.setitem(sys.modules, "cooler", None)
    with pytest.raises(InputError, match=r"needs cooler, .* pip install 'tocsin\[hic\]'"):
        save_cool(tmp_path / "x.cool", example())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "loop"}, "kind must be 'distance' or 'loops', got 'loop'"),
        ({"hop_length": 0}, "hop_length must be a whole number >= 1, got 0"),
        ({"exponent": 1.5}, "exponent must be < 0, got 1.5"),
        ({"sites_per_bin": 0}, "sites_per_bin must be a whole number >= 1, got 0"),
        ({"max_bp": -1}, "max_bp must be a whole number >= 0, got -1"),
    ],
)
def test_refuses(settings, message) -> None:
    """What breaks a rule is named."""
    with pytest.raises(InputError, match=message):
        example(**settings)


def test_bins_refuse() -> None:
    """Bins shorter than a site and regions elsewhere are named."""
    with pytest.raises(InputError, match="bin_bp must be at least one lattice site, 1000 bp, got 500"):
        make_bins("c", 0, 10_000, bin_bp=500)
    with pytest.raises(InputError, match=r"region must lie in c:0-10000, got 'd:0-5000'"):
        make_bins("c", 0, 10_000, region="d:0-5000")
    with pytest.raises(InputError, match="right_sites must be < n_sites"):
        ContactMap(make_bins("c", 0, 10_000), kind="loops").add([1], [10])


def test_pictures(tmp_path: Path) -> None:
    """Both shapes and P(s) are drawn, to files and into axes."""
    from matplotlib.figure import Figure

    contacts = example()
    for shape in ("square", "triangle"):
        draw_contacts(tmp_path / f"{shape}.png", contacts, shape=shape)
        ax = draw_contacts(Figure().add_subplot(), contacts, shape=shape, is_over_expected=True)
        assert len(ax.collections) == 1
    draw_scaling(tmp_path / "ps.svg", {"a": scaling(contacts), "b": scaling(contacts)})
    assert {path.name for path in tmp_path.iterdir()} == {"square.png", "triangle.png", "ps.svg"}
    wide = ContactMap(make_bins("c", 0, 4_000_000, bin_bp=1000), max_bp=50_000, sites_per_bin=1)
    wide.add([100], [120])
    draw_contacts(tmp_path / "x.png", wide)  # more bins than can be seen are averaged
    with pytest.raises(InputError, match="region must hold two bins"):
        draw_contacts(tmp_path / "x.png", contacts, region="chr8")
