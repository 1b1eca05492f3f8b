"""CTCF sites from files: the rules of reading."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin.models.extrusion.regions import END_MARGIN_BP
from tocsin.models.extrusion.report import write_sites
from tocsin.models.extrusion.sites import (
    CtcfSites,
    SiteReport,
    read_example,
    read_sites,
)

GOOD = "chr21\t1000\t2000\t.\t0.5\t+\n"


def read(folder: Path, text: str | bytes, name: str = "x.bed", **kw: Any) -> CtcfSites:
    """Write `text` to a file and read it, chr21 unless told otherwise."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    kw.setdefault("region", "chr21")
    return read_sites(path, **kw)


def test_example_has_the_rows_of_chromosome_21() -> None:
    """The shipped map is 427 rows on 46,710 sites; 14 share a site with a stronger."""
    sites = read_example()
    assert (sites.n_sites, sites.n_ctcfs, sites.end) == (46_710, 413, 46_709_983)
    assert (sites.report.n_rows, sites.report.n_merged) == (427, 14)
    assert (np.diff(sites.site) > 0).all()
    assert sites.site.dtype == np.int64
    assert sites.captures_from.dtype == np.int8
    assert sites.strength.dtype == np.float64


def test_strand_gives_the_side_from_which_legs_are_captured(tmp_path: Path) -> None:
    """Plus captures what comes from the right (+1), minus from the left (-1)."""
    sites = read(tmp_path, GOOD + GOOD.replace("1000\t2000", "5000\t6000").replace("+", "-"))
    assert sites.site.tolist() == [1, 5]
    assert sites.captures_from.tolist() == [1, -1]


def test_site_is_the_midpoint_counted_from_the_region_start(tmp_path: Path) -> None:
    """site = ((start + end) // 2 - region start) // resolution."""
    text = "chr21\t10499\t10500\t.\t1\t+\nchr21\t10900\t11500\t.\t1\t-\n"
    sites = read(tmp_path, text, region="chr21:10,000-12,000", resolution=500)
    assert sites.site.tolist() == [0, 2]
    assert (sites.n_sites, sites.start, sites.end) == (4, 10_000, 12_000)


def test_midpoint_on_the_region_end_is_outside(tmp_path: Path) -> None:
    """The region is half-open, and rows outside it are counted."""
    text = "chr21\t1\t3\t.\t1\t+\nchr21\t9\t11\t.\t1\t+\nchr1\t1\t3\t.\t1\t+\n"
    sites = read(tmp_path, text, region="chr21:2-10", resolution=1)
    assert sites.site.tolist() == [0]
    assert sites.report.n_outside == 2


@pytest.mark.parametrize(
    ("rows", "side", "strength", "n_opposite"),
    [
        ("0.5 + 0.9 +", 1, 0.9, 0),
        ("0.5 + 0.9 -", -1, 0.9, 1),
        ("0.5 - 0.5 +", -1, 0.5, 1),
        ("0.2 + 0.9 - 0.8 -", -1, 0.9, 1),
    ],
)
def test_strongest_of_one_site_is_kept(tmp_path: Path, rows: str, side: int, strength: float, n_opposite: int) -> None:
    """Of rows on one lattice site the strongest stays, of equals the first."""
    words = iter(rows.split())
    text = "".join(f"chr21\t100\t200\t.\t{s}\t{d}\n" for s, d in zip(words, words))  # noqa: B905
    sites = read(tmp_path, text)
    assert sites.captures_from.tolist() == [side]
    assert sites.strength.tolist() == [strength]
    assert sites.report.n_merged == text.count("\n") - 1
    assert sites.report.n_merged_opposite == n_opposite


def test_report_accounts_for_every_row(tmp_path: Path) -> None:
    """Rows = outside + unstranded + merged + kept."""
    text = GOOD * 3 + GOOD.replace("chr21", "chr1") + GOOD.replace("+", ".")
    sites = read(tmp_path, text, unstranded="skip")
    r = sites.report
    assert r.n_rows == 5 == r.n_outside + r.n_unstranded + r.n_merged + sites.n_ctcfs


@pytest.mark.parametrize(
    ("scores", "kw", "expected"),
    [
        (("0.25", "1"), {}, [0.25, 1.0]),
        (("250", "1000"), {}, [0.25, 1.0]),
        (("250", "2000"), {}, [0.25, 1.0]),
        (("2", "8"), {"score_max": 4}, [0.5, 1.0]),
        ((".", "nan"), {"strength": 0.7}, [0.7, 0.7]),
        (("-0.0", "1"), {}, [0.0, 1.0]),
    ],
)
def test_score_becomes_strength_by_the_stated_rule(
    tmp_path: Path,
    scores: tuple[str, str],
    kw: dict[str, Any],
    expected: list[float],
) -> None:
    """As it is up to 1, else over 1000 or `score_max` and cut to 1; or one number."""
    text = "".join(f"chr21\t{i}000\t{i}001\t.\t{score}\t+\n" for i, score in enumerate(scores))
    assert read(tmp_path, text, **kw).strength.tolist() == expected


def test_strength_scale_is_that_of_the_whole_file(tmp_path: Path) -> None:
    """A score of 1 is 0.001 if another chromosome's rows show the BED scale."""
    text = GOOD.replace("0.5", "1") + GOOD.replace("chr21", "chr1").replace("0.5", "900")
    assert read(tmp_path, text).strength.tolist() == [0.001]


def test_narrowpeak_score_and_signal(tmp_path: Path) -> None:
    """narrowPeak: score over 1000, or signalValue over the file's largest."""
    row = "chr21\t{0}000\t{0}100\tp\t{1}\t+\t{2}\t-1\t-1\t-1\n"
    text = row.format(1, 500, 30) + row.format(2, 1000, 120)
    name = "x.narrowPeak"
    assert read(tmp_path, text, name).strength.tolist() == [0.5, 1.0]
    signal = read(tmp_path, text, name, strength="signal")
    assert signal.strength.tolist() == [0.25, 1.0]
    assert "signalValue / 120" in signal.report.strength_rule


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_packings_line_ends_and_comments_do_not_matter(tmp_path: Path, newline: str, packing: str) -> None:
    """BOM, comments, track and browser lines, blanks, CRLF, gz and xz read alike."""
    head = "\ufeff# note\ntrack name=x\nbrowser position chr21\n\n  \n"
    raw = (head + GOOD).replace("\n", newline).encode()
    packed = {"": raw, ".gz": gzip.compress(raw), ".xz": lzma.compress(raw)}[packing]
    sites = read(tmp_path, packed, "x.BED" + packing)
    assert sites.strength.tolist() == [0.5]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.tsv", "chrom\tstart\tend\tstrand\tscore\nchr21\t1000\t2000\t+\t0.5\n"),
        ("x.tsv", "#chrom\tstart\tend\tstrand\tscore\nchr21\t1000\t2000\t+\t0.5\n"),
        ("x.csv", "Strand,Strength,Chrom,Start,End\n+,0.5,chr21,1000,2000\n"),
        (
            "x.csv",
            '"chrom","start","end","strand","score"\n"chr21",1000,2000,"+",0.5\n',
        ),
        ("x.bed", "chr21 1000  2000 . 0.5 + extra\n"),
    ],
)
def test_layouts_read_alike(tmp_path: Path, name: str, text: str) -> None:
    """Header in any order and case, quotes, and blanks between BED fields."""
    sites = read(tmp_path, text, name)
    assert (sites.site.tolist(), sites.strength.tolist()) == ([1], [0.5])


def test_format_and_ignore_override(tmp_path: Path) -> None:
    """`format=` beats the suffix, `ignore=` admits a further column."""
    text = "chrom,start,end,strand,score,motif\nchr21,1000,2000,+,0.5,x\n"
    sites = read(tmp_path, text, "x.dat", format="csv", ignore=["motif"])
    assert sites.n_ctcfs == 1


def test_region_end_rules(tmp_path: Path) -> None:
    """The region's own end, else the chromosome's, else the last row plus 100 kb."""
    sizes = tmp_path / "g.chrom.sizes"
    sizes.write_text("#x\nchr21\t9500\n")
    assert read(tmp_path, GOOD, region="chr21:0-4000", chrom_sizes=sizes).end == 4000
    assert read(tmp_path, GOOD, chrom_sizes=sizes).n_sites == 10
    assert read(tmp_path, GOOD).end == 2000 + END_MARGIN_BP


@st.composite
def ctcf_sites(draw: st.DrawFn) -> CtcfSites:
    """Any sites on any region, as `read_sites` may return them."""
    resolution, start = draw(st.integers(1, 9999)), draw(st.integers(0, 10**8))
    n_sites = draw(st.integers(1, 2000))
    chosen = sorted(draw(st.sets(st.integers(0, n_sites - 1), min_size=1, max_size=20)))
    cut = draw(st.integers(0, resolution - 1))
    n = len(chosen)
    sides = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    strengths = draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    return CtcfSites(
        n_sites=n_sites,
        site=np.array(chosen, dtype=np.int64),
        captures_from=np.array(sides, dtype=np.int8),
        strength=np.array(strengths),
        chrom=draw(st.sampled_from(["chr21", "X", "KI270728.1"])),
        start=start,
        end=start + n_sites * resolution - cut,
        resolution=resolution,
        report=SiteReport(n, 0, 0, 0, 0, 0, "score", "the region's own end"),
    )


FILES = settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FILES
@given(sites=ctcf_sites(), packing=st.sampled_from(["", ".gz", ".xz"]))
def test_written_sites_read_back_the_same(tmp_path: Path, sites: CtcfSites, packing: str) -> None:
    """write_sites then read_sites is the identity, to the last bit of the strength."""
    path = write_sites(tmp_path / ("x.bed" + packing), sites)
    again = read_sites(path, region=sites.region, resolution=sites.resolution)
    for name in ("site", "captures_from", "strength"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sites, name))
    assert (again.n_sites, again.region) == (sites.n_sites, sites.region)
    assert again.report == sites.report
