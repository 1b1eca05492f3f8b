"""What is no file of CTCF sites: an `InputError` that names line, rule and remedy."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.models.extrusion.regions import read_chrom_sizes
from tocsin.models.extrusion.sites import CtcfSites, read_sites

GOOD = "chr21\t1000\t2000\t.\t0.5\t+\n"


def read(folder: Path, text: str | bytes, name: str = "x.bed", **kw: Any) -> CtcfSites:
    """Write `text` to a file and read it, chr21 unless told otherwise."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    kw.setdefault("region", "chr21")
    return read_sites(path, **kw)


BAD_ROWS = [
    ("chr21\tabc\t2000\t.\t0.5\t+", "start must be a whole number of bp, got 'abc'"),
    ("chr21\t1000\t2e3\t.\t0.5\t+", "end must be a whole number of bp, got '2e3'"),
    ("chr21\t1_000\t2000\t.\t0.5\t+", "start must be a whole number"),
    ("chr21\t-5\t2000\t.\t0.5\t+", "start must be >= 0, got -5"),
    ("chr21\t2000\t2000\t.\t0.5\t+", "start must be < end, got 2000 and 2000"),
    ("chr21\t1\t" + "9" * 5000 + "\t.\t0.5\t+", "at most 15 digits"),
    ("chr21\t1000\t2000\t.\t0.5\tplus", r"strand must be \+ or -, got 'plus'"),
    ("chr21\t1000\t2000\t.\t0.5\t.", "strand is '.'.*unstranded='skip'"),
    ("chr21\t1000\t2000", "at least 6 columns.*got 3"),
    (
        "chr21\t1000\t2000\t.\thigh\t+",
        "score must be a number, got 'high'.*=0.8",
    ),
    ("chr21\t1000\t2000\t.\tnan\t+", "score must be finite and >= 0, got nan"),
    ("chr21\t1000\t2000\t.\t-1\t+", "score must be finite and >= 0, got -1"),
    ("\t1000\t2000\t.\t1\t+", "chrom is empty"),
]


@pytest.mark.parametrize(("row", "rule"), BAD_ROWS)
def test_bad_row_names_file_line_rule_and_text(tmp_path: Path, row: str, rule: str) -> None:
    """File, line number, rule with remedy, and the text, also outside the region."""
    for chrom in ("chr21", "chr1"):
        text = "# head\n" + GOOD + row.replace("chr21", chrom) + "\n" + GOOD
        with pytest.raises(InputError, match=rf"x\.bed, line 3: .*{rule}") as caught:
            read(tmp_path, text)
        assert repr(row.replace("chr21", chrom)[:60])[:-1] in str(caught.value)


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        (
            "chrom,start,end,strnd,score",
            "column 'strnd', did you mean 'strand'",
        ),
        ("chrom,start,end,strand,strenght", "'strenght', did you mean 'strength'"),
        ("chrom,start,end,score", "no column strand"),
        ("chrom,start,end,strand", "no column score or strength.*strength=0.8"),
        ("chrom,start,end,strand,score,strength", "both score and strength"),
        ("chrom,chrom,start,end,strand,score", "named twice"),
        ("chrom\tstart\tend\tstrand\tscore", "one column only: pass format='tsv'"),
        ('chrom,"start,end', "quotes do not pair"),
    ],
)
def test_bad_header_is_refused_with_the_nearest_name(tmp_path: Path, header: str, rule: str) -> None:
    """Unknown, missing, doubled and ambiguous columns are named."""
    with pytest.raises(InputError, match=rf"x\.csv, line 2: .*{rule}"):
        read(tmp_path, "\n" + header + "\nchr21,1,2,+,1\n", "x.csv")


@pytest.mark.parametrize(
    ("text", "kw", "rule"),
    [
        ("", {}, "has no row"),
        ("# only\n", {}, "has no row"),
        ("", {"format": "csv"}, "file is empty; expected a header"),
        (GOOD.replace("+", "."), {"unstranded": "skip"}, "all 1 rows have strand"),
        (GOOD, {"region": "21"}, "no row of chromosome '21'; did you mean 'chr21'"),
        (GOOD, {"region": "chr21:9000-9999"}, "no row of chr21 has its midpoint in"),
        (GOOD, {"region": "chr21:9-9"}, "region must have start < end"),
        (GOOD, {"region": "chr21:a-b"}, "region must read chr21 or chr21:14,000,000"),
        (GOOD, {"region": ""}, "region must read"),
        (GOOD, {"resolution": 0}, "resolution must be a whole number .* > 0, got 0"),
        (GOOD, {"resolution": 1.5}, "resolution must be a whole number"),
        (GOOD, {"strength": 1.5}, r"strength must be .* 0\.\.1, got 1.5"),
        (GOOD, {"strength": "socre"}, "strength must be 'score'"),
        (GOOD, {"strength": "signal"}, "reads narrowPeak's signalValue"),
        (GOOD, {"score_max": -1}, "score_max must be a finite number > 0"),
        (GOOD, {"strength": 0.5, "score_max": 2}, "score_max has no use"),
        (GOOD, {"unstranded": "maybe"}, "unstranded must be 'error' or 'skip'"),
        (GOOD, {"format": "gff"}, "format must be one of bed"),
        (GOOD.replace("0.5", "1.2"), {}, "line 1: the largest score is 1.2"),
        (GOOD.replace("2000", "9" * 15), {"resolution": 1}, "at most 4,294,967,295"),
    ],
)
def test_bad_request_is_refused_with_its_remedy(tmp_path: Path, text: str, kw: dict[str, Any], rule: str) -> None:
    """Arguments and whole files that break a rule say which, and what was got."""
    with pytest.raises(InputError, match=rule):
        read(tmp_path, text, **kw)


def test_absent_chromosome_lists_five_that_are_there(tmp_path: Path) -> None:
    """Up to five chromosomes of the file are named, and the rest counted."""
    text = "".join(GOOD.replace("chr21", f"c{i}") for i in range(7))
    with pytest.raises(InputError, match="the file has c0, c1, c2, c3, c4 and 2 more"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("raw", "name", "rule"),
    [
        (
            gzip.compress(GOOD.encode() * 99, mtime=0)[:-20],
            "x.bed.gz",
            "not a complete .gz file",
        ),
        (
            lzma.compress(GOOD.encode() * 99)[:-20],
            "x.bed.xz",
            "not a complete .xz file",
        ),
        (GOOD.encode(), "x.bed.gz", "not a complete .gz file.*rename it"),
        (gzip.compress(GOOD.encode(), mtime=0), "x.bed", "its name end in .gz"),
        (lzma.compress(GOOD.encode()), "x.bed", "its name end in .xz"),
        (GOOD.encode() + b"\xff\xfe\x00", "x.bed", "line 2: byte 0xff is not UTF-8"),
        (GOOD.encode("utf-16-le"), "x.bed", "line 1: a NUL byte"),
        (GOOD.encode(), "x.txt", "cannot tell the format of 'x.txt'"),
    ],
)
def test_files_that_are_not_text_are_named(tmp_path: Path, raw: bytes, name: str, rule: str) -> None:
    """Truncated, mislabelled and binary files say so, with the remedy."""
    with pytest.raises(InputError, match=rule):
        read(tmp_path, raw, name)


def test_missing_file_and_folder_are_input_errors(tmp_path: Path) -> None:
    """What cannot be opened is named with the system's reason."""
    with pytest.raises(InputError, match=r"cannot read .*none\.bed.*No such file"):
        read_sites(tmp_path / "none.bed", region="chr21")
    (tmp_path / "dir.bed").mkdir()
    with pytest.raises(InputError, match=r"cannot read .*dir\.bed.*directory"):
        read_sites(tmp_path / "dir.bed", region="chr21")


@pytest.mark.parametrize(
    ("sizes", "rule"),
    [
        ("chr21\t1500\n", r"x\.bed, line 1: end 2,000 is past .* one genome build"),
        ("chr2\t1500\n", "no length for 'chr21'; it has chr2"),
        ("chr21\n", "line 1: expected a chromosome and its length"),
        ("chr21\t0\n", "line 1: expected a chromosome and its length"),
        ("chr21\t9000\nchr21\t9001\n", "line 2: chr21 has two lengths"),
        ("\n", "has no row"),
    ],
)
def test_chrom_sizes_must_fit(tmp_path: Path, sizes: str, rule: str) -> None:
    """The chromosome is there, once, and no row is past its end."""
    path = tmp_path / "g.sizes"
    path.write_text(sizes)
    with pytest.raises(InputError, match=rule):
        read(tmp_path, GOOD, chrom_sizes=path)


def test_region_past_the_chromosome_is_refused(tmp_path: Path) -> None:
    """An explicit region ends at or before the chromosome's end."""
    path = tmp_path / "g.sizes"
    path.write_text("chr21 5000\n")
    assert read_chrom_sizes(path) == {"chr21": 5000}
    with pytest.raises(InputError, match="region must end at or before 5,000"):
        read(tmp_path, GOOD, region="chr21:0-6000", chrom_sizes=path)


FILES = settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


FIELD = st.one_of(
    st.sampled_from(["chr21", "1000", "2000", "+", "-", ".", "0.5", "", "-1", "nan"]),
    st.sampled_from(["1e999", "0x10", "\u0663", "1_0", '"', "track", "#", "inf", "9" * 400]),
    st.text(max_size=6),
)
ROW = st.lists(FIELD, max_size=11)


@FILES
@given(
    rows=st.lists(ROW, max_size=4),
    separator=st.sampled_from(["\t", ",", " "]),
    name=st.sampled_from(["x.bed", "x.narrowPeak", "x.tsv", "x.csv"]),
    strength=st.sampled_from(["score", "signal", 0.5]),
    has_head=st.booleans(),
)
def test_malformed_rows_raise_input_error_only(
    tmp_path: Path,
    rows: list[list[str]],
    separator: str,
    name: str,
    strength: str | float,
    has_head: bool,
) -> None:
    """Whatever the rows hold, reading ends in sites or in an `InputError`."""
    head = [["chrom", "start", "end", "strand", "score"]] if has_head else []
    text = "\n".join(separator.join(row) for row in head + rows)
    raw = text.encode("utf-8", "surrogatepass")
    try:
        sites = read(tmp_path, raw, name, strength=strength, unstranded="skip")
    except InputError as err:
        assert len(str(err)) > 20
    else:
        assert sites.n_ctcfs > 0


@FILES
@given(raw=st.binary(max_size=80), name=st.sampled_from(["x.bed", "x.tsv.gz", "x.csv.xz"]))
def test_any_bytes_raise_input_error_only(tmp_path: Path, raw: bytes, name: str) -> None:
    """A file of arbitrary bytes is never read as sites, and never breaks the reader."""
    with pytest.raises(InputError):
        read(tmp_path, raw, name)


@FILES
@given(st.data())
def test_truncated_archives_raise_input_error_only(tmp_path: Path, data: st.DataObject) -> None:
    """A `.gz` or `.xz` cut anywhere or with a byte changed never breaks the reader."""
    text, is_gzip = (GOOD * 30).encode(), data.draw(st.booleans())
    raw = bytearray(gzip.compress(text, mtime=0) if is_gzip else lzma.compress(text))
    at = data.draw(st.integers(0, len(raw) - 1))
    is_cut = data.draw(st.booleans())
    raw[at:] = b"" if is_cut else bytes([raw[at] ^ data.draw(st.integers(1, 255))]) + raw[at + 1 :]
    name = "x.bed.gz" if is_gzip else "x.bed.xz"
    try:
        sites = read(tmp_path, bytes(raw), name)
    except InputError:
        return
    assert not is_cut
    assert sites.n_ctcfs == 1
