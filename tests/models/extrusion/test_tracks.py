"""bigWig and loop frequencies: what is written reads back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyBigWig
import pytest

from tocsin import Simulation
from tocsin.errors import InputError, OutputError
from tocsin.models.extrusion import MODEL, make_fibre, read_example
from tocsin.models.extrusion.analysis import LoopTally, legs_of, write_bigwig, write_frequencies


def test_bigwig_reads_back(tmp_path: Path) -> None:
    """Each site's interval has its value, to 32 bits; NaN and what is outside have none."""
    value = np.random.default_rng(1).random(50).round(1)
    value[[3, 4, 20]] = np.nan
    write_bigwig(
        tmp_path / "x.bw", value, chrom="chr9", start=5_000, resolution=1_000, end=54_700, chrom_bp=80_000
    )  # fmt: skip
    with pyBigWig.open(str(tmp_path / "x.bw")) as file:
        assert file.chroms() == {"chr9": 80_000}
        bases = np.array(file.values("chr9", 0, 80_000))
    assert np.isnan(bases[:5_000]).all()
    assert np.isnan(bases[54_700:]).all()
    wanted = np.repeat(value.astype("f4"), 1_000)[:49_700]
    assert np.array_equal(bases[5_000:54_700].astype("f4"), wanted, equal_nan=True)


def test_bigwig_merges_equal_neighbours(tmp_path: Path) -> None:
    """Runs of one value are one entry."""
    write_bigwig(tmp_path / "x.bw", [1, 1, 2, 2, 2], chrom="c", resolution=10)
    with pyBigWig.open(str(tmp_path / "x.bw")) as file:
        assert file.intervals("c") == ((0, 20, 1.0), (20, 50, 2.0))


@pytest.mark.parametrize(
    ("values", "settings", "message"),
    [
        ([], {}, "not all NaN"),
        ([np.nan], {}, "not all NaN"),
        ([np.inf], {}, "not infinite"),
        ([1.0, 2.0], {"chrom_bp": 1_500}, "the chromosome has 1500"),
        ([1.0, 2.0], {"end": 900}, "check start and end"),
        ([1.0], {"resolution": 0}, "resolution must be a whole number"),
    ],
)
def test_bigwig_refuses(tmp_path: Path, values, settings, message) -> None:
    """What breaks a rule is named, and nothing is left behind."""
    with pytest.raises(InputError, match=message):
        write_bigwig(tmp_path / "x.bw", values, chrom="c", **settings)
    assert list(tmp_path.iterdir()) == []


def test_bigwig_needs_a_folder_and_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder and a missing library are plain sentences."""
    with pytest.raises(OutputError, match="there is no folder"):
        write_bigwig(tmp_path / "none" / "x.bw", [1.0], chrom="c")
    monkeypatch.setitem(sys.modules, "pyBigWig", None)
    with pytest.raises(InputError, match=r"needs pyBigWig, .* pip install 'tocsin\[hic\]'"):
        write_bigwig(tmp_path / "x.bw", [1.0], chrom="c")


def test_frequencies_of_loops(tmp_path: Path) -> None:
    """The score of a loop is its share of the states; rare ones can be left out."""
    tally = LoopTally()
    tally.add([1, 5], [4, 9])
    tally.add([1], [4])
    tally.add([], [])
    tally.add([1, 2], [4, 3])
    left, right, frequency = tally.frequencies()
    assert (left.tolist(), right.tolist(), frequency.tolist()) == ([1, 2, 5], [4, 3, 9], [0.75, 0.25, 0.25])
    sites = read_example(region="chr21:14,000,000-15,000,000")
    tally.write(tmp_path / "x.bedpe", sites, min_frequency=0.5)
    _, *rows = (tmp_path / "x.bedpe").read_text().splitlines()
    assert rows == ["chr21\t14001000\t14002000\tchr21\t14004000\t14005000\tloop0\t0.75\t.\t."]
    write_frequencies(tmp_path / "y.bedpe", [(tally, sites), (tally, sites)])
    assert len((tmp_path / "y.bedpe").read_text().splitlines()) == 1 + 2 * 3


def test_captured_loops_only() -> None:
    """By default loops held by CTCF sites at both feet are counted: all stand on convergent sites."""
    fibre = make_fibre(120, 3, ctcf_sites=[20, 60, 100], captures_from=["right", "left", "left"], seed=1)
    simulation, tally, every = Simulation(MODEL, fibre, seed=1), LoopTally(), LoopTally()
    for k in range(200):
        simulation.run(until=20.0 * k)
        tally.add_world(simulation.world)
        every.add_world(simulation.world, is_captured=False)
    left, right, frequency = tally.frequencies()
    assert set(left.tolist()) == {20}
    assert set(right.tolist()) <= {60, 100}
    assert 0.2 < frequency.sum() <= 1.0
    assert len(every.frequencies()[0]) > len(left)
    assert len(legs_of(simulation.world)[0]) == 3
