"""What is written reads back; what cannot be written leaves nothing behind."""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin.errors import InputError, OutputError
from tocsin.models.extrusion.loops import summarise_loops
from tocsin.models.extrusion.report import write_bedgraph, write_bedpe, write_sites
from tocsin.models.extrusion.sites import read_example, read_sites

FILES = settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def rows(path: Path) -> list[list[str]]:
    """The fields of all rows that are no comment."""
    lines = path.read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith(("#", "track"))]


def test_bedpe_rows_are_the_anchor_sites(tmp_path: Path) -> None:
    """A loop is its two sites as intervals, with name, score and no strand."""
    path = write_bedpe(tmp_path / "x.bedpe", [0, 3], [2, 3], chrom="chr21", start=500, scores=[1, 0.5])
    left, right = ["chr21", "500", "1500"], ["chr21", "2500", "3500"]
    last = ["chr21", "3500", "4500"]
    assert rows(path) == [
        [*left, *right, "lef0", "1", ".", "."],
        [*last, *last, "lef1", "0.5", ".", "."],
    ]
    assert path.read_text().startswith("#chrom1\tstart1\tend1\tchrom2")


def test_last_site_is_cut_at_the_region_end(tmp_path: Path) -> None:
    """No interval passes the region's end."""
    path = write_bedpe(tmp_path / "x.bedpe", [0], [2], chrom="c", resolution=10, end=25)
    assert rows(path)[0][:6] == ["c", "0", "10", "c", "20", "25"]
    with pytest.raises(InputError, match=r"site 2 starts at 20 bp, .* ends at 15"):
        write_bedgraph(tmp_path / "y", [1, 2, 3], chrom="c", resolution=10, end=15)


def test_bedgraph_merges_equal_neighbours(tmp_path: Path) -> None:
    """Runs of one value are one row; the track line is optional."""
    path = write_bedgraph(tmp_path / "x.bedgraph", [0, 0, 0.25, 0.25, 0], chrom="c", start=7, track="legs")
    assert path.read_text().splitlines()[0] == 'track type=bedGraph name="legs"'
    assert rows(path) == [
        ["c", "7", "2007", "0"],
        ["c", "2007", "4007", "0.25"],
        ["c", "4007", "5007", "0"],
    ]


@FILES
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40),
    st.integers(1, 5000),
    st.integers(0, 10**9),
)
def test_bedgraph_reads_back_to_the_same_bits(tmp_path: Path, values: list[float], resolution: int, start: int) -> None:
    """Expanding the runs gives every value again, exactly, each site once."""
    path = write_bedgraph(tmp_path / "x", values, chrom="c", start=start, resolution=resolution)
    found, at, last = [], start, math.nan
    for _, low, high, text in rows(path):
        assert int(low) == at
        assert float(text) != last
        at, last = int(high), float(text)
        found += [last] * ((at - int(low)) // resolution)
    assert at == start + len(values) * resolution
    assert found == values


@FILES
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=30))
def test_bedpe_reads_back_the_same_loops(tmp_path: Path, pairs: list[tuple[int, int]]) -> None:
    """The sites come back from the intervals, in order."""
    pairs = [(min(pair), max(pair)) for pair in pairs]
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    path = write_bedpe(tmp_path / "x", left, right, chrom="c", start=10, resolution=7)
    again = [((int(r[1]) - 10) // 7, (int(r[4]) - 10) // 7) for r in rows(path)]
    assert again == pairs


def test_example_reads_back_from_its_written_form(tmp_path: Path) -> None:
    """The 413 kept sites of the shipped map survive write and read."""
    sites = read_example()
    again = read_sites(write_sites(tmp_path / "x.bed.xz", sites), region=sites.region)
    np.testing.assert_array_equal(again.site, sites.site)
    np.testing.assert_array_equal(again.strength, sites.strength)
    np.testing.assert_array_equal(again.captures_from, sites.captures_from)


def test_gz_bytes_depend_on_content_alone(tmp_path: Path) -> None:
    """Two writes of one state are the same bytes, and unpack to the plain text."""
    names = ("a.bedpe.gz", "b.bedpe.gz", "c.bedpe")
    a, b, c = (write_bedpe(tmp_path / n, [0], [9], chrom="c") for n in names)
    assert a.read_bytes() == b.read_bytes()
    assert gzip.decompress(a.read_bytes()) == c.read_bytes()


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        ([3], [2], "loop 0 must have 0 <= left <= right, got 3 and 2"),
        ([0, -1], [2, 2], "loop 1 must have 0 <= left <= right, got -1 and 2"),
        ([0], [1, 2], "must have one length, got 1 and 2"),
        ([0.5], [1], "left_sites must be .* whole numbers, .* float64"),
        ([[0]], [[1]], r"one-dimensional .* shape \(1, 1\)"),
        ([[0], [1, 2]], [1], "left_sites must be whole numbers"),
    ],
)
def test_loops_that_are_none_are_refused(tmp_path: Path, left: list[int], right: list[int], rule: str) -> None:
    """Crossed, negative, fractional and unequal legs are named."""
    with pytest.raises(InputError, match=rule):
        write_bedpe(tmp_path / "x", left, right, chrom="c")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kw", "rule"),
    [
        ({"chrom": "a b"}, "chrom must be one word without blanks"),
        ({"chrom": ""}, "chrom must be one word"),
        ({"start": -1}, "start must be a whole number of bp >= 0, got -1"),
        ({"resolution": 0}, "resolution must be .* > 0, got 0"),
        ({"names": ["a", "b"]}, "one entry a loop, 1, got 2 and 1"),
        ({"names": ["a\tb"]}, "name must be one word"),
        ({"scores": [float("nan")]}, "scores must be finite, got nan at 0"),
        ({"scores": ["x"]}, "scores must be numbers"),
    ],
)
def test_bad_columns_are_refused(tmp_path: Path, kw: dict[str, object], rule: str) -> None:
    """A word or number that would break the file's columns is not written."""
    with pytest.raises(InputError, match=rule):
        write_bedpe(tmp_path / "x", [0], [1], **({"chrom": "c"} | kw))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "kw", "rule"),
    [
        ([], {}, "no value to write"),
        ([0, float("inf")], {}, "values must be finite, got inf at 1"),
        ([[1.0]], {}, "values must be one-dimensional"),
        ([1], {"track": 'a"b'}, "track must be one line without quotes"),
    ],
)
def test_bad_tracks_are_refused(tmp_path: Path, values: list[float], kw: dict[str, Any], rule: str) -> None:
    """Only finite values, one a site, become a track."""
    with pytest.raises(InputError, match=rule):
        write_bedgraph(tmp_path / "x", values, chrom="c", **kw)


def test_unwritable_target_is_an_output_error(tmp_path: Path) -> None:
    """No folder, or a folder in the way: the path and the remedy are named."""
    with pytest.raises(OutputError, match=r"there is no folder .*; make it first"):
        write_bedpe(tmp_path / "no" / "x.bedpe", [0], [1], chrom="c")
    with pytest.raises(OutputError, match="it is not a plain file"):
        write_bedpe(tmp_path, [0], [1], chrom="c")


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves the old file whole and no temporary file beside it."""
    path = write_bedpe(tmp_path / "x.bedpe", [0], [1], chrom="c")
    old = path.read_bytes()

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left on device; choose a folder"):
        write_bedpe(path, [5], [6], chrom="c")
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_rewriting_keeps_permissions_and_links(tmp_path: Path) -> None:
    """A link is followed, and the replaced file's mode stays."""
    path = write_bedpe(tmp_path / "x.bedpe", [0], [1], chrom="c")
    path.chmod(0o640)
    link = tmp_path / "link.bedpe"
    link.symlink_to(path)
    write_bedpe(link, [5], [6], chrom="c")
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert rows(path)[0][1] == "5000"


def test_summary_of_known_loops() -> None:
    """Sizes 0, 10, 20, 30 kb have mean and median 15 and linear quantiles."""
    found = summarise_loops([5, 5, 5, 5], [5, 10, 15, 20], resolution=2000, quantiles=[0, 0.25, 1])
    assert (found.n_loops, found.mean_kb, found.median_kb) == (4, 15.0, 15.0)
    assert (found.shortest_kb, found.longest_kb) == (0.0, 30.0)
    assert found.sd_kb == pytest.approx(math.sqrt(125.0), rel=1e-15)
    assert found.quantiles_kb == {0.0: 0.0, 0.25: 7.5, 1.0: 30.0}
    assert str(found).startswith("4 loops, mean 15.0 kb, median 15.0 kb (0 %: 0.0")
    assert found.to_dict()["mean_kb"] == 15.0


def test_summary_refuses_nothing_and_bad_levels() -> None:
    """No loop has no mean, and a level lies in 0..1."""
    with pytest.raises(InputError, match="no loop to summarise"):
        summarise_loops([], [])
    with pytest.raises(InputError, match=r"quantiles must be in 0\.\.1, got \[1.5\]"):
        summarise_loops([0], [1], quantiles=[1.5])
